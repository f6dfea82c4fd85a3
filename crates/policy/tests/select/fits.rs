// SPDX-License-Identifier: GPL-2.0-only
//! Asymmetric machines from 6.1: a CPU must fit the task and its clamps
//! (`util_fits_cpu()`, `select_idle_capacity()`). A task of 357 or more does
//! not fit a little CPU, one of 820 or more fits none.

use crate::common::machines::{LITTLE, asym_smt, caches, clusters, dynamiq, of_capacities};
use crate::common::world::World;
use alight_policy::NONE;
use alight_policy::abi::domain_flag as flag;

const ALL: [&str; 3] = ["linux-6.1", "linux-6.5", "linux-7.2"];

#[test]
fn target_previous_and_recent_cpu_must_fit() {
    for base in ALL {
        let mut w = World::new(&dynamiq(), base);
        w.util(300).wakes(0, 0).expect(0, "target_idle");
        w.util(500).expect(4, "asym_fits");
        w.busy([4]).sync().wakes(4, 6).expect(6, "prev_idle");
        w.wakes(4, 1).recent(6).expect(6, "recent_idle");
        w.wakes(4, 1).recent(2).expect(5, "asym_fits");
    }
}

#[test]
fn the_scan_begins_at_the_target_but_in_6_5_after_it() {
    for (base, cpu) in [("linux-6.1", 4), ("linux-6.5", 5), ("linux-7.2", 4)] {
        let mut w = World::new(&dynamiq(), base);
        // Too small a task for anything but the scan to take CPU 4: it is capped by nothing.
        w.util(900).wakes(4, 4).expect(cpu, "asym_biggest");
    }
}

#[test]
fn what_fits_nowhere_takes_the_largest_capacity() {
    for base in ALL {
        let mut w = World::new(&dynamiq(), base);
        w.util(900)
            .capacity(6, 1000)
            .capacity(4, 900)
            .capacity(5, 900);
        w.capacity(7, 900).wakes(0, 0).expect(6, "asym_biggest");
        w.busy(0..8).expect(0, "asym_target");
    }
}

#[test]
fn a_capped_task_fits_every_cpu_that_can_give_the_cap() {
    // clamps, utilization, fits a little CPU
    let table = [
        ((0, 1024), 300, true),
        ((0, 1024), 500, false),
        ((0, 446), 1000, true),
        ((0, 447), 1000, false),
        ((446, 1024), 300, true),
        ((447, 1024), 300, false),
        ((800, 446), 300, true),
    ];
    for base in ALL {
        for (clamps, util, fits) in table {
            let mut w = World::new(&dynamiq(), base);
            w.clamp(clamps.0, clamps.1).util(util).wakes(0, 0);
            let answer = w.ask();
            assert_eq!(answer.cpu == 0, fits, "{base}: {clamps:?} at {util}");
        }
    }
}

#[test]
fn clamps_count_for_nothing_until_somebody_asks_for_one() {
    for base in ALL {
        let mut w = World::new(&dynamiq(), base);
        w.clamp(600, 1024).util(300).wakes(0, 0);
        w.core.root.uclamp_used = 0;
        w.expect(0, "target_idle");
    }
}

#[test]
fn a_cpu_that_misses_only_the_lower_clamp_comes_before_one_too_small() {
    for base in ALL {
        let mut w = World::new(&dynamiq(), base);
        // All big ones are busy; of the little ones 2 is hot, and 1 has less to give.
        w.clamp(600, 1024).util(300).busy(4..8).wakes(0, 0);
        for cpu in [0, 1, 3] {
            w.core.cpus[cpu].hw_load_avg = 100;
        }
        w.expect(2, "asym_min_clamp");
        w.util(400).capacity(3, 500).expect(3, "asym_biggest");
    }
}

#[test]
fn limits_take_from_what_a_lower_clamp_may_ask_for() {
    // base, (now, average, frequency limit), meets a lower clamp of 400 on a little CPU
    let table = [
        ("linux-6.1", (0, 200, 200), true),
        ("linux-6.1", (47, 0, 0), false),
        ("linux-6.5", (46, 0, 0), true),
        ("linux-7.2", (200, 0, 0), true),
        ("linux-7.2", (0, 47, 0), false),
        ("linux-7.2", (0, 0, 47), false),
        ("linux-7.2", (0, 46, 46), true),
    ];
    for (base, (now, average, limit), meets) in table {
        let mut w = World::new(&dynamiq(), base);
        w.clamp(400, 1024).util(100).wakes(0, 0);
        let rq = &mut w.core.cpus[0];
        (rq.hw_pressure, rq.hw_load_avg, rq.cpufreq_pressure) = (now, average, limit);
        let answer = w.ask();
        assert_eq!(answer.cpu == 0, meets, "{base}: {now} {average} {limit}");
    }
}

