// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling attributes of tasks and phases, as `parse_sched_data()` and the functions that apply
//! them in rt-app.c take them.

use super::super::model::Sched;
use super::fields::Fields;
use super::{NS_PER_US, Reader};
use crate::diagnostic::{Place, Refusal, Severity, nearest};
use crate::load::Mode;
use crate::program::Policy;

const POLICIES: &[(&str, Policy)] = &[
    ("SCHED_OTHER", Policy::Normal),
    ("SCHED_BATCH", Policy::Batch),
    ("SCHED_IDLE", Policy::Idle),
    ("SCHED_RR", Policy::RoundRobin),
    ("SCHED_FIFO", Policy::Fifo),
    ("SCHED_DEADLINE", Policy::Deadline),
];
const DEFAULT_RT_PRIORITY: i32 = 10;
/// A negative time, as a kernel gets it: beyond what it takes for SCHED_DEADLINE (`__checkparam_dl`).
const ENDLESS_NS: u64 = 1 << 63;
const DEFAULT_NICE: i32 = 0;
const MAX_CLAMP: i32 = 1024;
/// Highest CPU number of any kernel configuration.
const MAX_CPU: i32 = 8191;

/// The policy of that name.
pub(super) fn policy(name: &str, place: Place) -> Result<Policy, Refusal> {
    match POLICIES.iter().find(|(known, _)| *known == name) {
        Some((_, policy)) => Ok(*policy),
        None => Err(Refusal::new(
            place,
            format!(
                "`{name}` is no scheduling policy; the nearest: {}",
                nearest(name, POLICIES.iter().map(|(known, _)| *known))
            ),
        )),
    }
}

fn has(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some()
}

/// Groups exist for the fair class only.
pub(super) fn check_taskgroup(
    has_group: bool,
    policy: Option<Policy>,
    place: Place,
) -> Result<(), Refusal> {
    let realtime = matches!(
        policy,
        Some(Policy::Fifo | Policy::RoundRobin | Policy::Deadline)
    );
    if !has_group || !realtime {
        return Ok(());
    }
    Err(Refusal::new(
        place,
        "a task in a `taskgroup` needs the policy SCHED_OTHER, SCHED_BATCH or SCHED_IDLE",
    ))
}

