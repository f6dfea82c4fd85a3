// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking: the arithmetic of one signal set, and what a runqueue and its
//! tasks do to each other.
//!
//! Expected figures were derived by hand from the definition of the geometric
//! sum or from kernel/sched/pelt.c and fair.c, not read off this code.

mod common;

use alight_policy::abi::Params;
use alight_policy::{Cpu, Pelt, Scheduler, Task, pelt, rq};
use common::duo::{Duo, linux_5_5};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// 1024 units of 1024 ns.
const PERIOD: u64 = 1 << 20;
/// Limit of the sum of the closed periods, and of all of it.
const MIN_DIV: u64 = 46718;
const MAX: u64 = 47742;

// ---- arithmetic ----

#[test]
fn every_sum_decays_alike_over_any_idle_time() {
    let full = Pelt {
        load_sum: 47_742,
        runnable_sum: 47_742 << 10,
        util_sum: 47_742 << 10,
        ..Pelt::default()
    };
    // From 1024 periods on a sum is shifted by 32 bits and more.
    for n in [1, 31, 32, 33, 1023, 1024, 1100, 1500, 2016, 2017, 5000] {
        let mut a = full;
        assert!(pelt::accumulate(&mut a, n * PERIOD, 0, 0, 0));
        assert_eq!(a.load_sum, pelt::decay(full.load_sum, n), "{n} periods");
        assert_eq!(
            a.runnable_sum,
            pelt::decay(full.runnable_sum, n),
            "{n} periods"
        );
        let util_sum = pelt::decay(full.util_sum.into(), n);
        assert_eq!(u64::from(a.util_sum), util_sum, "{n} periods");
    }
}

#[test]
fn decay_constants_are_powers_of_y() {
    for n in 0..32 {
        let exact = f64::from(u32::MAX) * 0.5f64.powf(n as f64 / 32.0);
        assert_eq!(pelt::decay(1 << 32, n), exact as u64, "2^32 * y^{n}");
    }
}

#[test]
fn decay_halves_every_32_periods_and_ends_after_63_halvings() {
    for n in 1..=31 {
        let once = pelt::decay(1 << 40, n);
        assert_eq!(pelt::decay(1 << 40, n + 32), once / 2, "n = {n}");
    }
    assert_ne!(pelt::decay(u64::MAX, 2015), 0);
    assert_eq!(pelt::decay(u64::MAX, 2017), 0);
    assert_eq!(pelt::decay(u64::MAX, u64::MAX), 0);
}

#[test]
fn the_sum_of_all_periods_converges_to_max() {
    let mut sum = 1024;
    for _ in 0..400 {
        sum = pelt::decay(sum, 1) + 1024;
    }
    assert_eq!(sum, MAX);
}

#[test]
fn running_from_nothing_and_idling_for_32_periods() {
    let table = [
        (1, 21, 10),
        (2, 43, 21),
        (4, 85, 42),
        (8, 162, 81),
        (16, 299, 149),
        (32, 512, 255),
        (64, 768, 384),
        (128, 960, 480),
        (256, 1020, 510),
        (345, 1023, 511),
    ];
    for (periods, busy, idle) in table {
        let mut a = Pelt::default();
        assert!(pelt::accumulate(&mut a, periods * PERIOD, 1, 1, 1));
        pelt::average(&mut a, 1024);
        assert_eq!(a.util_avg, busy, "after {periods} periods");
        assert_eq!(
            (a.load_avg, a.runnable_avg),
            (busy, busy),
            "{periods}: all three alike"
        );
        pelt::accumulate(&mut a, (periods + 32) * PERIOD, 0, 0, 0);
        pelt::average(&mut a, 1024);
        assert_eq!(a.util_avg, idle, "{periods} periods, then 32 idle");
    }
}

#[test]
fn averages_are_due_only_when_a_period_ends() {
    let mut a = Pelt::default();
    assert!(!pelt::accumulate(&mut a, PERIOD - 1024, 1, 1, 1));
    assert_eq!(
        (a.period_contrib, a.load_sum, a.util_sum),
        (1023, 1023, 1023 << 10)
    );
    assert!(pelt::accumulate(&mut a, PERIOD, 1, 1, 1));
    assert_eq!(a.period_contrib, 0);
}

