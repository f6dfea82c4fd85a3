// SPDX-License-Identifier: GPL-2.0-only
//! Periodic balancing: a CPU looks for work at its ticks, level by level, at the interval of each
//! level (`rebalance_domains`).

use super::groups::Scope;
use super::{Idle, MIGRATION_COST};
use crate::balance::{BalanceByIndex, Balancer, LoadBalance, Stopper};
use crate::kernel::Gate;
use crate::world::World;
use alight_policy::abi::domain_flag;

impl World<'_> {
    /// Is `cpu` too busy to balance often?
    fn is_busy(&self, cpu: usize, idle: Idle) -> bool {
        let view = &self.core.cpus[cpu];
        let sched_idle = view.nr_running != 0 && view.nr_running == view.h_nr_idle;
        idle == Idle::No && !(sched_idle && self.core.params.sched_idle_balance != 0)
    }
}

impl Balancer<'_> {
    /// Jiffies between two attempts at a level (`get_sd_balance_interval`).
    pub(super) fn balance_interval(&self, cpu: usize, level: usize, busy: bool) -> u64 {
        let ms = u64::from(self.balance[cpu].levels[level].balance_interval);
        let rules = &self.kernel.balance.interval;
        if !busy {
            return self.nohz.interval(ms);
        }
        let factor = match self.domain(cpu, level).flags & domain_flag::NUMA {
            0 => rules.busy_factor,
            _ => rules.busy_factor_nodes,
        };
        let jiffies = self.nohz.jiffies_of_ms(ms * factor);
        let jiffies = jiffies - u64::from(rules.less_a_jiffy);
        jiffies.clamp(1, self.nohz.max_interval)
    }
}

/// Balances at ticks (`rebalance_domains`).
pub(crate) trait PeriodicBalance<'a>: Stopper<'a> {
    /// The balancing part of a tick on `cpu`: misfit status, a kick of an idle
    /// CPU, this CPU's own turn (`scheduler_tick`, `trigger_load_balance`,
    /// `run_rebalance_domains`).
    fn balance_tick(&mut self, cpu: usize) {
        let now = self.jiffies();
        if self.by_index() {
            self.index_tick(cpu);
        }
        self.misfit_update(cpu);
        let idle = if self.is_idle(cpu) {
            Idle::Yes
        } else {
            Idle::No
        };
        if idle == Idle::No {
            self.nohz_balancer_kick(cpu, now);
        }
        if now >= self.cpus[cpu].next_balance {
            self.refresh_blocked(cpu, now);
            self.rebalance_domains(cpu, cpu, idle, now);
        }
    }

    /// Balances each domain of `cpu` whose interval is over; `by` executes (`rebalance_domains`).
    fn rebalance_domains(&mut self, by: usize, cpu: usize, mut idle: Idle, now: u64) {
        if self.by_index() {
            return self.rebalance_by_index(by, cpu, idle, now);
        }
        if self.packing.acts {
            self.pack_rebalance(cpu, idle, now);
        }
        let gate = self.kernel.balance.newidle.gate;
        let mut next_balance = now + 60 * self.nohz.hz;
        let mut go_on = true;
        let mut decayed = false;
        let mut cost = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            let forgets = self.forget_cost(cpu, level, now);
            // From 5.16 on only the last level counts.
            decayed = forgets || decayed && gate == Gate::MigrationCost;
            cost += self.levels(cpu, level).max_newidle_lb_cost;
            if !go_on {
                if decayed {
                    continue;
                }
                break;
            }
            let last = self.levels(cpu, level).last_balance;
            let mut due = last + self.balance_interval(cpu, level, self.is_busy(cpu, idle));
            if now >= due {
                if self.load_balance(by, Scope::new(cpu, level, idle, now), &mut go_on) != 0 {
                    idle = if self.is_idle(cpu) {
                        Idle::Yes
                    } else {
                        Idle::No
                    };
                }
                self.levels(cpu, level).last_balance = now;
                due = now + self.balance_interval(cpu, level, self.is_busy(cpu, idle));
            }
            next_balance = next_balance.min(due);
        }
        if decayed {
            self.cpus[cpu].max_idle_balance_cost = cost.max(MIGRATION_COST);
        }
        self.cpus[cpu].next_balance = next_balance;
        if idle == Idle::Yes && self.kernel.balance.interval.tells_nohz {
            self.nohz.next_balance = self.nohz.next_balance.min(next_balance);
        }
    }
}

impl<'a, T: Stopper<'a>> PeriodicBalance<'a> for T {}
