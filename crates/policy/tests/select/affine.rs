// SPDX-License-Identifier: GPL-2.0-only
//! Is the wakee pulled to its waker, and which CPU does the search start at?

use crate::common::machines::{BIG, LITTLE, caches, clusters, flat, nodes, of_capacities};
use crate::common::world::{MS, World};
use alight_policy::abi::task_flag;

const BASE: &str = "linux-5.5";
/// `AFFINE_WAKE_CAP` of enum policy_affine.
const WAKE_CAP: u32 = 2;

// ---- record_wakee: how often a task wakes another than before ----

#[test]
fn a_new_partner_is_a_flip_and_flips_halve_after_a_second() {
    // (last wakee, flips, since the last decay) -> (flips, decayed)
    let table = [
        ((2, 10, 0), (10, false)),
        ((7, 10, 0), (11, false)),
        ((2, 10, 1000 * MS), (10, false)),
        ((2, 10, 1000 * MS + 1), (5, true)),
        ((7, 10, 1000 * MS + 1), (6, true)),
        ((2, 10, 9000 * MS), (5, true)), // once, however long it was
    ];
    for ((last_wakee, flips, since), (after, decayed)) in table {
        let mut w = World::new(&flat(4), BASE);
        w.now = 20_000 * MS;
        w.waker.wakee_flip_decay_ts = w.now - since;
        (w.waker.last_wakee, w.waker.wakee_flips) = (last_wakee, flips);
        w.wakes(0, 1).ask();
        assert_eq!(w.waker.wakee_flips, after, "{last_wakee} {flips} {since}");
        assert_eq!(w.waker.last_wakee, 2);
        assert_eq!(w.waker.wakee_flip_decay_ts == w.now, decayed || since == 0);
    }
}

// ---- wide: the waker wakes more than one LLC can hold ----

#[test]
fn wide_needs_both_partners_to_flip() {
    // LLC of 4: the lesser must flip 4 times, the greater 4 times as often.
    let table = [
        (16, 4, true),
        (4, 16, true),
        (15, 4, false),
        (1000, 3, false),
        (20, 5, true),
        (19, 5, false),
        (0, 0, false),
    ];
    for (waker, wakee, wide) in table {
        let mut w = World::new(&caches(8, 4), BASE);
        w.flips(waker, wakee).wakes(0, 1);
        let affine = if wide { "wide" } else { "prev_idle" };
        w.expect_target(1, affine);
    }
}

#[test]
fn a_wide_wakeup_searches_at_the_previous_cpu_and_leaves_no_trace() {
    let mut w = World::new(&flat(8), BASE);
    w.waker.recent_used_cpu = 5;
    w.flips(1000, 8)
        .busy([0, 3])
        .wakes(0, 3)
        .expect(4, "llc_scan");
    assert_eq!(w.waker.recent_used_cpu, 5);
    w.flips(0, 0).wakes(0, 3).ask();
    assert_eq!(w.waker.recent_used_cpu, 0, "the waker used this CPU");
}

// ---- wake_cap: a CPU is too small for the task ----

#[test]
fn a_task_that_does_not_fit_the_smaller_cpu_is_not_pulled() {
    // 446 * 1024 / 1280 = 356.8
    for (util, refused) in [(356, false), (357, true), (1024, true)] {
        for (this, prev) in [(0, 1), (0, 4), (4, 0)] {
            let mut w = World::new(&clusters(), BASE);
            let answer = w.util(util).wakes(this, prev).ask();
            assert_eq!(
                answer.affine == WAKE_CAP,
                refused,
                "{util}: {}",
                w.explain()
            );
            assert_eq!(
                answer.slow == 1,
                refused,
                "then the slow path: {}",
                w.explain()
            );
        }
    }
}

#[test]
fn two_cpus_that_are_nearly_the_biggest_are_never_too_small() {
    // 1024 - 897 is less than an eighth of 1024, 1024 - 896 is not.
    for (capacity, refused) in [(897, false), (896, true)] {
        let mut w = World::new(&of_capacities(&[capacity, BIG, capacity, BIG]), BASE);
        let answer = w.util(1024).wakes(0, 2).ask();
        assert_eq!(answer.affine == WAKE_CAP, refused, "{capacity}");
        let answer = w.util(1024).wakes(1, 3).ask();
        assert_ne!(answer.affine, WAKE_CAP, "two biggest CPUs");
    }
}

#[test]
fn equal_cpus_are_never_too_small() {
    let mut w = World::new(&of_capacities(&[LITTLE; 4]), BASE);
    assert_eq!(w.core.topology.asym, 0);
    w.util(1024).wakes(0, 1).expect_target(1, "prev_idle");
}

#[test]
fn what_counts_is_the_capacity_at_the_top_frequency_and_the_clamped_estimate() {
    let refused = |change: &dyn Fn(&mut World)| {
        let mut w = World::new(&clusters(), BASE);
        w.util(300).wakes(0, 1);
        change(&mut w);
        w.ask().affine == WAKE_CAP
    };
    assert!(!refused(&|_| {}));
    assert!(!refused(&|w| {
        w.capacity(0, 1).capacity(1, 1);
    }));
    assert!(refused(&|w| w.wakee.util_est_enqueued = 400));
    assert!(refused(&|w| w.wakee.util_est_ewma = 400));
    assert!(refused(&|w| w.wakee.uclamp_min = 357));
    assert!(!refused(&|w| {
        w.util(1000).wakee.uclamp_max = 356;
    }));
}

#[test]
fn a_sleeper_is_decayed_before_it_is_measured() {
    let mut w = World::new(&clusters(), BASE);
    w.util(600).wakes(0, 1);
    w.wakee.pelt.last_update_time = 1 << 20;
    w.wakee.pelt.util_sum = 600 * 46718;
    w.core.cpus[1].cfs.last_update_time = 33 << 20;
    assert_ne!(w.ask().affine, WAKE_CAP);
    assert!(w.wakee.pelt.util_avg.abs_diff(300) <= 1);
}