#[test]
fn the_rest_of_a_unit_counts_next_time() {
    let mut a = Pelt::default();
    assert!(!pelt::accumulate(&mut a, 1023, 1, 1, 1));
    assert_eq!(
        (a.last_update_time, a.load_sum),
        (0, 0),
        "less than a unit changes nothing"
    );
    pelt::accumulate(&mut a, 1500, 1, 1, 1);
    assert_eq!((a.last_update_time, a.load_sum), (1024, 1));
    pelt::accumulate(&mut a, 2048, 1, 1, 1);
    assert_eq!((a.last_update_time, a.load_sum), (2048, 2));
}

#[test]
fn time_that_runs_backwards_only_moves_the_stamp() {
    let mut a = Pelt::default();
    pelt::accumulate(&mut a, 10 * PERIOD, 1, 1, 1);
    let before = a;
    assert!(!pelt::accumulate(&mut a, 4 * PERIOD, 1, 1, 1));
    assert_eq!(
        a,
        Pelt {
            last_update_time: 4 * PERIOD,
            ..before
        }
    );
}

#[test]
fn without_load_nothing_is_runnable_or_running() {
    let mut a = Pelt::default();
    pelt::accumulate(&mut a, 3 * PERIOD + 5 * 1024, 0, 7, 1);
    assert_eq!(
        (a.load_sum, a.runnable_sum, a.util_sum, a.period_contrib),
        (0, 0, 0, 5)
    );
}

#[test]
fn weights_scale_load_and_counts_scale_runnable() {
    let mut a = Pelt::default();
    pelt::accumulate(&mut a, 2000 * PERIOD, 3 * 1024, 3, 1);
    pelt::average(&mut a, 1);
    let saturated = a.util_avg;
    assert!((1023..=1024).contains(&saturated));
    assert!(a.load_avg.abs_diff(3 * saturated) <= 3);
    assert!(a.runnable_avg.abs_diff(3 * saturated) <= 3);
}

// ---- periodic tasks and clocks ----

#[test]
fn periodic_tasks_oscillate_where_the_published_tests_say() {
    let table = [
        (3 * MS, 10 * MS, (285, 329)),
        (2333 * US, 7777 * US, (290, 324)),
    ];
    for (run, period, expected) in table {
        assert_eq!(Duo::new(Cpu::default()).steady(run, period), expected);
    }
}

#[test]
fn pelt_time_runs_slower_on_a_small_or_slowed_cpu() {
    let table = [
        (1024, 1024, 16 * MS),
        (512, 1024, 8 * MS),
        (1024, 256, 4 * MS),
        (512, 256, 2 * MS),
        (383, 1024, (16 * MS * 383) >> 10),
    ];
    for (capacity_orig, freq_scale, expected) in table {
        let mut cpu = Cpu {
            capacity_orig,
            freq_scale,
            curr_is_idle: 0,
            ..Cpu::default()
        };
        rq::clock(&mut cpu, 16 * MS);
        assert_eq!(cpu.clock_pelt, expected, "{capacity_orig} at {freq_scale}");
        assert_eq!(cpu.clock, 16 * MS);
    }
}

#[test]
fn an_idle_cpu_keeps_real_time_and_no_clock_goes_back() {
    let mut cpu = Cpu {
        capacity_orig: 256,
        ..Cpu::default()
    };
    rq::clock(&mut cpu, 5 * MS);
    assert_eq!((cpu.clock, cpu.clock_pelt), (5 * MS, 5 * MS));
    let before = cpu;
    rq::clock(&mut cpu, 4 * MS);
    assert_eq!(cpu, before);
}

#[test]
fn the_same_work_gives_the_same_utilization_on_a_half_as_fast_cpu() {
    let half = Cpu {
        capacity_orig: 512,
        ..Cpu::default()
    };
    let fast = Duo::new(Cpu::default()).steady(2 * MS, 16 * MS);
    let slow = Duo::new(half).steady(4 * MS, 16 * MS);
    assert!(
        fast.0.abs_diff(slow.0) <= 4 && fast.1.abs_diff(slow.1) <= 4,
        "{fast:?} {slow:?}"
    );
}

#[test]
fn idle_gives_back_the_time_that_slowness_stole() {
    let mut duo = Duo::new(Cpu {
        capacity_orig: 512,
        ..Cpu::default()
    });
    duo.wake();
    duo.wait(20 * MS);
    assert_eq!(duo.cpu.clock_pelt, 10 * MS);
    duo.sleep();
    assert_eq!((duo.cpu.clock_pelt, duo.cpu.lost_idle_time), (20 * MS, 0));
}

