// SPDX-License-Identifier: GPL-2.0-only
//! The search of 5.12 and later on equal CPUs (`select_idle_sibling()` of 6.1,
//! 6.5, 7.2): what the three have in common, and what a version does by itself.

use crate::common::machines::{caches, flat, smt};
use crate::common::world::{NO_CPU, World};
use alight_policy::abi::{class, task_flag, wake_flag};

const ALL: [&str; 3] = ["linux-6.1", "linux-6.5", "linux-7.2"];

/// CPU 0 wakes a task of CPU 0, and all of these hold for each version.
fn each(
    machine: impl Fn() -> alight_policy::topology::Description,
    test: impl Fn(&str, &mut World),
) {
    for base in ALL {
        eprintln!("{base}");
        test(base, &mut World::new(&machine(), base));
    }
}

// ---- target, previous, recent ----

#[test]
fn an_idle_target_then_the_previous_cpu_then_the_recent_one() {
    each(
        || flat(8),
        |_, w| {
            // Both idle: the previous CPU is the target.
            w.wakes(0, 3).expect(3, "target_idle");
            // The waker is alone and says it sleeps: its CPU is the target, but busy.
            w.busy([0]).sync().wakes(0, 3).expect(3, "prev_idle");
            w.busy([3]).recent(5).expect(5, "recent_idle");
        },
    );
}

#[test]
fn every_search_makes_the_previous_cpu_the_recent_one() {
    each(
        || flat(8),
        |_, w| {
            w.busy([0, 3]).sync().recent(5).wakes(0, 3).ask();
            assert_eq!(w.wakee.recent_used_cpu, 3, "found it");
            w.wakee.recent_used_cpu = NO_CPU;
            w.ask();
            assert_eq!(w.wakee.recent_used_cpu, 3, "did not");
            w.recent(5).runs(3, 0).ask();
            assert_eq!(w.wakee.recent_used_cpu, 5, "decided before");
            assert_eq!(
                w.waker.recent_used_cpu, NO_CPU,
                "the waker's is its own business"
            );
        },
    );
}

#[test]
fn an_idle_previous_cpu_is_the_target_even_in_another_cache() {
    each(
        || caches(8, 4),
        |_, w| {
            w.busy([0]).load(4, 9000).wakes(0, 4);
            w.expect_target(4, "prev_alone");
            w.sync().expect_target(0, "sync");
            w.runs(0, 2).expect_target(4, "prev_alone");
        },
    );
    let mut w = World::new(&caches(8, 4), "linux-5.5");
    w.busy([0]).load(4, 9000).wakes(0, 4);
    w.expect_target(0, "weight_this");
}

// ---- per-CPU kernel threads ----

fn kthread(w: &mut World) -> &mut World {
    w.waker.flags |= task_flag::KTHREAD;
    w.waker.nr_cpus_allowed = 1;
    w
}

#[test]
fn what_a_bound_kernel_thread_wakes_may_join_it() {
    each(
        || flat(8),
        |_, w| {
            kthread(w.busy([0])).wakes(0, 0).expect(0, "kthread_prev");
            w.runs(0, 2).expect(1, "llc_scan");
            w.runs(0, 1).flags = wake_flag::INTERRUPT;
            w.expect(1, "llc_scan");
            w.flags = 0;
            w.waker.nr_cpus_allowed = 8;
            w.expect(1, "llc_scan");
            w.waker.nr_cpus_allowed = 1;
            w.busy([3]).wakes(0, 3);
            assert_ne!(w.ask().cpu, 0, "only where the task came from");
        },
    );
    let mut w = World::new(&flat(8), "linux-5.5");
    kthread(w.busy([0])).wakes(0, 0).expect(1, "llc_scan");
}

// ---- the scan of a cache ----

#[test]
fn the_scan_begins_after_the_target_and_goes_round() {
    each(
        || flat(8),
        |_, w| {
            w.busy([5]).wakes(5, 5).expect(6, "llc_scan");
            w.busy([6, 7]).expect(0, "llc_scan");
            w.allow([5, 2, 3]).expect(2, "llc_scan");
            w.busy(0..8).expect(5, "target_busy");
        },
    );
}

#[test]
fn utilization_says_how_many_cpus_are_worth_a_look() {
    // nr_idle_scan, idle CPU, found; CPUs looked at are the allowed ones
    let table = [
        (8, 7, true),
        (3, 3, true),
        (3, 4, false),
        (1, 1, true),
        (0, 1, false),
    ];
    for (worth, idle, found) in table {
        each(
            || flat(8),
            |_, w| {
                w.busy(0..8).runs(idle, 0).worth(worth).wakes(0, 0);
                let answer = w.ask();
                assert_eq!(
                    answer.cpu == idle,
                    found,
                    "{worth} worth a look, {idle} idle"
                );
                assert_eq!(answer.cut == 0, found);
            },
        );
    }
    each(
        || flat(8),
        |_, w| {
            w.busy(0..8).runs(6, 0).worth(2).allow([0, 5, 6]);
            w.expect(6, "llc_scan");
        },
    );
}

