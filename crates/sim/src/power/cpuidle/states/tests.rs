// SPDX-License-Identifier: GPL-2.0-only
//! Idle states of a core type: the states without and with the cluster or the domain.

use super::*;
use crate::power::cpuidle::tests::stated;

#[test]
fn a_cluster_state_falls_back_on_the_deepest_core_state_above_it() {
    let known = &stated("juno-r0").core_types[0].idle_states;
    let found = states(known);
    let core: Vec<u32> = found.iter().map(|s| s.core_state).collect();
    assert_eq!(core, [0, 1, 1], "WFI, CPU sleep, cluster sleep");
    assert_eq!(found[2].core_exit_ns, known[1].exit_ns);
    assert_eq!(found[2].core_power_uw, known[1].power_uw);
    assert_eq!(found[2].power_uw, known[2].power_uw);
}

#[test]
fn a_domain_state_comes_on_top_of_the_deepest_one_that_a_cpu_asks_for() {
    let known = &stated("sdm845").core_types[0].idle_states;
    let found = states(known);
    assert_eq!(found.len(), 2, "WFI and sleep");
    assert_eq!(
        found.iter().map(|s| s.by_last).collect::<Vec<_>>(),
        [false, true]
    );
    let sleep = &found[1];
    assert_eq!((sleep.core_state, sleep.deep_state), (1, 2));
    assert_eq!(sleep.residency_ns, known[1].residency_ns);
    assert_eq!(sleep.wakeup_ns, known[1].wakeup_ns);
    assert_eq!((sleep.entry_ns, sleep.core_entry_ns), (3_263_000, 350_000));

    let domain = domain_states(known);
    assert_eq!(domain.len(), 1);
    assert_eq!((domain[0].state, domain[0].residency_ns), (2, 9_987_000));

    let without = states(own_states(known));
    assert!(!without[1].votes && !without[1].by_last);
    assert_eq!((without[1].deep_state, without[1].entry_ns), (1, 350_000));
}

#[test]
fn a_core_without_states_rests_at_once_without_power() {
    let found = states(&[]);
    assert_eq!(found.len(), 1);
    let State {
        core_entry_ns,
        core_exit_ns,
        core_power_uw,
        spins,
        ..
    } = found[0];
    assert_eq!((core_entry_ns, core_exit_ns, core_power_uw), (0, 0, 0));
    assert!(!spins);
}
