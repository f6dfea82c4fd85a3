// SPDX-License-Identifier: GPL-2.0-only
//! Idle states of a domain, chosen by the last of its CPUs that goes idle
//! (drivers/cpuidle/cpuidle-psci.c, `__psci_enter_domain_idle_state()`;
//! drivers/pmdomain/governor.c, `cpu_power_down_ok()`).

use super::DomainState;
use crate::base::queue::NEVER;
use crate::kernel::Domains;
use crate::power::Power;

/// The choice of the last CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    /// Index among the states of the domain, 0 for the shallowest.
    pub depth: usize,
    pub state: DomainState,
}

impl Power<'_> {
    /// The choice of `cpu`, the last of its cluster to go idle, at `now`: the deepest state of the
    /// domain that pays off if all CPUs sleep until their next timer or tick.
    pub(super) fn last_chooses(&self, cpu: usize, now: u64) -> Option<Chosen> {
        let c = &self.cpus[cpu];
        let next_event = |&cpu: &u32| {
            let c = &self.cpus[cpu as usize];
            c.timers.first_at().min(c.tick_at)
        };
        let members = &self.meters[c.cluster as usize].cpus;
        let wakes_at = members.iter().map(next_event).min();
        let sleeps_ns = wakes_at.unwrap_or(NEVER).saturating_sub(now);
        let in_time = |state: &DomainState| match self.kernel.idle.domains {
            Domains::LastInLatency => state.entry_ns + state.exit_ns <= self.latency_limit_ns,
            Domains::Nobody | Domains::Last => true,
        };
        let fits = |state: &DomainState| {
            in_time(state) && sleeps_ns >= state.residency_ns + state.entry_ns
        };
        let states = &self.domain_states[c.core_type as usize];
        let depth = states.iter().rposition(fits)?;
        Some(Chosen {
            depth,
            state: states[depth],
        })
    }

    /// Puts all CPUs of `cluster`, which are idle, in the domain state at `depth`.
    pub(super) fn domain_follows(&mut self, cluster: usize, depth: usize) {
        self.meters[cluster].depth = depth as u32;
        for i in 0..self.meters[cluster].cpus.len() {
            let cpu = self.meters[cluster].cpus[i] as usize;
            let state = self.domain_state(cpu, depth);
            self.idle[cpu].deep_state = state.state;
            let slot = self.cpus[cpu].core_slot;
            self.meters[cluster].core_follows(slot, state.power_uw);
        }
    }

    /// Time until `cpu` has left the state of its cluster, ns.
    pub(super) fn cluster_exit_ns(&self, cpu: usize) -> u64 {
        let state = self.idle_state(cpu);
        match state.by_last {
            true => {
                let depth = self.meters[self.cpus[cpu].cluster as usize].depth;
                self.domain_state(cpu, depth as usize).exit_ns
            }
            false => state.exit_ns,
        }
    }

    /// The domain state at `depth` for the core type of `cpu`. The core types of a cluster have the
    /// same ones (rule `domain-states-differ`).
    fn domain_state(&self, cpu: usize, depth: usize) -> DomainState {
        self.domain_states[self.cpus[cpu].core_type as usize][depth]
    }
}

#[cfg(test)]
mod tests;
