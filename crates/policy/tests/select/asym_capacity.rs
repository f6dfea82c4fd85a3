// SPDX-License-Identifier: GPL-2.0-only
//! Feature asym-capacity: an idle CPU that is big enough ("sched/fair:
//! Capacity aware wakeup rework" v4, 2020). A task of 357 or more does not fit
//! a little CPU, one of 820 or more fits none.

use crate::common::machines::{
    BIG, LITTLE, asym_smt, caches, clusters, dynamiq, flat, of_capacities, smt,
};
use crate::common::world::World;
use alight_policy::abi::domain_flag;
use alight_policy::{AFFINE, NONE, STEPS, Scheduler};

const ASYM: &str = "linux-5.5+asym-capacity";

fn shared_cache() -> World {
    World::new(&dynamiq(), ASYM)
}

// ---- the first idle CPU where the task fits, in ring order from the target ----

#[test]
fn the_first_idle_cpu_that_fits_in_ring_order_from_the_target() {
    let table = [
        ("the target itself", 100, 2, vec![], 2),
        ("the next little one", 100, 2, vec![2], 3),
        ("on to the big ones", 100, 2, vec![2, 3], 4),
        ("round the end", 100, 6, vec![6, 7], 0),
        ("a big task from a little CPU", 500, 0, vec![], 4),
        ("past a busy big one", 500, 0, vec![4], 5),
        ("a big task from a big CPU", 500, 5, vec![5], 6),
        ("round the end past the little ones", 500, 6, vec![6, 7], 4),
        ("just fits", 356, 0, vec![], 0),
        ("just does not", 357, 0, vec![], 4),
        ("just fits a big one", 819, 0, vec![], 4),
    ];
    for (name, util, target, busy, expected) in table {
        let mut w = shared_cache();
        eprintln!("{name}");
        w.util(util)
            .busy(busy)
            .wakes(target, target)
            .expect(expected, "asym_fits");
    }
}

#[test]
fn the_ring_starts_at_this_or_the_previous_cpu_as_affine_says() {
    let mut w = shared_cache();
    w.util(100).busy([0, 5]).wakes(0, 5);
    w.expect_target(5, "weight_prev");
    w.expect(6, "asym_fits");
    w.sync().expect_target(0, "sync");
    w.expect(1, "asym_fits");
}

#[test]
fn the_task_is_its_clamped_estimate_decayed_to_its_queues_last_update() {
    let fits_little = |change: &dyn Fn(&mut World)| {
        let mut w = shared_cache();
        w.util(300).wakes(0, 0);
        change(&mut w);
        w.ask().cpu == 0
    };
    assert!(fits_little(&|_| {}));
    assert!(!fits_little(&|w| w.wakee.util_est_ewma = 400));
    assert!(!fits_little(&|w| w.wakee.util_est_enqueued = 400));
    assert!(!fits_little(&|w| w.wakee.uclamp_min = 357));
    assert!(fits_little(&|w| {
        w.util(1000).wakee.uclamp_max = 356;
    }));
    let slept = |w: &mut World, periods: u64| {
        w.util(600);
        w.wakee.pelt.util_sum = 600 * 46718;
        w.wakee.pelt.last_update_time = 1 << 20;
        w.core.cpus[0].cfs.last_update_time = (1 + periods) << 20;
    };
    assert!(!fits_little(&|w| slept(w, 0)));
    assert!(fits_little(&|w| slept(w, 32)));
}

#[test]
fn clamps_count_on_a_base_that_does_not_know_them_in_placement_too() {
    for (scheduler, expected) in [("linux-5.4+asym-capacity", 4), ("linux-5.4", 0)] {
        let mut w = World::new(&dynamiq(), scheduler);
        w.util(100).clamp(600, 1024).wakes(0, 0);
        assert_eq!(w.ask().cpu, expected, "{scheduler}");
    }
}

#[test]
fn what_counts_is_the_capacity_that_is_left_not_the_original_one() {
    let mut w = shared_cache();
    w.util(500)
        .capacity(4, 500)
        .wakes(0, 0)
        .expect(5, "asym_fits");
    w.capacity(0, 1000).expect(0, "asym_fits");
}

#[test]
fn a_sched_idle_cpu_is_as_good_as_an_idle_one() {
    shared_cache()
        .util(500)
        .sched_idle([4])
        .wakes(0, 0)
        .expect(4, "asym_fits");
}

#[test]
fn busy_means_any_class_and_remote_wakeups_too() {
    let mut w = shared_cache();
    w.util(500).realtime([4]).wakes(0, 0);
    w.core.cpus[5].ttwu_pending = 1;
    w.expect(6, "asym_fits");
}

