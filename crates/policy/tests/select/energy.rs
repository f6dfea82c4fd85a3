// SPDX-License-Identifier: GPL-2.0-only
//! EAS: the CPU where the task costs least energy. Four little CPUs of capacity
//! 446 and four big ones of 1024, each four with one frequency.

use crate::common::machines::dynamiq;
use crate::common::world::World;
use alight_policy::abi::state_flag;
use alight_policy::energy::{BadEnergyModel, OperatingPoint, perf_domain};
use alight_policy::{Params, PerfDomain, Scheduler};

fn points(points: &[(u32, u32)]) -> Vec<OperatingPoint> {
    (points.iter())
        .map(|&(mhz, mw)| OperatingPoint {
            frequency_khz: mhz * 1000,
            power_uw: mw * 1000,
        })
        .collect()
}

/// Capacity 148, 297, 446; 10.8 to 20 units of power for 40 of capacity.
pub fn little(params: &Params) -> PerfDomain {
    let points = points(&[(500, 40), (1000, 100), (1500, 225)]);
    perf_domain(params, (0..4).collect(), 446, &points).unwrap()
}

/// Capacity 341, 682, 1024.
pub fn big(params: &Params) -> PerfDomain {
    let points = points(&[(700, 240), (1400, 700), (2100, 1800)]);
    perf_domain(params, (4..8).collect(), 1024, &points).unwrap()
}

const ALL: [&str; 5] = [
    "linux-5.4",
    "linux-5.5",
    "linux-6.1",
    "linux-6.5",
    "linux-7.2",
];
const BY_DELTA: [&str; 3] = ["linux-6.1", "linux-6.5", "linux-7.2"];

/// In the kernel's order: the set found last comes first.
fn world(base: &str) -> World {
    let mut w = World::new(&dynamiq(), base);
    let model = vec![big(&w.core.params), little(&w.core.params)];
    w.core.set_perf(model).unwrap();
    w
}

/// Changes one of its performance domains.
fn change_perf(w: &mut World, domain: usize, change: impl FnOnce(&mut PerfDomain)) {
    let mut model = w.core.perf.clone();
    change(&mut model[domain]);
    w.core.set_perf(model).unwrap();
}

/// `this` wakes a task of this utilization, which its previous CPU still counts.
fn wakes(w: &mut World, util: u32, this: u32, prev: u32) -> &mut World {
    (w.wakee.pelt.util_avg, w.wakee.pelt.runnable_avg) = (util, util);
    let cfs = &mut w.core.cpus[prev as usize].cfs;
    cfs.util_avg += util;
    cfs.runnable_avg += util;
    w.wakes(this, prev)
}

// ---- the model ----

#[test]
fn a_cost_is_power_per_frequency_and_from_6_9_per_performance() {
    let costs = |base: &str| {
        let params = Scheduler::parse(base).unwrap().params;
        little(&params).state[..3]
            .iter()
            .map(|s| s.cost)
            .collect::<Vec<_>>()
    };
    assert_eq!(costs("linux-5.4"), [120, 150, 225]);
    assert_eq!(costs("linux-5.10"), [120_000, 150_000, 225_000]);
    assert_eq!(costs("linux-5.15"), [120_000, 150_000, 225_000]);
    assert_eq!(costs("linux-6.1"), [120_000, 150_000, 225_000]);
    assert_eq!(costs("linux-7.2"), [2702, 3367, 5044]);
}

#[test]
fn up_to_5_15_power_is_in_whole_mw() {
    let point = [OperatingPoint {
        frequency_khz: 1_000_000,
        power_uw: 40_900,
    }];
    for (base, cost) in [
        ("linux-5.4", 40),
        ("linux-5.10", 40_000),
        ("linux-5.15", 40_000),
        ("linux-6.1", 40_900),
    ] {
        let params = Scheduler::parse(base).unwrap().params;
        let model = perf_domain(&params, (0..4).collect(), 446, &point).unwrap();
        assert_eq!(model.state[0].cost, cost, "{base}");
    }
}

#[test]
fn a_point_that_costs_no_less_than_a_faster_one_is_inefficient() {
    let params = Scheduler::parse("linux-6.1").unwrap().params;
    let points = points(&[(500, 100), (1000, 150), (1500, 240)]);
    let model = perf_domain(&params, (0..4).collect(), 446, &points).unwrap();
    let flags: Vec<_> = model.state[..3].iter().map(|s| s.flags).collect();
    assert_eq!(flags, [state_flag::INEFFICIENT, 0, 0]);
}

