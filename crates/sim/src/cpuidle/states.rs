// SPDX-License-Identifier: GPL-2.0-only
//! The idle states of a core type as a CPU that enters and leaves them reads
//! them: without names, and with what follows from the states around them.

use crate::table::Table;
use alight_machine::{IdleScope, IdleState};

/// One idle state. What the governor compares comes first.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct State {
    /// Target residency, ns.
    pub residency_ns: u64,
    /// Latency that cpuidle plans with, ns.
    pub wakeup_ns: u64,
    /// The CPU spins in this state (`CPUIDLE_FLAG_POLLING`). A state entered by
    /// mwait also watches `need_resched`, but it is a state of the hardware.
    pub spins: bool,
    /// The CPU watches `need_resched`: waking it needs no IPI.
    pub polling: bool,
    /// A state of the cluster: all its CPUs must agree.
    pub votes: bool,
    /// How deep the core goes while the cluster does not follow: itself, or the
    /// deepest state of core scope below it.
    pub core_state: u32,
    /// Latencies of the state, ns.
    pub entry_ns: u64,
    pub exit_ns: u64,
    /// The same of `core_state`.
    pub core_entry_ns: u64,
    pub core_exit_ns: u64,
    /// Power of the core, uW, in the state and in `core_state`.
    pub power_uw: u64,
    pub core_power_uw: u64,
}

/// The state of a core type without any (`default_idle_call`): at once in and
/// out, and no power.
const NO_STATE: State = State {
    residency_ns: 0,
    wakeup_ns: 0,
    spins: false,
    polling: false,
    votes: false,
    core_state: 0,
    entry_ns: 0,
    exit_ns: 0,
    core_entry_ns: 0,
    core_exit_ns: 0,
    power_uw: 0,
    core_power_uw: 0,
};

/// The states of a core type, at least one.
pub(crate) fn states(known: &[IdleState]) -> Table<State> {
    if known.is_empty() {
        return vec![NO_STATE].into();
    }
    let state = |(i, state): (usize, &IdleState)| {
        let core_state = core_state(known, i);
        let core = &known[core_state];
        State {
            residency_ns: state.residency_ns,
            wakeup_ns: state.wakeup_ns,
            spins: state.polling && state.residency_ns == 0,
            polling: state.polling,
            votes: state.scope == IdleScope::Cluster,
            core_state: core_state as u32,
            entry_ns: state.entry_ns,
            exit_ns: state.exit_ns,
            core_entry_ns: core.entry_ns,
            core_exit_ns: core.exit_ns,
            power_uw: state.power_uw,
            core_power_uw: core.power_uw,
        }
    };
    known.iter().enumerate().map(state).collect()
}

/// How deep the core goes when it asks for `state` and the cluster does not follow.
fn core_state(states: &[IdleState], state: usize) -> usize {
    match states[state].scope {
        IdleScope::Core => state,
        IdleScope::Cluster => states[..state]
            .iter()
            .rposition(|s| s.scope == IdleScope::Core)
            .unwrap_or(state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_state_falls_back_on_the_deepest_core_state_above_it() {
        let machine = alight_machine::Machine::load("juno-r0").expect("built in");
        let known = &machine.core_types[0].idle_states;
        let found = states(known);
        let core: Vec<u32> = found.iter().map(|s| s.core_state).collect();
        assert_eq!(core, [0, 1, 1], "WFI, CPU sleep, cluster sleep");
        assert_eq!(found[2].core_exit_ns, known[1].exit_ns);
        assert_eq!(found[2].core_power_uw, known[1].power_uw);
        assert_eq!(found[2].power_uw, known[2].power_uw);
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
}
