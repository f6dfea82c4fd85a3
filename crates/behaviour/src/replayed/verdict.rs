// SPDX-License-Identifier: GPL-2.0-only
//! How far a recording's replay can be trusted.

use std::fmt;
use std::path::Path;

use alight_recording::annotate;
use alight_recording::workload::{Capability, VERDICT};
use alight_replay::Health;
use serde::{Deserialize, Serialize};

use super::Check;
use crate::quantity::Agreement;

/// Sleeps without a known end, in percent, of which a replay is still usable: the beginning of a
/// recording has some.
const MOST_UNEXPLAINED: u64 = 2;
/// Wakings that cannot be by the tasks that they are booked on, in percent of all sleeps.
const MOST_SUSPECT: u64 = 1;
/// CPU time for which the model charges more than was recorded, in percent.
const MOST_CLIPPED: u64 = 10;
/// Wakings that came before their sleeps, in percent, of which the order is still kept.
const MOST_RACED: u64 = 10;
/// Quantities that are named in a reason.
const NAMED: usize = 4;

/// How far a replay can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is not what was recorded.
    NotUsable,
    /// It is what was recorded, under the rules of the recorded kernel.
    SelfChecked,
    /// It predicted recordings that were made under other rules.
    Trusted,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Standing::NotUsable => "not usable",
            Standing::SelfChecked => "self-checked only",
            Standing::Trusted => "trusted",
        })
    }
}

/// A verdict with its reasons, as it is written into a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How far.
    pub standing: Standing,
    /// Why not farther; a sentence each, without a full stop.
    pub reasons: Vec<String>,
    /// What to keep in mind.
    pub cautions: Vec<String>,
    /// Schedulers under which the replay was checked.
    pub checked: Vec<String>,
}

impl Verdict {
    /// Of a replay with this health, its self-check, and its checks against recordings under other
    /// rules.
    pub fn of(health: &Health, own: &Check, crosses: &[Check]) -> Self {
        let mut reasons = broken(health);
        reasons.extend(disagreement(own, "the replay is not what was recorded"));
        let other_rules = crosses.iter().any(|cross| cross.other_rules);
        let all = [own].into_iter().chain(crosses);
        let checked = all.map(|check| check.scheduler.clone()).collect();
        let mut standing = Standing::SelfChecked;
        if !reasons.is_empty() {
            standing = Standing::NotUsable;
        } else {
            if !other_rules {
                reasons.push(
                    "no recording under another kernel or scheduler was predicted: a replay with \
                     false causes can pass its self-check"
                        .to_owned(),
                );
            }
            for cross in crosses {
                let what = format!("under {} the kernel did something else", cross.scheduler);
                reasons.extend(disagreement(cross, &what));
            }
            if reasons.is_empty() && !health.lacks.contains(&Capability::Context) {
                standing = Standing::Trusted;
            }
        }
        Verdict {
            standing,
            reasons,
            cautions: cautions(health),
            checked,
        }
    }

    /// Writes it into the recording.
    ///
    /// # Errors
    /// The recording is not whole, or cannot be replaced.
    pub fn write(&self, path: &Path) -> Result<(), alight_recording::Error> {
        let text = serde_json::to_string(self).map_err(std::io::Error::from)?;
        annotate(path, |end| {
            end.facts.insert(VERDICT.to_owned(), text);
        })
    }

    /// The verdict in a line: `not usable: 11 % of sleeps end without a waking`.
    pub fn line(&self) -> String {
        match self.reasons.as_slice() {
            [] => self.standing.to_string(),
            reasons => format!("{}: {}", self.standing, reasons.join("; ")),
        }
    }
}

/// What of the recording itself makes its replay false.
fn broken(health: &Health) -> Vec<String> {
    let unexplained = 100 - health.explained_percent();
    let suspect = health.suspect_percent();
    let clipped = health.clipped_percent();
    [
        (
            unexplained > MOST_UNEXPLAINED,
            format!("{unexplained} % of sleeps end without a waking: wakings are missing"),
        ),
        (
            suspect > MOST_SUSPECT,
            format!(
                "{suspect} % of sleeps are ended at regular times by tasks that did not sleep: \
                 timers were taken for the tasks that they interrupted"
            ),
        ),
        (
            clipped > MOST_CLIPPED,
            format!(
                "the machine's costs take {clipped} % of the CPU time that was recorded, and leave \
                 no work: measure the machine"
            ),
        ),
    ]
    .into_iter()
    .filter_map(|(holds, sentence)| holds.then_some(sentence))
    .collect()
}

/// That a check does not agree, with the quantities that do not.
fn disagreement(check: &Check, what: &str) -> Option<String> {
    let names: Vec<String> = check
        .all()
        .filter(|(_, quantity)| quantity.verdict == Agreement::Disagree)
        .map(|(group, quantity)| match group {
            None => quantity.name(),
            Some(group) => format!("{} of {group}", quantity.name()),
        })
        .collect();
    if names.is_empty() {
        return (check.count(Agreement::Agree) == 0)
            .then(|| format!("{what}: too little happened to compare anything"));
    }
    let agree = check.count(Agreement::Agree);
    let more = match names.len() {
        n if n > NAMED => format!(" and {} more", n - NAMED),
        _ => String::new(),
    };
    let named = names[..names.len().min(NAMED)].join(", ");
    Some(format!(
        "{what}: {} of {} quantities disagree ({named}{more})",
        names.len(),
        names.len() + agree
    ))
}

fn cautions(health: &Health) -> Vec<String> {
    let mut all: Vec<String> = (health.lacks.iter())
        .map(|lacking| lacking.lacking().to_owned())
        .collect();
    let raced = health.raced_percent();
    if raced > MOST_RACED {
        all.push(format!(
            "{raced} % of wakings came before the task slept: a replay does not keep their order"
        ));
    }
    let clock = health.unknown_clock_percent();
    if clock > 0 {
        all.push(format!(
            "{clock} % of the CPU time ran at a clock that is not recorded: it counts as work at the \
             top frequency"
        ));
    }
    let assumed = health.assumed_percent();
    if assumed > 0 {
        all.push(format!("the causes of {assumed} % of sleeps are assumed"));
    }
    if health.windows > 1 {
        let windows = health.windows;
        all.push(format!(
            "events were lost: the longest of {windows} windows is replayed"
        ));
    }
    if health.hotplugs > 0 {
        all.push("CPUs went off or on: a replay has all of them all the time".to_owned());
    }
    if health.reused_pids > 0 {
        let reused = health.reused_pids;
        all.push(format!("{reused} numbers of tasks were used again"));
    }
    all
}

#[cfg(test)]
mod tests;