#[test]
fn a_machine_of_one_cache_a_cluster_is_scanned_whole() {
    for base in ALL {
        let mut w = World::new(&clusters(), base);
        w.util(500).wakes(0, 0).expect(4, "asym_fits");
        assert!(
            w.core
                .domains
                .iter()
                .all(|d| d.flags & flag::BALANCE_WAKE == 0)
        );
    }
}

#[test]
fn in_a_cpuset_of_equal_cpus_the_cache_is_scanned_but_candidates_must_fit() {
    for base in ALL {
        let mut w = World::new(&dynamiq(), base);
        w.reshape(|views| {
            for place in &mut views.places {
                place.asym_domain = NONE;
            }
        });
        w.util(300).busy([0]).wakes(0, 0).expect(1, "llc_scan");
        w.util(500).wakes(1, 1).expect(2, "llc_scan");
    }
}

#[test]
fn of_three_capacities_a_domain_of_two_is_asymmetric_but_not_fully() {
    let machine = alight_policy::topology::Description {
        levels: caches(8, 4).levels,
        ..of_capacities(&[LITTLE, LITTLE, 700, 700, 1024, 1024, 1024, 1024])
    };
    for (base, lower) in [("linux-5.5", 0), ("linux-6.1", flag::ASYM)] {
        let w = World::new(&machine, base);
        let of = |level: usize| w.core.domains[w.core.places[0].domain[level] as usize].flags;
        assert_eq!(of(0) & (flag::ASYM | flag::ASYM_FULL), lower, "{base}");
        assert_eq!(of(1) & flag::ASYM_FULL, flag::ASYM_FULL, "{base}");
        assert_eq!(w.core.places[0].asym_domain, w.core.places[0].domain[1]);
    }
}

// ---- 7.2: cores of several threads, a budget ----

fn threads() -> World {
    let mut w = World::new(&asym_smt(), "linux-7.2");
    w.idle_cores(true);
    w
}

#[test]
fn a_candidate_on_a_core_with_a_busy_thread_is_no_candidate() {
    let mut w = threads();
    w.util(500).wakes(4, 4).expect(4, "target_idle");
    w.busy([12]).expect(5, "asym_fits");
    let mut w = World::new(&asym_smt(), "linux-6.5");
    w.util(500).busy([12]).wakes(4, 4).expect(4, "target_idle");
}

#[test]
fn an_idle_core_that_fits_then_one_too_small_then_threads() {
    let mut w = threads();
    // Idle cores: the little ones. Threads 4 and 5 are idle beside busy ones.
    w.util(500).busy([12, 13, 6, 14, 7, 15]).wakes(0, 0);
    w.expect(0, "asym_biggest");
    assert_eq!(w.core.llcs[0].has_idle_cores, 1);
    w.busy([8, 9, 10, 11]).expect(4, "asym_fits");
    assert_eq!(w.core.llcs[0].has_idle_cores, 0, "none was idle");
}

#[test]
fn while_no_core_is_idle_utilization_bounds_the_scan() {
    let mut w = World::new(&dynamiq(), "linux-7.2");
    let answer = w.util(500).worth(4).wakes(0, 0).ask();
    assert_eq!((answer.cpu, answer.cut), (0, 1));
    assert_eq!(w.worth(5).ask().cpu, 4);
    w.worth(0).expect(0, "asym_target");
    let mut w = World::new(&dynamiq(), "linux-6.5");
    w.util(500).worth(0).wakes(0, 0).expect(4, "asym_fits");
}

#[test]
fn an_asymmetric_domain_above_the_caches_has_a_state_of_its_own() {
    let w = World::new(&clusters(), "linux-7.2");
    assert_eq!(w.core.llcs.len(), 3);
    assert!(w.core.places.iter().all(|p| p.shared == 2));
    assert_eq!(w.core.llcs[2].nr_idle_scan, 8);
    for (machine, base) in [(clusters(), "linux-6.5"), (dynamiq(), "linux-7.2")] {
        let w = World::new(&machine, base);
        assert!(w.core.places.iter().all(|p| p.shared == p.llc));
    }
}
