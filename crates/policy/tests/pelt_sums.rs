// SPDX-License-Identifier: GPL-2.0-only
//! What becomes of a queue's sums when signals leave and join it, by base.
//!
//! Rounding may leave a sum below what its average stands for (average times
//! 46718, the least divider). 5.4 lets it be. 5.10.262 and 5.15.215 make the sum of the
//! average that is left, times the present divider; 5.10.262 not that of load when a task
//! leaves, and both not that of utilization when it leaves from afar. 6.1 enforces that bound by
//! `max_t(u32, sum, avg * PELT_MIN_DIVIDER)`, which cuts the 64-bit sums of load
//! and runnable to 32 bits (fair.c of 6.1 and 6.12: `dequeue_load_avg`,
//! `detach_entity_load_avg`, `update_cfs_rq_load_avg`). 7.2 takes the bound in the sum's own
//! type, and also when load joins (`__update_sa`).

use alight_policy::{Cpu, Params, Pelt, Scheduler, Task, rq};

const MIN_DIV: u64 = 47742 - 1024;

fn base(name: &str) -> Params {
    Scheduler::parse(name).unwrap().params
}

/// A queue with this load, all else 0, at the beginning of a period.
fn queue(load_avg: u32, load_sum: u64) -> Cpu {
    Cpu {
        cfs: Pelt {
            last_update_time: 1 << 20,
            load_avg,
            load_sum,
            ..Pelt::default()
        },
        ..Cpu::default()
    }
}

/// A task of this load and weight, as a queue knows it.
fn task(weight: u32, load_avg: u32, load_sum: u64) -> Task {
    Task {
        weight,
        pelt: Pelt {
            last_update_time: 1 << 20,
            load_avg,
            load_sum,
            ..Pelt::default()
        },
        ..Task::default()
    }
}

#[test]
fn a_sum_that_rounding_left_too_small_is_raised_from_6_1_on() {
    // What is left: average 10, and a sum worth 9.
    for (name, left) in [
        ("linux-5.4", 9 * MIN_DIV),
        ("linux-5.5", 10 * MIN_DIV),
        ("linux-6.1", 10 * MIN_DIV),
        ("linux-6.5", 10 * MIN_DIV),
        ("linux-7.2", 10 * MIN_DIV),
    ] {
        let mut cpu = queue(20, 19 * MIN_DIV);
        rq::detach_signals(&base(name), &mut cpu, &mut task(1, 10, 10 * MIN_DIV));
        assert_eq!((cpu.cfs.load_avg, cpu.cfs.load_sum), (10, left), "{name}");
    }
}

/// A queue 100 units into its period, with a task of half its signals.
fn halves() -> (Cpu, Task) {
    let pelt = |avg: u32, sum: u64| Pelt {
        last_update_time: 1 << 20,
        period_contrib: 100,
        load_avg: avg,
        runnable_avg: avg,
        util_avg: avg,
        load_sum: sum,
        runnable_sum: sum,
        util_sum: sum as u32,
        ..Pelt::default()
    };
    let cpu = Cpu {
        cfs: pelt(20, 20 * MIN_DIV + 7),
        clock: 1 << 20,
        clock_pelt: 1 << 20,
        ..Cpu::default()
    };
    let task = Task {
        weight: 1,
        pelt: pelt(10, 10 * MIN_DIV),
        ..Task::default()
    };
    (cpu, task)
}

#[test]
fn in_5_10_262_and_5_15_215_sums_are_made_of_the_averages() {
    let (made, left) = (10 * (MIN_DIV + 100), 10 * MIN_DIV + 7);
    for (name, load) in [("linux-5.10", left), ("linux-5.15", made)] {
        let (mut cpu, mut task) = halves();
        rq::detach_signals(&base(name), &mut cpu, &mut task);
        let found = (
            cpu.cfs.load_sum,
            cpu.cfs.runnable_sum,
            u64::from(cpu.cfs.util_sum),
        );
        assert_eq!(found, (load, made, made), "{name}");
    }
}