#[test]
fn a_scan_teaches_no_cost() {
    each(
        || flat(8),
        |_, w| {
            (w.core.cpus[0].avg_scan_cost, w.core.params.scan_cpu_ns) = (1000, 100);
            w.busy(0..8).ask();
            assert_eq!(w.core.cpus[0].avg_scan_cost, 1000);
        },
    );
}

// ---- cores of several threads ----

#[test]
fn with_no_idle_core_known_a_thread_of_the_previous_cpu_comes_first() {
    each(
        || smt(4, 2),
        |_, w| {
            w.busy([0, 1, 2, 3]).idle_cores(false).wakes(0, 2);
            w.sync().expect(6, "prev_smt");
            w.allow([0, 2, 7]).expect(7, "llc_scan");
        },
    );
}

#[test]
fn a_whole_idle_core_is_looked_for_without_a_budget() {
    each(
        || smt(4, 2),
        |_, w| {
            w.busy([0, 1, 2]).idle_cores(true).worth(1).wakes(0, 0);
            w.expect(3, "idle_core");
            w.worth(0).expect(0, "target_busy");
        },
    );
}

#[test]
fn without_an_idle_core_the_first_idle_thread_met_answers_and_cores_are_known_busy() {
    each(
        || smt(4, 2),
        |_, w| {
            w.busy([0, 1, 2, 7]).idle_cores(true).wakes(0, 0);
            w.expect(5, "llc_scan");
            assert_eq!(w.core.llcs[0].has_idle_cores, 0);
        },
    );
}

#[test]
fn a_core_that_is_idle_with_a_thread_outside_the_affinity_is_an_idle_core() {
    each(
        || smt(4, 2),
        |_, w| {
            w.busy([0, 1]).idle_cores(true).allow([0, 4, 6]).wakes(0, 0);
            w.expect(6, "idle_core");
        },
    );
}

#[test]
fn a_search_for_cores_where_no_cpu_is_allowed_tells_something_up_to_7_0() {
    for (base, known) in [
        ("linux-6.1", 0),
        ("linux-7.0", 0),
        ("linux-7.1", 1),
        ("linux-7.2", 1),
    ] {
        let mut w = World::new(&smt(4, 2), base);
        w.busy([0, 2]).idle_cores(true).wakes(0, 2);
        // The previous CPU has been taken from the affinity meanwhile.
        w.allowed = [8].into_iter().collect();
        w.ask();
        assert_eq!(w.core.llcs[0].has_idle_cores, known, "{base}");
    }
}

// ---- SCHED_IDLE, and the waker's own CPU ----

#[test]
fn a_sched_idle_cpu_is_as_good_as_an_idle_one() {
    each(
        || flat(8),
        |_, w| {
            w.busy(0..8)
                .sched_idle([3])
                .wakes(0, 0)
                .expect(3, "llc_scan");
            w.sched_idle([0]).expect(0, "target_idle");
        },
    );
}

#[test]
fn but_from_7_1_not_for_a_sched_idle_task() {
    for (base, cpu, step) in [
        ("linux-6.1", 3, "llc_scan"),
        ("linux-6.5", 3, "llc_scan"),
        ("linux-7.1", 5, "llc_scan"),
        ("linux-7.2", 5, "llc_scan"),
    ] {
        let mut w = World::new(&flat(8), base);
        w.busy(0..8).sched_idle([3]).runs(5, 0).wakes(0, 0);
        w.wakee.class = class::IDLE;
        w.expect(cpu, step);
    }
}

#[test]
fn a_waker_may_ask_for_its_own_cpu_from_6_6() {
    for (base, step) in [("linux-6.5", "llc_scan"), ("linux-7.2", "current_cpu")] {
        let mut w = World::new(&flat(8), base);
        w.busy([0]).wakes(0, 0).flags = wake_flag::CURRENT_CPU;
        w.expect(u32::from(base == "linux-6.5"), step);
        w.allow([1, 2]);
        assert_ne!(w.ask().cpu, 0, "if it is allowed");
    }
}

#[test]
fn a_delayed_sleeper_does_not_keep_the_waker_company() {
    let mut w = World::new(&caches(8, 4), "linux-7.2");
    w.runs(0, 2).busy([4]).sync().wakes(0, 4);
    w.load(0, 5000).load(4, 100);
    w.expect_target(4, "weight_prev");
    w.core.cpus[0].h_nr_delayed = 1;
    w.expect_target(0, "sync");
}
