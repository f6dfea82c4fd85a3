// SPDX-License-Identifier: GPL-2.0-only
//! Frequency limits: their effect on the frequency, and what the scheduler learns. Ticks come every
//! 4 ms; only a change of frequency has a cost.

use super::*;
use crate::dispatch::Sim;
use crate::face::changes::{Action, Change};
use crate::testbed::{Given, MS, Record, US, begin_changed, machine, task, workload};
use alight_machine::Machine;
use alight_workload::program::Op;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn limit(ms: u64, by: Limit, khz: u32) -> Change {
    Change {
        at_ns: ms * MS,
        action: Action::Limit {
            cpus: CpuSet::single(0),
            by,
            khz,
        },
    }
}

fn cap(ms: u64, khz: u32) -> Change {
    limit(ms, Limit::Administrator, khz)
}

/// Two CPUs that share operating points of 400, 700 and 1000 MHz; a change takes 100 us.
fn clocks(fast_switch: bool) -> Machine {
    let mut machine = machine(2, 2);
    let opps = [400, 700, 1000].map(|mhz| Opp {
        khz: mhz * 1000,
        capacity: mhz * 1024 / 1000,
        ..machine.freq_domains[0].opps[0]
    });
    let domain = &mut machine.freq_domains[0];
    domain.opps = opps.to_vec();
    domain.switch_ns = 100 * US;
    domain.fast_switch = fast_switch;
    domain.rate_limit_ns = Some(10 * MS);
    machine
}

fn begin<R>(
    rules: (&str, Governor),
    machine: &Machine,
    changes: &[Change],
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let given = workload(tasks);
    begin_changed(
        changes,
        rules,
        machine,
        &given,
        &mut Record::default(),
        test,
    )
}

fn hog() -> [Given; 1] {
    [task(0, &[run(5000)])]
}

/// Frequency at each of these times, MHz.
fn mhz(sim: &mut Sim, times: &[u64]) -> Vec<u32> {
    let now = |&time: &u64| {
        sim.until(time);
        let domain = &sim.machine.freq_domains[0];
        domain.opps[sim.freq[0].opp_index() as usize].khz / 1000
    };
    times.iter().map(now).collect()
}

/// Limits between two operating points mean the lower one; below all, the lowest.
#[test]
fn the_highest_operating_point_within_a_limit() {
    let opps = clocks(true).freq_domains[0].opps.clone();
    for (khz, highest) in [
        (u32::MAX, 2),
        (1_000_000, 2),
        (999_999, 1),
        (700_000, 1),
        (699_999, 0),
        (1, 0),
    ] {
        assert_eq!(highest_within(&opps, khz), highest, "{khz}");
    }
}

/// The governor performance follows a limit at once, and back; the lower of two counts.
#[test]
fn performance_stays_at_the_limit() {
    let changes = [
        cap(10, 750_000),
        limit(20, Limit::CoolingDevice, 400_000),
        cap(30, u32::MAX),
        limit(40, Limit::CoolingDevice, u32::MAX),
    ];
    let rules = ("linux-5.5", Governor::Performance);
    begin(rules, &clocks(true), &changes, &hog(), |sim| {
        let times = [10, 11, 21, 31, 41].map(|ms| ms * MS);
        assert_eq!(mhz(sim, &times), [1000, 700, 400, 400, 1000]);
    });
}

/// schedutil: a thread calls the driver at once (`cpufreq_policy_apply_limits`); a
/// fast switch waits for the next update, which no rate limit delays.
#[test]
fn schedutil_keeps_to_the_limit() {
    let changes = [cap(402, 700_000), cap(502, u32::MAX)];
    for base in ["linux-5.5", "linux-6.1", "linux-7.2"] {
        for (fast_switch, soon) in [(false, 700), (true, 1000)] {
            let rules = (base, Governor::Schedutil);
            begin(rules, &clocks(fast_switch), &changes, &hog(), |sim| {
                let before_tick = 402 * MS + 300 * US;
                let times = [402 * MS, before_tick, 410 * MS, 500 * MS, 540 * MS];
                let found = mhz(sim, &times);
                assert_eq!(found, [1000, soon, 700, 700, 1000], "{base}");
            });
        }
    }
}

