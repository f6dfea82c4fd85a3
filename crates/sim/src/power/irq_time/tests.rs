// SPDX-License-Identifier: GPL-2.0-only
//! Time in interrupts: which task is charged, and what capacity remains. Ticks come every 4 ms and
//! are the only cost.

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, US, begin_under, machine, task, workload};
use alight_machine::{Governor, Machine};
use alight_workload::program::Op;

/// CPUs that spend `tick_ns` at each tick.
fn ticking(cpus: usize, tick_ns: u64, apart: bool) -> Machine {
    let mut machine = machine(cpus, cpus);
    machine.core_types[0].costs.tick_ns = tick_ns as u32;
    machine.irq_time_accounting = apart;
    machine
}

fn begin<R>(base: &str, machine: &Machine, tasks: &[Given], test: impl FnOnce(&mut Sim) -> R) -> R {
    let given = workload(tasks);
    let rules = (base, Governor::Performance);
    begin_under(rules, machine, &given, &mut Record::default(), test)
}

fn hog() -> Given {
    task(0, &[Op::Run { ns: 100_000 * MS }])
}

/// `update_rq_clock_task`: the current task is charged only for its own time, in each class.
#[test]
fn interrupts_are_charged_to_nobody() {
    use alight_workload::program::Policy;
    for base in ["linux-3.9", "linux-5.5", "linux-6.5", "linux-7.2"] {
        for policy in [Policy::Normal, Policy::Fifo] {
            for (apart, tick_ns) in [(false, 100 * US), (true, 0), (true, 100 * US)] {
                let mut given = hog().policy(policy);
                given.attributes.rt_priority = (policy == Policy::Fifo).then_some(10);
                begin(base, &ticking(1, tick_ns, apart), &[given], |sim| {
                    sim.until(399 * MS);
                    let irq_ns = if apart {
                        tick_ns * sim.stats.ticks.seen()
                    } else {
                        0
                    };
                    assert!(sim.stats.ticks.seen() >= 99, "{}", sim.stats.ticks.seen());
                    assert_eq!(
                        sim.ran(0) + irq_ns,
                        399 * MS,
                        "{base} {policy:?} {apart} {tick_ns}"
                    );
                });
            }
        }
    }
}

/// The work of a handler is known at its start but takes its time. Until its end the task clock
/// stands still, and it never goes back.
#[test]
fn the_clock_of_tasks_stands_while_a_handler_works() {
    begin("linux-6.5", &ticking(1, MS, true), &[hog()], |sim| {
        sim.until(100 * MS);
        let tick = sim.cpus[0].tick_at;
        let clock_at = |sim: &mut Sim, time: u64| {
            sim.until(time);
            sim.rq_clock(0);
            assert_eq!(sim.core.cpus[0].clock, sim.clock_task(0));
            assert_eq!(sim.rq_time(0), time);
            sim.core.cpus[0].clock
        };
        let before = clock_at(sim, tick);
        assert_eq!(clock_at(sim, tick + MS / 4), before);
        assert_eq!(clock_at(sim, tick + MS), before);
        assert_eq!(clock_at(sim, tick + 5 * MS / 4), before + MS / 4);
        assert_eq!(clock_at(sim, tick + 5 * MS), before + 3 * MS);
    });
}

/// A quarter of the time goes to ticks. `avg_irq` approaches a quarter, by half in 32 ms
/// (`update_irq_load_avg`). Three quarters remain for fair tasks (`scale_rt_capacity`). This task
/// uses all of them, and the demand is the whole CPU.
#[test]
fn what_interrupts_take_is_averaged_and_missing() {
    for base in ["linux-5.5", "linux-6.1", "linux-7.2"] {
        let hogs = [hog().on(&[0]), hog().on(&[1])];
        begin(base, &ticking(2, MS, true), &hogs, |sim| {
            sim.until(32 * MS);
            let half = sim.core.cpus[0].irq_util;
            assert!((108..=148).contains(&half), "{base}: {half}");
            sim.until(1000 * MS);
            let view = &sim.core.cpus[0];
            assert!(
                (236..=276).contains(&view.irq_util),
                "{base}: {}",
                view.irq_util
            );
            assert!(
                (748..=788).contains(&view.capacity),
                "{base}: {}",
                view.capacity
            );
            assert!(view.cfs.util_avg >= 1000, "{base}: {}", view.cfs.util_avg);
            let demand = sim.highest_demand(&[0]);
            assert!(demand.perf >= demand.max - 10, "{base}: {demand:?}");
        });
    }
}

/// The signal is scaled by frequency and core type like time: the same work gives the same value,
/// relative to the biggest CPU, wherever it is done.
#[test]
fn the_average_is_scaled_by_capacity() {
    let mut machine = ticking(1, MS, true);
    machine.cpus[0].capacity_orig = 512;
    machine.freq_domains[0].opps[0].capacity = 512;
    begin("linux-6.5", &machine, &[hog()], |sim| {
        sim.until(1000 * MS);
        let irq = sim.core.cpus[0].irq_util;
        assert!((118..=138).contains(&irq), "{irq}");
    });
}

/// Before 4.19 it counts with the time of real-time tasks (`sched_rt_avg_update`).
#[test]
fn old_kernels_average_it_over_half_seconds() {
    for (apart, left) in [(false, 1024), (true, 768)] {
        begin("linux-3.9", &ticking(1, MS, apart), &[hog()], |sim| {
            sim.until(5000 * MS);
            let found = sim.left_by_rt(0);
            assert!(found.abs_diff(left) <= 4, "{apart}: {found}");
            assert_eq!(sim.core.cpus[0].irq_util, 0);
        });
    }
}

/// The interrupt time of an idle CPU decays with its blocked load (`__update_blocked_others`).
#[test]
fn it_decays_on_an_idle_cpu() {
    let brief = [Op::Run { ns: 100 * MS }, Op::Sleep { ns: 100_000 * MS }];
    let tasks = [task(0, &brief).on(&[0]), hog().on(&[1])];
    begin("linux-6.5", &ticking(2, MS, true), &tasks, |sim| {
        sim.until(130 * MS);
        assert!(sim.core.cpus[0].irq_util > 100);
        sim.until(1000 * MS);
        assert_eq!(sim.core.cpus[0].irq_util, 0);
    });
}