#[test]
fn a_cpu_that_looks_fully_busy_lost_its_idle_time() {
    let mut duo = Duo::new(Cpu {
        capacity_orig: 512,
        ..Cpu::default()
    });
    duo.wake();
    duo.wait(4_000 * MS);
    duo.sleep();
    assert_eq!(duo.cpu.lost_idle_time, 2_000 * MS);
    assert_eq!(duo.cpu.clock_pelt, 4_000 * MS);
    // The signals go on from where they were: the sleeper has not decayed in no time.
    let util = duo.task.pelt.util_avg;
    duo.wake();
    assert_eq!(duo.task.pelt.util_avg, util);
}

#[test]
fn the_boundary_of_fully_busy_is_the_kernels() {
    let full = ((MAX - 1024) << 10) - MAX;
    let cases = [
        (full - 1, 0, 0),
        (full, 0, 3 * MS),
        // Real-time and deadline tasks keep a CPU busy too.
        (full - 1, 1, 3 * MS),
        (0, full, 3 * MS),
    ];
    for (util_sum, others, lost) in cases {
        let mut cpu = Cpu {
            clock: 10 * MS,
            clock_pelt: 7 * MS,
            ..Cpu::default()
        };
        cpu.cfs.util_sum = util_sum as u32;
        rq::clock_idle(&mut cpu, others as u32);
        assert_eq!((cpu.lost_idle_time, cpu.clock_pelt), (lost, 10 * MS));
    }
}

// ---- attach, detach, remove, sync ----

#[test]
fn a_task_attached_at_time_zero_is_attached() {
    let (mut cpu, mut task) = (Cpu::default(), migrated(0, 300, 300, 1024));
    rq::enqueue(&linux_5_5(), &mut cpu, &mut task, false);
    assert_ne!(task.pelt.last_update_time, 0);
    rq::set_next(&linux_5_5(), &mut cpu, &mut task);
    assert_eq!(cpu.cfs.util_avg, 300, "not attached twice");
}

/// A queue in the middle of a period, with some history.
fn used_queue() -> Cpu {
    let mut cpu = Cpu::default();
    rq::clock(&mut cpu, 100 * PERIOD + 300 * 1024);
    cpu.cfs = Pelt {
        last_update_time: 100 * PERIOD + 300 * 1024,
        period_contrib: 300,
        load_avg: 900,
        runnable_avg: 800,
        util_avg: 700,
        load_sum: 900 * (MIN_DIV + 300),
        runnable_sum: 800 * (MIN_DIV + 300),
        util_sum: 700 * (MIN_DIV + 300) as u32,
        ..Pelt::default()
    };
    cpu
}

fn migrated(load_avg: u32, runnable_avg: u32, util_avg: u32, weight: u32) -> Task {
    let mut task = Task {
        weight,
        ..Task::default()
    };
    (
        task.pelt.load_avg,
        task.pelt.runnable_avg,
        task.pelt.util_avg,
    ) = (load_avg, runnable_avg, util_avg);
    task
}

#[test]
fn attach_takes_the_queues_window_and_adds_averages_and_sums() {
    let (mut cpu, mut task) = (used_queue(), migrated(200, 150, 100, 512));
    let before = cpu.cfs;
    assert!(rq::enqueue(&linux_5_5(), &mut cpu, &mut task, false));
    let (t, q, div) = (task.pelt, cpu.cfs, MIN_DIV + 300);
    assert_eq!(
        (t.last_update_time, t.period_contrib),
        (before.last_update_time, 300)
    );
    assert_eq!(
        (t.load_avg, t.runnable_avg, t.util_avg),
        (200, 150, 100),
        "no decay"
    );
    assert_eq!(u64::from(t.util_sum), 100 * div);
    assert_eq!(t.runnable_sum, 150 * div);
    assert_eq!(
        t.load_sum,
        200 * div / 512,
        "a task's load_sum is not weighted"
    );
    assert_eq!((q.load_avg, q.runnable_avg, q.util_avg), (1100, 950, 800));
    assert_eq!(
        q.load_sum,
        before.load_sum + 512 * t.load_sum,
        "a queue's is"
    );
    assert_eq!(q.runnable_sum, before.runnable_sum + t.runnable_sum);
    assert_eq!(q.util_sum, before.util_sum + t.util_sum);
}

