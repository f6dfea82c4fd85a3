// SPDX-License-Identifier: GPL-2.0-only
//! Energy: supplies with one and several users, and a real cluster.

use super::*;
use crate::dispatch::Sim;
use crate::power::cpuidle::tests::{at_boot, execute, sleep, wake};
use alight_machine::Governor;

const US: u64 = 1000;
const MS: u64 = 1000 * US;

/// 1000 uW busy, 100 quiet, 10 deep; one user, active from 0 on.
fn supply() -> Supply {
    Supply {
        active: 1,
        busy_uw: 1000,
        quiet_uw: 100,
        deep_uw: 10,
        ..Supply::default()
    }
}

#[test]
fn a_supply_is_busy_then_quiet_then_deep() {
    // Its user stops at 10 and is quiet from 30 on; read at 100.
    for (deep_from, expected, what) in [
        (NEVER, 30 * 1000 + 70 * 100, "never deep"),
        (60, 30 * 1000 + 30 * 100 + 40 * 10, "deep at 60"),
        (30, 30 * 1000 + 70 * 10, "deep at once"),
        (100, 30 * 1000 + 70 * 100, "deep too late"),
    ] {
        let mut s = supply();
        assert!(s.stop(10, 30));
        s.advance(100, deep_from);
        assert_eq!(s.energy, expected, "{what}");
    }
}

#[test]
fn reading_a_supply_changes_nothing() {
    let mut often = supply();
    let mut once = supply();
    for s in [&mut often, &mut once] {
        s.stop(10, 30);
    }
    for t in [10, 20, 29, 30, 31, 59, 60, 61, 99] {
        often.advance(t, 60);
    }
    often.advance(100, 60);
    once.advance(100, 60);
    assert_eq!(often.energy, once.energy);
}

#[test]
fn a_supply_with_several_users_is_busy_until_the_last_stops() {
    let mut s = Supply {
        active: 2,
        ..supply()
    };
    assert!(!s.stop(10, 50), "one is left");
    assert!(s.stop(20, 25));
    s.start(70);
    s.advance(100, NEVER);
    assert_eq!(
        s.energy,
        50 * 1000 + 20 * 100 + 30 * 1000,
        "quiet when both entries are complete"
    );
}

#[test]
fn a_kilowatt_for_a_year_does_not_overflow() {
    let year = 365 * 86_400 * 1_000_000_000;
    let mut s = Supply {
        active: 1,
        busy_uw: 1_000_000_000,
        ..Supply::default()
    };
    s.advance(year, NEVER);
    assert!((s.energy as f64 * JOULES - 3.1536e10).abs() < 1.0);
}

/// Energy of the named cluster so far, in uW * ns.
fn energy(sim: &mut Sim, cluster: &str) -> u128 {
    sim.meters_flush();
    let at = sim
        .machine
        .clusters
        .iter()
        .position(|c| c.name == cluster)
        .expect("a cluster");
    sim.meters[at].energy()
}

/// Powers of Juno's big cluster, uW (LISA): a core at the top clock, in WFI, in
/// sleep; the shared part busy, idle, off.
const CORE: [u128; 3] = [616_000, 15_000, 0];
const SHARED: [u128; 3] = [64_000, 65_000, 24_000];

fn big_name(sim: &Sim) -> String {
    sim.machine.clusters[sim.machine.cpus[1].cluster]
        .name
        .clone()
}

