// SPDX-License-Identifier: GPL-2.0-only
//! C. Where small tasks stay and where tasks move that change: the tests of LISA's
//! first years, and tasks that have no reason to move between NUMA nodes.

use super::observe::TaskSeen;
use super::pelt;
use super::plan::{Phase, Plan, Task, Work};
use super::platform::{Class, Platform};
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const RESIDENCY: &str = "small_cpu_residency";
const SWITCH: &str = "switch_time";
const REMAINS: &str = "task_remains";

const STAYS: [Limit; 1] = [Limit {
    test: REMAINS,
    what: "migrations of the task that moved most",
    unit: "",
    bound: Bound::AtMost(0),
    reason: "no other task wants the CPU, so a task has no reason to move",
}];

/// The scenarios.
pub const ENTRIES: [Entry; 4] = [
    Entry {
        name: "SmallTaskPacking",
        family: Family::Migration,
        about: "a task of 10 % (period 10 ms) for each CPU, for 5 s: all stay on small CPUs",
        limits: &[Limit {
            test: RESIDENCY,
            what: "share of its time that a task runs on the smallest CPUs, of the worst task",
            unit: "%",
            bound: Bound::AtLeast(85_000),
            reason: "the start and stray wakeups take a part; BART's tests demanded 85 %",
        }],
        plans: small_tasks,
        judge: judge_packing,
    },
    Entry {
        name: "WakeMigration",
        family: Family::Migration,
        about: "tasks are at 10 % and at 50 % in turn, 5 s each, twice: they change clusters at each step",
        limits: &[Limit {
            test: SWITCH,
            what: "longest time from a step to the task's first run on the other kind of CPU",
            unit: "ms",
            bound: Bound::AtMost(500_000),
            reason: "load tracking settles within 0.35 s",
        }],
        plans: steps,
        judge: judge_steps,
    },
    Entry {
        name: "NUMASmallTaskPlacement",
        family: Family::Migration,
        about: "one task of 50 % for 30 s on a machine with NUMA nodes",
        limits: &STAYS,
        plans: |platform| halves(platform, 1),
        judge: judge_stays,
    },
    Entry {
        name: "NUMAMultipleTasksPlacement",
        family: Family::Migration,
        about: "four tasks of 50 % for 30 s on a machine with NUMA nodes",
        limits: &STAYS,
        plans: |platform| halves(platform, platform.cpus.len().min(4)),
        judge: judge_stays,
    },
];

/// Period of BART's tasks, us.
const SHORT_US: u64 = 10_000;

fn percent(percent: u32, ms: u64) -> Work {
    Work::periodic_of(f64::from(percent) * 10.24, ms, SHORT_US)
}

/// How many tasks of this work fit the CPUs of a class without overutilizing one.
fn room(class: &Class, work: &Work) -> usize {
    let each = class.capacity * 80 / 100 / work.peak_util().max(1);
    each as usize * class.cpus.len()
}

fn small_tasks(platform: &Platform) -> Result<Vec<Plan>, String> {
    let classes = platform.asymmetric()?;
    let work = percent(10, 5000);
    let count = platform.cpus.len();
    if room(&classes[0], &work) < count {
        return Err(format!(
            "{count} tasks of 10 % overutilize the smallest CPUs"
        ));
    }
    let task = |at| Task {
        name: format!("small_{at}"),
        phases: vec![Phase::new("test", work)],
    };
    Ok(vec![Plan::tasks("", (0..count).map(task).collect())])
}

fn judge_packing(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let classes = platform.classes();
    let share = |task: &TaskSeen| {
        let all = task.ran((0, u64::MAX), |_| true);
        let small = task.ran((0, u64::MAX), |cpu| {
            classes[0].cpus.contains(&(cpu as usize))
        });
        (small * 100_000).checked_div(all)
    };
    let tasks = run.plan.of_tasks().iter().zip(&run.seen.tasks);
    tasks
        .map(|(task, seen)| {
            let share = share(seen).ok_or_else(|| format!("{} never ran", task.name))?;
            Ok(TestFigure {
                test: RESIDENCY,
                of: task.name.clone(),
                milli: share as i64,
            })
        })
        .collect()
}

fn steps(platform: &Platform) -> Result<Vec<Plan>, String> {
    let classes = platform.asymmetric()?;
    let (low, high) = (percent(10, 5000), percent(50, 5000));
    if room(&classes[0], &low) < 2 {
        return Err("a task of 10 % overutilizes the smallest CPUs".to_owned());
    }
    if room(&classes[0], &high) != 0 {
        return Err("a task of 50 % fits the smallest CPUs".to_owned());
    }
    let biggest = &classes[classes.len() - 1];
    let task = |at| Task {
        name: format!("wmig_{at}"),
        phases: vec![
            Phase::new("low_0", low).unjudged(),
            Phase::new("high_0", high),
            Phase::new("low_1", low),
            Phase::new("high_1", high),
        ],
    };
    let tasks = (0..biggest.cpus.len().min(2)).map(task).collect();
    Ok(vec![Plan::tasks("", tasks)])
}

fn judge_steps(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let classes = platform.classes();
    let mut measured = vec![];
    for (task, seen) in run.plan.of_tasks().iter().zip(&run.seen.tasks) {
        for (at, phase) in task.phases.iter().enumerate().filter(|(_, of)| of.asserted) {
            if seen.phases.len() <= at {
                return Err(format!("{} never reached {}", task.name, phase.name));
            }
            let (start, end) = seen.phase(at);
            let wants_small = phase.name.starts_with("low");
            let there = seen.slices.iter().find(|slice| {
                let small = classes[0].cpus.contains(&(slice.cpu as usize));
                slice.to > start && small == wants_small
            });
            let when = there.map_or(end, |slice| slice.from.clamp(start, end));
            measured.push(TestFigure {
                test: SWITCH,
                of: format!("{}, {}", task.name, phase.name),
                milli: ((when - start) / 1000) as i64,
            });
        }
    }
    Ok(measured)
}

fn halves(platform: &Platform, count: usize) -> Result<Vec<Plan>, String> {
    if platform.nodes() < 2 {
        return Err("the machine has one NUMA node".to_owned());
    }
    let settle = 2 * pelt::settling_ns(1024.0, 1.0) / 1_000_000;
    let task = |at| Task {
        name: format!("tsk{at}"),
        phases: vec![
            Phase::new("buffer", Work::periodic(512.0, settle)).unjudged(),
            Phase::new("test", Work::periodic(512.0, 30_000)),
        ],
    };
    Ok(vec![Plan::tasks("", (0..count).map(task).collect())])
}

fn judge_stays(_platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let tasks = run.plan.of_tasks().iter().zip(&run.seen.tasks);
    tasks
        .map(|(task, seen)| {
            let start = seen.phases.get(1);
            let start = *start.ok_or_else(|| format!("{} never began its phase", task.name))?;
            let mut cpus: Vec<u32> = (seen.slices.iter())
                .filter(|slice| slice.to > start)
                .map(|slice| slice.cpu)
                .collect();
            cpus.dedup();
            Ok(TestFigure {
                test: REMAINS,
                of: task.name.clone(),
                milli: (cpus.len() as i64 - 1).max(0) * 1000,
            })
        })
        .collect()
}
