// SPDX-License-Identifier: GPL-2.0-only
//! When a CPU looks for work: at its ticks, level by level at each level's
//! interval, and on its way to idle.

use super::groups::Scope;
use super::{BUSY_FACTOR, Idle, MIGRATION_COST};
use crate::state::Sim;
use alight_policy::abi::domain_flag;

impl Sim<'_> {
    /// The balancing part of a tick on `cpu`: misfit status, a kick of an idle
    /// CPU, this CPU's own turn (`scheduler_tick`, `trigger_load_balance`,
    /// `run_rebalance_domains`).
    pub fn balance_tick(&mut self, cpu: usize) {
        let now = self.jiffies();
        self.misfit_update(cpu);
        let idle = if self.is_idle(cpu) {
            Idle::Yes
        } else {
            Idle::No
        };
        if idle == Idle::No {
            self.nohz_balancer_kick(cpu, now);
        }
        if now >= self.cpus[cpu].balance.next_balance {
            self.refresh_blocked(cpu, now);
            self.rebalance_domains(cpu, cpu, idle, now);
        }
    }

    /// Balances each domain of `cpu` whose interval is over; `by` executes (`rebalance_domains`).
    pub(super) fn rebalance_domains(&mut self, by: usize, cpu: usize, mut idle: Idle, now: u64) {
        let second = self.nohz.hz;
        let mut next_balance = now + 60 * second;
        let mut go_on = true;
        let mut decayed = false;
        let mut cost = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            let own = self.levels(cpu, level);
            if now > own.next_decay_max_lb_cost {
                own.max_newidle_lb_cost = own.max_newidle_lb_cost * 253 / 256;
                own.next_decay_max_lb_cost = now + second;
                decayed = true;
            }
            cost += own.max_newidle_lb_cost;
            if !go_on {
                if decayed {
                    continue;
                }
                break;
            }
            let mut due = own.last_balance + self.balance_interval(cpu, level, idle);
            if now >= due {
                if self.load_balance(by, Scope::new(cpu, level, idle, now), &mut go_on) != 0 {
                    idle = if self.is_idle(cpu) {
                        Idle::Yes
                    } else {
                        Idle::No
                    };
                }
                self.levels(cpu, level).last_balance = now;
                due = now + self.balance_interval(cpu, level, idle);
            }
            next_balance = next_balance.min(due);
        }
        let balance = &mut self.cpus[cpu].balance;
        if decayed {
            balance.max_idle_balance_cost = cost.max(MIGRATION_COST);
        }
        balance.next_balance = next_balance;
        if idle == Idle::Yes {
            self.nohz.next_balance = self.nohz.next_balance.min(next_balance);
        }
    }

    /// Jiffies between two attempts at a level (`get_sd_balance_interval`).
    pub(super) fn balance_interval(&self, cpu: usize, level: usize, idle: Idle) -> u64 {
        let ms = u64::from(self.cpus[cpu].balance.levels[level].balance_interval);
        self.nohz.interval(if idle == Idle::No {
            ms * BUSY_FACTOR
        } else {
            ms
        })
    }

    /// `cpu` has nothing to run: pull something, if there may be something and
    /// the search takes less time than it will probably idle
    /// (`newidle_balance`). True if it has something to run now.
    pub fn balance_newidle(&mut self, cpu: usize) -> bool {
        let now = self.jiffies();
        self.set_misfit(cpu, 0);
        // Set before the search: that counts as idle time.
        self.core.cpus[cpu].idle_stamp = self.core.cpus[cpu].clock;
        let next_balance = if self.core.cpus[cpu].avg_idle < MIGRATION_COST || !self.nohz.overload {
            let next = self.next_idle_balance(cpu, 0, now + self.nohz.hz);
            self.nohz_newidle_balance(cpu, now);
            next
        } else {
            self.search_newidle(cpu, now)
        };
        let balance = &mut self.cpus[cpu].balance;
        balance.next_balance = balance.next_balance.min(next_balance);
        let pulled = self.core.cpus[cpu].nr_running != 0;
        if pulled {
            self.core.cpus[cpu].idle_stamp = 0;
        }
        pulled
    }

    /// Tries the domains upward; returns when the next balance is due.
    fn search_newidle(&mut self, cpu: usize, now: u64) -> u64 {
        self.charge(cpu, self.costs(cpu).newidle);
        self.refresh_blocked(cpu, now);
        let mut next_balance = now + self.nohz.hz;
        let mut cost = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            let own = self.cpus[cpu].balance.levels[level];
            let affordable = self.core.cpus[cpu].avg_idle >= cost + own.max_newidle_lb_cost;
            let mut pulled = 0;
            if affordable && self.domain(cpu, level).flags & domain_flag::NEWIDLE != 0 {
                let start = self.reached(cpu);
                pulled =
                    self.load_balance(cpu, Scope::new(cpu, level, Idle::Newly, now), &mut true);
                let took = self.reached(cpu) - start;
                let own = self.levels(cpu, level);
                own.max_newidle_lb_cost = own.max_newidle_lb_cost.max(took);
                cost += took;
            }
            next_balance = self.next_idle_balance(cpu, level, next_balance);
            if pulled != 0 {
                self.stats.lb_newidle_pulled += u64::from(pulled);
            }
            if !affordable || self.core.cpus[cpu].nr_running != 0 {
                break;
            }
        }
        let most = &mut self.cpus[cpu].balance.max_idle_balance_cost;
        *most = (*most).max(cost);
        next_balance
    }

    /// `update_next_balance`.
    fn next_idle_balance(&self, cpu: usize, level: usize, next_balance: u64) -> u64 {
        if level >= self.core.places[cpu].nr_domains as usize {
            return next_balance;
        }
        let last = self.cpus[cpu].balance.levels[level].last_balance;
        next_balance.min(last + self.balance_interval(cpu, level, Idle::Yes))
    }
}
