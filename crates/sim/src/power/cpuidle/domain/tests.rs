// SPDX-License-Identifier: GPL-2.0-only
//! Idle states of domains: the choice of the last CPU, latencies and energy.

use super::*;
use crate::dispatch::Sim;
use crate::power::cpuidle::tests::{at_boot_of, execute, sleep, wake};
use alight_machine::Governor;

const US: u64 = 1000;
const MS: u64 = 1000 * US;

/// Seven CPUs of an SDM845 sleep at 100 ms, the last at 200 ms; `before` runs in between. `after`
/// sees the cluster's state from then on.
fn last_of_eight_sleeps(base: &str, before: impl FnOnce(&mut Sim), after: impl FnOnce(&mut Sim)) {
    at_boot_of(base, "sdm845", Governor::Schedutil, |sim| {
        for cpu in 0..8 {
            sim.cpus[cpu].tick_at = NEVER;
            execute(sim, cpu, 50 * MS);
        }
        for cpu in 0..7 {
            sleep(sim, cpu, SLEEP, 100 * MS);
        }
        before(sim);
        sleep(sim, 7, SLEEP, 200 * MS);
        assert_eq!(sim.power_check(), Ok(()));
        after(sim);
    });
}

const SLEEP: usize = 1;
const DOMAIN_SLEEP: usize = 2;

/// Is the domain asleep: does a CPU need 6562 us to wake up, not 461?
fn domain_sleeps(sim: &mut Sim) -> bool {
    match wake(sim, 0, 300 * MS) - 300 * MS {
        6_562_000 => true,
        461_000 => false,
        other => panic!("out of no known state in {other} ns"),
    }
}

#[test]
fn the_last_cpu_takes_the_domain_down() {
    last_of_eight_sleeps(
        "linux-6.5",
        |_| (),
        |sim| {
            assert!(domain_sleeps(sim));
            let spent = |cpu: usize, state: usize| sim.idle[cpu].residency[state].ns;
            let stays = |cpu: usize, state: usize| {
                let found = &sim.idle[cpu].residency[state];
                (found.requested, found.reached)
            };
            // The domain is in the state from 3263 us after the last CPU on.
            assert_eq!(spent(0, DOMAIN_SLEEP), 100 * MS - 3263 * US);
            assert_eq!(spent(0, SLEEP), 100 * MS - 350 * US + 3263 * US);
            // The last CPU requests the domain's state, and all CPUs are in it.
            assert_eq!((stays(0, SLEEP), stays(0, DOMAIN_SLEEP)), ((1, 1), (0, 1)));
            assert_eq!((stays(7, SLEEP), stays(7, DOMAIN_SLEEP)), ((1, 0), (1, 1)));
        },
    );
}

/// The sleep after an entry of 3263 us must last 9987 us.
#[test]
fn the_domain_stays_up_if_any_cpu_wakes_up_too_soon() {
    for (due, expected) in [(13_250, true), (13_249, false)] {
        for by_tick in [true, false] {
            last_of_eight_sleeps(
                "linux-6.5",
                |sim| {
                    let world = sim.world();
                    let (cpu, at) = (&mut world.cpus[3], 200 * MS + due * US);
                    match by_tick {
                        true => cpu.tick_at = at,
                        false => cpu.timers.insert(&mut world.nodes, 0, at),
                    }
                },
                |sim| assert_eq!(domain_sleeps(sim), expected, "{due} us, tick: {by_tick}"),
            );
        }
    }
}

#[test]
fn the_choice_is_made_anew_when_a_cpu_sleeps_again() {
    last_of_eight_sleeps(
        "linux-6.5",
        |sim| sim.cpus[3].tick_at = 201 * MS,
        |sim| {
            sim.cpus[3].tick_at = NEVER;
            execute(sim, 3, 201 * MS);
            sleep(sim, 3, SLEEP, 210 * MS);
            assert!(domain_sleeps(sim));
        },
    );
}

#[test]
fn a_latency_limit_keeps_the_domain_up_from_6_17_on() {
    for (base, limit, expected) in [
        ("linux-7.2", 9_825_000, true),
        ("linux-7.2", 9_824_999, false),
        ("linux-6.1", 9_824_999, false),
        ("linux-6.5", 9_824_999, true),
    ] {
        last_of_eight_sleeps(
            base,
            |sim| sim.latency_limit_ns = limit,
            |sim| assert_eq!(domain_sleeps(sim), expected, "{base}, {limit} ns"),
        );
    }
}

#[test]
fn kernels_up_to_5_5_know_no_states_of_domains() {
    for base in ["linux-3.9", "linux-5.4", "linux-5.5"] {
        last_of_eight_sleeps(
            base,
            |_| (),
            |sim| {
                assert!(!domain_sleeps(sim), "{base}");
                assert_eq!(sim.idle[7].residency[DOMAIN_SLEEP].ns, 0);
            },
        );
    }
}

/// Idle states of SM8550's little CPUs: `little-rail-power-collapse`, and those of the domain.
const L3_OFF: usize = 2; // 750 us, 2350 us, pays after 9144 us
const COLLAPSE: usize = 3; // 2800 us, 4400 us, pays after 10150 us