impl Reader<'_> {
    /// Attributes of a task: what is not given has a default.
    pub(super) fn task_sched(&mut self, fields: &Fields, place: Place) -> Result<Sched, Refusal> {
        let mut sched = self.sched(fields, place, Some(self.default_policy))?;
        self.legacy_deadline(fields, &mut sched)?;
        check(&sched, sched.policy)?;
        Ok(sched)
    }

    /// Attributes of a phase: `None` if it gives none.
    pub(super) fn phase_sched(
        &mut self,
        fields: &Fields,
        place: Place,
    ) -> Result<Option<Sched>, Refusal> {
        let sched = self.sched(fields, place, None)?;
        let gives_any = sched.priority.is_some()
            || sched.runtime_ns != 0
            || sched.period_ns != 0
            || sched.deadline_ns != 0
            || sched.util_min.is_some()
            || sched.util_max.is_some();
        Ok(gives_any.then_some(sched))
    }

    fn sched(
        &mut self,
        fields: &Fields,
        place: Place,
        default: Option<Policy>,
    ) -> Result<Sched, Refusal> {
        let policy = match fields.string("policy")? {
            Some(name) => Some(policy(name.text, name.place)?),
            None => default,
        };
        let priority = match policy {
            None => fields.get("priority").map(|_| DEFAULT_NICE),
            Some(Policy::Fifo | Policy::RoundRobin) => Some(DEFAULT_RT_PRIORITY),
            Some(_) => Some(DEFAULT_NICE),
        };
        let priority = match priority {
            None => None,
            Some(default) => Some(fields.int("priority", default, self.remarks)?),
        };
        let runtime_ns = self.time(fields, "dl-runtime", 0)?;
        let period_ns = self.time(fields, "dl-period", runtime_ns)?;
        let deadline_ns = self.time(fields, "dl-deadline", period_ns)?;
        Ok(Sched {
            place,
            policy,
            priority,
            runtime_ns,
            period_ns,
            deadline_ns,
            util_min: self.clamp(fields, "util_min")?,
            util_max: self.clamp(fields, "util_max")?,
        })
    }

    /// The names that the `dl-` keys had once (`parse_sched_data()`). An event `runtime` is one of them.
    fn legacy_deadline(&mut self, fields: &Fields, sched: &mut Sched) -> Result<(), Refusal> {
        let no_period = !has(fields, "dl-period");
        if sched.runtime_ns == 0 {
            sched.runtime_ns = self.time(fields, "runtime", 0)?;
            if let Some(value) = fields.get("runtime").filter(|_| sched.runtime_ns != 0) {
                let no_period = no_period && !has(fields, "period");
                self.warn_of_runtime(fields, sched.policy, no_period, value.place);
            }
        } else if sched.policy == Some(Policy::Deadline) && no_period {
            let place = fields.get("dl-runtime").map_or(sched.place, |v| v.place);
            self.remarks.note(
                place,
                "there is no `dl-period`, and rt-app takes `dl-runtime` for it: each thread asks for a whole CPU",
            );
        }
        if sched.period_ns == 0 {
            sched.period_ns = self.time(fields, "period", sched.runtime_ns)?;
        }
        if sched.deadline_ns == 0 {
            sched.deadline_ns = self.time(fields, "deadline", sched.period_ns)?;
        }
        Ok(())
    }

    /// `runtime` became a parameter of the policy.
    fn warn_of_runtime(
        &mut self,
        fields: &Fields,
        policy: Option<Policy>,
        no_period: bool,
        place: Place,
    ) {
        // Below `phases` an event would be ignored: there the key is the parameter alone.
        let is_event = !has(fields, "phases");
        let message = match policy {
            Some(Policy::Deadline) if no_period => {
                "rt-app also takes `runtime` for dl-runtime, and for the missing dl-period: each thread asks for a whole CPU; give `dl-runtime` and `dl-period`, and name the event `runtime1`"
            }
            Some(Policy::Deadline) if is_event => {
                "rt-app also takes `runtime` for dl-runtime; give `dl-runtime`, and name the event `runtime1`"
            }
            Some(Policy::Normal | Policy::Batch) => {
                "rt-app also takes `runtime` for the task's custom slice; name the event `runtime1` to avoid that"
            }
            _ => return,
        };
        self.remarks.warn(place, message);
    }

    /// Time of a parameter of the policy, ns. rt-app makes an `unsigned long` of a negative one: fair
    /// tasks then have the longest slice there is, and the kernel refuses it of others.
    fn time(&mut self, fields: &Fields, key: &str, default_ns: u64) -> Result<u64, Refusal> {
        let Some(value) = fields.get(key) else {
            return Ok(default_ns);
        };
        let us = fields.int(key, 0, self.remarks)?;
        match (u64::try_from(us), self.mode) {
            (Ok(us), _) => Ok(us * NS_PER_US),
            (Err(_), Mode::Rtapp) => {
                self.remarks.warn(
                    value.place,
                    format!("`{key}` is {us} us; rt-app adds 2^64 us to a negative time"),
                );
                Ok(ENDLESS_NS)
            }
            (Err(_), Mode::Workgen) => Err(Refusal::new(
                value.place,
                format!("`{key}` is {us} us, expected 0 or more"),
            )),
        }
    }

    fn clamp(&mut self, fields: &Fields, key: &str) -> Result<Option<u32>, Refusal> {
        let Some(value) = fields.get(key) else {
            return Ok(None);
        };
        match fields.int(key, -1, self.remarks)? {
            -1 => Ok(None),
            clamp @ 0..=MAX_CLAMP => Ok(Some(clamp as u32)),
            clamp => Err(Refusal::new(
                value.place,
                format!("`{key}` is {clamp}, expected 0 to {MAX_CLAMP}, or -1 for none"),
            )),
        }
    }

    /// `cpus`, in rising order.
    pub(super) fn cpus(&mut self, fields: &Fields) -> Result<Option<Vec<u32>>, Refusal> {
        if let Some(value) = fields.get("nodes_membind") {
            self.remarks.leave_out(
                Severity::Note,
                value.place,
                "`nodes_membind` is ignored: the node of memory is not modelled",
            );
        }
        let Some(list) = fields.numbers("cpus", self.remarks)? else {
            return Ok(None);
        };
        if list.numbers.is_empty() {
            return Err(Refusal::new(
                list.place,
                "`cpus` is empty, so the task could run on no CPU; name a CPU or leave `cpus` out",
            ));
        }
        let mut cpus = Vec::with_capacity(list.numbers.len());
        for (cpu, place) in list.numbers {
            if !(0..=MAX_CPU).contains(&cpu) {
                return Err(Refusal::new(
                    place,
                    format!("`cpus` names CPU {cpu}, expected 0 to {MAX_CPU}"),
                ));
            }
            cpus.push(cpu as u32);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Some(cpus))
    }

    /// The task group, of one level below the root.
    pub(super) fn taskgroup(&mut self, fields: &Fields) -> Result<Option<String>, Refusal> {
        let Some(group) = fields.string("taskgroup")?.filter(|g| !g.text.is_empty()) else {
            return Ok(None);
        };
        if !group.text.starts_with('/') {
            return Err(Refusal::new(
                group.place,
                format!("the taskgroup `{0}` is no path; write `/{0}`", group.text),
            ));
        }
        let mut names = group.text.split('/').filter(|name| !name.is_empty());
        let top = format!("/{}", names.next().unwrap_or_default());
        if names.next().is_some() {
            self.remarks.leave_out(
                Severity::Note,
                group.place,
                format!(
                    "groups below groups are not modelled: a task of the taskgroup `{}` is one of `{top}`",
                    group.text
                ),
            );
        }
        Ok(Some(top))
    }
}

