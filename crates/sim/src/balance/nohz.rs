// SPDX-License-Identifier: GPL-2.0-only
//! Balancing for CPUs whose tick is stopped: a busy CPU that has work to give kicks one of them,
//! which balances for all of them in a round. The round also decays their blocked load.

use super::groups::Scope;
use super::{Idle, LOAD_AVG_PERIOD, MIGRATION_COST};
use crate::balance::{BalanceByIndex, Balancer, PeriodicBalance, Stopper};
use crate::base::timeline::NONE;
use crate::kernel::NohzRound;
use crate::world::World;
use alight_policy::rq;

/// Refresh blocked load (`NOHZ_STATS_KICK`).
pub(super) const STATS: u8 = 1 << 0;
/// Balance (`NOHZ_BALANCE_KICK`).
pub(super) const BALANCE: u8 = 1 << 1;
/// Compute when the next round is due (`NOHZ_NEXT_KICK`).
const NEXT: u8 = 1 << 2;
/// Refresh blocked load on the way to idle (`NOHZ_NEWILB_KICK`).
const NEWILB: u8 = 1 << 3;
/// The flags that come with an interrupt (`NOHZ_KICK_MASK`).
const KICK: u8 = STATS | BALANCE | NEXT;
/// Longest part of a round that nothing interrupts, ns. The kernel tests `need_resched` after
/// each CPU, which takes some microseconds. A finer slice would cost events, and would change no
/// wakeup by more than this.
const SLICE: u64 = 10_000;

/// A round over the idle CPUs that is in progress (`_nohz_idle_balance`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    flags: u8,
    /// Number of steps done: by CPU number, or around the ring.
    from: u32,
    /// Earliest next balance of the CPUs seen, jiffies; set if `due_known`.
    next_balance: u64,
    due_known: bool,
    /// Some CPU seen has blocked load left.
    has_blocked: bool,
}

impl Round {
    fn note_due(&mut self, next_balance: u64) {
        if next_balance < self.next_balance {
            self.next_balance = next_balance;
            self.due_known = true;
        }
    }
}

impl World<'_> {
    pub(super) fn is_ring(&self) -> bool {
        self.kernel.balance.nohz.round == NohzRound::Ring
    }

    fn is_own_first(&self) -> bool {
        self.kernel.balance.nohz.round == NohzRound::OwnFirst
    }
}