#[test]
fn points_that_are_no_model_are_refused() {
    let params = Params::default();
    let build = |list: &[(u32, u32)]| perf_domain(&params, (0..4).collect(), 446, &points(list));
    assert_eq!(build(&[]), Err(BadEnergyModel::Count(0)));
    assert_eq!(build(&[(1, 1); 65]), Err(BadEnergyModel::Count(65)));
    for bad in [&[(500, 40), (500, 50)][..], &[(500, 0)], &[(0, 10)]] {
        assert!(
            matches!(build(bad), Err(BadEnergyModel::Point { .. })),
            "{bad:?}"
        );
    }
}

// ---- when energy decides ----

#[test]
fn it_decides_only_with_a_model_and_while_no_cpu_is_overutilized() {
    for base in ALL {
        let mut w = world(base);
        wakes(&mut w, 100, 4, 4);
        assert_ne!(w.ask().cpu, 4, "{base}");
        w.core.root.overutilized = 1;
        w.expect(4, "target_idle");
        w.core.root.overutilized = 0;
        w.core.set_perf(Vec::new()).unwrap();
        w.expect(4, "target_idle");
    }
    let mut w = world("linux-3.9");
    wakes(&mut w, 100, 4, 4).expect(4, "target_idle");
}

#[test]
fn not_at_fork() {
    for base in ALL {
        let answer = world(base).forks(4).ask();
        assert_eq!(answer.slow, 1, "{base}");
    }
}

#[test]
fn a_task_of_no_utilization_stays() {
    for base in BY_DELTA {
        let mut w = world(base);
        wakes(&mut w, 0, 4, 6).expect(6, "eas_prev");
        w.clamp(600, 1024).wakes(4, 0).expect(4, "eas_fits");
    }
}

// ---- which CPU ----

#[test]
fn a_small_task_goes_to_a_little_cpu_with_most_room() {
    for base in ALL {
        let mut w = world(base);
        w.used([0], 60).used([1], 20).used([2], 10).used([3], 30);
        wakes(&mut w, 50, 4, 4).expect(2, "eas_saves");
        w.allow([0, 1, 4]).expect(1, "eas_saves");
        w.allow([4, 5]).expect(4, "eas_prev");
    }
}

#[test]
fn one_too_big_for_them_stays_among_the_big_ones() {
    for base in ALL {
        let mut w = world(base);
        wakes(&mut w, 400, 0, 6).expect(6, "eas_prev");
        // From a little CPU it must go, whatever it costs.
        let mut w = world(base);
        wakes(&mut w, 400, 0, 1).expect(4, "eas_fits");
    }
}

#[test]
fn the_previous_cpu_is_kept_unless_another_is_cheaper() {
    for base in ALL {
        let mut w = world(base);
        // Another little CPU has more room, but the frequency is the same.
        w.used([1], 20);
        wakes(&mut w, 50, 0, 1).expect(1, "eas_prev");
        // Here it would raise the frequency of all.
        w.used([1], 140).used([2], 5).used([3], 5);
        w.expect(0, "eas_saves");
    }
}

#[test]
fn up_to_5_19_a_16th_of_everything_must_be_saved() {
    for (base, cpu, step) in [
        ("linux-5.4", 1, "eas_prev"),
        ("linux-5.5", 1, "eas_prev"),
        ("linux-6.1", 0, "eas_saves"),
    ] {
        let mut w = world(base);
        w.used([1], 90).used([2], 5).used([3], 5).used(4..8, 600);
        wakes(&mut w, 50, 0, 1).expect(cpu, step);
    }
}

#[test]
fn waiting_counts_for_the_frequency_from_6_5() {
    // Tasks have waited for CPU 0: its set is expected at the top, where it is expensive.
    for (base, cpu, step) in [
        ("linux-6.1", 1, "eas_saves"),
        ("linux-6.5", 4, "eas_prev"),
        ("linux-7.2", 4, "eas_prev"),
    ] {
        let mut w = world(base);
        let mut steep = little(&w.core.params);
        steep.state[2].cost *= 10;
        change_perf(&mut w, 1, |domain| *domain = steep);
        w.used([0], 30);
        w.core.cpus[0].cfs.runnable_avg = 400;
        wakes(&mut w, 50, 4, 4).expect(cpu, step);
    }
}