/// Refuses what the kernel refuses, which ends rt-app. `policy` is the one in effect.
pub(in crate::rtapp) fn check(sched: &Sched, policy: Option<Policy>) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::new(sched.place, message));
    let priority = sched.priority.unwrap_or_default();
    match policy {
        Some(Policy::Normal | Policy::Batch)
            if sched.priority.is_some() && !(-20..=19).contains(&priority) =>
        {
            return refuse(format!(
                "`priority` is {priority}, expected a nice value from -20 to 19"
            ));
        }
        Some(Policy::Fifo | Policy::RoundRobin)
            if sched.priority.is_some() && !(1..=99).contains(&priority) =>
        {
            return refuse(format!(
                "`priority` is {priority}, expected a real-time priority from 1 to 99"
            ));
        }
        Some(Policy::Deadline) => {
            let (runtime, deadline) = (sched.runtime_ns, sched.deadline_ns);
            let endless = runtime.max(deadline).max(sched.period_ns) >= ENDLESS_NS;
            if endless || runtime == 0 || runtime > deadline || deadline > sched.period_ns {
                return refuse(format!(
                    "SCHED_DEADLINE has runtime {} us, deadline {} us, period {} us; expected 0 < dl-runtime <= dl-deadline <= dl-period",
                    runtime / NS_PER_US,
                    deadline / NS_PER_US,
                    sched.period_ns / NS_PER_US
                ));
            }
        }
        _ => {}
    }
    match (sched.util_min, sched.util_max) {
        (Some(min), Some(max)) if min > max => refuse(format!(
            "`util_min` {min} is above `util_max` {max}; the kernel refuses that"
        )),
        _ => Ok(()),
    }
}
