// SPDX-License-Identifier: GPL-2.0-only
//! Feature bias-prev: rather the previous CPU than an idle one ("sched/fair:
//! Introduce WAKEUP_BIAS_PREV to reduce migrations", RFC, October 2023, on
//! 6.5.5; its forerunner of September and its successor of the same October).

use crate::common::machines::{caches, clustered, dynamiq, flat, smt};
use crate::common::world::World;

const BIAS: &str = "linux-6.5+bias-prev";

/// The tasks that run on `cpu` are estimated to need `util`.
fn est(w: &mut World, cpu: u32, util: u32) -> &mut World {
    w.core.cpus[cpu as usize].util_est_enqueued = util;
    w
}

/// Eight equal CPUs, 0 and 3 busy with tasks of estimates 900 and `util`; CPU 0
/// wakes a task of CPU 3 and says that it will sleep, so that it is the target.
fn pair(scheduler: &str, util: u32) -> World {
    let mut w = World::new(&flat(8), scheduler);
    w.busy([0, 3]).sync().wakes(0, 3);
    est(est(&mut w, 0, 900), 3, util);
    w
}

// ---- first of all: the previous CPU, idle or with a quarter to spare ----

#[test]
fn a_busy_previous_cpu_with_a_quarter_to_spare_comes_before_any_idle_cpu() {
    let table = [
        ("nothing estimated", 0, 3, "bias_prev"),
        ("three quarters are spoken for", 768, 3, "bias_prev"),
        ("a little more", 769, 1, "llc_scan"),
        ("more than it can give", 1500, 1, "llc_scan"),
    ];
    for (name, util, cpu, step) in table {
        eprintln!("{name}");
        pair(BIAS, util).expect(cpu, step);
    }
    pair("linux-6.5", 0).expect(1, "llc_scan");
}

#[test]
fn the_previous_cpu_comes_before_an_idle_target() {
    let mut w = pair(BIAS, 0);
    w.runs(0, 0).runs(0, 1).wakes(2, 3);
    w.expect(3, "bias_prev");
    let mut base = pair("linux-6.5", 0);
    base.wakes(2, 3);
    base.expect(2, "target_idle");
}

#[test]
fn the_threshold_is_a_tunable_of_1024() {
    for (spare, most) in [(0, 1024), (128, 896), (512, 512), (1024, 0)] {
        let scheduler = format!("linux-6.5+bias-prev:spare={spare}");
        pair(&scheduler, most).expect(3, "bias_prev");
        pair(&scheduler, most + 1).expect(1, "llc_scan");
    }
}

#[test]
fn capacity_is_the_original_one_and_only_estimates_of_runnable_tasks_count() {
    let mut w = pair(BIAS, 768);
    w.capacity(3, 10).used([3], 1024).load(3, 5000);
    w.expect(3, "bias_prev");
    let mut w = pair(BIAS, 300);
    w.core.cpus[3].capacity_orig = 400;
    w.expect(3, "bias_prev");
    est(&mut w, 3, 301).expect(1, "llc_scan");
}

#[test]
fn a_previous_cpu_that_is_the_target_stacks_without_a_scan() {
    let mut w = World::new(&flat(8), BIAS);
    let answer = est(w.busy([3]).wakes(3, 3), 3, 500).expect(3, "bias_prev");
    assert_eq!(answer.looked_near + answer.looked_far, 1);
}

#[test]
fn a_previous_cpu_idle_or_with_sched_idle_tasks_only_needs_no_room() {
    for idle in [0, 1] {
        let mut w = pair(BIAS, 1024);
        if idle == 1 {
            w.runs(3, 0)
        } else {
            w.sched_idle([3])
        };
        w.expect(3, "bias_prev");
    }
}

#[test]
fn across_caches_it_has_no_say() {
    let mut w = World::new(&caches(8, 4), BIAS);
    w.busy([0, 4]).sync().wakes(0, 4).expect(1, "llc_scan");
}

#[test]
fn where_cpus_differ_in_capacity_it_must_be_big_enough() {
    for (util, cpu, step) in [(300, 1, "bias_prev"), (400, 4, "asym_fits")] {
        let mut w = World::new(&dynamiq(), BIAS);
        w.util(util).busy([0, 1]).sync().wakes(0, 1);
        w.expect(cpu, step);
    }
}

#[test]
fn smt_siblings_do_not_count_against_it() {
    let mut w = World::new(&smt(4, 2), BIAS);
    w.busy([0, 3, 7]).sync().wakes(0, 3);
    est(&mut w, 7, 1024).expect(3, "bias_prev");
}

// ---- last of all: the previous CPU rather than the target ----

#[test]
fn with_nothing_idle_the_previous_cpu_answers_not_the_target() {
    let mut w = pair(BIAS, 1000);
    w.busy(0..8).expect(3, "bias_last");
    let mut base = pair("linux-6.5", 1000);
    base.busy(0..8).expect(0, "target_busy");
    // Not across caches.
    let mut w = World::new(&caches(8, 4), BIAS);
    est(w.busy(0..8).sync().wakes(0, 4), 4, 1000).expect(0, "target_busy");
}

#[test]
fn a_target_that_is_the_previous_cpu_is_not_a_last_resort() {
    let mut w = World::new(&flat(4), BIAS);
    est(w.busy(0..4).wakes(1, 1), 1, 1000).expect(1, "target_busy");
}

