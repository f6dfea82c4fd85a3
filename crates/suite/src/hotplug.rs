// SPDX-License-Identifier: GPL-2.0-only
//! E. CPUs that go off and come back, after LISA's `HotplugTorture`; and that no task
//! runs where there is no CPU.

use super::plan::{Phase, Plan, Task, Work};
use super::platform::Platform;
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const ALIVE: &str = "cpus_alive";
const OFFLINE: &str = "offline_cpus";
const TARGET: &str = "target_alive";

/// The scenario.
pub const ENTRIES: [Entry; 1] = [Entry {
    name: "HotplugTorture",
    family: Family::Hotplug,
    about: "a random CPU goes offline or online 100 times, 10 to 100 ms apart, beside a task of 30 % for each CPU",
    limits: &[
        Limit {
            test: TARGET,
            what: "tasks that did not end",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "a task whose CPU goes offline is moved, not lost",
        },
        Limit {
            test: ALIVE,
            what: "CPUs that ran nothing after they were online again",
            unit: "",
            bound: Bound::AtMost(0),
            reason: "all CPUs are online at the end, and each has a pinned task",
        },
        Limit {
            test: OFFLINE,
            what: "longest time that a task ran on an offline CPU",
            unit: "ms",
            bound: Bound::AtMost(0),
            reason: "our test, not one of LISA: an offline CPU executes nothing",
        },
    ],
    plans,
    judge,
}];

/// Operations (`nr_operations`).
const OPERATIONS: u32 = 100;
/// Operations take at most 100 ms each, and all CPUs are back after one more.
const TORTURE_MS: u64 = (OPERATIONS as u64 + 1) * 100;

/// A task for each CPU, which may go anywhere until the torture is over and is then pinned.
fn plans(platform: &Platform) -> Result<Vec<Plan>, String> {
    let cpus = platform.cpus.len();
    if cpus < 2 {
        return Err("the only CPU cannot go offline".to_owned());
    }
    let all: Vec<usize> = (0..cpus).collect();
    let work = |cpu: usize, ms| Work::periodic(f64::from(platform.cpus[cpu].capacity) * 0.3, ms);
    let task = |cpu: usize| Task {
        name: format!("hp{cpu}"),
        phases: vec![
            Phase::new("torture", work(cpu, TORTURE_MS + 100)).on(&all),
            Phase::new("pinned", work(cpu, 500)).on(&[cpu]),
        ],
    };
    Ok(vec![Plan {
        hotplug: OPERATIONS,
        ..Plan::tasks("", (0..cpus).map(task).collect())
    }])
}

fn judge(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let (tasks, offline) = (&run.seen.tasks, &run.seen.offline);
    if offline.is_empty() {
        return Err("no CPU went offline".to_owned());
    }
    let lost: Vec<&str> = (run.plan.of_tasks().iter().zip(tasks))
        .filter(|(_, seen)| seen.end.is_none())
        .map(|(task, _)| task.name.as_str())
        .collect();
    let back = offline.iter().map(|of| of.2).max().unwrap_or(0);
    let ran_since = |cpu: u32| {
        tasks
            .iter()
            .any(|task| task.ran((back, u64::MAX), |on| on == cpu) > 0)
    };
    let dead = (0..platform.cpus.len() as u32).filter(|&cpu| !ran_since(cpu));
    let dead: Vec<String> = dead.map(|cpu| format!("CPU{cpu}")).collect();
    let over = |&(cpu, from, to): &(u32, u64, u64)| {
        let longest = tasks
            .iter()
            .map(|task| task.ran((from, to), |on| on == cpu))
            .max();
        (longest.unwrap_or(0), cpu)
    };
    let worst = offline.iter().map(over).max().unwrap_or_default();
    Ok(vec![
        TestFigure {
            test: TARGET,
            milli: lost.len() as i64 * 1000,
            of: lost.join(" "),
        },
        TestFigure {
            test: ALIVE,
            milli: dead.len() as i64 * 1000,
            of: dead.join(" "),
        },
        TestFigure {
            test: OFFLINE,
            milli: worst.0.div_ceil(1000) as i64,
            of: match worst.0 {
                0 => format!("{} times off", offline.len()),
                _ => format!("CPU{}", worst.1),
            },
        },
    ])
}
