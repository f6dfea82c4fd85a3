// SPDX-License-Identifier: GPL-2.0-only
//! The idle states of a core type in the form that a CPU uses to enter and leave them: without
//! names, and with the figures that follow from the neighbouring states.

use crate::base::table::Table;
use alight_machine::{IdleScope, IdleState};

/// One idle state. The fields that the governor compares come first.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct State {
    /// Target residency, ns.
    pub residency_ns: u64,
    /// Wakeup latency that cpuidle assumes (`exit_latency`), ns.
    pub wakeup_ns: u64,
    /// The CPU spins in this state (`CPUIDLE_FLAG_POLLING`). A state entered by mwait also watches
    /// `need_resched`, but it is a hardware state.
    pub spins: bool,
    /// The CPU watches `need_resched`: waking it needs no IPI.
    pub polling: bool,
    /// A request for it is a vote: if all CPUs of the cluster vote, the cluster can enter a state.
    pub votes: bool,
    /// The last CPU chooses whether the cluster enters a state.
    pub by_last: bool,
    /// State of the core outside of the cluster state: itself, or the deepest state of core scope
    /// below it.
    pub core_state: u32,
    /// State of CPU and cluster in the cluster state: itself, or the shallowest [`DomainState`].
    pub deep_state: u32,
    /// Latencies of `deep_state`, ns.
    pub entry_ns: u64,
    pub exit_ns: u64,
    /// Latencies of `core_state`, ns.
    pub core_entry_ns: u64,
    pub core_exit_ns: u64,
    /// Power of the core, uW, in `deep_state` and in `core_state`.
    pub power_uw: u64,
    pub core_power_uw: u64,
}

/// The state of a core type without idle states (`default_idle_call`): no latency and no power.
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

/// The states that a CPU can request, without those that the last CPU of its cluster chooses.
pub(crate) fn own_states(known: &[IdleState]) -> &[IdleState] {
    let mut parts = known.split(|state| state.scope == IdleScope::Domain);
    parts.next().unwrap_or(known)
}

/// The states of a core type that its CPUs can request, at least one.
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
    // SAFETY: indexed by the choices that governors make among them; there is at least one.
    unsafe { Table::new(states) }
}

/// A state of domain scope. The last CPU of a cluster to go idle takes the deepest that fits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DomainState {
    /// Its index among all states of the core type.
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

/// State of the core when it requests `state` and the cluster does not enter a state.
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
