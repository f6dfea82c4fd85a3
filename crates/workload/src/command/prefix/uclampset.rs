// SPDX-License-Identifier: GPL-2.0-only
//! `uclampset -m MIN -M MAX COMMAND` (util-linux 2.42): utilization clamps of a command.

use super::super::getopt::{self, Found, Spec, Value, Word};
use super::super::surroundings::Surroundings;
use super::{changes_a_running_task, prints_a_text};
use crate::diagnostic::{Refusal, Remarks};

#[derive(Debug, Clone, Copy)]
enum Opt {
    All,
    Pid,
    System,
    ResetOnFork,
    Min,
    Max,
    Verbose,
    Informs,
}

const fn spec(short: char, long: Option<&'static str>, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long,
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('a', Some("all-tasks"), Value::No, Opt::All),
    spec('p', Some("pid"), Value::Required, Opt::Pid),
    spec('s', Some("system"), Value::No, Opt::System),
    spec('R', Some("reset-on-fork"), Value::No, Opt::ResetOnFork),
    spec('m', None, Value::Required, Opt::Min),
    spec('M', None, Value::Required, Opt::Max),
    spec('v', Some("verbose"), Value::No, Opt::Verbose),
    spec('h', Some("help"), Value::No, Opt::Informs),
    spec('V', Some("version"), Value::No, Opt::Informs),
];

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let parsed = getopt::parse_leading("uclampset", SPECS, &words[1..])?;
    let mut clamp_at = None;
    for found in &parsed.options {
        let attributes = &mut around.begin.attributes;
        match found.id {
            Opt::Min => {
                attributes.uclamp_min = clamp("uclampset", found)?;
                clamp_at = Some(found.place);
            }
            Opt::Max => {
                attributes.uclamp_max = clamp("uclampset", found)?;
                clamp_at = Some(found.place);
            }
            // The kernel takes the flag with a policy only, and uclampset keeps the policy
            // (`__sched_setscheduler()`: `reset_on_fork = p->sched_reset_on_fork`).
            Opt::ResetOnFork => remarks.warn(
                found.place,
                "the kernel ignores uclampset -R because it comes without a policy: forked tasks \
                 keep the clamps; use chrt -R",
            ),
            Opt::Verbose => remarks.note(
                found.place,
                format!("{} has no effect in a simulation", found.spelling),
            ),
            Opt::System => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} changes the limits of the whole system; remove uclampset and use the options \
                         --sysctl sched_util_clamp_min=N and --sysctl sched_util_clamp_max=N",
                        found.spelling
                    ),
                ));
            }
            Opt::All | Opt::Pid => {
                return Err(changes_a_running_task(found));
            }
            Opt::Informs => {
                return Err(prints_a_text(found));
            }
        }
    }
    let Some(place) = clamp_at else {
        return Err(Refusal::new(
            words[0].place,
            "uclampset lacks a clamp; expected `uclampset -m MIN -M MAX COMMAND`; -m or -M may be \
             left out",
        ));
    };
    check_order(around, place)?;
    Ok(words.len() - parsed.operands.len())
}

/// A clamp as util-linux and the kernel take it; `None`: -1, which asks for none (from Linux 5.11 on).
pub(super) fn clamp<T>(tool: &str, found: &Found<T>) -> Result<Option<u32>, Refusal> {
    let text = found.value.as_deref().unwrap_or_default();
    match text.parse::<i64>() {
        Ok(-1) => Ok(None),
        Ok(value @ 0..=1024) => Ok(Some(value as u32)),
        _ => Err(Refusal::new(
            found.place,
            format!(
                "{tool} {} is `{text}`, which the kernel refuses (EINVAL); expected 0 to 1024, or -1 for \
                 no clamp",
                found.spelling
            ),
        )),
    }
}

/// `uclamp_validate()`.
pub(super) fn check_order(
    around: &mut Surroundings<'_>,
    place: crate::diagnostic::Place,
) -> Result<(), Refusal> {
    around.begin.clamp_at = Some(place);
    let attributes = &around.begin.attributes;
    let min = attributes.uclamp_min.unwrap_or(0);
    let max = attributes.uclamp_max.unwrap_or(1024);
    match min > max {
        true => Err(Refusal::new(
            place,
            format!(
                "the lower clamp {min} is above the upper one {max}, which the kernel refuses (EINVAL)"
            ),
        )),
        false => Ok(()),
    }
}