#[test]
fn only_allowed_cpus_are_met() {
    let mut w = shared_cache();
    w.util(500)
        .allow([0, 1, 6])
        .wakes(0, 0)
        .expect(6, "asym_fits");
}

// ---- else the idle CPU of the largest capacity ----

#[test]
fn a_task_that_fits_no_idle_cpu_takes_the_largest_capacity_the_first_of_equals() {
    let table = [
        ("too big for all", 900, vec![], 0, 4),
        ("from the middle of the big ones", 900, vec![], 6, 6),
        ("the first of equals in the ring", 900, vec![6], 6, 7),
        ("big ones busy", 500, vec![4, 5, 6, 7], 0, 0),
        ("big ones busy, ring from 2", 500, vec![4, 5, 6, 7], 2, 2),
        ("one little one idle", 500, vec![0, 1, 2, 4, 5, 6, 7], 0, 3),
    ];
    for (name, util, busy, target, expected) in table {
        let mut w = shared_cache();
        eprintln!("{name}");
        w.util(util)
            .busy(busy)
            .wakes(target, target)
            .expect(expected, "asym_biggest");
    }
}

#[test]
fn the_largest_is_by_the_capacity_that_is_left() {
    let mut w = shared_cache();
    w.util(900)
        .capacity(4, 300)
        .capacity(5, 800)
        .capacity(6, 801)
        .capacity(7, 801);
    w.wakes(0, 0).expect(6, "asym_biggest");
}

// ---- else the target ----

#[test]
fn with_nothing_idle_the_target_answers_even_if_too_small() {
    let mut w = shared_cache();
    let answer = w.util(1000).busy(0..8).wakes(1, 1).expect(1, "asym_target");
    assert_eq!(answer.found_idle, 0);
    w.allow([1, 4]).runs(6, 0).expect(1, "asym_target");
}

// ---- what is not looked at ----

#[test]
fn previous_and_recent_cpus_have_no_privilege() {
    let mut w = shared_cache();
    w.util(100).busy([0]).sync().wakes(0, 3);
    w.wakee.recent_used_cpu = 2;
    w.expect(1, "asym_fits");
    assert_eq!(w.wakee.recent_used_cpu, 2, "kept");
    assert_eq!(w.waker.recent_used_cpu, 0, "but the waker's is recorded");
}

#[test]
fn the_scan_has_no_budget() {
    let mut w = World::new(&of_capacities(&[[LITTLE; 20], [BIG; 20]].concat()), ASYM);
    for cpu in &mut w.core.cpus {
        (cpu.avg_idle, cpu.avg_scan_cost) = (0, 1_000_000);
    }
    let answer = w.util(500).busy(0..39).wakes(0, 0).expect(39, "asym_fits");
    assert_eq!((answer.cut, answer.looked_near), (0, 40));
    assert_eq!(
        w.core.cpus[0].avg_scan_cost, 1_000_000,
        "and teaches no cost"
    );
}

#[test]
fn caches_do_not_bound_the_scan() {
    let mut w = World::new(&clusters(), ASYM);
    let answer = w.util(500).wakes(0, 0).expect(4, "asym_fits");
    assert_eq!((answer.looked_near, answer.looked_far), (4, 1));
}

#[test]
fn there_is_no_wake_cap_and_no_slow_path() {
    for machine in [clusters(), dynamiq()] {
        let mut w = World::new(&machine, ASYM);
        assert!(
            w.core
                .domains
                .iter()
                .all(|d| d.flags & domain_flag::BALANCE_WAKE == 0)
        );
        for (waker, wakee) in [(0, 0), (1000, 8)] {
            let answer = w.util(1000).flips(waker, wakee).wakes(0, 1).ask();
            assert_eq!(answer.slow, 0);
            assert_ne!(AFFINE[answer.affine as usize].0, "wake_cap");
        }
        assert_eq!(
            w.flips(1000, 8).ask().target,
            1,
            "wide wakeups start at the previous CPU"
        );
    }
}

#[test]
fn fork_and_exec_are_as_before() {
    let mut w = shared_cache();
    let answer = w.util(0).busy([0]).forks(0).expect(1, "slow_idle");
    assert_eq!(answer.slow, 1);
}

// ---- where the feature does not act ----

#[test]
fn in_a_cpuset_of_equal_cpus_the_symmetric_search_answers() {
    let mut w = shared_cache();
    // What a partition of equal CPUs looks like: the machine is asymmetric, the domain is not.
    w.reshape(|views| {
        for place in &mut views.places {
            place.asym_domain = NONE;
        }
    });
    w.util(500)
        .busy([0])
        .sync()
        .wakes(0, 3)
        .expect(3, "prev_idle");
    w.busy([3]).expect(1, "llc_scan");
}

