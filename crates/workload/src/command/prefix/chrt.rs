// SPDX-License-Identifier: GPL-2.0-only
//! `chrt POLICY PRIORITY COMMAND` (util-linux 2.42): policy, priority and parameters of a command.

use super::super::getopt::{self, Found, Spec, Value, Word};
use super::super::surroundings::Surroundings;
use super::uclampset::{check_order, clamp};
use super::{changes_a_running_task, no_command, prints_a_text};
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::program::Policy;

#[derive(Debug, Clone, Copy)]
enum Opt {
    Policy(Policy),
    Ext,
    ResetOnFork,
    Runtime,
    Period,
    Deadline,
    ClampMin,
    ClampMax,
    Reclaim,
    Overrun,
    Verbose,
    Pid,
    Informs,
}

const fn spec(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('b', "batch", Value::No, Opt::Policy(Policy::Batch)),
    spec('d', "deadline", Value::No, Opt::Policy(Policy::Deadline)),
    spec('e', "ext", Value::No, Opt::Ext),
    spec('f', "fifo", Value::No, Opt::Policy(Policy::Fifo)),
    spec('i', "idle", Value::No, Opt::Policy(Policy::Idle)),
    spec('o', "other", Value::No, Opt::Policy(Policy::Normal)),
    spec('r', "rr", Value::No, Opt::Policy(Policy::RoundRobin)),
    spec('R', "reset-on-fork", Value::No, Opt::ResetOnFork),
    spec('G', "reclaim-grub", Value::No, Opt::Reclaim),
    spec('O', "deadline-overrun", Value::No, Opt::Overrun),
    spec('T', "sched-runtime", Value::Required, Opt::Runtime),
    spec('P', "sched-period", Value::Required, Opt::Period),
    spec('D', "sched-deadline", Value::Required, Opt::Deadline),
    spec('U', "clamp-min", Value::Required, Opt::ClampMin),
    spec('X', "clamp-max", Value::Required, Opt::ClampMax),
    spec('v', "verbose", Value::No, Opt::Verbose),
    spec('a', "all-tasks", Value::No, Opt::Pid),
    spec('p', "pid", Value::No, Opt::Pid),
    spec('m', "max", Value::No, Opt::Informs),
    spec('h', "help", Value::No, Opt::Informs),
    spec('V', "version", Value::No, Opt::Informs),
];

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let parsed = getopt::parse_leading("chrt", SPECS, &words[1..])?;
    let mut asked = Asked {
        place: words[0].place,
        policy: Policy::RoundRobin,
        reset_on_fork: false,
        runtime: None,
        period: None,
        deadline: None,
    };
    for found in &parsed.options {
        asked.take(found, around, remarks)?;
    }
    let taken = words.len() - parsed.operands.len();
    let (priority, mut taken) = priority(&parsed.operands, &asked, words, taken)?;
    if words.get(taken).is_some_and(|word| word.text == "--") {
        taken += 1;
    }
    asked.settle(priority, around)?;
    Ok(taken)
}

/// What the options ask for, and where the first of them stands.
struct Asked {
    place: Place,
    policy: Policy,
    reset_on_fork: bool,
    /// Each with its place, ns.
    runtime: Option<(u64, Place)>,
    period: Option<(u64, Place)>,
    deadline: Option<(u64, Place)>,
}