// ---- may the waking CPU be used, and do the two meet at all? ----

#[test]
fn a_waking_cpu_outside_the_affinity_pulls_nothing() {
    let mut w = World::new(&flat(4), BASE);
    w.allow([1, 2]).busy([1]).wakes(0, 1);
    w.expect_target(1, "not_allowed");
}

#[test]
fn far_nodes_pull_nothing() {
    let mut w = World::new(&nodes(4, 40), BASE);
    w.load(5, 10_000)
        .busy([5])
        .wakes(0, 5)
        .expect_target(5, "none");
    let mut w = World::new(&nodes(4, 20), BASE);
    w.load(5, 10_000)
        .busy([5])
        .wakes(0, 5)
        .expect_target(0, "weight_this");
}

// ---- affine: this CPU or the previous one ----

#[test]
fn the_same_cpu_needs_no_choice() {
    World::new(&flat(4), BASE)
        .wakes(2, 2)
        .expect_target(2, "same");
}

#[test]
fn an_idle_waking_cpu_is_good_if_the_cache_is_shared() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([1]).wakes(0, 1).expect_target(0, "this_idle");
    w.busy([5]).wakes(0, 5).expect_target(5, "weight_prev");
}

#[test]
fn of_two_idle_cpus_the_previous_one_is_warmer() {
    World::new(&flat(4), BASE)
        .wakes(0, 1)
        .expect_target(1, "prev_idle");
}

#[test]
fn across_caches_an_idle_previous_cpu_is_not_asked_for() {
    // 5.5 has no such rule: its blocked load decides.
    let mut w = World::new(&caches(8, 4), BASE);
    w.load(5, 100).wakes(0, 5).expect_target(0, "weight_this");
}

#[test]
fn sched_idle_is_not_idle_here() {
    let mut w = World::new(&flat(4), BASE);
    w.sched_idle([0])
        .wakes(0, 1)
        .expect_target(1, "weight_prev");
}

#[test]
fn a_remote_wakeup_under_way_ends_idleness() {
    let mut w = World::new(&flat(4), BASE);
    w.core.cpus[0].ttwu_pending = 1;
    w.wakes(0, 1).expect_target(1, "weight_prev");
}

#[test]
fn a_waker_that_is_alone_and_about_to_sleep_makes_room() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0]).wakes(0, 5);
    w.expect_target(5, "weight_prev");
    w.sync().expect_target(0, "sync");
    w.waker.flags |= task_flag::EXITING;
    w.expect_target(5, "weight_prev");
    w.waker.flags = 0;
    w.runs(0, 2).load(0, 100).expect_target(5, "weight_prev");
}

/// Loads and capacities of this and the previous CPU; load of wakee and waker.
struct Weights {
    load: (u32, u32),
    capacity: (u32, u32),
    wakee: u32,
    sync_waker: Option<u32>,
}

#[test]
fn otherwise_the_less_loaded_cpu_wins() {
    let across = |load, wakee| Weights {
        load,
        capacity: (1024, 1024),
        wakee,
        sync_waker: None,
    };
    // Package: imbalance_pct 125, so the previous CPU's load counts 112 %.
    let table = [
        ("100 * 100 < 90 * 112", across((0, 190), 100), true),
        ("100 * 100 > 89 * 112", across((0, 189), 100), false),
        ("a tie stays", across((0, 0), 0), false),
        (
            "prev lighter than the wakee alone",
            across((0, 50), 100),
            false,
        ),
        (
            "on half the capacity half the load is as much",
            Weights {
                capacity: (1024, 512),
                ..across((0, 145), 100)
            },
            true,
        ),
        (
            "just not",
            Weights {
                capacity: (1024, 512),
                ..across((0, 144), 100)
            },
            false,
        ),
        (
            "the waker's load will go",
            Weights {
                sync_waker: Some(500),
                ..across((500, 190), 100)
            },
            true,
        ),
        (
            "a waker heavier than its CPU",
            Weights {
                sync_waker: Some(501),
                ..across((500, 0), 100)
            },
            true,
        ),
        (
            "a waker that is all of its CPU's load",
            Weights {
                sync_waker: Some(500),
                ..across((500, 0), 100)
            },
            false,
        ),
        (
            "with sync a tie pulls",
            Weights {
                sync_waker: Some(0),
                ..across((0, 0), 0)
            },
            true,
        ),
    ];
    for (name, case, pulled) in table {
        let mut w = World::new(&caches(8, 4), BASE);
        w.runs(0, 2).runs(5, 1).wakes(0, 5);
        w.load(0, case.load.0).load(5, case.load.1);
        w.capacity(0, case.capacity.0).capacity(5, case.capacity.1);
        w.wakee.pelt.load_avg = case.wakee;
        if let Some(load) = case.sync_waker {
            w.sync().waker.pelt.load_avg = load;
        }
        let (target, affine) = if pulled {
            (0, "weight_this")
        } else {
            (5, "weight_prev")
        };
        eprintln!("{name}");
        w.expect_target(target, affine);
    }
}

#[test]
fn the_lowest_domain_of_both_gives_the_percentage() {
    // Cache: imbalance_pct 117, 108 %: 100 * 100 against 93 * 108 and 92 * 108.
    for (load, target, affine) in [(193, 0, "weight_this"), (192, 1, "weight_prev")] {
        let mut w = World::new(&caches(8, 4), BASE);
        w.busy([0, 1]).load(1, load).wakes(0, 1);
        w.wakee.pelt.load_avg = 100;
        w.expect_target(target, affine);
    }
}
