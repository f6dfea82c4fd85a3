// SPDX-License-Identifier: GPL-2.0-only
//! The times at which a CPU looks for work in 3.9. The kernel does not remember the cost
//! (`rebalance_domains`, `idle_balance`). A kicked CPU balances first for itself, then for the
//! others without a tick (`nohz_kick_needed`, `nohz_idle_balance` of 3.9.6).

use crate::balance::groups::Scope;
use crate::balance::{Balancer, Idle, LoadBalance, MIGRATION_COST, NewidleBalance, Stopper};
use alight_policy::abi::domain_flag;

impl Balancer<'_> {
    /// `cpu` enters the idle loop: it does not count as busy until its next busy tick
    /// (`set_cpu_sd_state_idle`).
    #[inline]
    pub(in super::super) fn counts_as_idle(&mut self, cpu: usize) {
        self.nohz.early.idled.insert(cpu as u32);
    }

    /// A busy tick of `cpu` (`set_cpu_sd_state_busy`).
    pub(in super::super) fn counts_as_busy(&mut self, cpu: usize) {
        self.nohz.early.idled.remove(cpu as u32);
    }

    /// At a busy tick, if some CPU has no tick: is a round due, and is there work for such a
    /// CPU?
    pub(in super::super) fn kick_needed(&self, cpu: usize, now: u64) -> bool {
        now >= self.nohz.next_balance
            && (self.core.cpus[cpu].nr_running >= 2
                || self.shares_busy_group(cpu)
                || self.pack_kicks(cpu))
    }

    /// Are several CPUs busy in the group of `cpu` at a level that shares a cache, such as the
    /// threads of its core?
    fn shares_busy_group(&self, cpu: usize) -> bool {
        let place = &self.core.places[cpu];
        (0..place.nr_domains as usize)
            .take_while(|&level| self.domain(cpu, level).flags & domain_flag::SHARE_LLC != 0)
            .any(|level| {
                let group = place.group[level] as usize;
                let busy = |&cpu: &usize| !self.nohz.early.idled.contains(cpu as u32);
                self.members(group, None).filter(busy).nth(1).is_some()
            })
    }

    /// The first CPU without a tick, if it is idle (`find_new_ilb`).
    pub(in super::super) fn first_tickless(&self) -> Option<u32> {
        let first = self.nohz.idle.iter().next()?;
        self.is_idle(first as usize).then_some(first)
    }

    /// A round of `by` has ended or was aborted: the next one is due at the next balance of `by`,
    /// which is now the earliest of all CPUs that it served.
    pub(in super::super) fn round_by_index_ends(&mut self, by: usize) {
        self.nohz.next_balance = self.cpus[by].next_balance;
    }

    /// 3.9 has no blocked load: the signals of idle CPUs are kept current for the governor, at no
    /// cost.
    pub(in super::super) fn settle_blocked(&mut self, now: u64) {
        if !self.nohz.has_blocked || now <= self.nohz.next_blocked {
            return;
        }
        self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(super::super::LOAD_AVG_PERIOD);
        self.nohz.has_blocked = false;
        for word in 0..self.nohz.words {
            let mut left = self.nohz.blocked.w[word] & self.occupancy.idle_cpus.w[word];
            while left != 0 {
                let cpu = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                self.refresh_blocked(cpu, now);
                self.nohz.has_blocked |= self.nohz.blocked.contains(cpu as u32);
            }
        }
    }
}

/// The attempts of 3.9 (`rebalance_domains`, `idle_balance`).
pub(in crate::balance) trait BalanceByIndex<'a>: Stopper<'a> {
    /// Balances each domain of `cpu` whose interval is over; `by` executes.
    fn rebalance_by_index(&mut self, by: usize, cpu: usize, mut idle: Idle, now: u64) {
        if self.packing.acts {
            self.pack_rebalance(cpu, idle, now);
        }
        let mut next_balance = now + 60 * self.nohz.hz;
        let mut go_on = true;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            // The next attempt is due after the same interval as this one.
            let interval = self.balance_interval(cpu, level, idle != Idle::Yes);
            if now >= self.levels(cpu, level).last_balance + interval {
                if self.load_balance(by, Scope::new(cpu, level, idle, now), &mut go_on) != 0 {
                    idle = Idle::No;
                }
                self.levels(cpu, level).last_balance = now;
            }
            next_balance = next_balance.min(self.levels(cpu, level).last_balance + interval);
            if !go_on {
                break;
            }
        }
        self.cpus[cpu].next_balance = next_balance;
    }

    /// `cpu` has nothing to run: if its idle phases are long enough on average, tries the domains
    /// upward. True if it has something to run now.
    fn newidle_by_index(&mut self, cpu: usize, now: u64) -> bool {
        self.core.cpus[cpu].idle_stamp = self.rq_time(cpu);
        if self.core.cpus[cpu].avg_idle < MIGRATION_COST {
            return false;
        }
        let newidle = self.costs(cpu).newidle;
        self.charge(cpu, newidle);
        self.refresh_blocked(cpu, now);
        let mut next_balance = now + self.nohz.hz;
        let mut pulled = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            if self.domain(cpu, level).flags & domain_flag::NEWIDLE != 0 {
                pulled = self.attempt_newidle(cpu, level, now);
            }
            let ms = self.levels(cpu, level).balance_interval;
            let interval = self.nohz.jiffies_of_ms(ms.into());
            next_balance = next_balance.min(self.levels(cpu, level).last_balance + interval);
            if pulled != 0 {
                self.core.cpus[cpu].idle_stamp = 0;
                break;
            }
        }
        if pulled != 0 || now > self.cpus[cpu].next_balance {
            self.cpus[cpu].next_balance = next_balance;
        }
        self.core.cpus[cpu].nr_running != 0
    }

    /// The part of a round of `by` for the idle `cpu`, whether its balance is due or not.
    fn serve_by_index(&mut self, by: usize, cpu: usize, now: u64) {
        self.index_idle(cpu);
        self.rebalance_by_index(by, cpu, Idle::Yes, now);
        let due = self.cpus[cpu].next_balance;
        let own = &mut self.cpus[by].next_balance;
        *own = due.min(*own);
    }
}

impl<'a, T: Stopper<'a>> BalanceByIndex<'a> for T {}