#[test]
fn among_clusters_the_last_resort_comes_before_cpus_kept_in_reserve() {
    let mut w = World::new(&clustered(8, 4), "linux-7.2+bias-prev:select");
    w.busy(0..8)
        .runs(6, 0)
        .worth(0)
        .sync()
        .wakes(0, 5)
        .recent(6);
    w.expect(5, "bias_last");
    let mut base = World::new(&clustered(8, 4), "linux-7.2");
    base.busy(0..8)
        .runs(6, 0)
        .worth(0)
        .sync()
        .wakes(0, 5)
        .recent(6);
    base.expect(6, "recent_far");
}

// ---- September 2023: idle-only ----

#[test]
fn idle_only_takes_a_hardly_loaded_previous_cpu_for_idle() {
    let scheduler = "linux-6.5+bias-prev:idle-only";
    for (load, cpu, step) in [(47, 3, "bias_room"), (48, 1, "llc_scan")] {
        let mut w = pair(scheduler, 0);
        w.load(3, load).expect(cpu, step);
    }
    // It is tried after the target, as ever, and is no last resort.
    let mut w = pair(scheduler, 0);
    w.load(3, 0)
        .runs(0, 0)
        .runs(0, 1)
        .runs(2, 0)
        .wakes(2, 3)
        .load(2, 900);
    w.expect(2, "target_idle");
    let mut w = pair(scheduler, 0);
    w.busy(0..8).load(3, 100).expect(0, "target_busy");
}

#[test]
fn idle_only_does_not_count_the_wakee() {
    let mut w = pair("linux-6.5+bias-prev:idle-only", 0);
    w.load(3, 500).wakee.pelt.load_avg = 460;
    w.wakee.pelt.last_update_time = 1;
    w.expect(3, "bias_room");
}

#[test]
fn idle_only_counts_for_a_target_that_is_the_previous_cpu() {
    let mut w = World::new(&flat(4), "linux-6.5+bias-prev:idle-only");
    w.busy([1]).load(1, 10).wakes(1, 1).expect(1, "bias_room");
}

#[test]
fn idle_only_counts_where_the_target_is_chosen() {
    let mut w = World::new(&caches(8, 4), "linux-6.5+bias-prev:idle-only");
    w.busy([0, 1, 4]).load(4, 40).wakes(0, 4);
    w.expect_target(4, "prev_alone");
    let mut base = World::new(&caches(8, 4), "linux-6.5");
    base.busy([0, 1, 4]).load(4, 40).wakes(0, 4);
    base.expect_target(0, "weight_this");
}

// ---- the successor: fits and select ----

#[test]
fn fits_takes_a_busy_cpu_beside_whose_tasks_the_wakee_fits() {
    // 80 % of 1024 are 819.
    let table = [(419, 400, 3, "bias_room"), (419, 401, 1, "llc_scan")];
    for (estimate, util, cpu, step) in table {
        let mut w = pair("linux-6.5+bias-prev:fits", estimate);
        w.util(util).expect(cpu, step);
    }
}

#[test]
fn fits_counts_for_target_previous_and_recent_cpu_in_this_order() {
    let scheduler = "linux-6.5+bias-prev:fits";
    let mut w = pair(scheduler, 100);
    est(w.util(100), 0, 100).expect(0, "bias_room");
    let mut w = pair(scheduler, 900);
    est(w.util(100).busy([5]).recent(5), 5, 100).expect(5, "bias_room");
    let mut w = pair(scheduler, 900);
    est(w.util(100).busy(0..8).recent(5), 5, 900).expect(0, "target_busy");
}

#[test]
fn fits_goes_by_the_capacity_that_other_classes_and_limits_leave_now() {
    let mut w = pair("linux-6.5+bias-prev:fits", 300);
    w.util(300).expect(3, "bias_room");
    w.core.cpus[3].rt_util = 300;
    w.expect(1, "llc_scan");
    (w.core.cpus[3].rt_util, w.core.cpus[3].hw_load_avg) = (0, 300);
    w.expect(1, "llc_scan");
    (w.core.cpus[3].hw_load_avg, w.core.cpus[3].irq_util) = (0, 300);
    w.expect(1, "llc_scan");
    w.core.cpus[3].irq_util = 1024;
    w.expect(1, "llc_scan");
}

#[test]
fn select_alone_prefers_an_idle_previous_cpu_and_is_a_last_resort() {
    let scheduler = "linux-6.5+bias-prev:select";
    pair(scheduler, 0).expect(1, "llc_scan");
    let mut w = pair(scheduler, 0);
    w.runs(3, 0).expect(3, "bias_prev");
    let mut w = pair(scheduler, 0);
    w.busy(0..8).expect(3, "bias_last");
}

#[test]
fn both_try_the_previous_cpu_first_by_what_fits() {
    let scheduler = "linux-6.5+bias-prev:fits:select";
    let mut w = pair(scheduler, 100);
    est(w.util(100), 0, 100).expect(3, "bias_prev");
    let mut w = pair(scheduler, 900);
    est(w.util(100), 0, 100).expect(0, "bias_room");
    let mut w = pair(scheduler, 900);
    w.util(100).busy(0..8).expect(3, "bias_last");
}

// ---- what it leaves alone ----

#[test]
fn other_bases_have_it_at_the_same_places() {
    for base in ["linux-5.4", "linux-5.5", "linux-6.1", "linux-7.2"] {
        eprintln!("{base}");
        let with = format!("{base}+bias-prev");
        let mut w = pair(&with, 768);
        w.worth(8).expect(3, "bias_prev");
        let mut w = pair(&with, 1000);
        w.busy(0..8).worth(8).expect(3, "bias_last");
    }
}

#[test]
fn forks_and_the_slow_path_do_not_know_it() {
    let decide = |scheduler: &str| {
        let mut w = World::new(&caches(8, 4), scheduler);
        w.busy([0, 1]).forks(0).ask()
    };
    assert_eq!(decide(BIAS), decide("linux-6.5"));
}
