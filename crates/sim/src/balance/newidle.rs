// SPDX-License-Identifier: GPL-2.0-only
//! Balancing on the way to idle (`newidle_balance`), and whether it is worth its cost. The cost
//! of a search in each domain is remembered, and decays with time (`sd->max_newidle_lb_cost`).
//! Later kernels also remember how often searches succeed. A domain where they seldom do is
//! searched at random only (NI_RANDOM).

use super::groups::Scope;
use super::{Idle, MIGRATION_COST};
use crate::balance::{BalanceByIndex, Balancer, LoadBalance, NohzBalance, Stopper};
use crate::base::rng::{Purpose, below};
use crate::base::timeline::NONE;
use crate::kernel::{Dice, Gate};
use crate::world::search::Search;
use alight_policy::MAX_LEVELS;
use alight_policy::abi::domain_flag;
use alight_trace::PrevState;

/// Number of attempts after which the ratio of successes is computed anew.
const CALLS: u32 = 1024;
/// A domain with this ratio is always searched.
const SURE: u32 = 1024;
/// A ratio grows by 1 for each 4 ms over which the attempts were spread (`NI_RATE`).
const RATE_SHIFT: u32 = 22;

/// How often an attempt in a domain brought a task (`sd->newidle_call` and its neighbours).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Luck {
    call: u32,
    success: u32,
    /// Of 1024.
    ratio: u32,
    /// The time when it was computed, ns.
    stamp: u64,
}

impl Default for Luck {
    /// The initial state (`sd_init`): every second attempt succeeds.
    fn default() -> Self {
        Luck {
            call: CALLS / 2,
            success: CALLS / 4,
            ratio: CALLS / 2,
            stamp: 0,
        }
    }
}

impl Luck {
    /// The state of domains that are built at `now`.
    pub fn of_all(now: u64) -> [Luck; MAX_LEVELS] {
        let new = Luck {
            stamp: now,
            ..Luck::default()
        };
        [new; MAX_LEVELS]
    }

    /// Counts an attempt; `success` is its weight, which also stands for the attempts that were
    /// skipped (`update_newidle_stats`).
    fn book(&mut self, success: u32, dice: Dice, now: u64) {
        self.call += 1;
        self.success += success;
        if self.call < CALLS {
            return;
        }
        let seldom = match dice {
            Dice::BySuccessAndRate => (now - self.stamp) >> RATE_SHIFT,
            Dice::None | Dice::BySuccess => 0,
        };
        let ratio = u64::from(self.success) + seldom;
        self.ratio = match dice {
            Dice::BySuccessAndRate => ratio.min(SURE.into()) as u32,
            Dice::None | Dice::BySuccess => ratio as u32,
        };
        self.stamp = now;
        self.call /= 2;
        self.success /= 2;
    }

    /// Every draw leads to an attempt.
    #[cfg(test)]
    pub fn sure() -> Self {
        Luck {
            ratio: SURE,
            ..Luck::default()
        }
    }

    /// The weight of a success, if `throw`, which is below 1024, leads to an attempt.
    fn weight(&self, throw: u32) -> Option<u32> {
        let weight = 1 + self.ratio;
        (throw <= weight).then(|| (SURE + weight / 2) / weight)
    }
}

