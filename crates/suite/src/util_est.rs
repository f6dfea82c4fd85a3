// SPDX-License-Identifier: GPL-2.0-only
//! B. Estimated utilization, after LISA's `UtilConvergence`: what a task is expected
//! to use is never below what it used.

use super::observe::{Sample, TaskSeen};
use super::plan::{ClockRule, Load, Phase, Plan, Task, Work};
use super::platform::Platform;
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const MEANS: &str = "means";
const ACTIVATIONS: &str = "activations";

/// The scenario.
pub const ENTRIES: [Entry; 1] = [Entry {
    name: "UtilConvergence",
    family: Family::LoadTracking,
    about: "a task pinned to a big CPU: 75 % for 5 s, then 50 to 5 % and 10 to 60 % in steps of 20 %, each 200 ms",
    limits: &[
        Limit {
            test: MEANS,
            what: "phases whose mean util_est is below the mean util_avg, or ewma below enqueued",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "util_avg decays in sleep and the estimate does not; the average follows a rise at once (5.5)",
        },
        Limit {
            test: ACTIVATIONS,
            what: "activations with 1.01 enqueued below util_avg, or ewma below enqueued",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "the estimate is stored when the task goes to sleep, unless it changed by less than 1 %",
        },
    ],
    plans,
    judge,
}];

fn plans(platform: &Platform) -> Result<Vec<Plan>, String> {
    let cpu = platform.biggest();
    let phase = |name: String, percent: u32, ms| {
        let work = Work::periodic_of(f64::from(percent) * 10.24, ms, 200_000);
        Phase::new(name, work).on(&[cpu])
    };
    let mut phases = vec![phase("stable".to_owned(), 75, 5000)];
    let down = [50, 30, 10, 5].map(|percent| phase(format!("down_{percent}"), percent, 1000));
    let up = [10, 30, 50, 60].map(|percent| phase(format!("up_{percent}"), percent, 1000));
    phases.extend(down.into_iter().chain(up));
    let tasks = vec![Task {
        name: "test".to_owned(),
        phases,
    }];
    Ok(vec![Plan {
        label: String::new(),
        clock: ClockRule::Performance,
        shallow_idle: true,
        signals: true,
        hotplug: 0,
        load: Load::Tasks(tasks),
    }])
}

/// What `sched_util_est_se` tells: util_avg, enqueued, ewma. From 6.8 on there is one value.
fn signals(sample: &Sample) -> (u64, u64, u64) {
    let enqueued = match sample.enqueued {
        0 => sample.ewma,
        enqueued => enqueued,
    };
    (sample.util.into(), enqueued.into(), sample.ewma.into())
}

/// The samples at which the estimate was stored: the tracepoint is silent where it stays.
fn stored(task: &TaskSeen) -> Vec<&Sample> {
    let mut before = None;
    let mut stored = vec![];
    for sample in task.samples.iter().filter(|sample| sample.sleeps) {
        let (util, enqueued, ewma) = signals(sample);
        if before.replace((enqueued, ewma)) != Some((enqueued, ewma)) || enqueued == util {
            stored.push(sample);
        }
    }
    stored
}

/// Mean of a value that holds until the next sample, over a window; in 1024ths.
fn mean(samples: &[&Sample], window: (u64, u64), value: impl Fn(&Sample) -> u64) -> Option<u64> {
    let before = samples.iter().rev().find(|sample| sample.at <= window.0);
    let within = samples
        .iter()
        .filter(|sample| sample.at > window.0 && sample.at < window.1);
    let mut sum = 0_u128;
    let mut holds = before.map(|sample| (window.0, value(sample)));
    for sample in within {
        if let Some((since, value)) = holds {
            sum += u128::from(value) * u128::from(sample.at - since);
        }
        let since = if holds.is_some() { sample.at } else { window.0 };
        if holds.is_none() {
            sum += u128::from(value(sample)) * u128::from(sample.at - since);
        }
        holds = Some((sample.at, value(sample)));
    }
    let (since, last) = holds?;
    sum += u128::from(last) * u128::from(window.1 - since);
    u64::try_from(sum * 1024 / u128::from((window.1 - window.0).max(1))).ok()
}

fn judge(_platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let task = run.seen.tasks.first().ok_or("there is no task")?;
    let planned = &run.plan.of_tasks()[0].phases;
    if task.phases.len() != planned.len() {
        return Err("the task did not reach its last phase".to_owned());
    }
    let stored = stored(task);
    let all: Vec<&Sample> = task.samples.iter().collect();
    let mut bad = vec![];
    for (at, phase) in planned.iter().enumerate() {
        let window = task.phase(at);
        let util = mean(&all, window, |sample| signals(sample).0);
        let enqueued = mean(&stored, window, |sample| signals(sample).1);
        let ewma = mean(&stored, window, |sample| signals(sample).2);
        let (Some(util), Some(enqueued), Some(ewma)) = (util, enqueued, ewma) else {
            return Err(format!("nothing was recorded in {}", phase.name));
        };
        if enqueued < util || ewma < enqueued {
            bad.push(phase.name.as_str());
        }
    }
    let below = |sample: &&&Sample| {
        let (util, enqueued, ewma) = signals(sample);
        101 * enqueued < 100 * util || enqueued > ewma
    };
    let late = stored.iter().filter(below);
    Ok(vec![
        TestFigure {
            test: MEANS,
            of: bad.join(" "),
            milli: bad.len() as i64 * 1000,
        },
        TestFigure {
            test: ACTIVATIONS,
            of: format!("of {}", stored.len()),
            milli: late.count() as i64 * 1000,
        },
    ])
}
