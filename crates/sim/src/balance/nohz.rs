// SPDX-License-Identifier: GPL-2.0-only
//! Balancing for CPUs whose tick is stopped: a busy CPU that has work to give
//! wakes one of them, which balances for all; and their blocked load, which
//! nobody else lets decay.

use super::groups::Scope;
use super::{Idle, LOAD_AVG_PERIOD, MIGRATION_COST};
use crate::state::Sim;
use crate::timeline::NONE;
use alight_policy::rq;

/// Refresh blocked load (`NOHZ_STATS_KICK`).
pub(super) const STATS: u8 = 1 << 0;
/// Balance (`NOHZ_BALANCE_KICK`).
pub(super) const BALANCE: u8 = 1 << 1;

impl Sim<'_> {
    /// The tick of `cpu`, which idles, stops (`nohz_balance_enter_idle`).
    pub fn nohz_enter_idle(&mut self, cpu: usize) {
        // It may have left load behind; who looks at it next finds out.
        self.nohz.blocked.insert(cpu as u32);
        self.nohz.has_blocked = true;
        let stopped = &mut self.cpus[cpu].balance.nohz_tick_stopped;
        if !std::mem::replace(stopped, true) {
            self.nohz.idle.insert(cpu as u32);
            self.nohz.nr_cpus += 1;
            self.core.llcs[self.core.places[cpu].llc as usize].nr_busy -= 1;
        }
    }

    /// First busy tick after that (`nohz_balance_exit_idle`).
    fn nohz_exit_idle(&mut self, cpu: usize) {
        let stopped = &mut self.cpus[cpu].balance.nohz_tick_stopped;
        if std::mem::replace(stopped, false) {
            self.nohz.idle.remove(cpu as u32);
            self.nohz.nr_cpus -= 1;
            self.core.llcs[self.core.places[cpu].llc as usize].nr_busy += 1;
        }
    }

    /// At a busy tick: is there work that an idle CPU should come for (`nohz_balancer_kick`)?
    pub(super) fn nohz_balancer_kick(&mut self, cpu: usize, now: u64) {
        self.nohz_exit_idle(cpu);
        if self.nohz.nr_cpus == 0 {
            return;
        }
        let flags = if now >= self.nohz.next_balance && self.has_work_to_give(cpu) {
            STATS | BALANCE
        } else if self.nohz.has_blocked && now > self.nohz.next_blocked {
            STATS
        } else {
            return;
        };
        self.kick_ilb(cpu, flags);
    }

    fn has_work_to_give(&self, cpu: usize) -> bool {
        let view = &self.core.cpus[cpu];
        let place = &self.core.places[cpu];
        if view.nr_running >= 2 {
            return true;
        }
        let pct = if place.nr_domains == 0 { 100 } else { self.domain(cpu, 0).imbalance_pct };
        let reduced = self.capacity_reduced(cpu, pct);
        if view.h_nr_running >= 1 && reduced {
            return true;
        }
        if place.asym_domain != NONE {
            // Such machines are to fit tasks to CPUs, not to spread them over caches.
            let smaller = view.capacity_orig < self.core.topology.max_capacity;
            return self.cpus[cpu].balance.misfit_load != 0 && (smaller || reduced);
        }
        place.llc_domain != NONE && self.core.llcs[place.llc as usize].nr_busy > 1
    }

    /// Wakes the first idle CPU of the set to balance for all (`kick_ilb`, `find_new_ilb`).
    fn kick_ilb(&mut self, from: usize, flags: u8) {
        self.nohz.next_balance += 1;
        let nohz = &self.nohz;
        let Some(ilb) = nohz.idle.next_and(&nohz.idle_cpus, 0, nohz.words) else { return };
        let pending = &mut self.cpus[ilb as usize].balance.nohz_flags;
        if std::mem::replace(pending, *pending | flags) == 0 {
            self.kick_nohz(from, ilb as usize);
        }
    }

    /// The kicked CPU balances for all idle CPUs (`scheduler_ipi`,
    /// `nohz_idle_balance`), unless it has got work in the meantime.
    pub fn balance_nohz(&mut self, cpu: usize) {
        let flags = std::mem::take(&mut self.cpus[cpu].balance.nohz_flags);
        if flags != 0 && self.is_idle(cpu) && !self.cpus[cpu].need_resched {
            let now = self.jiffies();
            self.nohz_idle_balance(cpu, flags, Idle::Idle, now);
        }
    }

    /// A CPU that goes idle for a while refreshes the others' blocked load while
    /// it is awake (`nohz_newidle_balance`).
    pub(super) fn nohz_newidle_balance(&mut self, cpu: usize, now: u64) {
        let due = self.nohz.has_blocked && now >= self.nohz.next_blocked;
        if due && self.core.cpus[cpu].avg_idle >= MIGRATION_COST {
            self.nohz_idle_balance(cpu, STATS, Idle::NewlyIdle, now);
        }
    }

    /// `_nohz_idle_balance`. The CPU's time is charged as a whole: work that
    /// reaches it meanwhile waits for the end instead of cutting the round short.
    fn nohz_idle_balance(&mut self, this: usize, flags: u8, idle: Idle, now: u64) {
        let words = self.nohz.words;
        let mut next_balance = now + 60 * self.nohz.hz;
        let mut update_next_balance = false;
        let mut has_blocked = false;
        let mut done = true;
        self.nohz.has_blocked = false;

        let mut from = 0;
        while let Some(at) = self.nohz.idle.next_and(&self.nohz.idle_cpus, from, words) {
            from = at + 1;
            let cpu = at as usize;
            if cpu == this {
                continue;
            }
            if self.cpus[this].need_resched {
                has_blocked = true;
                done = false;
                break;
            }
            if self.nohz.blocked.contains(at) {
                self.charge(this, self.cpus[this].costs.newidle_cpu);
                self.refresh_blocked(cpu, now);
                has_blocked |= self.nohz.blocked.contains(at);
            }
            if flags & BALANCE != 0 && now >= self.cpus[cpu].balance.next_balance {
                self.rebalance_domains(this, cpu, Idle::Idle, now);
            }
            if self.cpus[cpu].balance.next_balance < next_balance {
                next_balance = self.cpus[cpu].balance.next_balance;
                update_next_balance = true;
            }
        }
        if done {
            if idle != Idle::NewlyIdle {
                self.refresh_blocked(this, now);
                has_blocked |= self.nohz.blocked.contains(this as u32);
            }
            if flags & BALANCE != 0 {
                self.rebalance_domains(this, this, Idle::Idle, now);
            }
            self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
        }
        self.nohz.has_blocked |= has_blocked;
        if update_next_balance {
            self.nohz.next_balance = next_balance;
        }
    }

    /// Lets the blocked load of `cpu` decay to now (`update_blocked_averages`).
    pub(super) fn refresh_blocked(&mut self, cpu: usize, now: u64) {
        self.clock(cpu);
        let fair = self.cpus[cpu].curr != NONE;
        let view = &mut self.core.cpus[cpu];
        let changed = rq::refresh(view, fair);
        if view.cfs.load_avg == 0 && view.cfs.util_avg == 0 {
            self.nohz.blocked.remove(cpu as u32);
        }
        if self.nohz.refreshed_at != now {
            self.nohz.refreshed_at = now;
            self.nohz.refreshed.w[..self.nohz.words].fill(0);
        }
        self.nohz.refreshed.insert(cpu as u32);
        if changed {
            self.cpufreq_update(cpu);
        }
    }

    /// A newly idle CPU refreshes the idle CPUs that it is about to compare, each
    /// at most once a jiffy (`update_nohz_stats` under `LBF_NOHZ_STATS`).
    pub(super) fn refresh_span(&mut self, scope: &Scope) {
        let now = scope.now;
        let domain = self.core.places[scope.dst].domain[scope.level] as usize;
        let mut again = false;
        let mut covers_all = true;
        for word in 0..self.nohz.words {
            let span = self.core.domains[domain].span.w[word];
            let nohz = &self.nohz;
            covers_all &= nohz.idle.w[word] & !span == 0;
            let stale = span & nohz.idle.w[word] & nohz.blocked.w[word];
            let mut left = match nohz.refreshed_at == now {
                true => stale & !nohz.refreshed.w[word],
                false => stale,
            };
            again |= stale & !left != 0;
            while left != 0 {
                let cpu = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                self.refresh_blocked(cpu, now);
                again |= self.nohz.blocked.contains(cpu as u32);
            }
        }
        if again && covers_all {
            self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
        }
    }
}