#[test]
fn the_wakees_own_waiting_moves_with_it_from_6_6() {
    // It has waited a lot where it was, so 6.5 expects its old set at the top wherever it goes.
    let runs_at_top = |base: &str| {
        let mut w = world(base);
        w.used([0], 200);
        wakes(&mut w, 50, 4, 0);
        w.wakee.pelt.runnable_avg = 400;
        w.core.cpus[0].cfs.runnable_avg = 400;
        w.ask().cpu
    };
    assert!(runs_at_top("linux-6.5") < 4, "no difference to save");
    assert!(
        runs_at_top("linux-7.2") >= 4,
        "away from there the frequency falls"
    );
}

#[test]
fn an_inefficient_point_is_never_expected_from_5_16() {
    // The lowest point of the big CPUs costs more than the next.
    let steep = points(&[(700, 900), (1400, 700), (2100, 1800)]);
    for (base, flags) in [("linux-6.1", state_flag::INEFFICIENT), ("linux-7.2", 0)] {
        let mut w = world(base);
        w.allow([0, 4]);
        let mut model = perf_domain(&w.core.params, (4..8).collect(), 1024, &steep).unwrap();
        assert_eq!(model.state[0].flags, state_flag::INEFFICIENT);
        // A little CPU costs less than the lowest point of a big one, more than the next.
        change_perf(&mut w, 1, |little| {
            for state in &mut little.state[..3] {
                state.cost = model.state[0].cost - 1;
            }
        });
        model.state[0].flags = flags;
        change_perf(&mut w, 0, |domain| *domain = model);
        let expected = if flags == 0 {
            (0, "eas_saves")
        } else {
            (4, "eas_prev")
        };
        wakes(&mut w, 50, 4, 4).expect(expected.0, expected.1);
    }
}

// ---- clamps ----

#[test]
fn a_lower_clamp_that_only_big_cpus_meet_comes_before_energy() {
    for base in BY_DELTA {
        let mut w = world(base);
        wakes(&mut w, 50, 0, 0)
            .clamp(600, 1024)
            .expect(4, "eas_fits");
        // Where no big CPU is allowed the largest capacity must do.
        w.allow([0, 1]).expect(0, "eas_prev");
    }
}

#[test]
fn an_upper_clamp_lets_a_big_task_go_to_a_little_cpu() {
    for base in BY_DELTA {
        let mut w = world(base);
        wakes(&mut w, 600, 4, 4)
            .clamp(0, 100)
            .expect(0, "eas_saves");
        w.core.root.uclamp_used = 0;
        w.expect(4, "eas_prev");
    }
}

#[test]
fn clamps_of_the_queue_count_unless_they_are_stale() {
    for base in BY_DELTA {
        let mut w = world(base);
        // Others on the little CPUs are not capped: nor will this one be there.
        for cpu in 0..4 {
            let rq = &mut w.core.cpus[cpu];
            (rq.uclamp_idle, rq.uclamp_max) = (0, 1024);
        }
        wakes(&mut w, 600, 4, 4).clamp(0, 100);
        assert!(w.ask().cpu >= 4, "{base}");
        for cpu in 0..4 {
            w.core.cpus[cpu].uclamp_idle = 1;
        }
        w.expect(0, "eas_saves");
    }
}

// ---- other classes and limits ----

#[test]
fn what_other_classes_use_costs_room_and_frequency() {
    for base in ALL {
        let mut w = world(base);
        // Real-time work on the little CPUs leaves too little for the task.
        for cpu in 0..4 {
            w.capacity(cpu, 60);
            w.core.cpus[cpu as usize].rt_util = 380;
        }
        wakes(&mut w, 50, 4, 4).expect(4, "eas_prev");
    }
}

#[test]
fn a_running_real_time_task_without_clamps_asks_for_the_top() {
    for base in BY_DELTA {
        let mut w = world(base);
        wakes(&mut w, 50, 4, 4).expect(0, "eas_saves");
        // Little CPUs at the top frequency cost more than big ones at the lowest.
        let mut expensive = little(&w.core.params);
        for state in &mut expensive.state[2..3] {
            state.cost *= 10;
        }
        change_perf(&mut w, 1, |domain| *domain = expensive);
        w.expect(0, "eas_saves");
        w.core.cpus[3].rt_nr_running = 1;
        w.expect(4, "eas_prev");
    }
}

#[test]
fn interrupts_raise_the_frequency_that_a_set_asks_for() {
    for base in BY_DELTA {
        let mut w = world(base);
        let mut steep = little(&w.core.params);
        steep.state[2].cost *= 10;
        change_perf(&mut w, 1, |domain| *domain = steep);
        wakes(&mut w, 50, 4, 4).expect(0, "eas_saves");
        for cpu in 0..4 {
            w.core.cpus[cpu].irq_util = 300;
        }
        w.expect(4, "eas_prev");
    }
}
