// SPDX-License-Identifier: GPL-2.0-only
//! Feature uclamp-sum, what the sums mean for placement. Little CPUs have 446,
//! of which 356 fit, big ones 1024. How the sums come about is in
//! tests/uclamp_sum.rs.

use super::energy::{big, little};
use crate::common::machines::dynamiq;
use crate::common::world::World;

const SUMS: [&str; 4] = [
    "linux-6.1+uclamp-sum",
    "linux-6.5+uclamp-sum",
    "linux-6.5+uclamp-sum=v2",
    "linux-7.2+uclamp-sum",
];
const BIASES: [&str; 3] = [
    "linux-6.1+uclamp-sum=bias",
    "linux-6.5+uclamp-sum=bias",
    "linux-7.2+uclamp-sum=bias",
];

/// With an energy model if `eas`.
fn world(scheduler: &str, eas: bool) -> World {
    let mut w = World::new(&dynamiq(), scheduler);
    if eas {
        let model = vec![big(&w.core.params), little(&w.core.params)];
        w.core.set_perf(model).unwrap();
    }
    w.core.root.uclamp_used = 1;
    w
}

/// The wakee uses `util`, of which `clamped` counts.
fn wakee(w: &mut World, util: u32, clamped: u32) -> &mut World {
    let biases = w.core.params.aggregate == alight_policy::abi::rule::AGGREGATE_BIAS;
    w.wakee.pelt.util_avg = util;
    w.wakee.pelt.uclamp = clamped as i32 - if biases { util as i32 } else { 0 };
    w
}

/// The tasks of `cpu` use `util`, of which `clamped` counts.
fn queue(w: &mut World, cpu: u32, util: u32, clamped: u32) -> &mut World {
    let rq = &mut w.core.cpus[cpu as usize];
    rq.cfs.util_avg = util;
    rq.root_cfs_util_uclamp = clamped;
    rq.cfs.uclamp = clamped as i32 - util as i32;
    w
}

// ---- off ----

#[test]
fn while_nobody_uses_a_clamp_a_decision_is_the_bases() {
    for scheduler in SUMS.iter().chain(&BIASES).chain(&["linux-5.5+uclamp-sum"]) {
        let base = scheduler.split('+').next().unwrap();
        for eas in [false, true] {
            for (util, prev) in [(0, 4), (100, 4), (300, 1), (500, 0), (900, 6)] {
                let asked = |name: &str| {
                    let mut w = world(name, eas);
                    queue(queue(&mut w, 1, 200, 700), prev, util + 50, 3);
                    wakee(&mut w, util, 1000).wakes(4, prev).busy([5]);
                    (w.wakee.uclamp_min, w.wakee.uclamp_max) = (600, 700);
                    w.core.root.uclamp_used = 0;
                    (w.explain(), w.ask())
                };
                assert_eq!(asked(scheduler), asked(base), "{scheduler}: {util}");
            }
        }
    }
}

// ---- fits is yes or no ----

#[test]
fn a_cpu_fits_the_clamped_utilization_with_a_fifth_to_spare() {
    for scheduler in SUMS {
        for (util, clamped, fits) in [
            (1000, 200, true),
            (1000, 356, true),
            (1000, 357, false),
            (10, 357, false),
            (10, 300, true),
        ] {
            let mut w = world(scheduler, false);
            let answer = wakee(&mut w, util, clamped).wakes(0, 0).ask();
            assert_eq!(answer.cpu == 0, fits, "{scheduler}: {clamped} of {util}");
        }
    }
}

#[test]
fn the_clamps_themselves_are_not_asked() {
    for scheduler in SUMS {
        let mut w = world(scheduler, false);
        // The sum has decayed below the lower clamp since the task fell asleep.
        wakee(&mut w, 10, 100).clamp(800, 1024);
        w.wakes(0, 0).expect(0, "target_idle");
        // An upper clamp that the CPU could give does not make it fit.
        wakee(&mut w, 1000, 400).clamp(0, 400);
        assert!(w.wakes(0, 0).ask().cpu >= 4, "{scheduler}");
    }
}

#[test]
fn the_estimate_counts_with_the_sum() {
    for scheduler in SUMS {
        let mut w = world(scheduler, false);
        wakee(&mut w, 10, 100).wakee.util_est_ewma = 400;
        assert!(w.wakes(0, 0).ask().cpu >= 4, "{scheduler}");
    }
}

#[test]
fn the_scan_takes_the_first_idle_cpu_that_fits_else_the_largest() {
    for scheduler in SUMS {
        let mut w = world(scheduler, false);
        w.busy([4, 6]);
        let found = wakee(&mut w, 10, 500).wakes(0, 0).expect(5, "asym_fits");
        assert_eq!(found.found_idle, 1);
        w.capacity(5, 600).capacity(7, 610);
        w.expect(7, "asym_biggest");
        w.busy(0..8).expect(0, "asym_target");
    }
}

#[test]
fn with_biases_a_cpu_that_only_the_clamped_utilization_does_not_fit_is_second() {
    for scheduler in BIASES {
        let mut w = world(scheduler, false);
        wakee(&mut w, 300, 500).wakes(0, 0).busy([0, 4, 5, 6]);
        w.expect(7, "asym_fits");
        w.busy([7]).expect(1, "asym_min_clamp");
        wakee(&mut w, 400, 300).expect(1, "asym_fits");
        wakee(&mut w, 400, 500).expect(1, "asym_biggest");
    }
}

