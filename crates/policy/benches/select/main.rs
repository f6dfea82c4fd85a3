// SPDX-License-Identifier: GPL-2.0-only
//! What one decision costs on this host: three machines, idle to full, the base
//! and asym-capacity; a small task and a big one wake, a new one starts. Then what
//! features cost (`features.rs`), against what they may.
//!
//! `cargo bench -p alight-policy` prints tables. Waking and previous CPUs are
//! drawn once from a fixed sequence; a decision reads the whole state that a
//! simulation would hold, and the views fit the caches as they would there.

use alight_policy::topology::build;
use alight_policy::{Core, Kind, Mask, Scheduler, Task, Waker, Wakeup};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use machines::{Sequence, desktop, epyc, sdm845};

mod features;
mod machines;

/// Pairs of waking and previous CPU.
const PAIRS: usize = 4096;
/// The median of so many rounds is printed.
const ROUNDS: usize = 9;

/// Makes `busy` of every two CPUs run a task.
fn occupy(core: &mut Core, busy: u32, sequence: &mut Sequence) {
    for cpu in &mut core.cpus {
        cpu.avg_idle = 500_000;
        cpu.idle_stamp = 1;
        if sequence.below(2) < busy {
            (cpu.nr_running, cpu.h_nr_running, cpu.curr_is_idle) = (1, 1, 0);
            (cpu.cfs.load_avg, cpu.cfs.util_avg) = (700, 600);
        }
    }
}

/// Nanoseconds and CPUs looked at, a decision.
fn measure(
    core: &mut Core,
    pairs: &[(u32, u32)],
    (kind, util): (Kind, u32),
    rounds: usize,
) -> (f64, f64) {
    let allowed: Mask = (0..core.topology.nr_cpus).collect();
    let mut wakee = Task {
        id: 2,
        nr_cpus_allowed: core.topology.nr_cpus,
        ..Task::default()
    };
    wakee.pelt.util_avg = util;
    let mut waker = Task {
        id: 1,
        last_wakee: 2,
        ..Task::default()
    };
    let mut looked = 0;
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            looked = 0;
            let start = Instant::now();
            for &(this, prev) in pairs {
                wakee.prev_cpu = if kind == Kind::Wake { prev } else { this };
                let answer = core.select(Wakeup {
                    task: &mut wakee,
                    allowed: &allowed,
                    waker: Waker {
                        cpu: this,
                        task: &mut waker,
                        sync: false,
                    },
                    kind,
                    flags: 0,
                    now: 1_000_000,
                });
                looked += answer.looked_near + answer.looked_far + answer.summed;
                black_box(answer.cpu);
            }
            start.elapsed().as_nanos() as f64 / pairs.len() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[rounds / 2], f64::from(looked) / pairs.len() as f64)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if features::counted_turn(&arguments) {
        features::run_turn();
        return ExitCode::SUCCESS;
    }
    let measured = arguments.iter().any(|a| a == "--bench");
    decisions(measured);
    features::report(measured)
}

fn decisions(measured: bool) {
    // `cargo test --benches` passes no --bench: one round shows that it works.
    let rounds = if measured { ROUNDS } else { 1 };
    let machines = [
        ("8 big.LITTLE", sdm845()),
        ("16 SMT, one cache", desktop()),
        ("384, two sockets", epyc()),
    ];
    println!("ns a decision (CPUs looked at), median of {rounds} rounds of {PAIRS} wakeups");
    println!(
        "{:<18} {:<5} {:<24} {:>13} {:>13} {:>13}",
        "machine", "state", "scheduler", "util 100", "util 600", "fork"
    );
    for (name, machine) in machines {
        for (state, busy) in [("idle", 0), ("half", 1), ("full", 2)] {
            for scheduler in ["linux-5.5", "linux-5.5+asym-capacity"] {
                let params = Scheduler::parse(scheduler).unwrap().params;
                let mut core = build(&machine, &params).unwrap();
                let mut sequence = Sequence(0x9e37_79b9_7f4a_7c15);
                occupy(&mut core, busy, &mut sequence);
                let nr = core.topology.nr_cpus;
                let pairs: Vec<_> = (0..PAIRS)
                    .map(|_| (sequence.below(nr), sequence.below(nr)))
                    .collect();
                let asked = [(Kind::Wake, 100), (Kind::Wake, 600), (Kind::Fork, 0)];
                let [small, big, fork] = asked.map(|what| {
                    let (ns, looked) = measure(&mut core, &pairs, what, rounds);
                    format!("{ns:.0} ({looked:.1})")
                });
                println!("{name:<18} {state:<5} {scheduler:<24} {small:>13} {big:>13} {fork:>13}");
            }
        }
    }
}