#[test]
fn juno_big_cluster_through_a_day() {
    at_boot("juno-r0", Governor::Performance, |sim| {
        let name = big_name(sim);
        let us = u128::from(US);
        // WFI since boot, until 1 ms.
        sim.now = MS;
        let mut expected = 1000 * us * (2 * CORE[1] + SHARED[1]);
        assert_eq!(energy(sim, &name), expected, "idle");
        // CPU 1 executes until 3 ms.
        execute(sim, 1, MS);
        sim.now = 3 * MS;
        expected += 2000 * us * (CORE[0] + CORE[1] + SHARED[0]);
        assert_eq!(energy(sim, &name), expected, "one core executes");
        // It requests cluster sleep: 300 us into CPU sleep, and CPU 2 is in WFI.
        sleep(sim, 1, 2, 3 * MS);
        sim.now = 4 * MS;
        expected += 300 * us * (CORE[0] + CORE[1] + SHARED[0]);
        expected += 700 * us * (CORE[2] + CORE[1] + SHARED[1]);
        assert_eq!(energy(sim, &name), expected, "a core sleeps");
        // CPU 2 wakes and requests it, too: 400 us into cluster sleep.
        execute(sim, 2, 4 * MS);
        sleep(sim, 2, 2, 5 * MS);
        sim.now = 10 * MS;
        expected += 1400 * us * (CORE[2] + CORE[0] + SHARED[0]);
        expected += 4600 * us * (2 * CORE[2] + SHARED[2]);
        assert_eq!(energy(sim, &name), expected, "the cluster sleeps");
        // An interrupt for CPU 1: an exit of 1.2 ms, then it executes.
        assert_eq!(wake(sim, 1, 10 * MS), 11_200 * US);
        sim.now = 12 * MS;
        expected += 2000 * us * (CORE[0] + CORE[2] + SHARED[0]);
        assert_eq!(energy(sim, &name), expected, "one core is up again");
    });
}

#[test]
fn the_sum_over_clusters_is_the_total_and_power_is_its_mean() {
    at_boot("juno-r0", Governor::Powersave, |sim| {
        execute(sim, 0, MS);
        sim.now = 500 * MS;
        let results = sim.energy_results();
        let value = |name: &str| {
            results
                .iter()
                .find(|m| m.name == name)
                .map(|m| m.value)
                .expect("a metric")
        };
        let names: Vec<&str> = results.iter().map(|m| &*m.name).collect();
        assert_eq!(names[..2], ["energy_j", "power_w"]);
        for (total, unit, in_unit) in [("energy_j", "j", 1.0), ("power_w", "mw", 1000.0)] {
            let clusters = results[2..].iter().filter(|m| m.unit == unit);
            let sum: f64 = clusters.map(|m| m.value).sum();
            let difference = in_unit * value(total) - sum;
            assert!(difference.abs() < 1e-9, "{total}: {results:?}");
        }
        assert!(
            (value("power_w") - 2.0 * value("energy_j")).abs() < 1e-12,
            "{results:?}"
        );
    });
}

#[test]
fn siblings_are_one_core() {
    at_boot("epyc-9654-2s", Governor::Performance, |sim| {
        let machine = sim.machine;
        let sibling = (1..machine.cpus.len())
            .find(|&cpu| machine.cpus[cpu].core == machine.cpus[0].core)
            .expect("SMT");
        for cpu in 0..machine.cpus.len() {
            execute(sim, cpu, US);
        }
        sim.now = MS;
        let core_uw = |sim: &mut Sim, until: u64| {
            sim.meters_flush();
            let core = |sim: &Sim| {
                let slot = sim.cpus[0].core_slot as usize;
                sim.meters[sim.cpus[0].cluster as usize].cores[slot]
                    .supply
                    .energy
            };
            let before = core(sim);
            let ns = until - sim.now;
            sim.now = until;
            sim.meters_flush();
            (core(sim) - before) / u128::from(ns)
        };
        let busy = u128::from(
            machine.freq_domains[0]
                .opps
                .last()
                .expect("a clock")
                .core_power_uw,
        );
        assert_eq!(core_uw(sim, 2 * MS), busy, "both execute");
        sleep(sim, 0, 2, 2 * MS);
        assert_eq!(core_uw(sim, 3 * MS), busy, "one executes");
        sleep(sim, sibling, 1, 3 * MS);
        let states = &machine.core_types[0].idle_states;
        assert_eq!(
            core_uw(sim, 4 * MS),
            u128::from(states[1].power_uw),
            "the shallower"
        );
        execute(sim, sibling, 4 * MS);
        let now = sim.now;
        sleep(sim, sibling, 2, now);
        assert_eq!(
            core_uw(sim, now + MS),
            u128::from(states[2].power_uw),
            "both deep"
        );
    });
}

#[test]
fn the_check_finds_a_vote_too_many() {
    at_boot("juno-r0", Governor::Performance, |sim| {
        assert_eq!(sim.power_check(), Ok(()));
        let cluster = sim.machine.cpus[1].cluster;
        sim.meters[cluster].vote();
        let name = big_name(sim);
        let expected = format!("cluster {name} has 1 votes to sleep, not 0");
        assert_eq!(sim.power_check(), Err(expected));
    });
}