#[test]
fn linux_5_5_asks_the_same_of_its_own_rules() {
    let mut w = world("linux-5.5+asym-capacity+uclamp-sum", false);
    wakee(&mut w, 1000, 200).wakes(0, 0).expect(0, "asym_fits");
    wakee(&mut w, 10, 400).expect(4, "asym_fits");
    // Clamped once, when it ran.
    wakee(&mut w, 10, 100)
        .clamp(800, 1024)
        .expect(0, "asym_fits");
}

// ---- energy ----

#[test]
fn four_capped_hogs_find_room_on_the_little_cpus() {
    // Each is capped at 200 and never stops; three run on CPUs 0 to 2.
    for scheduler in SUMS.iter().chain(&BIASES) {
        let mut w = world(scheduler, true);
        for cpu in 0..3 {
            w.runs(cpu, 1);
            queue(&mut w, cpu, 446, 200);
            w.core.cpus[cpu as usize].uclamp_idle = 0;
        }
        queue(&mut w, 4, 900, 200);
        wakee(&mut w, 900, 200).clamp(0, 200).wakes(4, 4);
        w.expect(3, "eas_saves");
    }
}

#[test]
fn a_capped_cpu_that_looks_full_has_room() {
    // Only CPU 0 and the previous one are allowed: the hog there is capped at 100.
    for scheduler in SUMS.iter().chain(&BIASES) {
        let mut w = world(scheduler, true);
        queue(queue(&mut w, 0, 446, 100), 4, 300, 300);
        wakee(&mut w, 300, 100).wakes(4, 4).allow([0, 4]);
        w.expect(0, "eas_saves");
        // And one that is not capped has none.
        queue(&mut w, 0, 446, 446);
        w.expect(4, "eas_prev");
    }
}

#[test]
fn two_tasks_that_count_383_fit_a_big_cpu_three_do_not() {
    for scheduler in SUMS {
        let mut w = world(scheduler, true);
        queue(queue(&mut w, 4, 10, 383), 0, 10, 383);
        wakee(&mut w, 10, 383).wakes(4, 0).allow([0, 4]);
        w.expect(4, "eas_fits"); // 766 of 819
        queue(&mut w, 4, 20, 766);
        w.expect(0, "eas_prev"); // 1149
    }
}

#[test]
fn the_energy_is_that_of_the_clamped_sums() {
    // Beside 60 of utilization that count 320, the little CPUs run at their top.
    for scheduler in SUMS {
        let mut w = world(scheduler, true);
        wakee(&mut w, 100, 100).wakes(0, 0);
        queue(&mut w, 0, 100, 100).allow([0, 1]);
        w.expect(0, "eas_prev");
        queue(&mut w, 0, 160, 320);
        w.expect(1, "eas_saves");
    }
}

#[test]
fn a_task_that_counts_nothing_stays_whatever_its_lower_clamp() {
    for scheduler in SUMS {
        let mut w = world(scheduler, true);
        wakee(&mut w, 0, 0).clamp(600, 1024).wakes(4, 0);
        w.expect(0, "eas_prev");
    }
    for scheduler in BIASES {
        let mut w = world(scheduler, true);
        wakee(&mut w, 0, 600).clamp(600, 1024).wakes(4, 0);
        w.expect(4, "eas_fits");
    }
}

#[test]
fn a_cpu_without_spare_capacity_is_no_candidate() {
    // Who fits leaves a fifth; the zero that later kernels allow cannot come up.
    for scheduler in SUMS {
        let mut w = world(scheduler, true);
        w.capacity(0, 1).capacity(1, 0);
        wakee(&mut w, 0, 1).wakes(4, 4).allow([0, 1, 4]);
        w.expect(4, "eas_prev");
    }
}

#[test]
fn what_is_taken_from_the_old_queue_is_the_clamped_utilization() {
    // Without its 200 of the 240, CPU 4 would count 40, not 640.
    for scheduler in SUMS {
        let mut w = world(scheduler, true);
        queue(&mut w, 4, 840, 240);
        wakee(&mut w, 200, 200).wakes(4, 4);
        let little = w.ask().cpu;
        assert!(little < 4, "{scheduler}");
        wakee(&mut w, 800, 200);
        assert_eq!(
            w.ask().cpu,
            little,
            "{scheduler}: what it uses is not asked"
        );
    }
}

// ---- the slow path ----

#[test]
fn a_cpu_whose_tasks_are_capped_has_room_for_a_new_one() {
    for (scheduler, expected) in [
        ("linux-6.5", 0),
        ("linux-6.5+uclamp-sum", 3),
        ("linux-6.5+uclamp-sum=v2", 3),
        ("linux-6.5+uclamp-sum=bias", 0), // balancing goes by plain utilization there
        ("linux-7.2+uclamp-sum", 3),
    ] {
        let mut w = world(scheduler, false);
        for cpu in 0..8 {
            w.runs(cpu, 1);
            let full = if cpu < 4 { 446 } else { 1024 };
            queue(&mut w, cpu, full, if cpu == 3 { 20 } else { full });
        }
        let answer = w.forks(0).ask();
        assert_eq!((answer.cpu, answer.slow), (expected, 1), "{scheduler}");
    }
}

// ---- other features ----

#[test]
fn bias_prev_sees_room_beside_capped_tasks() {
    // The estimates of the queue are of the clamped sums: 200 of the hog on CPU 3.
    let mut w = world("linux-6.5+uclamp-sum+bias-prev:fits:select", false);
    w.busy([4, 5]).sync();
    w.core.cpus[5].util_est_enqueued = 500;
    wakee(&mut w, 1000, 200).wakes(4, 5).expect(5, "bias_prev");
    wakee(&mut w, 10, 400).wakes(4, 5);
    assert_ne!(w.ask().cpu, 5);
}
