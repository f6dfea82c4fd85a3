// SPDX-License-Identifier: GPL-2.0-only
//! Balancing when domains are rebuilt, because a CPU went offline or came online
//! (`partition_sched_domains`, `build_sched_domains`): the state of domains and of the root
//! domain is reset, the state of queues is kept.

use super::pack::{Packing, keeps_signals_2013};
use super::{Level, newidle, sums};
use crate::balance::Balancer;
use crate::world::cost::line_ns;
use crate::world::occupancy::{Count, of_groups};
use alight_policy::NONE;
use alight_policy::abi::rule;

/// Cache lines of a queue that `update_sg_lb_stats` reads and that its CPU writes at each wakeup or
/// switch: `nr_running`, beside the lock; `cfs.h_nr_running`; `cfs.avg`, a line of its own with load,
/// runnable and utilization; `misfit_task_load`, beside `cpu_capacity`.
const LOOK_LINES: u64 = 4;

impl Balancer<'_> {
    /// Called after places, domains and groups of the core were rebuilt.
    pub fn balance_rebuild(&mut self) {
        let (now, built) = (self.jiffies(), self.now);
        if self.core.params.pack != rule::PACK_NONE {
            self.packing = Packing::new(&self.core);
            let keep = keeps_signals_2013(&self.core);
            self.keep_signals_2013(keep);
        }
        let groups = self.core.groups.len();
        let online = u64::from(self.hotplug.online.len());
        self.occupancy.groups = of_groups(vec![Count::default(); groups]);
        self.nohz.sums = sums::Sums::new(self.cpus.len(), groups);
        self.nohz.next_update = of_groups(vec![now; groups]);
        self.nohz.cores = self.cores_of_groups();
        self.nohz.shared_domain = self.shared_domains();
        self.nohz.max_interval = (self.nohz.hz * online / 10).max(1);
        for llc in &mut self.core.llcs {
            // No search has looked yet.
            llc.has_idle_cores = 0;
        }
        for cpu in 0..self.cpus.len() {
            self.core.cpus[cpu].avg_scan_cost = 0;
            let levels = self.new_levels(cpu, now);
            let balance = &mut self.balance[cpu];
            balance.levels = levels;
            balance.newidle = newidle::Luck::of_all(built);
            // The new domain counts the CPU as busy until it stops its tick again.
            balance.counted_busy = balance.nohz_tick_stopped;
            self.cpus[cpu].occupied = Count::default();
            self.signals_changed(cpu);
            self.rq_changed(cpu);
        }
        self.occupancy.overload = false;
        self.sum_capacities();
        self.itmt_init();
        self.cpu_power_init();
    }

    /// The initial state of the domains of `cpu` (`sd_init`).
    pub(super) fn new_levels(&self, cpu: usize, now: u64) -> [Level; alight_policy::MAX_LEVELS] {
        let place = &self.core.places[cpu];
        std::array::from_fn(|level| match place.domain[level] {
            NONE => Level::default(),
            _ => Level {
                last_balance: now,
                next_decay: now + self.decay_period(),
                max_newidle_lb_cost: 0,
                far_ns: self.far_look_ns(cpu, level),
                balance_interval: self.bounds(cpu, level).0,
                nr_balance_failed: 0,
            },
        })
    }

    /// Time that `cpu` waits for lines of other caches while it looks at the queues of a domain,
    /// beyond a look at as many queues of its own cache. The addresses of the lines depend on no
    /// line before them, so that several are in flight at a time, as in a refill.
    fn far_look_ns(&self, cpu: usize, level: usize) -> u64 {
        let memory = &self.machine.memory;
        let near = u64::from(memory.llc_line_ns);
        let beyond = |other: u32| line_ns(self.machine, other as usize, cpu).saturating_sub(near);
        let lines: u64 = self.domain(cpu, level).span.iter().map(beyond).sum();
        LOOK_LINES * lines / u64::from(memory.refill_mlp.max(1))
    }

    /// Sums the capacity of each group from its CPUs (`init_sched_groups_capacity`).
    fn sum_capacities(&mut self) {
        for group in 0..self.core.groups.len() {
            let of = |cpu: usize| self.core.cpus[cpu].capacity.max(1);
            let members = || self.members(group, None);
            let sum = members().map(of).sum();
            let least = members().map(of).min().unwrap_or(0);
            let most = members().map(of).max().unwrap_or(0);
            self.core.set_group_capacity(group, sum, least, most);
        }
    }

    /// `cpu`, which goes offline, leaves the balancing for idle CPUs (`nohz_balance_exit_idle`). If
    /// it had begun a round, another CPU does that again.
    pub fn nohz_leave(&mut self, cpu: usize) {
        self.nohz_exit_idle(cpu);
        self.set_misfit(cpu, 0);
        self.nohz.blocked.remove(cpu as u32);
        let balance = &mut self.balance[cpu];
        balance.nohz_flags = 0;
        let begun = balance.round.take().is_some();
        self.nohz.has_blocked |= begun;
    }
}

#[cfg(test)]
mod tests;