impl Asked {
    fn take(
        &mut self,
        found: &Found<Opt>,
        around: &mut Surroundings<'_>,
        remarks: &mut Remarks,
    ) -> Result<(), Refusal> {
        match found.id {
            Opt::Policy(policy) => (self.policy, self.place) = (policy, found.place),
            Opt::ResetOnFork => self.reset_on_fork = true,
            Opt::Runtime => self.runtime = Some((ns(found)?, found.place)),
            Opt::Period => self.period = Some((ns(found)?, found.place)),
            Opt::Deadline => self.deadline = Some((ns(found)?, found.place)),
            Opt::ClampMin => {
                around.begin.attributes.uclamp_min = clamp("chrt", found)?;
                check_order(around, found.place)?;
            }
            Opt::ClampMax => {
                around.begin.attributes.uclamp_max = clamp("chrt", found)?;
                check_order(around, found.place)?;
            }
            Opt::Ext => {
                return Err(Refusal::new(
                    found.place,
                    "SCHED_EXT is not modelled; use -o: without a sched_ext scheduler its tasks \
                     run as SCHED_OTHER",
                ));
            }
            Opt::Reclaim => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} (SCHED_FLAG_RECLAIM) is not modelled; remove it",
                        found.spelling
                    ),
                ));
            }
            Opt::Overrun | Opt::Verbose => remarks.note(
                found.place,
                format!("{} has no effect in a simulation", found.spelling),
            ),
            Opt::Pid => {
                return Err(changes_a_running_task(found));
            }
            Opt::Informs => {
                return Err(prints_a_text(found));
            }
        }
        Ok(())
    }

    /// What chrt checks, and then the kernel (`__checkparam_dl()`).
    fn settle(self, priority: u32, around: &mut Surroundings<'_>) -> Result<(), Refusal> {
        let is_deadline = self.policy == Policy::Deadline;
        let has_slice = matches!(self.policy, Policy::Normal | Policy::Batch);
        if let Some((_, place)) = self.runtime
            && !is_deadline
            && !has_slice
        {
            return Err(Refusal::new(
                place,
                format!(
                    "-T is for SCHED_DEADLINE, SCHED_OTHER and SCHED_BATCH, not for {}; remove it",
                    name(self.policy)
                ),
            ));
        }
        if let Some((_, place)) = self.period.or(self.deadline)
            && !is_deadline
        {
            return Err(Refusal::new(
                place,
                format!(
                    "-P and -D are for SCHED_DEADLINE, not for {}; add -d, or remove them",
                    name(self.policy)
                ),
            ));
        }
        let begin = &mut around.begin;
        begin.reset_on_fork = self.reset_on_fork;
        begin.deadline_at = None;
        let attributes = &mut begin.attributes;
        attributes.policy = Some(self.policy);
        attributes.rt_priority = (priority != 0).then_some(priority);
        attributes.slice_ns = self.runtime.map(|(ns, _)| ns).filter(|ns| *ns != 0);
        attributes.dl_period_deadline_ns = None;
        if is_deadline {
            let (runtime, deadline, period) = self.deadline_parameters()?;
            attributes.slice_ns = Some(runtime);
            attributes.dl_period_deadline_ns = Some((period, deadline));
            begin.deadline_at = Some(self.place);
        }
        Ok(())
    }

    /// Runtime, deadline and period; what was not given is the next one of them.
    fn deadline_parameters(&self) -> Result<(u64, u64, u64), Refusal> {
        let given = |parameter: Option<(u64, Place)>| parameter.map_or(0, |(ns, _)| ns);
        let or = |ns: u64, other: u64| if ns == 0 { other } else { ns };
        let deadline = or(given(self.deadline), given(self.period));
        let runtime = or(given(self.runtime), deadline);
        let period = or(given(self.period), deadline);
        let refuse = |why: String| {
            Err(Refusal::new(
                self.place,
                format!(
                    "SCHED_DEADLINE {why}, which the kernel refuses (EINVAL); expected runtime (-T) <= \
                     deadline (-D) <= period (-P), in ns"
                ),
            ))
        };
        if deadline == 0 {
            return refuse("has neither a period nor a deadline".into());
        }
        if runtime > deadline || deadline > period {
            return refuse(format!(
                "has runtime {runtime}, deadline {deadline}, period {period}"
            ));
        }
        Ok((runtime, deadline, period))
    }
}

/// The priority among the operands, and how many words stand before the command.
fn priority(
    operands: &[Word],
    asked: &Asked,
    words: &[Word],
    taken: usize,
) -> Result<(u32, usize), Refusal> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let realtime = matches!(asked.policy, Policy::Fifo | Policy::RoundRobin);
    let Some(first) = operands.first() else {
        return Err(no_command(words[words.len() - 1].place, "chrt"));
    };
    // A sign is read by releases before 2.42, which take the word for the priority anyway.
    let digits = first.text.strip_prefix('+').unwrap_or(&first.text);
    if !is_number(digits) {
        return match realtime {
            true => Err(Refusal::new(
                first.place,
                format!(
                    "{} needs a priority of 1 to 99 before the command, found `{}`",
                    name(asked.policy),
                    first.text
                ),
            )),
            false => Ok((0, taken)),
        };
    }
    let range = if realtime { 1..=99 } else { 0..=0 };
    match digits.parse() {
        Ok(priority) if range.contains(&priority) => Ok((priority, taken + 1)),
        _ => Err(Refusal::new(
            first.place,
            format!(
                "the priority {} is out of range for {}; expected {}",
                first.text,
                name(asked.policy),
                if realtime { "1 to 99" } else { "0" }
            ),
        )),
    }
}

fn ns(found: &Found<Opt>) -> Result<u64, Refusal> {
    let text = found.value.as_deref().unwrap_or_default();
    text.parse().map_err(|_| {
        Refusal::new(
            found.place,
            format!(
                "chrt {} is `{text}`, expected a whole number of ns",
                found.spelling
            ),
        )
    })
}

fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::Normal => "SCHED_OTHER",
        Policy::Batch => "SCHED_BATCH",
        Policy::Idle => "SCHED_IDLE",
        Policy::Fifo => "SCHED_FIFO",
        Policy::RoundRobin => "SCHED_RR",
        Policy::Deadline => "SCHED_DEADLINE",
    }
}
