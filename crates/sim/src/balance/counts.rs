// SPDX-License-Identifier: GPL-2.0-only
//! The counters of balancing, with the names of their metrics. A new counter is added here and at
//! the code that counts, nowhere else.

use crate::balance::Balancer;
use crate::base::count::Count;

/// The counters, since counting started.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// Attempts in a domain, at ticks and on the way to idle.
    pub attempts: Count,
    /// Tasks that were pulled.
    pub pulled: Count,
    /// Searches of domains on the way to idle (`sd->lb_count[CPU_NEWLY_IDLE]`).
    pub newidle_attempts: Count,
    /// Those of these searches that pulled no task.
    pub newidle_failures: Count,
    /// Tasks that were pulled on the way to idle (`sd->lb_gained[CPU_NEWLY_IDLE]`).
    pub newidle_pulled: Count,
    /// Time that newidle balancing took on its CPUs, ns.
    pub newidle_ns: Count,
    /// Running tasks that were pushed (active balance).
    pub active: Count,
}

/// A count with the name of its metric.
pub(crate) enum Named {
    Times(&'static str, Count),
    /// A count of ns, reported in s.
    Seconds(&'static str, Count),
}

impl Counts {
    /// In the order of the report.
    fn named(&self) -> impl Iterator<Item = Named> {
        use Named::{Seconds, Times};
        [
            Times("balance_pulls", self.pulled),
            Times("newidle_attempts", self.newidle_attempts),
            Times("newidle_failures", self.newidle_failures),
            Times("newidle_pulls", self.newidle_pulled),
            Seconds("newidle_s", self.newidle_ns),
            Times("active_balances", self.active),
        ]
        .into_iter()
    }
}

impl Balancer<'_> {
    /// What balancing counted, for the report.
    pub fn balance_counts(&self) -> impl Iterator<Item = Named> {
        self.counts.named()
    }

    /// Time that CPUs searched for tasks on the way to idle, ns.
    pub fn searched_ns(&self) -> Count {
        self.counts.newidle_ns
    }

    /// Tasks that balancing pulled.
    #[cfg(test)]
    pub fn pulled(&self) -> u64 {
        self.counts.pulled.seen()
    }

    /// Counts start anew.
    pub fn balance_counts_anew(&mut self) {
        self.counts = Counts::default();
    }

    /// A domain was searched on the way to idle; `pulled` tasks came from it.
    pub(super) fn count_newidle(&mut self, pulled: u32) {
        self.counts.newidle_attempts += 1;
        self.counts.newidle_failures += u64::from(pulled == 0);
        self.counts.newidle_pulled += u64::from(pulled);
    }
}
