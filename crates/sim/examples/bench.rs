// SPDX-License-Identifier: GPL-2.0-only
//! Speed of the simulator on one core: jobs per second (a job is one wake, run,
//! sleep cycle) and context switches per second, as absolute figures and as
//! ratios to a bare event queue measured in the same process. Exits with 1 if a
//! figure is below what the project promises.

use alight_machine::{CpuSet, Machine};
use alight_policy::Scheduler;
use alight_sim::{Outcome, Scenario, queue::Queue};
use alight_workload::Mode;
use alight_workload::program::{
    Attributes, Calibration, Op, Program, TaskSpec, TimerMode, TimerOrigin, Workload,
};
use cpu_time::ThreadTime;
use std::sync::atomic::AtomicBool;

/// Repetitions; the fastest counts, since the machine is never quiet.
const RUNS: u64 = 3;

fn main() {
    let epyc = alight_machine::load("epyc-9654-2s")
        .expect("built in")
        .machine;
    let mut missed = 0;
    println!(
        "{:<34} {:>12} {:>10} {:>9}",
        "what", "per second", "of bare", "promised"
    );
    for (cpus, promised, simulated_ms) in
        [(8, 4.0e6, 20_000), (64, 3.0e6, 3_000), (384, 2.0e6, 1_500)]
    {
        let machine = cut(&epyc, cpus);
        let workload = periodic(cpus, 8);
        let bare = bare_queue(cpus);
        let rate = best(|| {
            let outcome = simulate(
                "linux-5.5",
                &machine,
                &workload,
                Some(simulated_ms * 1_000_000),
            );
            metric(&outcome, "jobs")
        });
        missed += report(&format!("jobs, {cpus} CPUs"), rate, bare, promised);
    }
    missed += energy_aware();
    let hackbench = Workload::load(
        "hackbench -g 32 -f 20 --threads --pipe -l 1000 -s 100",
        Mode::Workgen,
    )
    .expect("a valid command line")
    .workload;
    let bare = bare_queue(384);
    let rate = best(|| {
        let outcome = simulate("linux-5.5", &epyc, &hackbench, Some(200_000_000));
        metric(&outcome, "context_switches")
    });
    missed += report("context switches, hackbench 1280/384", rate, bare, 3.0e6);
    std::process::exit(i32::from(missed != 0));
}

/// A phone, tasks placed by energy: at half of what it can do, where some CPU is
/// overutilized most of the time, and at an eighth, where energy decides nearly
/// all wakeups. Returns how many promises are missed.
fn energy_aware() -> i32 {
    let gs101 = alight_machine::load("gs101").expect("built in").machine;
    let cpus = gs101.cpus.len();
    let capacity: u64 = gs101.cpus.iter().map(|c| u64::from(c.capacity_orig)).sum();
    let bare = bare_queue(cpus);
    let row = |what, part| {
        let mut workload = periodic(cpus, 8);
        for op in workload.programs.iter_mut().flat_map(|p| &mut p.ops) {
            if let Op::Run { ns } = op {
                *ns = *ns * capacity / (1024 * cpus as u64) / part;
            }
        }
        let rate = best(|| {
            let outcome = simulate("linux-6.5", &gs101, &workload, Some(20_000_000_000));
            metric(&outcome, "jobs")
        });
        report(what, rate, bare, 1.5e6)
    };
    row("jobs, gs101, EAS, half load", 1) + row("jobs, gs101, EAS, an eighth", 4)
}

/// Prints a row; 1 if the promise is missed.
fn report(what: &str, rate: f64, bare: f64, promised: f64) -> i32 {
    let missed = rate < promised;
    let mark = if missed { "  MISSED" } else { "" };
    println!(
        "{what:<34} {rate:>12.0} {:>10.4} {promised:>9.0}{mark}",
        rate / bare
    );
    missed.into()
}

