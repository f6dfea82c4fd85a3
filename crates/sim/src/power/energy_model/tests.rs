// SPDX-License-Identifier: GPL-2.0-only
//! The energy model: when there is one, and inefficient operating points.

use crate::testbed::{Record, begin_under, big_little, machine, workload};
use alight_machine::{FreqDomain, Governor, Machine, Opp};
use alight_policy::PerfDomain;
use alight_policy::abi::state_flag;

/// The energy model at the start of a run under `rules`.
fn model(rules: (&str, Governor), machine: &Machine) -> Vec<PerfDomain> {
    let mut record = Record::default();
    begin_under(rules, machine, &workload(&[]), &mut record, |sim| {
        assert_eq!(sim.core.root.overutilized != 0, sim.core.perf.is_empty());
        sim.core.perf.clone()
    })
}

#[test]
fn energy_decides_where_everything_it_needs_is_there() {
    use Governor::{Performance, Powersave, Schedutil};
    let without_power = || {
        let mut machine = big_little(4);
        machine.freq_domains[0].opps[0].em_power_uw = 0;
        machine
    };
    for (base, governor, machine, on, because) in [
        ("linux-5.5", Schedutil, big_little(4), true, "all is there"),
        ("linux-6.5", Schedutil, big_little(4), true, "all is there"),
        (
            "linux-3.9",
            Schedutil,
            big_little(4),
            false,
            "not known yet",
        ),
        (
            "linux-6.5",
            Performance,
            big_little(4),
            false,
            "the clock does not follow",
        ),
        (
            "linux-6.5",
            Powersave,
            big_little(4),
            false,
            "the clock does not follow",
        ),
        (
            "linux-6.5",
            Schedutil,
            machine(4, 4),
            false,
            "all CPUs are alike",
        ),
        (
            "linux-6.5",
            Schedutil,
            without_power(),
            false,
            "a power is not known",
        ),
    ] {
        let found = !model((base, governor), &machine).is_empty();
        assert_eq!(found, on, "{base} {governor:?}: {because}");
    }
}

#[test]
fn the_domain_found_last_comes_first() {
    let gs101 = Machine::load("gs101").expect("built in");
    let model = model(("linux-6.5", Governor::Schedutil), &gs101);
    let cpus: Vec<Vec<u32>> = model.iter().map(|d| d.span.iter().collect()).collect();
    assert_eq!(cpus, [vec![6, 7], vec![4, 5], vec![0, 1, 2, 3]]);
    let points: Vec<u32> = model.iter().map(|d| d.nr_states).collect();
    assert_eq!(points, [17, 14, 11]);
    let top = |d: &PerfDomain| d.state[d.last_state as usize].performance;
    assert_eq!(model.iter().map(top).max(), Some(1024));
}

/// The measured power of SM8250's little CPUs falls from 518 to 614 MHz.
#[test]
fn points_that_take_more_than_a_faster_one_are_inefficient() {
    let sm8250 = Machine::load("sm8250").expect("built in");
    let model = model(("linux-7.2", Governor::Schedutil), &sm8250);
    let little = model
        .iter()
        .find(|domain| domain.span.iter().next() == Some(0));
    let states = &little.expect("that of CPU 0").state[..4];
    let flags = states
        .iter()
        .map(|state| state.flags & state_flag::INEFFICIENT);
    let expected = [300_000, 403_200, 518_400].map(|khz| (khz, state_flag::INEFFICIENT));
    let found: Vec<(u32, u32)> = (states.iter().map(|s| s.frequency)).zip(flags).collect();
    assert_eq!(found[..3], expected);
    assert_eq!(found[3], (614_400, 0));
}

/// 16 CPUs, each in its own frequency domain with `points` operating points.
fn complex(points: u32) -> Machine {
    let mut machine = big_little(16);
    let opps = |top: &Opp| -> Vec<Opp> {
        (1..=points)
            .map(|n| Opp {
                khz: top.khz / points * n,
                capacity: top.capacity * n / points,
                core_power_uw: top.core_power_uw / u64::from(points) * u64::from(n),
                em_power_uw: top.em_power_uw / u64::from(points) * u64::from(n),
                cluster_power_uw: 0,
            })
            .collect()
    };
    let domains = std::mem::take(&mut machine.freq_domains);
    machine.freq_domains = (0..16)
        .map(|cpu| FreqDomain {
            cpus: [cpu].into_iter().collect(),
            opps: opps(&domains[cpu / 8].opps[0]),
            ..domains[0].clone()
        })
        .collect();
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.freq_domain = index;
    }
    machine
}

#[test]
fn up_to_6_6_a_model_must_not_be_too_complex() {
    for (points, domains) in [
        (7, 16), // 16 domains, times 16 CPUs and 112 points: 2048
        (8, 0),  // 2304
    ] {
        for base in ["linux-5.5", "linux-6.5"] {
            let model = model((base, Governor::Schedutil), &complex(points));
            assert_eq!(model.len(), domains, "{base}, {points} points");
        }
        let model = model(("linux-7.2", Governor::Schedutil), &complex(points));
        assert_eq!(model.len(), 16, "linux-7.2, {points} points");
    }
}
