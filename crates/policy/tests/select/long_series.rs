// SPDX-License-Identifier: GPL-2.0-only
//! The last updates of 5.10 and 5.15 (kernel/sched/fair.c of 5.10.262 and
//! 5.15.215): what each has of its own, between 5.5 and 6.1.

use crate::common::machines::{caches, dynamiq, flat, nodes, smt};
use crate::common::world::{NO_CPU, World};
use crate::energy::{big, little};
use alight_policy::abi::{task_flag, wake_flag};
use alight_policy::{NONE, STEPS};

const BOTH: [&str; 2] = ["linux-5.10", "linux-5.15"];

// ---- fit: util_fits_cpu() as a yes or no ----

#[test]
fn a_lower_clamp_out_of_reach_is_a_no_but_on_the_biggest_cpu() {
    // clamps, utilization, fits a little CPU (446), fits a big one that is limited
    let table = [
        ((0, 1024), 300, true, true),
        ((446, 1024), 300, true, true),
        ((447, 1024), 300, false, true),
        ((1024, 1024), 300, false, true),
        ((0, 446), 1000, true, true),
        ((600, 446), 300, true, true),
        ((0, 1024), 900, false, false),
    ];
    for base in BOTH {
        for (clamps, util, on_little, on_big) in table {
            for (cpu, fits) in [(0, on_little), (4, on_big)] {
                let mut w = World::new(&dynamiq(), base);
                w.core.cpus[4].hw_pressure = 300;
                w.clamp(clamps.0, clamps.1).util(util).wakes(cpu, cpu);
                let step = STEPS[w.ask().step as usize].0;
                let taken = step == "target_idle";
                assert_eq!(taken, fits, "{base}: {clamps:?} at {util} on {cpu}");
            }
        }
    }
}

#[test]
fn of_cpus_that_fit_not_the_largest_wins_whatever_is_missing() {
    // 6.1 ranks a CPU that only misses the lower clamp before one that is too small.
    for (base, cpu, step) in [
        ("linux-5.10", 3, "asym_biggest"),
        ("linux-5.15", 3, "asym_biggest"),
        ("linux-6.1", 2, "asym_min_clamp"),
    ] {
        let mut w = World::new(&dynamiq(), base);
        w.clamp(600, 1024).util(300).busy(4..8).wakes(0, 0);
        for little in [0, 1, 3] {
            w.core.cpus[little].hw_load_avg = 100;
        }
        w.capacity(0, 440).capacity(1, 440).capacity(2, 440);
        w.expect(cpu, step);
    }
}

#[test]
fn an_inverted_cpu_counts_as_small_as_it_is_left() {
    for (base, reaches) in [
        ("linux-5.10", false),
        ("linux-5.15", false),
        ("linux-6.1", true),
    ] {
        let mut w = World::new(&dynamiq(), base);
        w.core.cpus[4].capacity_inverted = 400;
        w.clamp(500, 1024).util(300).wakes(4, 4);
        assert_eq!(w.ask().cpu == 4, reaches, "{base}: lower clamp");
        // As a CPU of 1024 it would not be limited by an upper clamp of 1024.
        let mut w = World::new(&dynamiq(), base);
        w.core.cpus[4].capacity_inverted = 400;
        w.clamp(0, 500).util(900).wakes(4, 4);
        assert_eq!(w.ask().cpu == 4, reaches, "{base}: upper clamp");
    }
}

// ---- the search of 5.10 ----

fn kthread(w: &mut World) -> &mut World {
    w.waker.flags |= task_flag::KTHREAD;
    w.waker.nr_cpus_allowed = 1;
    w
}

#[test]
fn what_a_bound_kernel_thread_wakes_may_join_it() {
    for base in BOTH {
        let mut w = World::new(&flat(8), base);
        w.recent(5);
        kthread(w.busy([0])).wakes(0, 0).expect(0, "kthread_prev");
        w.recent(5).flags = wake_flag::INTERRUPT;
        w.expect(5, "recent_idle");
        w.flags = 0;
        w.recent(5).runs(0, 2).expect(5, "recent_idle");
    }
}

