// SPDX-License-Identifier: GPL-2.0-only
//! The idle states of a core type as a CPU that enters and leaves them reads
//! them: without names, and with what follows from the states around them.

use crate::base::table::Table;
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
    /// All CPUs of the cluster in such a state can let the cluster follow.
    pub votes: bool,
    /// Whether it follows is for the last of them to choose.
    pub by_last: bool,
    /// How deep the core goes while the cluster does not follow: itself, or the
    /// deepest state of core scope below it.
    pub core_state: u32,
    /// What CPU and cluster are in if it does: itself, or the shallowest [`DomainState`].
    pub deep_state: u32,
    /// Latencies of `deep_state`, ns.
    pub entry_ns: u64,
    pub exit_ns: u64,
    /// The same of `core_state`.
    pub core_entry_ns: u64,
    pub core_exit_ns: u64,
    /// Power of the core, uW, in `deep_state` and in `core_state`.
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
    by_last: false,
    core_state: 0,
    deep_state: 0,
    entry_ns: 0,
    exit_ns: 0,
    core_entry_ns: 0,
    core_exit_ns: 0,
    power_uw: 0,
    core_power_uw: 0,
};

/// The states that a CPU can ask for, without what its cluster's last one chooses.
pub(crate) fn own_states(known: &[IdleState]) -> &[IdleState] {
    let mut parts = known.split(|state| state.scope == IdleScope::Domain);
    parts.next().unwrap_or(known)
}

/// The states of a core type that its CPUs can ask for, at least one.
pub(crate) fn states(known: &[IdleState]) -> Table<State> {
    let own = own_states(known).len();
    let state = |(i, state): (usize, &IdleState)| {
        let core_state = core_state(known, i);
        let core = &known[core_state];
        let by_last = i + 1 == own && own < known.len();
        let deep_state = if by_last { own } else { i };
        let deep = &known[deep_state];
        State {
            residency_ns: state.residency_ns,
            wakeup_ns: state.wakeup_ns,
            spins: state.polling && state.residency_ns == 0,
            polling: state.polling,
            votes: by_last || state.scope == IdleScope::Cluster,
            by_last,
            core_state: core_state as u32,
            deep_state: deep_state as u32,
            entry_ns: deep.entry_ns,
            exit_ns: deep.exit_ns,
            core_entry_ns: core.entry_ns,
            core_exit_ns: core.exit_ns,
            power_uw: deep.power_uw,
            core_power_uw: core.power_uw,
        }
    };
    let states = match own {
        0 => vec![NO_STATE],
        _ => known[..own].iter().enumerate().map(state).collect(),
    };
    // SAFETY: looked up by what governors choose among them, which begin with the first.
    unsafe { Table::new(states) }
}

/// A state of scope domain: of those that fit, the last CPU of a cluster to sleep takes the deepest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DomainState {
    /// Its place among all states of the core type.
    pub state: u32,
    /// Target residency, ns.
    pub residency_ns: u64,
    /// Latencies, ns.
    pub entry_ns: u64,
    pub exit_ns: u64,
    /// Power of a core of this type in it, uW.
    pub power_uw: u64,
}

/// The states of a core type that the last CPU of a cluster chooses from, the shallowest first.
pub(crate) fn domain_states(known: &[IdleState]) -> Vec<DomainState> {
    let of_domain = |(_, state): &(usize, &IdleState)| state.scope == IdleScope::Domain;
    let domain_state = |(place, state): (usize, &IdleState)| DomainState {
        state: place as u32,
        residency_ns: state.residency_ns,
        entry_ns: state.entry_ns,
        exit_ns: state.exit_ns,
        power_uw: state.power_uw,
    };
    let known = known.iter().enumerate();
    known.filter(of_domain).map(domain_state).collect()
}

/// How deep the core goes when it asks for `state` and the cluster does not follow.
fn core_state(states: &[IdleState], state: usize) -> usize {
    match states[state].scope {
        IdleScope::Core | IdleScope::Domain => state,
        IdleScope::Cluster => states[..state]
            .iter()
            .rposition(|s| s.scope == IdleScope::Core)
            .unwrap_or(state),
    }
}

#[cfg(test)]
mod tests;