#[test]
fn what_left_from_afar_makes_them_too_but_for_utilization() {
    // Taken: the average times the divider, which is more than the task had.
    let (made, util) = (10 * (MIN_DIV + 100), 10 * MIN_DIV);
    for name in ["linux-5.10", "linux-5.15"] {
        let (k, (mut cpu, mut task)) = (base(name), halves());
        rq::remove(&k, &mut cpu, &mut task);
        assert!(rq::refresh(&k, &mut cpu, false), "{name}");
        let found = (
            cpu.cfs.load_sum,
            cpu.cfs.runnable_sum,
            u64::from(cpu.cfs.util_sum),
        );
        assert_eq!(found, (made, made, util), "{name}");
    }
}

#[test]
fn up_to_6_18_what_leaves_cuts_the_sums_to_32_bits() {
    let (avg, sum) = (200_000, 200_000 * 47_000);
    let gone = || task(2, 1_000, 500 * 47_000);
    let rest = sum - 1_000 * 47_000;
    let low = u64::from(rest as u32);
    let least = u64::from((199_000 * MIN_DIV) as u32);
    assert!(rest > u64::from(u32::MAX), "a heavy queue");
    for (name, left) in [
        ("linux-5.4", rest),
        ("linux-6.1", low.max(least)),
        ("linux-6.5", low.max(least)),
        ("linux-7.2", rest),
    ] {
        let mut cpu = queue(avg, sum);
        rq::detach_signals(&base(name), &mut cpu, &mut gone());
        assert_eq!(cpu.cfs.load_sum, left, "{name}");
    }
}

#[test]
fn what_is_runnable_is_cut_from_90_tasks_on() {
    let runnable_sum = 91 * 1024 * 47_742;
    for (name, left) in [
        ("linux-6.1", u64::from(runnable_sum as u32)),
        ("linux-7.2", runnable_sum),
    ] {
        let mut cpu = queue(0, 0);
        (cpu.cfs.runnable_sum, cpu.cfs.runnable_avg) = (runnable_sum, 0);
        rq::detach_signals(&base(name), &mut cpu, &mut task(1024, 0, 0));
        assert_eq!(cpu.cfs.runnable_sum, left, "{name}");
    }
}

#[test]
fn a_removal_of_nothing_cuts_too() {
    let sum = (1 << 32) + 7;
    for (name, left) in [("linux-6.1", 7), ("linux-7.2", sum), ("linux-5.4", sum)] {
        let (k, mut cpu) = (base(name), queue(0, sum));
        // All of its averages have decayed.
        let mut sleeper = task(15, 0, 3);
        rq::remove(&k, &mut cpu, &mut sleeper);
        (cpu.clock, cpu.clock_pelt) = (1 << 20, 1 << 20);
        assert!(rq::refresh(&k, &mut cpu, false), "the governor hears of it");
        assert_eq!(cpu.cfs.load_sum, left, "{name}");
        assert!(!rq::refresh(&k, &mut cpu, false), "{name}: once");
    }
}

#[test]
fn load_that_joins_raises_a_small_sum_in_7_2_only() {
    // The queue's sum is worth 5 less than its average of 10.
    for (name, raised) in [
        ("linux-6.1", false),
        ("linux-6.5", false),
        ("linux-7.2", true),
    ] {
        let (k, mut cpu) = (base(name), queue(10, 5 * MIN_DIV));
        let mut newcomer = task(1, 4, 0);
        rq::attach_signals(&k, &mut cpu, &mut newcomer);
        let sum = if raised { 14 } else { 5 + 4 } * MIN_DIV;
        assert_eq!((cpu.cfs.load_avg, cpu.cfs.load_sum), (14, sum), "{name}");
    }
}

#[test]
fn a_new_weight_is_load_that_leaves_and_load_that_joins() {
    let (avg, sum) = (200_000, 200_000 * 47_000);
    let rest = sum - 1_000 * 47_000;
    let cut = u64::from(rest as u32).max(u64::from((199_000 * MIN_DIV) as u32));
    for (name, left) in [("linux-5.4", rest), ("linux-6.5", cut), ("linux-7.2", rest)] {
        let (k, mut cpu) = (base(name), queue(avg, sum));
        let mut task = task(2, 1_000, 500 * 47_000);
        rq::reweight(&k, &mut cpu, &mut task, 4);
        let joined = 4 * 500 * 47_000;
        assert_eq!(u64::from(task.pelt.load_avg), joined / MIN_DIV);
        assert_eq!(cpu.cfs.load_avg, 199_000 + task.pelt.load_avg);
        assert_eq!(cpu.cfs.load_sum, left + joined, "{name}");
    }
}
