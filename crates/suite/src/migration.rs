// SPDX-License-Identifier: GPL-2.0-only
//! B. Tasks that are moved from CPU to CPU take their utilization along, after LISA's
//! `CPUMigrationBase` of 2021.

use super::load_tracking::tunnel;
use super::pelt;
use super::plan::{ClockRule, Load, Phase, Plan, Task, Work};
use super::platform::{Class, Platform};
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const TEST: &str = "util_task_migration";

const fn entry(
    name: &'static str,
    about: &'static str,
    limits: &'static [Limit],
    plans: fn(&Platform) -> Result<Vec<Plan>, String>,
) -> Entry {
    Entry {
        name,
        family: Family::LoadTracking,
        about,
        limits,
        plans,
        judge,
    }
}

const fn within(percent: i64, reason: &'static str) -> Limit {
    Limit {
        test: TEST,
        what: "difference of a CPU's util_avg in a phase from the share of time that it was busy",
        unit: "%",
        bound: Bound::AtMost(percent * 1000),
        reason,
    }
}

/// The scenarios.
pub const ENTRIES: [Entry; 3] = [
    entry(
        "OneTaskCPUMigration",
        "a task of 20 % goes from one big CPU to another; a task of 30 % stays on each of them",
        &[within(
            3,
            "the middle of the signal's range is only near its mean",
        )],
        one_task,
    ),
    entry(
        "TwoTasksCPUMigration",
        "two tasks of 50 % on two big CPUs change places",
        &[within(
            3,
            "the middle of the signal's range is only near its mean",
        )],
        |platform| permuted(platform, 2),
    ),
    entry(
        "NTasksCPUMigration",
        "up to five tasks of 50 % change places on as many CPUs of one class, in every order",
        &[within(
            8,
            "there are up to 120 orders, so the last one may be long ago",
        )],
        |platform| {
            let most = platform
                .classes()
                .iter()
                .map(|class| class.cpus.len())
                .max();
            permuted(platform, most.unwrap_or(1).min(5))
        },
    ),
];

/// The biggest class that has so many CPUs, and these.
fn cpus_of(platform: &Platform, count: usize) -> Result<(Class, Vec<usize>), String> {
    let mut classes = platform.classes().into_iter().rev();
    let class = classes.find(|class| class.cpus.len() >= count && count > 1);
    let class = class.ok_or_else(|| format!("no {} CPUs have one capacity", count.max(2)))?;
    let cpus = class.cpus[..count].to_vec();
    Ok((class, cpus))
}

/// A phase lasts three times as long as PELT needs to settle.
fn phase(name: String, class: &Class, percent: u32, cpu: usize) -> Phase {
    let ms = 3 * pelt::settling_ns(1024.0, 1.0) / 1_000_000;
    let util = f64::from(class.capacity) * f64::from(percent) / 100.0;
    Phase::new(name, Work::periodic(util, ms)).on(&[cpu])
}

fn plan(tasks: Vec<Task>) -> Vec<Plan> {
    vec![Plan {
        label: String::new(),
        clock: ClockRule::Performance,
        shallow_idle: true,
        signals: true,
        hotplug: 0,
        load: Load::Tasks(tasks),
    }]
}

fn one_task(platform: &Platform) -> Result<Vec<Plan>, String> {
    let (class, cpus) = cpus_of(platform, 2)?;
    let name = |at: usize| format!("phase_{at}");
    let mut tasks = vec![Task {
        name: "migr".to_owned(),
        phases: (0..2)
            .map(|at| phase(name(at), &class, 20, cpus[at]))
            .collect(),
    }];
    tasks.extend(cpus.iter().enumerate().map(|(of, &cpu)| Task {
        name: format!("static{of}"),
        phases: (0..2).map(|at| phase(name(at), &class, 30, cpu)).collect(),
    }));
    Ok(plan(tasks))
}

fn permuted(platform: &Platform, count: usize) -> Result<Vec<Plan>, String> {
    let (class, cpus) = cpus_of(platform, count)?;
    let orders = permutations(&cpus);
    let task = |of: usize| Task {
        name: format!("migr{of}"),
        phases: (orders.iter().enumerate())
            .map(|(at, order)| phase(format!("phase_{at}"), &class, 50, order[of]))
            .collect(),
    };
    Ok(plan((0..count).map(task).collect()))
}

/// Every order, in lexicographic order of places.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![vec![]];
    }
    let mut all = vec![];
    for (at, &first) in of.iter().enumerate() {
        let rest = [&of[..at], &of[at + 1..]].concat();
        for tail in permutations(&rest) {
            all.push([vec![first], tail].concat());
        }
    }
    all
}

fn judge(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let run = observed.first().ok_or("there is no run")?;
    let planned = run.plan.of_tasks();
    let first = run.seen.tasks.first().ok_or("there is no task")?;
    let mut measured = vec![];
    for at in 0..planned[0].phases.len() {
        if run.seen.tasks.iter().any(|task| task.phases.len() <= at) {
            return Err("a task did not reach its last phase".to_owned());
        }
        let window = first.phase(at);
        // The first quarter still has the phase before in it.
        let settled = (window.0 + (window.1 - window.0) / 4, window.1);
        let mut cpus: Vec<u32> = (planned.iter())
            .filter_map(|task| task.phases[at].cpus.as_ref()?.first().copied())
            .collect();
        cpus.sort_unstable();
        cpus.dedup();
        for cpu in cpus {
            let ran = run
                .seen
                .tasks
                .iter()
                .map(|task| task.ran(window, |on| on == cpu));
            let busy = ran.sum::<u64>() as f64 / (window.1 - window.0).max(1) as f64;
            let expected = busy * f64::from(platform.cpus[cpu as usize].capacity);
            let mut samples: Vec<(u64, u32)> = (run.seen.tasks.iter())
                .flat_map(|task| &task.samples)
                .filter(|of| of.cpu == cpu && of.at >= settled.0 && of.at < settled.1)
                .map(|of| (of.at, of.queue_util))
                .collect();
            samples.sort_by_key(|of| of.0);
            let values: Vec<u32> = samples.into_iter().map(|of| of.1).collect();
            if values.is_empty() || expected == 0.0 {
                return Err(format!("nothing ran on CPU {cpu} in phase {at}"));
            }
            let off = (tunnel(&values) - expected).abs() / expected;
            measured.push(TestFigure {
                test: TEST,
                of: format!("CPU{cpu}, phase_{at}"),
                milli: (off * 100_000.0).round() as i64,
            });
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests;