/// The eight CPUs of an SM8550 sleep at 100 ms; the next timer of the last one is `due_us` later.
/// Returns the state of the domain, and the time that CPU 0 needs to leave it 5 ms later, us.
fn chosen_on_sm8550(base: &str, latency_limit_ns: u64, due_us: u64) -> (Option<usize>, u64) {
    let mut found = (None, 0);
    at_boot_of(base, "sm8550", Governor::Schedutil, |sim| {
        sim.latency_limit_ns = latency_limit_ns;
        for cpu in 0..8 {
            sim.cpus[cpu].tick_at = NEVER;
            execute(sim, cpu, 50 * MS);
        }
        sim.cpus[7].tick_at = 100 * MS + due_us * US;
        for cpu in 0..8 {
            sleep(sim, cpu, SLEEP, 100 * MS);
        }
        assert_eq!(sim.power_check(), Ok(()));
        let out = wake(sim, 0, 105 * MS) - 105 * MS;
        let spent = |state: usize| sim.idle[0].residency[state].ns;
        let asked = |state: usize| sim.idle[7].residency[state].requested;
        let state = [L3_OFF, COLLAPSE]
            .into_iter()
            .find(|state| spent(*state) != 0);
        for known in [L3_OFF, COLLAPSE] {
            assert_eq!(
                asked(known),
                u64::from(state == Some(known)),
                "{base}, {due_us} us"
            );
        }
        found = (state, out / US);
    });
    found
}

#[test]
fn the_deepest_state_of_the_domain_that_pays_is_chosen() {
    const ANY: u64 = 2_000_000_000;
    for (due_us, limit_ns, expected, because) in [
        (
            12_950,
            ANY,
            (Some(COLLAPSE), 4400),
            "10150 us and an entry of 2800 us",
        ),
        (
            12_949,
            ANY,
            (Some(L3_OFF), 2350),
            "too short for the deepest",
        ),
        (
            9_894,
            ANY,
            (Some(L3_OFF), 2350),
            "9144 us and an entry of 750 us",
        ),
        (
            9_893,
            ANY,
            (None, 750),
            "too short for both: the CPU's own state",
        ),
        (
            50_000,
            7_199_999,
            (Some(L3_OFF), 2350),
            "the deepest takes 7200 us",
        ),
        (50_000, 3_099_999, (None, 750), "the other takes 3100 us"),
    ] {
        let found = chosen_on_sm8550("linux-7.2", limit_ns, due_us);
        assert_eq!(found, expected, "{because}");
    }
    let found = chosen_on_sm8550("linux-6.5", 0, 50_000);
    assert_eq!(found, (Some(COLLAPSE), 4400), "no limit before 6.17");
    assert_eq!(chosen_on_sm8550("linux-5.5", ANY, 50_000), (None, 750));
}

/// Energy of 10 ms in the shallower state, in which the three little CPUs take `uw` each.
fn energy_in_l3_off(uw: u64) -> f64 {
    let mut found = 0.0;
    at_boot_of("linux-7.2", "sm8550", Governor::Schedutil, |sim| {
        sim.domain_states[0][0].power_uw = uw;
        for cpu in 0..8 {
            sim.cpus[cpu].tick_at = NEVER;
            execute(sim, cpu, 50 * MS);
        }
        sim.cpus[7].tick_at = 111 * MS;
        for cpu in 0..8 {
            sleep(sim, cpu, SLEEP, 100 * MS);
        }
        sim.now = 110 * MS;
        let results = sim.energy_results();
        let energy = results.iter().find(|metric| metric.name == "energy_j");
        found = energy.expect("the machine states powers").value;
    });
    found
}

#[test]
fn cores_take_the_power_of_the_state_that_was_chosen() {
    let joules = energy_in_l3_off(1_000) - energy_in_l3_off(0);
    let expected = 3.0 * 1e-3 * (10e-3 - 750e-6);
    assert!(
        (joules - expected).abs() < 1e-9,
        "{joules} J, not {expected} J"
    );
}

/// An earlier choice has no effect: another choice has its own latencies and powers.
#[test]
fn each_choice_stands_for_itself() {
    at_boot_of("linux-7.2", "sm8550", Governor::Schedutil, |sim| {
        for cpu in 0..8 {
            sim.cpus[cpu].tick_at = NEVER;
            execute(sim, cpu, 50 * MS);
        }
        for cpu in 0..8 {
            sleep(sim, cpu, SLEEP, 100 * MS);
        }
        assert_eq!(wake(sim, 3, 200 * MS), 204_400 * US, "the deepest");
        sim.cpus[3].tick_at = 222 * MS;
        sleep(sim, 3, SLEEP, 210 * MS);
        let out = wake(sim, 0, 220 * MS);
        assert_eq!(out, 222_350 * US, "the shallower one, for all");
        let spent = |state: usize| sim.idle[0].residency[state].ns;
        assert_eq!(spent(COLLAPSE), 100 * MS - 2800 * US);
        assert_eq!(spent(L3_OFF), 10 * MS - 750 * US);
    });
}