/// Pressure that each kernel reports to its scheduler for a limit to 70 %, by source: (thermal
/// pressure, policy's pressure).
#[test]
fn pressure_by_version() {
    let missing = 1024 - 1024 * 7 / 10;
    for (base, by, thermal, policy) in [
        ("linux-5.5", Limit::Administrator, 0, 0),
        ("linux-5.5", Limit::CoolingDevice, 0, 0),
        ("linux-6.1", Limit::Administrator, 0, 0),
        ("linux-6.1", Limit::CoolingDevice, missing, 0),
        ("linux-6.5", Limit::CoolingDevice, missing, 0),
        ("linux-7.2", Limit::Administrator, 0, missing),
        ("linux-7.2", Limit::CoolingDevice, 0, missing),
    ] {
        let changes = [limit(10, by, 700_000), limit(20, by, u32::MAX)];
        let rules = (base, Governor::Performance);
        begin(rules, &clocks(true), &changes, &hog(), |sim| {
            for (ms, thermal, policy) in [(10, thermal, policy), (20, 0, 0)] {
                sim.until(ms * MS);
                for view in &sim.core.cpus {
                    let found = (view.hw_pressure, view.cpufreq_pressure);
                    assert_eq!(found, (thermal, policy), "{base}, {by:?}");
                }
            }
        });
    }
}

/// The average approaches the pressure by half in 32 ms, and decays as fast; the
/// capacity left for fair tasks follows it (`scale_rt_capacity`).
#[test]
fn thermal_pressure_is_averaged() {
    let by = Limit::CoolingDevice;
    let changes = [limit(8, by, 400_000), limit(408, by, u32::MAX)];
    let rules = ("linux-6.1", Governor::Performance);
    let tasks = [
        task(0, &[run(5000)]).on(&[0]),
        task(0, &[run(5000)]).on(&[1]),
    ];
    begin(rules, &clocks(true), &changes, &tasks, |sim| {
        let full = 1024 - 1024 * 4 / 10;
        // Ticks come each 4 ms, and a period is a little longer than 1 ms.
        let average = |sim: &mut Sim, ms: u64| {
            sim.until(ms * MS);
            u32::from(sim.core.cpus[0].hw_load_avg)
        };
        let half = average(sim, 8 + 36);
        assert!(half.abs_diff(full / 2) <= full / 16, "{half} of {full}");
        let all = average(sim, 400);
        assert!(all.abs_diff(full) <= 3, "{all} of {full}");
        let capacity = sim.core.cpus[0].capacity;
        assert!(capacity.abs_diff(1024 - full) <= 8, "{capacity}");
        let rest = average(sim, 408 + 36);
        assert!(rest.abs_diff(full / 2) <= full / 16, "{rest} of {full}");
    });
}

/// A big CPU limited to 30 % of its frequency has less capacity than a little one. On 5.10.262 and
/// 5.15.215 it counts as that small (`update_cpu_capacity`, `cpu_capacity_inverted`).
#[test]
fn a_big_cpu_that_is_cooled_below_a_little_one_is_inverted() {
    let mut machine = crate::testbed::big_little(2);
    let big = &mut machine.freq_domains[1];
    let top = big.opps[0].clone();
    big.opps = vec![
        Opp {
            khz: 600_000,
            capacity: 307,
            ..top.clone()
        },
        top,
    ];
    let mut cooled = limit(8, Limit::CoolingDevice, 600_000);
    let Action::Limit { cpus, .. } = &mut cooled.action else {
        unreachable!("it is a limit")
    };
    *cpus = CpuSet::single(1);
    let tasks = [
        task(0, &[run(5000)]).on(&[0]),
        task(0, &[run(5000)]).on(&[1]),
    ];
    for (base, expected) in [
        ("linux-5.10", true),
        ("linux-5.15", true),
        ("linux-6.1", false),
    ] {
        let rules = (base, Governor::Schedutil);
        begin(
            rules,
            &machine,
            std::slice::from_ref(&cooled),
            &tasks,
            |sim| {
                assert!(sim.energy_aware(), "{base}");
                sim.until(8 * MS);
                assert_eq!(sim.core.cpus[1].capacity_inverted, 0, "{base}");
                sim.until(1000 * MS);
                let inverted = u32::from(sim.core.cpus[1].capacity_inverted);
                let left = 1024 - u32::from(sim.core.cpus[1].hw_load_avg);
                assert!(left.abs_diff(307) <= 3, "{base}: {left}");
                assert_eq!(inverted, if expected { left } else { 0 }, "{base}");
                assert_eq!(sim.core.cpus[0].capacity_inverted, 0, "{base}");
            },
        );
    }
}

/// From 6.10 on a limit reduces the capacity left at once.
#[test]
fn the_policys_pressure_is_not_averaged() {
    let rules = ("linux-7.2", Governor::Performance);
    let tasks = [
        task(0, &[run(5000)]).on(&[0]),
        task(0, &[run(5000)]).on(&[1]),
    ];
    let changes = [cap(100, 400_000)];
    begin(rules, &clocks(true), &changes, &tasks, |sim| {
        sim.until(99 * MS);
        assert_eq!(sim.core.cpus[0].capacity, 1024);
        sim.until(400 * MS);
        assert_eq!(sim.core.cpus[0].capacity, 1024 * 4 / 10);
        assert_eq!(sim.core.cpus[0].hw_load_avg, 0);
    });
}
