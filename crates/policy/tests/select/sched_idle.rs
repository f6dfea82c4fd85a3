// SPDX-License-Identifier: GPL-2.0-only
//! Feature sched-idle: every search takes a CPU that runs SCHED_IDLE tasks only
//! on sight ("sched/fair: Make sched-idle CPU selection consistent throughout"
//! V2, November 2019, on 5.4).

use crate::common::machines::{caches, flat, smt};
use crate::common::world::World;
use alight_policy::Kind;
use alight_policy::abi::class;

const BEFORE: [&str; 2] = ["linux-5.4", "linux-5.5"];

/// What each base answers without the feature and with it.
fn both(
    machine: &alight_policy::topology::Description,
    state: impl Fn(&mut World),
    without: (u32, &str),
    with: (u32, &str),
) {
    for base in BEFORE {
        eprintln!("{base}");
        let mut w = World::new(machine, base);
        state(&mut w);
        w.expect(without.0, without.1);
        let mut w = World::new(machine, &format!("{base}+sched-idle"));
        state(&mut w);
        w.expect(with.0, with.1);
    }
}

/// Time enough to scan everything.
fn idle_long(w: &mut World) {
    for cpu in &mut w.core.cpus {
        (cpu.avg_idle, cpu.avg_scan_cost) = (1_000_000, 0);
    }
}

#[test]
fn the_scan_of_the_cache_takes_it_before_an_idle_cpu_that_comes_later() {
    let state = |w: &mut World| {
        idle_long(w);
        w.busy([0, 1]).sched_idle([2]).wakes(0, 0);
    };
    both(&flat(8), state, (3, "llc_scan"), (2, "llc_scan"));
}

#[test]
fn the_scan_of_the_cache_takes_an_idle_cpu_that_comes_first() {
    let state = |w: &mut World| {
        idle_long(w);
        w.busy([0]).sched_idle([2]).wakes(0, 0);
    };
    both(&flat(8), state, (1, "llc_scan"), (1, "llc_scan"));
}

#[test]
fn a_scan_that_has_found_one_looks_no_further() {
    let looked = |scheduler: &str| {
        let mut w = World::new(&flat(64), scheduler);
        idle_long(&mut w);
        w.busy(0..64).sched_idle([5]).wakes(0, 0).ask().looked_near
    };
    // The target, then the ring from it: CPUs 0 to 5.
    assert_eq!(looked("linux-5.5+sched-idle"), 7);
    assert_eq!(
        looked("linux-5.5"),
        65,
        "kept in reserve while the scan goes on"
    );
}

#[test]
fn at_the_end_of_the_budget_nothing_is_left_in_reserve() {
    let state = |w: &mut World| {
        // A budget of four: the target, two busy ones, and the end.
        for cpu in &mut w.core.cpus {
            (cpu.avg_idle, cpu.avg_scan_cost) = (0, 1_000_000);
        }
        w.busy(0..8).sched_idle([1]).wakes(0, 0);
    };
    both(&flat(8), state, (1, "llc_scan"), (1, "llc_scan"));
    let beyond = |w: &mut World| {
        for cpu in &mut w.core.cpus {
            (cpu.avg_idle, cpu.avg_scan_cost) = (0, 1_000_000);
        }
        w.busy(0..8).sched_idle([5]).wakes(0, 0);
    };
    both(&flat(8), beyond, (0, "target_busy"), (0, "target_busy"));
}

#[test]
fn a_sibling_of_the_target_is_taken_before_an_idle_one() {
    let state = |w: &mut World| {
        // Budget used up, no idle core: the siblings of the target remain.
        for cpu in &mut w.core.cpus {
            (cpu.avg_idle, cpu.avg_scan_cost) = (0, 1_000_000);
        }
        w.idle_cores(false).busy(0..16).sched_idle([4]).runs(8, 0);
        w.wakes(0, 0);
    };
    // Core 0 has threads 0, 4, 8, 12.
    both(&smt(4, 4), state, (8, "smt_scan"), (4, "smt_scan"));
}

#[test]
fn a_whole_idle_core_still_has_to_be_idle() {
    let state = |w: &mut World| {
        idle_long(w);
        w.idle_cores(true).busy([0]).sched_idle([1]).wakes(0, 0);
    };
    // Core 1 has threads 1 and 5; core 2 is idle.
    both(&smt(4, 2), state, (2, "idle_core"), (2, "idle_core"));
}

/// Seen on 5.4: from 5.5 on the level below, where each CPU is a group, prefers the idle one again.
#[test]
fn the_slow_path_takes_it_before_the_shallowest_idle_cpu() {
    for (scheduler, cpu, step) in [
        ("linux-5.4", 4, "slow_idle"),
        ("linux-5.4+sched-idle", 5, "slow_sched_idle"),
    ] {
        let mut w = World::new(&caches(8, 4), scheduler);
        w.busy(0..8).idles(4, 1, 9).sched_idle([5]).forks(0);
        w.kind = Kind::Exec;
        for cpu in [0, 1, 2, 3, 6, 7] {
            w.used([cpu], 900).load(cpu, 1024).core.cpus[cpu as usize].runnable_load_avg = 1024;
        }
        w.expect(cpu, step);
    }
}

#[test]
fn target_and_previous_cpu_were_taken_before_too() {
    let state = |w: &mut World| {
        w.busy([0]).sched_idle([3]).sync().wakes(0, 3);
    };
    both(&flat(8), state, (3, "prev_idle"), (3, "prev_idle"));
}

// ---- what came later ----

#[test]
fn from_5_6_on_it_is_part_of_the_base() {
    for base in ["linux-6.1", "linux-6.5", "linux-7.2"] {
        let params = |name: &str| {
            let mut params = alight_policy::Scheduler::parse(name).unwrap().params;
            params.features = 0;
            params
        };
        assert_eq!(params(base), params(&format!("{base}+sched-idle")));
    }
}

#[test]
fn a_sched_idle_wakee_may_be_excluded() {
    for (scheduler, class, cpu) in [
        ("linux-5.5+sched-idle", class::IDLE, 2),
        ("linux-5.5+sched-idle:wakee=normal", class::IDLE, 3),
        ("linux-5.5+sched-idle:wakee=normal", class::NORMAL, 2),
        ("linux-7.0", class::IDLE, 2),
        ("linux-7.1", class::IDLE, 3),
        ("linux-7.2", class::IDLE, 3),
        ("linux-7.2+sched-idle:wakee=any", class::IDLE, 2),
    ] {
        eprintln!("{scheduler}");
        let mut w = World::new(&flat(8), scheduler);
        idle_long(&mut w);
        w.wakee.class = class;
        w.worth(8).busy([0, 1]).sched_idle([2]).wakes(0, 0);
        w.expect(cpu, "llc_scan");
    }
}