#[test]
fn on_equal_cpus_the_symmetric_search_answers() {
    for machine in [flat(8), caches(8, 4), smt(4, 2)] {
        let mut w = World::new(&machine, ASYM);
        assert!(w.core.places.iter().all(|p| p.asym_domain == NONE));
        w.busy([0]).sync().wakes(0, 3).expect(3, "prev_idle");
    }
}

#[test]
fn without_the_feature_the_same_questions_get_the_answers_of_5_5() {
    let mut w = World::new(&dynamiq(), "linux-5.5");
    // One cache: the fast path takes any idle CPU, whatever its size ...
    w.util(700).busy([4]).wakes(4, 4).expect(5, "llc_scan");
    w.busy([5, 6, 7]).expect(0, "llc_scan");
    // ... and a waking little CPU means the slow path.
    w.runs(6, 0).wakes(0, 4).expect(6, "slow_idle");
}

// ---- options: its history and its successors ----

#[test]
fn prev_first_asks_target_previous_and_recent_cpu_before_the_scan() {
    const PREV_FIRST: &str = "linux-5.5+asym-capacity:prev-first";
    let mut w = World::new(&dynamiq(), PREV_FIRST);
    w.util(100)
        .busy([0])
        .sync()
        .wakes(0, 3)
        .expect(3, "prev_idle");
    w.busy([3]).recent(5).expect(5, "recent_idle");
    // They must be big enough; the scan answers otherwise, and nothing after it.
    let mut w = World::new(&dynamiq(), PREV_FIRST);
    w.util(500).wakes(3, 3).expect(4, "asym_fits");
    w.busy(0..8).expect(3, "asym_target");
}

#[test]
fn hog_cap_orig_ends_the_scan_at_a_biggest_cpu_that_is_not_under_pressure() {
    const HOG: &str = "linux-5.5+asym-capacity:hog=cap-orig";
    let hog = |scheduler: &str, change: &dyn Fn(&mut World)| {
        let mut w = World::new(&dynamiq(), scheduler);
        w.util(1000).wakes(0, 0).capacity(4, 900);
        change(&mut w);
        w.ask().cpu
    };
    assert_eq!(hog(ASYM, &|_| {}), 5, "the largest capacity left");
    assert_eq!(
        hog(HOG, &|_| {}),
        4,
        "the first of the largest original one"
    );
    // imbalance_pct of the cache is 117: 875 of 1024 must be left.
    let pressed = |left| hog(HOG, &|w| w.capacity(4, left).core.root = Default::default());
    assert_eq!((pressed(876), pressed(875)), (4, 5));
    let small = hog(HOG, &|w| {
        w.util(100);
    });
    assert_eq!(small, 0, "a task that fits is no hog");
}

#[test]
fn clamps_rank_idle_cpus_as_6_1_does() {
    let decide = |scheduler: &str| {
        let mut w = World::new(&dynamiq(), scheduler);
        w.util(100).clamp(900, 1024).busy(4..8).wakes(0, 0).ask()
    };
    let of = |scheduler| STEPS[decide(scheduler).step as usize].0;
    assert_eq!(
        of(ASYM),
        "asym_biggest",
        "clamped to 900 it fits nothing idle"
    );
    assert_eq!(of("linux-5.5+asym-capacity:clamps"), "asym_min_clamp");
}

#[test]
fn smt_prefers_whole_idle_cores_as_7_2_does() {
    let decide = |scheduler: &str| {
        let mut w = World::new(&asym_smt(), scheduler);
        // A thread of CPU 4's core is busy; the core of CPU 5 is idle.
        w.util(500)
            .idle_cores(true)
            .busy([12])
            .wakes(0, 0)
            .ask()
            .cpu
    };
    assert_eq!(decide(ASYM), 4);
    assert_eq!(decide("linux-5.5+asym-capacity:smt"), 5);
}

#[test]
fn on_a_base_that_has_it_only_options_change_something() {
    let params = |name: &str| {
        let mut params = Scheduler::parse(name).unwrap().params;
        params.features = 0;
        params
    };
    for base in ["linux-6.1", "linux-6.5", "linux-7.2"] {
        assert_eq!(params(base), params(&format!("{base}+asym-capacity")));
    }
    // The form of 2020 in place of the base's own.
    let mut w = World::new(
        &dynamiq(),
        "linux-6.5+asym-capacity:prev-first=off:clamps=off",
    );
    w.util(100)
        .busy([0])
        .sync()
        .wakes(0, 3)
        .expect(1, "asym_fits");
}