impl Balancer<'_> {
    /// The only task of `cpu` was pushed to another CPU. When the stopper leaves, the kernel goes
    /// through `newidle_balance()` (`balance_fair`): the misfit status is cleared, and the next
    /// balance is due as early as on an idle CPU. A pull at that point is not modelled, because
    /// another CPU's attempt is in progress here.
    pub fn left_by_push(&mut self, cpu: usize) {
        self.set_misfit(cpu, 0);
        let levels = match self.worth_a_look(cpu) {
            true => self.core.places[cpu].nr_domains as usize,
            false => 1,
        };
        let next = self.cpus[cpu].next_balance;
        let next = (0..levels).fold(next, |next, level| self.next_idle_balance(cpu, level, next));
        self.cpus[cpu].next_balance = next;
    }

    /// Records the cost of an attempt, ns (`update_newidle_cost`).
    fn book_newidle(&mut self, cpu: usize, level: usize, now: u64, cost: u64, success: u32) {
        let dice = self.kernel.balance.newidle.dice;
        if cost != 0 && dice != Dice::None {
            let now = self.now;
            self.balance[cpu].newidle[level].book(success, dice, now);
        }
        let next_decay = now + self.decay_period();
        let own = self.levels(cpu, level);
        if cost > own.max_newidle_lb_cost {
            own.max_newidle_lb_cost = cost;
            own.next_decay = next_decay;
        } else {
            self.forget_cost(cpu, level, now);
        }
    }

    /// Reduces the remembered cost by an 85th if it was not met for a second; true if so.
    pub(super) fn forget_cost(&mut self, cpu: usize, level: usize, now: u64) -> bool {
        let second = self.nohz.hz;
        let own = self.levels(cpu, level);
        let due = now > own.next_decay;
        if due {
            own.max_newidle_lb_cost = own.max_newidle_lb_cost * 253 / 256;
            own.next_decay = now + second;
        }
        due
    }

    /// The time until a cost that has just been met first decays, jiffies; up to 5.15 the kernel
    /// does not set one.
    pub(super) fn decay_period(&self) -> u64 {
        match self.kernel.balance.newidle.gate {
            Gate::IdleTime | Gate::MigrationCost => 0,
            Gate::FirstDomain => self.nohz.hz,
        }
    }

    /// The search for tasks of `cpu` ends: returns the task from which it switches, and the state
    /// in which that task leaves.
    pub fn search_ends(&mut self, cpu: usize) -> (u32, PrevState) {
        let now = self.now;
        let Search {
            from,
            prev,
            prev_state,
            ..
        } = self.cpus[cpu].search;
        self.counts.newidle_ns += now.saturating_sub(from);
        self.cpus[cpu].search.prev = NONE;
        (prev, prev_state)
    }

    /// `update_next_balance`.
    fn next_idle_balance(&self, cpu: usize, level: usize, next_balance: u64) -> u64 {
        if level >= self.core.places[cpu].nr_domains as usize {
            return next_balance;
        }
        let last = self.balance[cpu].levels[level].last_balance;
        next_balance.min(last + self.balance_interval(cpu, level, false))
    }

    /// The weight of a success, if a random draw lets `cpu` search its domain.
    fn throw_dice(&mut self, cpu: usize, level: usize) -> Option<u32> {
        let dice = self.kernel.balance.newidle.dice;
        let luck = &self.balance[cpu].newidle[level];
        if dice == Dice::None || dice == Dice::BySuccessAndRate && luck.ratio >= SURE {
            return Some(1);
        }
        let balance = &mut self.balance[cpu];
        let throw = (cpu as u64) << 40 | balance.dice;
        balance.dice += 1;
        let throw = below(self.seed, throw, Purpose::Newidle, CALLS.into()) as u32;
        let now = self.now;
        let luck = &mut self.balance[cpu].newidle[level];
        let weight = luck.weight(throw);
        if weight.is_none() {
            luck.book(0, dice, now);
        }
        weight
    }

    /// Is there work on some CPU, and is the expected idle time long enough to search?
    fn worth_a_look(&self, cpu: usize) -> bool {
        let takes = match self.kernel.balance.newidle.gate {
            Gate::IdleTime | Gate::MigrationCost => MIGRATION_COST,
            Gate::FirstDomain => self.balance[cpu].levels[0].max_newidle_lb_cost,
        };
        self.core.cpus[cpu].avg_idle >= takes && self.occupancy.overload
    }
}

/// Looks for work on the way to idle (`newidle_balance`).
pub(crate) trait NewidleBalance<'a>: Stopper<'a> {
    /// `cpu` has nothing to run: pulls tasks, if there may be some and the search takes less time
    /// than the CPU will probably idle (`newidle_balance`). True if it has something to run now.
    fn balance_newidle(&mut self, cpu: usize) -> bool {
        let start = self.reached(cpu);
        self.cpus[cpu].search.begins(start);
        self.look_newidle(cpu)
    }