#[test]
fn an_attached_task_has_at_least_a_load_sum_of_one() {
    for load_avg in [0, 1] {
        let (mut cpu, mut task) = (used_queue(), migrated(load_avg, 0, 0, 88761));
        rq::enqueue(&linux_5_5(), &mut cpu, &mut task, false);
        assert_eq!(task.pelt.load_sum, 1);
    }
}

#[test]
fn detach_after_attach_restores_the_queue() {
    let (mut cpu, mut task) = (used_queue(), migrated(200, 150, 100, 512));
    let before = cpu.cfs;
    let k = linux_5_5();
    rq::enqueue(&k, &mut cpu, &mut task, false);
    rq::detach(&k, &mut cpu, &mut task, false);
    assert_eq!(cpu.cfs, before);
    assert_eq!(
        (
            cpu.weight,
            cpu.nr_running,
            cpu.h_nr_running,
            cpu.util_est_enqueued
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(
        task.pelt.last_update_time, 0,
        "whoever enqueues it next must attach it"
    );
}

#[test]
fn detach_takes_the_tasks_own_sums() {
    let (mut cpu, mut task) = (used_queue(), migrated(200, 150, 100, 512));
    let before = cpu.cfs;
    let k = linux_5_5();
    rq::enqueue(&k, &mut cpu, &mut task, false);
    // Sums may exceed what the averages stand for by less than a divisor.
    task.pelt.util_sum += 40_000;
    task.pelt.runnable_sum += 30_000;
    rq::detach(&k, &mut cpu, &mut task, false);
    assert_eq!(cpu.cfs.util_avg, before.util_avg);
    assert_eq!(
        cpu.cfs.util_sum,
        (700 * MIN_DIV as u32).max(before.util_sum - 40_000)
    );
    assert_eq!(
        cpu.cfs.runnable_sum,
        (800 * MIN_DIV).max(before.runnable_sum - 30_000)
    );
}

#[test]
fn subtraction_ends_at_zero_and_sums_never_fall_below_their_averages() {
    let mut cpu = used_queue();
    let mut task = migrated(5000, 5000, 5000, 1024);
    task.pelt.last_update_time = cpu.cfs.last_update_time;
    task.pelt.period_contrib = 300;
    (task.pelt.load_sum, task.pelt.runnable_sum) = (1, 1);
    cpu.weight = 1024;
    (cpu.nr_running, cpu.h_nr_running) = (1, 1);
    rq::detach(&linux_5_5(), &mut cpu, &mut task, false);
    let q = cpu.cfs;
    assert_eq!((q.load_avg, q.runnable_avg, q.util_avg), (0, 0, 0));
    for (sum, avg) in [
        (q.load_sum, q.load_avg),
        (q.runnable_sum, q.runnable_avg),
        (q.util_sum.into(), q.util_avg),
    ] {
        assert!(sum >= u64::from(avg) * MIN_DIV);
    }
}

#[test]
fn removal_is_applied_at_the_next_update_before_time_is_added() {
    let mut cpu = used_queue();
    let mut task = migrated(300, 200, 100, 1024);
    task.pelt.last_update_time = cpu.cfs.last_update_time;
    rq::remove(&linux_5_5(), &mut cpu, &mut task);
    assert_eq!((cpu.cfs.util_avg, cpu.removed_util), (700, 100), "pending");
    assert_eq!((cpu.removed_load, cpu.removed_runnable), (300, 200));
    assert_eq!(task.pelt.last_update_time, 0);

    // No period ends: averages can only come from the subtraction.
    assert!(
        rq::refresh(&linux_5_5(), &mut cpu, false),
        "the governor must hear of it"
    );
    assert_eq!(
        (cpu.cfs.load_avg, cpu.cfs.runnable_avg, cpu.cfs.util_avg),
        (600, 600, 600)
    );
    assert_eq!(u64::from(cpu.cfs.util_sum), 600 * (MIN_DIV + 300));
    assert_eq!(
        (cpu.removed_util, cpu.removed_load, cpu.removed_runnable),
        (0, 0, 0)
    );

    // Half of what is left 32 periods later, not half of what there was.
    rq::clock(&mut cpu, 132 * PERIOD + 300 * 1024);
    rq::refresh(&linux_5_5(), &mut cpu, false);
    assert!(
        (299..=300).contains(&cpu.cfs.util_avg),
        "{}",
        cpu.cfs.util_avg
    );
}

#[test]
fn removals_add_up() {
    let mut cpu = used_queue();
    for _ in 0..3 {
        let mut task = migrated(10, 20, 30, 1024);
        task.pelt.last_update_time = cpu.cfs.last_update_time;
        rq::remove(&linux_5_5(), &mut cpu, &mut task);
        rq::remove(&linux_5_5(), &mut cpu, &mut task);
    }
    assert_eq!(
        (cpu.removed_load, cpu.removed_runnable, cpu.removed_util),
        (30, 60, 90)
    );
}

#[test]
fn a_leaving_sleeper_decays_to_its_queues_last_update_and_no_further() {
    let mut duo = Duo::new(Cpu::default());
    duo.run_for(200 * PERIOD);
    let (util, slept_at) = (duo.task.pelt.util_avg, duo.task.pelt.last_update_time);
    duo.wait(32 * PERIOD);
    rq::refresh(&linux_5_5(), &mut duo.cpu, false);
    duo.wait(320 * PERIOD);
    rq::remove(&duo.k, &mut duo.cpu, &mut duo.task);
    let left = duo.task.pelt.util_avg;
    assert!(
        left.abs_diff(util / 2) <= 1,
        "32 periods of 352: {util} to {left}"
    );
    assert_eq!(duo.cpu.removed_util, left);
    assert!(slept_at < duo.cpu.cfs.last_update_time);
}

#[test]
fn a_wakeup_on_the_same_cpu_decays_by_the_whole_sleep() {
    let mut duo = Duo::new(Cpu::default());
    duo.run_for(345 * PERIOD);
    let util = duo.task.pelt.util_avg;
    duo.wait(64 * PERIOD);
    duo.wake();
    assert!(duo.task.pelt.util_avg.abs_diff(util / 4) <= 1);
    assert!(
        duo.cpu.cfs.util_avg.abs_diff(util / 4) <= 1,
        "blocked load decays alike"
    );
}

#[test]
fn a_wakeup_elsewhere_attaches_without_decay() {
    let mut duo = Duo::new(Cpu::default());
    duo.run_for(345 * PERIOD);
    duo.wait(64 * PERIOD);
    rq::remove(&duo.k, &mut duo.cpu, &mut duo.task);
    let util = duo.task.pelt.util_avg;
    let mut other = Cpu::default();
    rq::clock(&mut other, duo.now);
    rq::enqueue(&duo.k, &mut other, &mut duo.task, false);
    assert_eq!(duo.task.pelt.util_avg, util);
    assert_eq!(other.cfs.util_avg, util);
}

#[test]
fn a_queue_is_the_sum_of_its_tasks() {
    let k = linux_5_5();
    let mut cpu = Cpu::default();
    let mut tasks = [
        migrated(0, 0, 0, 1024),
        migrated(0, 0, 0, 335),
        migrated(0, 0, 0, 2501),
    ];
    rq::clock(&mut cpu, PERIOD);
    for task in &mut tasks {
        rq::enqueue(&k, &mut cpu, task, false);
    }
    rq::set_next(&linux_5_5(), &mut cpu, &mut tasks[0]);
    cpu.curr_is_idle = 0;
    for n in 2..200 {
        rq::clock(&mut cpu, n * PERIOD);
        rq::update_curr(&linux_5_5(), &mut cpu, &mut tasks[0]);
    }
    let [a, b, c] = &mut tasks;
    rq::detach(&k, &mut cpu, b, true);
    rq::detach(&k, &mut cpu, c, true);
    // Each update rounds each task's sums down on its own: a few units get lost.
    assert!(cpu.cfs.load_avg.abs_diff(a.pelt.load_avg) <= 6);
    assert!(cpu.cfs.runnable_avg.abs_diff(a.pelt.runnable_avg) <= 6);
    assert_eq!(cpu.cfs.util_avg, a.pelt.util_avg);
    assert_eq!(cpu.weight, 1024);
}

#[test]
fn time_in_the_queue_is_runnable_but_not_running() {
    let k = linux_5_5();
    let (mut cpu, mut task) = (Cpu::default(), Task::default());
    rq::clock(&mut cpu, PERIOD);
    rq::enqueue(&k, &mut cpu, &mut task, false);
    rq::clock(&mut cpu, 33 * PERIOD);
    rq::set_next(&linux_5_5(), &mut cpu, &mut task);
    assert_eq!((task.pelt.util_avg, cpu.cfs.util_avg), (0, 0));
    assert_eq!((task.pelt.runnable_avg, cpu.cfs.runnable_avg), (512, 512));
}

#[test]
fn a_running_task_reports_a_change_only_at_period_ends() {
    let mut duo = Duo::new(Cpu::default());
    duo.wait(PERIOD);
    duo.wake();
    duo.wait(500 * 1024);
    assert!(!rq::update_curr(&linux_5_5(), &mut duo.cpu, &mut duo.task));
    duo.wait(600 * 1024);
    assert!(rq::update_curr(&linux_5_5(), &mut duo.cpu, &mut duo.task));
}

// ---- new tasks ----

#[test]
fn a_new_task_gets_a_share_of_the_queue_within_half_the_room() {
    // (capacity, queue util, queue load, weight) -> util, as intended and as until 6.9
    let table = [
        ((1024, 0, 0, 1024), 512, 512),
        ((383, 0, 0, 1024), 191, 191),
        ((1024, 200, 1023, 1024), 200, 412),
        ((1024, 200, 2047, 1024), 100, 412),
        ((1024, 200, 1023, 335), 65, 412),
        ((1024, 900, 1023, 1024), 62, 62),
        ((1024, 4, 8191, 15), 0, 7),
        ((1024, 1024, 1023, 1024), 0, 0),
        ((1024, 1023, 1023, 1024), 0, 0),
        ((383, 500, 100, 1024), 0, 0),
    ];
    for ((capacity_orig, util, load, weight), intended, until_6_9) in table {
        for (fork_util_inflated, expected) in [(0, intended), (1, until_6_9)] {
            let k = Params {
                fork_util_inflated,
                ..Params::default()
            };
            let mut cpu = Cpu {
                capacity_orig,
                ..Cpu::default()
            };
            (cpu.cfs.util_avg, cpu.cfs.load_avg) = (util, load);
            let mut task = migrated(0, 0, 0, weight);
            rq::init_util(&k, &cpu, &mut task);
            assert_eq!(
                (
                    task.pelt.util_avg,
                    task.pelt.runnable_avg,
                    task.pelt.load_avg
                ),
                (expected, expected, weight),
                "capacity {capacity_orig}, queue {util} {load}, weight {weight}, {fork_util_inflated}"
            );
        }
    }
}

// ---- mean idle length ----

#[test]
fn the_idle_average_moves_an_eighth_and_is_capped() {
    let table = [
        (0, 800, 100),
        (1000, 200, 900),
        (1000, 1000, 1000),
        (1000, 999, 999), // the shift rounds down, also below zero
        (1000, 1007, 1000),
        (900_000, 100_000_000, 1_000_000),
    ];
    for (before, idle, after) in table {
        let mut cpu = Cpu {
            avg_idle: before,
            ..Cpu::default()
        };
        rq::idle_end(&mut cpu, idle, 1_000_000);
        assert_eq!(cpu.avg_idle, after, "{before} after {idle}");
    }
}

/// kernel: reweight_entity(); the queue keeps what others brought.
#[test]
fn another_weight_changes_a_tasks_load_and_its_queues() {
    let others = Pelt {
        load_avg: 700,
        load_sum: 700 * (MIN_DIV + 300),
        period_contrib: 300,
        ..Pelt::default()
    };
    let mut cpu = Cpu {
        cfs: others,
        ..Cpu::default()
    };
    let mut task = Task::default();
    (task.pelt.load_avg, task.weight) = (512, 1024);
    rq::attach_signals(&linux_5_5(), &mut cpu, &mut task);
    let sum = task.pelt.load_sum;

    rq::reweight(&linux_5_5(), &mut cpu, &mut task, 335);

    assert_eq!((task.weight, task.pelt.load_sum), (335, sum));
    let load_avg = 335 * sum / (MIN_DIV + 300);
    assert_eq!(u64::from(task.pelt.load_avg), load_avg);
    assert_eq!(u64::from(cpu.cfs.load_avg), 700 + load_avg);
    assert_eq!(cpu.cfs.load_sum, others.load_sum + 335 * sum);
}

/// kernel: reweight_entity(). Up to 7.2 it makes load_avg of the sum anew, 7.3 returns at once.
#[test]
fn the_same_weight_changes_nothing_since_7_3() {
    for (base, stays) in [("linux-7.2", false), ("linux-7.3", true)] {
        let k = Scheduler::parse(base).unwrap().params;
        let mut cpu = Cpu::default();
        let mut task = Task::default();
        (task.pelt.load_avg, task.weight) = (512, 1024);
        rq::attach_signals(&k, &mut cpu, &mut task);
        task.pelt.load_sum /= 2;
        let before = (cpu.cfs.load_avg, task.pelt.load_avg);

        rq::reweight(&k, &mut cpu, &mut task, 1024);

        let after = (cpu.cfs.load_avg, task.pelt.load_avg);
        assert_eq!(after == before, stays, "{base}: {before:?}, then {after:?}");
    }
}

// ---- the load of queued tasks alone (runnable_load_avg, up to 5.6) ----

/// A base that goes by it, and otherwise is as 5.5.
fn counting_queued_load() -> Duo {
    let mut duo = Duo::new(Cpu::default());
    duo.k.load = alight_policy::abi::rule::LOAD_RUNNABLE;
    duo
}

#[test]
fn a_queue_forgets_the_load_of_who_sleeps() {
    let mut duo = counting_queued_load();
    duo.wake();
    for _ in 0..20 {
        duo.wait(10 * MS);
        rq::update_curr(&duo.k, &mut duo.cpu, &mut duo.task);
        assert_eq!(
            duo.cpu.runnable_load_avg, duo.cpu.cfs.load_avg,
            "nobody sleeps"
        );
        assert_eq!(duo.cpu.runnable_load_avg, duo.task.pelt.load_avg);
    }
    assert!(duo.cpu.runnable_load_avg > 1000);
    duo.sleep();
    assert_eq!(duo.cpu.runnable_load_avg, 0);
    assert!(duo.cpu.cfs.load_avg > 1000, "which is blocked load now");
    duo.wait(32 * PERIOD);
    rq::refresh(&duo.k, &mut duo.cpu, false);
    assert_eq!(duo.cpu.runnable_load_avg, 0);
    let load = duo.cpu.cfs.load_avg;
    assert!((480..=520).contains(&load), "half is left: {load}");
    duo.wake();
    assert_eq!(duo.cpu.runnable_load_avg, duo.task.pelt.load_avg);
}

#[test]
fn all_else_is_tracked_alike() {
    let mut now = Duo::new(Cpu::default());
    let mut then = counting_queued_load();
    for (run, pause) in [(3, 7), (20, 1), (1, 90), (7, 7)] {
        for duo in [&mut now, &mut then] {
            duo.run_for(run * MS);
            duo.wait(pause * MS);
        }
        let signals = |duo: &Duo| {
            let (cfs, task) = (&duo.cpu.cfs, &duo.task.pelt);
            (
                cfs.load_avg,
                cfs.load_sum,
                cfs.util_avg,
                cfs.util_sum,
                *task,
            )
        };
        assert_eq!(signals(&now), signals(&then));
    }
}

#[test]
fn queued_load_follows_moves_and_weights() {
    let Duo { k, mut cpu, .. } = counting_queued_load();
    let mut tasks = [Task::default(); 2];
    for task in &mut tasks {
        task.pelt.load_avg = 600;
        task.weight = 1024;
        rq::enqueue(&k, &mut cpu, task, false);
    }
    assert_eq!(cpu.runnable_load_avg, 1200);
    rq::reweight(&k, &mut cpu, &mut tasks[0], 512);
    // The queue's own weight is the caller's.
    cpu.weight -= 512;
    let [half, whole] = tasks.map(|task| task.pelt.load_avg);
    assert!((299..=300).contains(&half), "{half}");
    assert_eq!(cpu.runnable_load_avg, half + whole);
    rq::detach(&k, &mut cpu, &mut tasks[1], false);
    assert_eq!(cpu.runnable_load_avg, half);
    rq::dequeue(&k, &mut cpu, &mut tasks[0], false, false, true);
    assert_eq!(cpu.runnable_load_avg, 0);
    assert_eq!(cpu.cfs.load_avg, half);
}