/// The highest rate of `work`, which returns how many things it did, by the time
/// that its thread had a CPU: what else runs on the machine does not count.
fn best(mut work: impl FnMut() -> f64) -> f64 {
    (0..RUNS)
        .map(|_| {
            let start = ThreadTime::now();
            let done = work();
            done / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max)
}

/// Events per second of the queue alone: each event moves its own slot on.
fn bare_queue(slots: usize) -> f64 {
    best(|| {
        const EVENTS: u64 = 5_000_000;
        let mut queue = Queue::new(slots);
        for slot in 0..slots {
            queue.set(slot, slot as u64 * 977);
        }
        let mut seed = 1u64;
        for _ in 0..EVENTS {
            let (time, slot) = queue.first();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            queue.set(slot, time + 1 + (seed >> 44));
        }
        std::hint::black_box(queue.first());
        EVENTS as f64
    })
}

fn simulate(
    scheduler: &str,
    machine: &Machine,
    workload: &Workload,
    duration_ns: Option<u64>,
) -> Outcome {
    let scheduler = Scheduler::parse(scheduler).expect("a valid scheduler");
    let scenario = Scenario {
        machine,
        workloads: std::slice::from_ref(workload),
        scheduler: &scheduler,
        governor: None,
        seed: 1,
        duration_ns,
        changes: &[],
        check: false,
    };
    alight_sim::run(&scenario, None, &AtomicBool::new(false)).expect("the scenario is valid")
}

fn metric(outcome: &Outcome, name: &str) -> f64 {
    outcome
        .results
        .iter()
        .chain(&outcome.mechanism)
        .find(|m| m.name == name)
        .expect("reported by every run")
        .value
}

/// `tasks_per_cpu` periodic tasks a CPU, periods of 4 to 32 ms, half load in all.
fn periodic(cpus: usize, tasks_per_cpu: usize) -> Workload {
    let mut workload = Workload::load("cyclictest -t 1 -q -D 1", Mode::Workgen)
        .expect("a valid command line")
        .workload;
    workload.name = "periodic".into();
    workload.tasks.clear();
    workload.programs.clear();
    workload.measures.retain(|_| false);
    workload.histograms.clear();
    workload.duration_ns = None;
    workload.dma_latency_us = None;
    workload.calibration = Calibration::Biggest;
    workload.counters = 1;
    workload.measures.push(alight_workload::program::Measure {
        name: "jobs".into(),
        unit: "",
        better: alight_workload::program::Better::Higher,
        source: alight_workload::program::MeasureSource::Counter { counter: 0 },
    });
    let mut seed = 7u64;
    for i in 0..(cpus * tasks_per_cpu) as u32 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let period_ns = 4_000_000 + (seed >> 33) % 28_000_000;
        let ops = vec![
            Op::LoopBegin {
                slot: 0,
                count: u64::MAX,
                end: 5,
            },
            Op::Timer {
                slot: 0,
                period_ns,
                mode: TimerMode::Relative,
                origin: TimerOrigin::FirstUse,
                histogram: None,
            },
            Op::Run {
                ns: period_ns / (2 * tasks_per_cpu as u64),
            },
            Op::Count { counter: 0 },
            Op::LoopEnd { slot: 0, begin: 1 },
        ];
        workload.programs.push(Program { ops });
        workload.tasks.push(TaskSpec {
            comm: format!("job-{i}"),
            program: i,
            attributes: Attributes::default(),
            start_ns: Some(u64::from(i) * 10_000),
            process: 0,
            working_set_bytes: Some(0),
        });
    }
    workload
}

/// The first `n` CPUs of the machine, cache by cache, threads with their cores.
fn cut(machine: &Machine, n: usize) -> Machine {
    let nr = machine.cpus.len();
    let mut chosen: Vec<usize> = (0..nr).collect();
    // Eight CPUs are the eight cores of one cache; more come with their siblings.
    if n > 8 {
        chosen.sort_by_key(|&cpu| (machine.cpus[cpu].llc, machine.cpus[cpu].core, cpu));
    }
    chosen.truncate(n);
    chosen.sort_unstable();
    let renumber =
        |set: &CpuSet| -> CpuSet { (0..n).filter(|&cpu| set.contains(chosen[cpu])).collect() };
    let mut small = machine.clone();
    small.cpus = chosen
        .iter()
        .map(|&cpu| machine.cpus[cpu].clone())
        .collect();
    for level in &mut small.levels {
        level.spans = level
            .spans
            .iter()
            .map(renumber)
            .filter(|s| !s.is_empty())
            .collect();
    }
    for domain in &mut small.freq_domains {
        domain.cpus = renumber(&domain.cpus);
    }
    for cluster in &mut small.clusters {
        cluster.cpus = renumber(&cluster.cpus);
    }
    small
}