    fn look_newidle(&mut self, cpu: usize) -> bool {
        let now = self.jiffies();
        let gate = self.kernel.balance.newidle.gate;
        self.set_misfit(cpu, 0);
        if gate == Gate::IdleTime {
            return self.newidle_by_index(cpu, now);
        }
        let heeds_pending = self.kernel.balance.newidle.heeds_pending;
        if heeds_pending && self.core.cpus[cpu].ttwu_pending != 0 {
            return false;
        }
        // Set before the search: the search counts as idle time.
        self.core.cpus[cpu].idle_stamp = self.rq_time(cpu);
        let worth = self.worth_a_look(cpu);
        let next_balance = match gate {
            _ if !worth => self.next_idle_balance(cpu, 0, now + self.nohz.hz),
            Gate::IdleTime | Gate::MigrationCost => self.search_newidle(cpu, now),
            Gate::FirstDomain => self.search_by_cost(cpu, now),
        };
        let due = &mut self.cpus[cpu].next_balance;
        *due = (*due).min(next_balance);
        let pulled = self.core.cpus[cpu].nr_running != 0;
        if pulled {
            self.core.cpus[cpu].idle_stamp = 0;
        } else if self.is_ring() || !worth {
            self.nohz_newidle_balance(cpu, now);
        }
        pulled
    }

    /// Tries the domains upward; returns when the next balance is due.
    fn search_newidle(&mut self, cpu: usize, now: u64) -> u64 {
        let newidle = self.costs(cpu).newidle;
        self.charge(cpu, newidle);
        self.refresh_blocked(cpu, now);
        let mut next_balance = now + self.nohz.hz;
        let mut cost = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            let own = self.balance[cpu].levels[level];
            let affordable = self.core.cpus[cpu].avg_idle >= cost + own.max_newidle_lb_cost;
            if affordable && self.domain(cpu, level).flags & domain_flag::NEWIDLE != 0 {
                let start = self.reached(cpu);
                self.attempt_newidle(cpu, level, now);
                let took = self.reached(cpu) - start;
                let own = self.levels(cpu, level);
                own.max_newidle_lb_cost = own.max_newidle_lb_cost.max(took);
                cost += took;
            }
            next_balance = self.next_idle_balance(cpu, level, next_balance);
            if !affordable || self.core.cpus[cpu].nr_running != 0 {
                break;
            }
            self.domain_searched(cpu);
        }
        let most = &mut self.cpus[cpu].max_idle_balance_cost;
        *most = (*most).max(cost);
        next_balance
    }

    /// The search of later kernels: blocked load counts as part of the first domain, domains may
    /// be skipped at random, and costs decay on the way.
    fn search_by_cost(&mut self, cpu: usize, now: u64) -> u64 {
        let mut start = self.reached(cpu);
        let newidle = self.costs(cpu).newidle;
        self.charge(cpu, newidle);
        self.refresh_blocked(cpu, now);
        let mut next_balance = now + self.nohz.hz;
        let mut cost = 0;
        for level in 0..self.core.places[cpu].nr_domains as usize {
            next_balance = self.next_idle_balance(cpu, level, next_balance);
            let own = self.balance[cpu].levels[level];
            if self.core.cpus[cpu].avg_idle < cost + own.max_newidle_lb_cost {
                break;
            }
            if self.domain(cpu, level).flags & domain_flag::NEWIDLE != 0 {
                let Some(weight) = self.throw_dice(cpu, level) else {
                    continue;
                };
                let pulled = self.attempt_newidle(cpu, level, now);
                let end = self.reached(cpu);
                cost += end - start;
                self.book_newidle(
                    cpu,
                    level,
                    now,
                    end - start,
                    weight * u32::from(pulled != 0),
                );
                start = end;
            }
            if self.core.cpus[cpu].nr_running != 0 {
                break;
            }
            self.domain_searched(cpu);
        }
        let most = &mut self.cpus[cpu].max_idle_balance_cost;
        *most = (*most).max(cost);
        next_balance
    }

    /// The search of `cpu` goes on in the next domain, unless it gets a task before.
    fn domain_searched(&mut self, cpu: usize) {
        let at = self.reached(cpu);
        self.cpus[cpu].search.ends_domain(at);
    }

    /// Searches one domain of `cpu`; the number of tasks that it pulled.
    fn attempt_newidle(&mut self, cpu: usize, level: usize, now: u64) -> u32 {
        let scope = Scope::new(cpu, level, Idle::Newly, now);
        let pulled = self.load_balance(cpu, scope, &mut true);
        self.count_newidle(pulled);
        pulled
    }
}

impl<'a, T: Stopper<'a>> NewidleBalance<'a> for T {}

#[cfg(test)]
mod tests;