#[test]
fn in_5_10_cpus_outside_the_affinity_cost_no_budget() {
    // Four may be looked at, less one; CPUs 1, 2 and 3 are not allowed.
    for (base, cpu, step) in [
        ("linux-5.5", 0, "target_busy"),
        ("linux-5.10", 4, "llc_scan"),
    ] {
        let mut w = World::new(&flat(8), base);
        w.core.cpus[0].avg_idle = 0;
        w.allow([0, 4, 5]).busy([0]).wakes(0, 0).expect(cpu, step);
    }
}

#[test]
fn in_5_10_a_busy_thread_ends_the_look_at_its_core() {
    // The target, then the threads of cores 0, 1 and 2.
    for (base, looked) in [("linux-5.5", 1 + 2 + 2 + 2), ("linux-5.10", 1 + 1 + 1 + 2)] {
        let mut w = World::new(&smt(4, 2), base);
        w.busy([0, 1]).idle_cores(true).wakes(0, 0);
        let answer = w.ask();
        assert_eq!(answer.cpu, 2, "{base}: the first idle core");
        assert_eq!(answer.looked_near, looked, "{base}");
    }
}

#[test]
fn in_5_10_a_thread_outside_the_domain_does_not_count() {
    for (base, cpu, step) in [
        ("linux-5.5", 4, "smt_scan"),
        ("linux-5.10", 0, "target_busy"),
    ] {
        let mut w = World::new(&smt(4, 2), base);
        // CPU 4 is the other thread of CPU 0, and in no domain of the cache.
        w.reshape(|views| {
            let llc = views.places[0].llc_domain as usize;
            views.domains[llc].span.remove(4);
        });
        w.busy([0, 1, 2, 3, 5, 6, 7]).wakes(0, 0).expect(cpu, step);
    }
}

#[test]
fn the_wakers_recent_cpu_is_its_own_in_5_10_the_wakees_is_the_previous_one_in_5_15() {
    for (base, waker, wakee) in [("linux-5.10", 0, NO_CPU), ("linux-5.15", NO_CPU, 3)] {
        let mut w = World::new(&flat(8), base);
        w.busy([0, 3]).wakes(0, 3).ask();
        let found = (w.waker.recent_used_cpu, w.wakee.recent_used_cpu);
        assert_eq!(found, (waker, wakee), "{base}");
    }
}

// ---- the search of 5.15 ----

#[test]
fn in_5_15_the_recent_cpu_is_taken_though_the_task_may_not_use_it() {
    // The test for the affinity reads the field that has just become the previous CPU.
    for (base, cpu, step) in [("linux-5.15", 0, "fallback"), ("linux-6.1", 1, "llc_scan")] {
        let mut w = World::new(&flat(8), base);
        w.busy([0])
            .recent(5)
            .allow([0, 1, 2])
            .wakes(0, 0)
            .expect(cpu, step);
    }
}

#[test]
fn up_to_5_15_a_waker_without_a_shared_cache_scans_nothing() {
    // The wakee's caches are others; the waker's CPU is made a loner.
    for (base, cpu, step) in [
        ("linux-5.10", 4, "target_busy"),
        ("linux-5.15", 4, "target_busy"),
        ("linux-6.1", 5, "llc_scan"),
    ] {
        let mut w = World::new(&caches(8, 4), base);
        w.reshape(|views| views.places[0].llc_domain = NONE);
        w.busy([0, 4]).load(0, 9000).wakes(0, 4).expect(cpu, step);
    }
}

#[test]
fn utilization_bounds_the_scan_in_5_15_idle_time_in_5_10() {
    for (base, by_util, by_idle) in [("linux-5.10", 1, 0), ("linux-5.15", 0, 1)] {
        let mut w = World::new(&flat(8), base);
        w.busy([0]).worth(0).wakes(0, 0);
        assert_eq!(w.ask().cpu, by_util, "{base}: nothing is worth a look");
        let mut w = World::new(&flat(8), base);
        w.core.cpus[0].avg_idle = 0;
        w.busy(0..4).wakes(0, 0);
        assert_eq!(w.ask().cpu != 0, by_idle == 1, "{base}: never idle");
    }
}

