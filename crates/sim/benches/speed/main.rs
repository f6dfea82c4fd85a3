// SPDX-License-Identifier: GPL-2.0-only
//! What the simulator costs on one core. First instructions per job (one wake, run and sleep), which
//! repeat to the digit: exit code 1 if they grew. Then how many jobs and context switches it
//! simulates in a second, beside a bare event queue measured in the same process, and the share of
//! the time that each mechanism takes: these depend on the machine, and nothing is demanded of them.

mod instructions;
mod share;

use alight_machine::{CpuSet, Machine};
use alight_policy::Scheduler;
use alight_sim::{Scenario, queue::Queue};
use alight_workload::Mode;
use alight_workload::program::{
    Attributes, Calibration, Op, OptionalId, Program, TaskSpec, TimerMode, TimerOrigin, Workload,
};
use cpu_time::ThreadTime;
use std::sync::atomic::AtomicBool;

/// Repetitions; the fastest counts, since the machine is never quiet.
const RUNS: u64 = 3;

/// One measured run: what is simulated, what is counted.
struct Row {
    what: String,
    scheduler: &'static str,
    machine: Machine,
    workload: Workload,
    simulated_ms: u64,
    /// Metric of the outcome.
    counted: &'static str,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, ..] = &arguments[..]
        && flag == instructions::ONE_RUN
    {
        instructions::one_run(&arguments[1..]);
        return;
    }
    let grew = instructions::report();
    if arguments.iter().any(|word| word == "--instructions") {
        std::process::exit(i32::from(grew));
    }
    let rows = rows();
    println!("\n{:<34} {:>12} {:>10}", "what", "per second", "of bare");
    for row in &rows {
        let bare = bare_queue(row.machine.cpus.len());
        let rate = best(|| simulate(row));
        println!("{:<34} {rate:>12.0} {:>10.4}", row.what, rate / bare);
    }
    let shares: Vec<_> = rows
        .iter()
        .map(|row| (row.what.as_str(), share::of(|| _ = simulate(row))))
        .collect();
    share::print(&shares);
    std::process::exit(i32::from(grew));
}

fn rows() -> Vec<Row> {
    let epyc = load("epyc-9654-2s");
    let jobs = |&(cpus, simulated_ms): &(usize, u64)| Row {
        what: format!("jobs, {cpus} CPUs"),
        scheduler: "linux-5.5",
        machine: cut(&epyc, cpus),
        workload: periodic(cpus, 8),
        simulated_ms,
        counted: "jobs",
    };
    let mut rows: Vec<Row> = [(8, 200_000), (64, 30_000), (384, 6_000)]
        .iter()
        .map(jobs)
        .collect();
    // At half of what the phone can do some CPU is overutilized most of the time;
    // at an eighth energy decides nearly all wakeups.
    rows.push(energy_aware("gs101, EAS, half", 1));
    rows.push(energy_aware("gs101, EAS, eighth", 4));
    rows.push(Row {
        what: "switches, hackbench".into(),
        scheduler: "linux-5.5",
        machine: epyc.clone(),
        workload: Workload::load(
            "hackbench -g 32 -f 20 --threads --pipe -l 1000 -s 100",
            Mode::Workgen,
        )
        .expect("a valid command line")
        .workload,
        // For the first 180 ms main creates threads, each by a search of all 384 CPUs.
        simulated_ms: 600,
        counted: "context_switches",
    });
    rows
}

/// A phone, tasks placed by energy: half load, divided by `part`.
fn energy_aware(what: &str, part: u64) -> Row {
    let machine = load("gs101");
    let cpus = machine.cpus.len();
    let capacity: u64 = machine
        .cpus
        .iter()
        .map(|c| u64::from(c.capacity_orig))
        .sum();
    let mut workload = periodic(cpus, 8);
    for op in workload.programs.iter_mut().flat_map(|p| &mut p.ops) {
        if let Op::Run { ns } = op {
            *ns = *ns * capacity / (1024 * cpus as u64) / part;
        }
    }
    Row {
        what: what.into(),
        scheduler: "linux-6.5",
        machine,
        workload,
        simulated_ms: 20_000,
        counted: "jobs",
    }
}

fn load(machine: &str) -> Machine {
    alight_machine::load(machine).expect("built in").machine
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

/// Simulates the row; returns how many of what it counts were done.
fn simulate(row: &Row) -> f64 {
    let scheduler = Scheduler::parse(row.scheduler).expect("a valid scheduler");
    let scenario = Scenario {
        duration_ns: Some(row.simulated_ms * 1_000_000),
        wakee_flips: Some(0),
        ..Scenario::new(
            &row.machine,
            std::slice::from_ref(&row.workload),
            &scheduler,
        )
    };
    let outcome = alight_sim::run(&scenario, None, &AtomicBool::new(false)).expect("it is valid");
    let mut metrics = outcome.results.iter().chain(&outcome.mechanism);
    metrics
        .find(|m| m.name == row.counted)
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
        better: Some(alight_workload::program::Better::Higher),
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
                histogram: OptionalId::NONE,
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
            begins: None,
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