impl Balancer<'_> {
    /// The tick of `cpu`, which idles, stops (`nohz_balance_enter_idle`).
    pub fn nohz_enter_idle(&mut self, cpu: usize) {
        // It may have left load behind; the next refresh finds out.
        self.nohz.blocked.insert(cpu as u32);
        self.nohz.has_blocked = true;
        let stopped = &mut self.balance[cpu].nohz_tick_stopped;
        if !std::mem::replace(stopped, true) {
            self.nohz.idle.insert(cpu as u32);
            self.nohz.nr_cpus += 1;
            self.nohz.needs_update = true;
            let llc = self.core.places[cpu].llc as usize;
            self.core.llcs[llc].nr_busy -= 1;
        }
    }

    /// The first busy tick after that, or the CPU goes offline (`nohz_balance_exit_idle`).
    pub(super) fn nohz_exit_idle(&mut self, cpu: usize) {
        let balance = &mut self.balance[cpu];
        if std::mem::replace(&mut balance.nohz_tick_stopped, false) {
            let counted = std::mem::replace(&mut balance.counted_busy, false);
            self.nohz.idle.remove(cpu as u32);
            self.nohz.nr_cpus -= 1;
            let llc = self.core.places[cpu].llc as usize;
            self.core.llcs[llc].nr_busy += u32::from(!counted);
        }
    }

    /// At a busy tick: kicks an idle CPU if there is work for it (`nohz_balancer_kick`).
    pub(super) fn nohz_balancer_kick(&mut self, cpu: usize, now: u64) {
        self.nohz_exit_idle(cpu);
        if self.by_index() {
            self.counts_as_busy(cpu);
            self.settle_blocked(now);
        }
        if self.nohz.nr_cpus == 0 {
            return;
        }
        if self.by_index() {
            if self.kick_needed(cpu, now) {
                self.kick_ilb(cpu, BALANCE, now);
            }
            return;
        }
        let mut flags = if now >= self.nohz.next_balance && self.has_work_to_give(cpu) {
            STATS | BALANCE
        } else if self.nohz.has_blocked && now > self.nohz.next_blocked {
            STATS
        } else {
            0
        };
        if self.kernel.balance.nohz.next_kick && self.nohz.needs_update {
            flags |= NEXT;
        }
        if flags != 0 {
            self.kick_ilb(cpu, flags, now);
        }
    }

    fn has_work_to_give(&self, cpu: usize) -> bool {
        let view = &self.core.cpus[cpu];
        let place = &self.core.places[cpu];
        if view.nr_running >= 2 || self.pack_kicks(cpu) {
            return true;
        }
        let pct = if place.nr_domains == 0 {
            100
        } else {
            self.domain(cpu, 0).imbalance_pct
        };
        let reduced = self.capacity_reduced(cpu, pct);
        if self.fair_runnable(cpu) >= 1 && reduced {
            return true;
        }
        if self.kicks_by_priority(cpu) {
            return true;
        }
        if place.asym_domain != NONE {
            // On such machines tasks are to fit CPUs rather than to be spread over caches.
            let smaller = view.capacity_orig < self.core.topology.max_capacity;
            let pushable = smaller || reduced || self.kernel.balance.nohz.any_misfit;
            return self.balance[cpu].misfit_load != 0 && pushable;
        }
        place.llc_domain != NONE && self.core.llcs[place.llc as usize].nr_busy > 1
    }

    /// Wakes an idle CPU of the set to balance for all (`kick_ilb`, `find_new_ilb`).
    fn kick_ilb(&mut self, from: usize, flags: u8, now: u64) {
        if !self.is_ring() {
            self.nohz.next_balance += 1;
        } else if flags & BALANCE != 0 {
            self.nohz.next_balance = now + 1;
        }
        let ilb = match self.is_own_first() {
            _ if self.packing.acts => self.pack_ilb(from),
            true => self.first_tickless(),
            false => self.idle_balancer(),
        };
        let Some(ilb) = ilb else { return };
        let pending = &mut self.balance[ilb as usize].nohz_flags;
        if std::mem::replace(pending, *pending | flags) & KICK == 0 {
            self.kick_nohz(from, ilb as usize);
        }
    }

    /// The first tickless CPU that is idle; in 7.3 preferably the first on an idle core
    /// (`find_new_ilb`).
    pub(super) fn idle_balancer(&self) -> Option<u32> {
        let nohz = &self.nohz;
        let on_idle_core = || {
            (nohz.idle.and(&self.occupancy.idle_cpus, nohz.words))
                .find(|&cpu| self.core_is_idle(cpu as usize))
        };
        let by_core = self.kernel.balance.nohz.on_idle_core && self.core.topology.smt != 0;
        (by_core.then(on_idle_core).flatten())
            .or_else(|| nohz.idle.next_and(&self.occupancy.idle_cpus, 0, nohz.words))
    }

    /// The tick of `cpu`, which was stopped, runs again.
    #[inline]
    pub fn nohz_tick_goes_on(&mut self, cpu: usize) {
        if self.by_index() {
            self.index_goes_on(cpu);
        }
    }

    fn nohz_round_begin(&mut self, flags: u8) -> Round {
        if flags & STATS != 0 {
            self.nohz.has_blocked = false;
        }
        if flags & NEXT != 0 {
            self.nohz.needs_update = false;
        }
        let far = self.jiffies() + 60 * self.nohz.hz;
        Round {
            flags,
            from: 0,
            next_balance: far,
            due_known: false,
            has_blocked: false,
        }
    }

    /// The next idle CPU of a round of `this` from step `from` on, and its step.
    fn next_of_round(&self, this: usize, from: u32, words: usize) -> Option<(u32, u32)> {
        let next = |from| {
            self.nohz
                .idle
                .next_and(&self.occupancy.idle_cpus, from, words)
        };
        if !self.is_ring() {
            return next(from).map(|at| (at, at));
        }
        let nr = self.cpus.len() as u32;
        let start = this as u32 + 1;
        let up = (start + from < nr).then(|| next(start + from)).flatten();
        if let Some(at) = up {
            return Some((at, at - start));
        }
        let at = next((start + from).saturating_sub(nr))?;
        (at < start).then(|| (at, nr - start + at))
    }

    /// Aborts the round, because work came for the balancing CPU.
    fn nohz_round_abort(&mut self, this: usize, round: &mut Round) {
        round.has_blocked = round.flags & STATS != 0;
        if self.is_ring() {
            self.nohz.needs_update |= round.flags & NEXT != 0;
            round.due_known = false;
        }
        self.nohz_round_end(this, round);
    }

    fn nohz_round_end(&mut self, this: usize, round: &Round) {
        if self.is_own_first() {
            return self.round_by_index_ends(this);
        }
        self.nohz.has_blocked |= round.has_blocked;
        if round.due_known {
            self.nohz.next_balance = round.next_balance;
        }
    }

    /// Lets the blocked load of `cpu` decay to now (`update_blocked_averages`).
    pub(super) fn refresh_blocked(&mut self, cpu: usize, now: u64) {
        self.clock(cpu);
        let fair = self.cpus[cpu].curr != NONE && !self.curr_is_rt(cpu);
        let mut others = self.has_classes() && self.rt_refresh(cpu);
        if self.has_pressure() {
            others |= self.pressure_refresh(cpu);
        }
        if self.has_irq_time() {
            others |= self.irq_signal(cpu, 0);
        }
        if self.has_groups() {
            self.groups_refresh_blocked(cpu);
        }
        let world = self.world();
        let view = &mut world.core.cpus[cpu];
        let changed = rq::refresh(&world.core.params, view, fair) | others;
        let rest = view.rt_util | view.dl_util | view.irq_util | view.hw_load_avg;
        if view.cfs.load_avg == 0 && view.cfs.util_avg == 0 && rest == 0 {
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
        for word in 0..self.nohz.words {
            let nohz = &self.nohz;
            let stale =
                nohz.blocked.w[word] & nohz.idle.w[word] & self.core.domains[domain].span.w[word];
            if stale == 0 {
                continue;
            }
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
        let covers_all = || {
            let span = &self.core.domains[domain].span;
            (0..self.nohz.words).all(|word| self.nohz.idle.w[word] & !span.w[word] == 0)
        };
        if again && covers_all() {
            self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
        }
    }
}

/// One CPU balances for all idle CPUs (`nohz_idle_balance`).
pub(crate) trait NohzBalance<'a>: Stopper<'a> {
    /// The kicked CPU balances for all idle CPUs (`scheduler_ipi`,
    /// `nohz_idle_balance`), unless it has got work in the meantime. The round
    /// advances by [`SLICE`] at a time: work that arrives ends it, as `need_resched`
    /// does in the kernel.
    fn balance_nohz(&mut self, cpu: usize) {
        let mut free = self.is_idle(cpu) && !self.cpus[cpu].need_resched;
        let balance = &mut self.balance[cpu];
        let mut round = match balance.round.take() {
            Some(round) => round,
            None => {
                let flags = balance.nohz_flags & KICK;
                balance.nohz_flags &= !KICK;
                if flags == 0 || !free {
                    return;
                }
                if self.is_own_first() {
                    let now = self.jiffies();
                    self.rebalance_domains(cpu, cpu, Idle::Yes, now);
                    free = !self.cpus[cpu].need_resched;
                }
                self.nohz_round_begin(flags)
            }
        };
        if !free {
            self.balance[cpu].nohz_flags = 0;
            return self.nohz_round_abort(cpu, &mut round);
        }
        let until = self.reached(cpu) + SLICE;
        if self.nohz_round_go_on(cpu, &mut round, until) {
            self.nohz_round_own(cpu, &mut round);
            self.nohz_round_end(cpu, &round);
            if self.balance[cpu].nohz_flags & KICK == 0 {
                return;
            }
        } else {
            self.balance[cpu].round = Some(round);
        }
        let at = self.reached(cpu);
        let c = &mut self.cpus[cpu];
        c.balance_kicked = true;
        c.ipi_at = c.ipi_at.min(at);
    }

    /// A CPU that goes idle for a while refreshes the blocked load of the others before it is idle
    /// (`nohz_newidle_balance`); in later kernels once it is idle.
    fn nohz_newidle_balance(&mut self, cpu: usize, now: u64) {
        let due = self.nohz.has_blocked && now >= self.nohz.next_blocked;
        if !due || self.core.cpus[cpu].avg_idle < MIGRATION_COST {
            return;
        }
        if self.is_ring() {
            self.balance[cpu].nohz_flags |= NEWILB;
        } else {
            let mut round = self.nohz_round_begin(STATS);
            self.nohz_round_go_on(cpu, &mut round, u64::MAX);
            self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
            self.nohz_round_end(cpu, &round);
        }
    }

    /// `cpu` enters the idle loop.
    #[inline]
    fn nohz_stay_begins(&mut self, cpu: usize) {
        if self.by_index() {
            self.counts_as_idle(cpu);
        }
        self.nohz_run_idle(cpu);
    }

    /// `cpu` is idle: does the refresh that it put off until then (`nohz_run_idle_balance`).
    #[inline]
    fn nohz_run_idle(&mut self, cpu: usize) {
        let flags = &mut self.balance[cpu].nohz_flags;
        let was = std::mem::replace(flags, *flags & !NEWILB);
        if was == NEWILB {
            let mut round = self.nohz_round_begin(STATS);
            self.nohz_round_go_on(cpu, &mut round, u64::MAX);
            self.nohz_round_own(cpu, &mut round);
            self.nohz_round_end(cpu, &round);
        }
    }

    /// The loop of `_nohz_idle_balance` up to `until`; true if it reached its end.
    fn nohz_round_go_on(&mut self, this: usize, round: &mut Round, until: u64) -> bool {
        let now = self.jiffies();
        let words = self.nohz.words;
        while let Some((at, step)) = self.next_of_round(this, round.from, words) {
            if self.reached(this) >= until {
                return false;
            }
            round.from = step + 1;
            let cpu = at as usize;
            if cpu == this && !self.is_ring() {
                continue;
            }
            if self.is_own_first() {
                self.serve_by_index(this, cpu, now);
                continue;
            }
            if round.flags & STATS != 0 && self.nohz.blocked.contains(at) {
                let newidle_cpu = self.costs(this).newidle_cpu;
                self.charge(this, newidle_cpu);
                self.refresh_blocked(cpu, now);
                round.has_blocked |= self.nohz.blocked.contains(at);
            }
            if round.flags & BALANCE != 0 && now >= self.cpus[cpu].next_balance {
                self.rebalance_domains(this, cpu, Idle::Yes, now);
            }
            round.note_due(self.cpus[cpu].next_balance);
        }
        true
    }

    /// The end of a round, after all other CPUs: the balancing CPU's own turn, unless it had that
    /// in the ring with the others.
    fn nohz_round_own(&mut self, this: usize, round: &mut Round) {
        let now = self.jiffies();
        if self.is_own_first() {
            return;
        }
        if self.is_ring() {
            if round.flags & STATS != 0 {
                self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
            }
            return;
        }
        self.refresh_blocked(this, now);
        round.has_blocked |= self.nohz.blocked.contains(this as u32);
        if round.flags & BALANCE != 0 {
            self.rebalance_domains(this, this, Idle::Yes, now);
        }
        self.nohz.next_blocked = now + self.nohz.jiffies_of_ms(LOAD_AVG_PERIOD);
    }
}

impl<'a, T: Stopper<'a>> NohzBalance<'a> for T {}

#[cfg(test)]
mod tests;
