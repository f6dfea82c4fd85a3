// SPDX-License-Identifier: GPL-2.0-only
//! C. Tasks that a small CPU is too slow for, after LISA's `StaggeredFinishes`: they
//! move up as soon as a bigger CPU is free.

use super::observe::{Slice, TaskSeen};
use super::plan::{Phase, Plan, Task, Work};
use super::platform::{Class, Platform};
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const THROUGHPUT: &str = "throughput";
const PREEMPT_TIME: &str = "preempt_time";

/// The phase in which tasks are put on their CPUs.
const PINNED: usize = 1;

/// The scenario.
pub const ENTRIES: [Entry; 1] = [Entry {
    name: "StaggeredFinishes",
    family: Family::Migration,
    about: "a task that never sleeps for each CPU, each a bit longer than the one before: those on \
            small CPUs move to bigger ones that are done",
    limits: &[
        Limit {
            test: THROUGHPUT,
            what: "longest idle time of a bigger CPU while a task runs on a small one, in balancing intervals",
            unit: "",
            bound: Bound::AtMost(1000),
            reason: "newidle balancing may pull at once; a regular balance comes within one interval",
        },
        Limit {
            test: PREEMPT_TIME,
            what: "share of the run in which a task waits for another one, of the worst task",
            unit: "%",
            bound: Bound::AtMost(1000),
            reason: "there is a CPU for each task",
        },
    ],
    plans,
    judge,
}];

/// LISA's: sleep pinned, run pinned for 1 ms, then run where the scheduler likes: longer than
/// balancing intervals last, which pinned tasks have stretched.
fn plans(platform: &Platform) -> Result<Vec<Plan>, String> {
    platform.asymmetric()?;
    let free_ns = platform.max_balance_interval_ns() * 11 / 10;
    let stagger_ns = platform.balance_interval_ns() * 3 / 2;
    let task = |cpu: usize| Task {
        name: format!("msft{cpu}"),
        phases: vec![
            Phase::new("idling", Work::Sleep { ns: 1_000_000_000 }).on(&[cpu]),
            Phase::new("pinned", Work::Run { ns: 1_000_000 }).on(&[cpu]),
            Phase::new(
                "staggered",
                Work::Run {
                    ns: free_ns + cpu as u64 * stagger_ns,
                },
            ),
        ],
    };
    let tasks = (0..platform.cpus.len()).map(task).collect();
    Ok(vec![Plan::tasks("", tasks)])
}

fn judge(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let tasks = &run.seen.tasks;
    let starts = tasks.iter().filter_map(|task| task.phases.get(PINNED));
    let start = *starts.max().ok_or("no task reached its CPU")?;
    let ends: Option<Vec<u64>> = tasks.iter().map(|task| task.end).collect();
    let end = ends.and_then(|ends| ends.into_iter().max());
    let end = end.ok_or("a task never ended")?;
    let classes = platform.classes();
    let interval = platform.balance_interval_ns();
    let mut measured = vec![];
    for (task, of) in tasks.iter().zip(run.plan.of_tasks()) {
        let idle = longest_idle(task, tasks, &classes, start);
        measured.push(TestFigure {
            test: THROUGHPUT,
            of: of.name.clone(),
            milli: (idle * 1000).div_ceil(interval) as i64,
        });
        measured.push(TestFigure {
            test: PREEMPT_TIME,
            of: of.name.clone(),
            milli: (preempted(task, start) * 100_000 / (end - start).max(1)) as i64,
        });
    }
    Ok(measured)
}

/// Longest time, ns, in which some bigger CPU is idle while `task` runs on a small one.
fn longest_idle(task: &TaskSeen, all: &[TaskSeen], classes: &[Class], start: u64) -> u64 {
    let small = &classes[0].cpus;
    let bigger = classes[1..].iter().flat_map(|class| &class.cpus);
    let on_small = |slice: &&Slice| slice.to > start && small.contains(&(slice.cpu as usize));
    let slices: Vec<(u64, u64)> = (task.slices.iter())
        .filter(on_small)
        .map(|slice| (slice.from.max(start), slice.to))
        .collect();
    let mut longest = 0;
    for &cpu in bigger {
        let busy = busy(all, cpu);
        for &window in &slices {
            longest = longest.max(longest_gap(&busy, window));
        }
    }
    longest
}

/// When `cpu` ran one of the tasks, in order.
fn busy(all: &[TaskSeen], cpu: usize) -> Vec<(u64, u64)> {
    let slices = all.iter().flat_map(|task| &task.slices);
    let mine = slices.filter(|slice| slice.cpu as usize == cpu);
    let mut busy: Vec<(u64, u64)> = mine.map(|slice| (slice.from, slice.to)).collect();
    busy.sort_unstable();
    busy
}

/// Longest time within a window that none of the intervals, which are in order, covers.
fn longest_gap(busy: &[(u64, u64)], (start, end): (u64, u64)) -> u64 {
    let (mut since, mut longest) = (start, 0);
    for &(from, to) in busy {
        if to <= start || from >= end {
            continue;
        }
        longest = longest.max(from.saturating_sub(since));
        since = since.max(to);
    }
    longest.max(end.saturating_sub(since))
}

/// Time that a task waited because another of them ran instead, ns.
fn preempted(task: &TaskSeen, start: u64) -> u64 {
    let waits = task.slices.windows(2).filter(|pair| {
        let by_another = pair[0].next.is_some() && !pair[0].sleeps;
        by_another && pair[1].from > start
    });
    waits.map(|pair| pair[1].from - pair[0].to.max(start)).sum()
}

#[cfg(test)]
mod tests;