#[test]
fn an_idle_previous_cpu_is_the_target_from_5_15_on() {
    for (base, target, because) in [
        ("linux-5.10", 0, "weight_this"),
        ("linux-5.15", 4, "prev_alone"),
    ] {
        let mut w = World::new(&caches(8, 4), base);
        w.busy([0]).load(4, 9000).wakes(0, 4);
        w.expect_target(target, because);
    }
}

// ---- fork at nodes ----

#[test]
fn a_new_task_stays_on_its_node_while_that_has_an_idle_cpu_or_below_a_quarter() {
    // Tasks that run on a node of 16 CPUs: with the new one, 3 are below a quarter.
    for (base, running, stays) in [
        ("linux-5.10", 2, true),
        ("linux-5.10", 15, true),
        ("linux-5.15", 2, true),
        ("linux-5.15", 3, false),
        ("linux-5.15", 15, false),
    ] {
        let mut w = World::new(&nodes(16, 20), base);
        w.busy(0..running).forks(0);
        assert_eq!(w.ask().cpu < 16, stays, "{base}: {running} running");
    }
}

#[test]
fn cpus_outside_the_affinity_count_neither_in_5_10_262_nor_in_5_15_215() {
    for base in BOTH {
        let mut w = World::new(&caches(8, 4), base);
        w.busy([0, 1, 2, 4, 5]).allow([0, 1, 2, 3, 4, 5]).forks(0);
        assert!(w.ask().cpu < 4, "{base}");
    }
}

// ---- energy ----

fn energy(base: &str) -> World {
    let mut w = World::new(&dynamiq(), base);
    let model = vec![big(&w.core.params), little(&w.core.params)];
    w.core.set_perf(model).expect("a model");
    w
}

/// `this` wakes a task of this utilization, which its previous CPU still counts.
fn wakes(w: &mut World, util: u32, this: u32, prev: u32) -> &mut World {
    w.wakee.pelt.util_avg = util;
    w.core.cpus[prev as usize].cfs.util_avg += util;
    w.wakes(this, prev)
}

#[test]
fn a_task_of_no_utilization_stays_unless_it_has_a_lower_clamp() {
    for base in BOTH {
        let mut w = energy(base);
        wakes(&mut w, 0, 4, 6).expect(6, "eas_prev");
        w.clamp(600, 1024).wakes(4, 0).expect(4, "eas_fits");
    }
}

#[test]
fn a_set_without_a_candidate_costs_nothing_in_5_15() {
    // A little CPU saves less than a 16th of what the big ones cost, which may not be used.
    for (base, cpu, step) in [
        ("linux-5.10", 1, "eas_prev"),
        ("linux-5.15", 0, "eas_saves"),
    ] {
        let mut w = energy(base);
        w.used([1], 90).used([2], 5).used([3], 5).used(4..8, 600);
        wakes(&mut w, 50, 0, 1)
            .allow([0, 1, 2, 3])
            .expect(cpu, step);
    }
}

#[test]
fn stale_clamps_of_an_empty_queue_do_not_count() {
    // The queue's last task was held to 100, which would hide that the wakee needs more.
    for base in BOTH {
        let mut w = energy(base);
        w.clamp(0, 1024);
        for rq in &mut w.core.cpus {
            (rq.uclamp_max, rq.uclamp_idle) = (100, 1);
        }
        // 300 of a little CPU needs the top, where it costs more than on a big one at its least.
        let stale = wakes(&mut w, 300, 4, 4).ask().cpu;
        let mut w = energy(base);
        let fresh = wakes(&mut w, 300, 4, 4).ask().cpu;
        assert_eq!(stale, fresh, "{base}");
    }
}

#[test]
fn limits_bound_what_5_15_expects_of_a_set() {
    // A little CPU is busy beyond what its limit leaves, 200: the set is then expected a
    // point lower, where 40 more cost enough less than on a big CPU.
    for (base, pressure, cpu) in [
        ("linux-5.10", 0, 4),
        ("linux-5.10", 246, 4),
        ("linux-5.15", 0, 4),
        ("linux-5.15", 246, 0),
    ] {
        let mut w = energy(base);
        for little in 0..4 {
            w.core.cpus[little].hw_pressure = pressure;
        }
        w.used([1], 300);
        let found = wakes(&mut w, 40, 4, 4).ask().cpu;
        assert_eq!(found, cpu, "{base}, {pressure} taken");
    }
}
