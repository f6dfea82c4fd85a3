// SPDX-License-Identifier: GPL-2.0-only
//! One attempt to balance one domain for one CPU (`load_balance`).

use super::contest::Kind;
use super::detach::Take;
use super::groups::{Rivals, Scope};
use super::imbalance::{self, Imbalance, Migrate, Rules};
use super::{Idle, MAX_PINNED_INTERVAL, NR_MIGRATE, cache_nice_tries};
use crate::balance::{Balancer, Stopper};
use crate::base::timeline::NONE;
use crate::kernel::{Gate, Judged};
use crate::queues::Queues;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::domain_flag;

/// The result of an attempt.
pub(super) enum Outcome {
    /// There is no imbalance, or another CPU is to balance.
    Balanced,
    /// Every task that could move is bound to other CPUs.
    AllPinned,
    /// The running task was to be pushed, but is bound to other CPUs; `all`: so are all tasks
    /// that were looked at.
    OnePinned { all: bool },
    /// Tasks were moved, or will be.
    Unbalanced { moved: u32, backs_off: bool },
}

impl World<'_> {
    /// The rules by which an imbalance with `busiest` is judged.
    pub(super) fn rules(&self, scope: &Scope, busiest: usize) -> Rules {
        let domain = self.domain(scope.dst, scope.level);
        let has = |flag: u32| domain.flags & flag != 0;
        Rules {
            pct: domain.imbalance_pct,
            prefer_sibling: self.prefers_sibling(scope, busiest),
            idle: scope.idle,
            asym: has(domain_flag::ASYM),
            shares_cache: has(domain_flag::SHARE_LLC),
            imb_numa_nr: has(domain_flag::NUMA).then_some(domain.imb_numa_nr),
            kernel: &self.kernel.balance,
        }
    }

    /// Do tasks stay, because no CPU is overutilized and energy-aware wakeups place them
    /// (`find_busiest_group`)?
    fn energy_vetoes(&self, rivals: &Rivals) -> bool {
        let exempt = || {
            let rules = self.kernel.energy_aware;
            rivals.busiest.kind == Kind::Misfit && rules.is_some_and(|r| r.misfit_is_exempt)
        };
        self.core.root.overutilized == 0 && !exempt()
    }

    /// `voluntary_active_balance`, without `pushes_by_priority`.
    pub(super) fn voluntary_active_balance(
        &self,
        scope: &Scope,
        src: usize,
        what: Migrate,
    ) -> bool {
        let pct = self.domain(scope.dst, scope.level).imbalance_pct;
        let capacity = |cpu: usize| u64::from(self.core.cpus[cpu].capacity);
        let roomier = scope.idle != Idle::No
            && self.fair_runnable(src) == 1
            && self.capacity_reduced(src, pct)
            && capacity(src) * u64::from(pct) < capacity(scope.dst) * 100;
        roomier || matches!(what, Migrate::Misfit | Migrate::ToCache)
    }

    /// Tells the level above whether affinity keeps this one unbalanced (`sgc->imbalance`).
    fn set_parent_imbalance(&mut self, dst: usize, level: usize, imbalance: u32) {
        let place = &self.core.places[dst];
        if level + 1 < place.nr_domains as usize {
            let parent = place.group[level + 1] as usize;
            self.core.set_group_imbalance(parent, imbalance);
        }
    }
}

impl Queues<'_> {
    /// The stopper of `src` interrupts a real-time task and moves a waiting fair task to `dst`
    /// (`detach_one_task`), but no sleeper that is still queued (delayed dequeue).
    fn push_waiting(&mut self, src: usize, dst: usize) -> bool {
        let mut task = self.cpus[src].lru.tail;
        while task != NONE && (!self.allowed(task, dst) || self.is_delayed(task)) {
            task = self.tasks[task as usize].list_prev;
        }
        if task == NONE {
            return false;
        }
        self.clock(src);
        self.makes_way_for_kernel(src);
        self.detach_task(src, task);
        self.attach_task(src, dst, task);
        self.arm(src);
        if self.cpus[dst].need_resched {
            self.kick(src, dst);
        }
        true
    }
}

impl Balancer<'_> {
    /// The CPU to take from, and how much.
    pub(super) fn find_source(&mut self, scope: &mut Scope) -> Option<(usize, Imbalance)> {
        if self.packing.full {
            if self.pack_refuses(scope) {
                return None;
            }
            if let Some(source) = self.pack_source(scope) {
                return Some(source);
            }
        }
        if self.by_index() {
            return self.source_by_index(scope);
        }
        let (group, imbalance) = self.find_imbalance(scope)?;
        scope.misfit = imbalance.what == Migrate::Misfit;
        Some((self.busiest_queue(scope, group, imbalance)?, imbalance))
    }

    /// The group to take from, and how much (`find_busiest_group`).
    fn find_imbalance(&mut self, scope: &Scope) -> Option<(usize, Imbalance)> {
        if self.kernel.balance.judged == Judged::Load {
            return self.find_by_load(scope);
        }
        let rivals = self.rivals(scope)?;
        if self.energy_vetoes(&rivals) {
            return None;
        }
        let rules = self.rules(scope, rivals.group);
        Some((rivals.group, imbalance::find(&rivals, rules)?))
    }

    /// Moves tasks to the CPU balanced for; if pinned ones remain, then to another CPU of its
    /// group that they may use.
    fn pull(&mut self, by: usize, scope: &mut Scope, take: &mut Take) -> u32 {
        let tries_all = self.kernel.balance.detach.tries_all;
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let mut tries = self.core.groups[own].weight;
        let mut moved = self.move_tasks(by, scope, take);
        while let Some(other) = take.other_dst.take()
            && take.amount > 0
        {
            tries -= 1;
            if !tries_all {
                let excluded = scope.excluded.get_or_insert(Mask::EMPTY);
                excluded.insert(take.dst as u32);
            } else if tries == 0 {
                break;
            }
            take.dst = other;
            take.looked = 0;
            take.pause = NR_MIGRATE;
            moved += self.move_tasks(by, scope, take);
        }
        moved
    }

    /// Is a CPU outside the local group left to take from?
    fn others_left(&self, scope: &Scope) -> bool {
        let domain = self.domain(scope.dst, scope.level);
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let groups = domain.first_group as usize..(domain.first_group + domain.nr_groups) as usize;
        groups.filter(|&group| group != own).any(|group| {
            self.members(group, scope.excluded.as_ref())
                .next()
                .is_some()
        })
    }

    /// One CPU of a group balances for it: its first idle one, else its first
    /// (`should_we_balance`). Later kernels prefer the first one on an idle core.
    pub(super) fn should_we_balance(&self, scope: &Scope) -> bool {
        if let Some(excluded) = &scope.excluded
            && excluded.contains(scope.dst as u32)
        {
            return false;
        }
        let rules = &self.kernel.balance;
        if scope.idle == Idle::Newly {
            let view = &self.core.cpus[scope.dst];
            return rules.newidle.gate != Gate::FirstDomain
                || view.nr_running == 0 && view.ttwu_pending == 0;
        }
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let group = &self.core.groups[own];
        if group.weight == 1 {
            return true;
        }
        let first_idle = match group.child {
            NONE => None,
            child => {
                let span = &self.core.domains[child as usize].span;
                let by_core = rules.idle_core_balances
                    && self.core.topology.smt != 0
                    && self.domain(scope.dst, scope.level).flags & domain_flag::SMT == 0;
                let on_idle_core = || {
                    span.and(&self.occupancy.idle_cpus, self.nohz.words)
                        .find(|&cpu| self.core_is_idle(cpu as usize))
                };
                by_core.then(on_idle_core).flatten().or_else(|| {
                    span.next_and(&self.occupancy.idle_cpus, group.cpu, self.nohz.words)
                })
            }
        };
        first_idle.unwrap_or(group.cpu) as usize == scope.dst
    }

    pub(super) fn levels(&mut self, cpu: usize, level: usize) -> &mut super::Level {
        &mut self.balance[cpu].levels[level]
    }

    /// An imbalance was found: look again soon, unless the running task had to be pushed.
    fn unbalanced(&mut self, dst: usize, level: usize, backs_off: bool) {
        let (least, most) = self.bounds(dst, level);
        let own = self.levels(dst, level);
        if !backs_off {
            own.balance_interval = least;
        } else if own.balance_interval < most {
            own.balance_interval *= 2;
        }
    }

    /// There is no imbalance, or none that can be ended: look again later. Newidle
    /// attempts neither use nor change the interval.
    fn back_off(&mut self, scope: &Scope, pinned: bool) {
        let spares_misfit = self.kernel.balance.active.misfit_is_no_failure && scope.misfit;
        if scope.idle == Idle::Newly || spares_misfit {
            return;
        }
        let (_, most) = self.bounds(scope.dst, scope.level);
        let own = self.levels(scope.dst, scope.level);
        let most = if pinned {
            MAX_PINNED_INTERVAL.max(most)
        } else {
            most
        };
        if own.balance_interval < most {
            own.balance_interval *= 2;
        }
    }
}

/// One attempt in one domain (`load_balance`).
pub(super) trait LoadBalance<'a>: Stopper<'a> {
    /// One attempt; `by` executes it and pays for it. Returns the number of tasks
    /// pulled. `go_on` becomes false if another CPU of the group balances at this level and
    /// above.
    fn load_balance(&mut self, by: usize, mut scope: Scope, go_on: &mut bool) -> u32 {
        self.counts.attempts += 1;
        let Scope { dst, level, .. } = scope;
        match self.attempt(by, &mut scope, go_on) {
            Outcome::Unbalanced { moved, backs_off } => {
                if moved != 0 {
                    self.pack_pulled(dst);
                }
                self.unbalanced(dst, level, backs_off);
                moved
            }
            Outcome::Balanced => {
                self.set_parent_imbalance(dst, level, 0);
                self.levels(dst, level).nr_balance_failed = 0;
                self.back_off(&scope, false);
                0
            }
            Outcome::AllPinned => {
                self.levels(dst, level).nr_balance_failed = 0;
                self.back_off(&scope, true);
                0
            }
            Outcome::OnePinned { all } => {
                self.back_off(&scope, all);
                0
            }
        }
    }

    fn attempt(&mut self, by: usize, scope: &mut Scope, go_on: &mut bool) -> Outcome {
        let mut balanced = Outcome::Balanced;
        // A queue of pinned tasks is excluded, and the search begins again.
        loop {
            if !self.should_we_balance(scope) {
                *go_on = false;
                return balanced;
            }
            let weight = self.domain(scope.dst, scope.level).weight;
            let newidle_cpu = u64::from(weight) * self.costs(by).newidle_cpu;
            self.charge(by, newidle_cpu);
            self.cpus[by].steal += self.levels(scope.dst, scope.level).far_ns;
            let Some((src, imbalance)) = self.find_source(scope) else {
                return balanced;
            };
            let nr_running = self.core.cpus[src].nr_running;
            let mut moved = 0;
            let mut kept_by_cache = false;
            if nr_running > 1 {
                let mut take = Take::new(src, scope.dst, imbalance, nr_running);
                moved = self.pull(by, scope, &mut take);
                kept_by_cache = take.kept_by_cache;
                if take.some_pinned && take.amount > 0 {
                    self.set_parent_imbalance(scope.dst, scope.level, 1);
                }
                if take.all_pinned {
                    scope.excluded.get_or_insert(Mask::EMPTY).insert(src as u32);
                    if self.others_left(scope) {
                        balanced = Outcome::AllPinned;
                        continue;
                    }
                    return Outcome::AllPinned;
                }
            }
            if moved != 0 {
                self.levels(scope.dst, scope.level).nr_balance_failed = 0;
                return Outcome::Unbalanced {
                    moved,
                    backs_off: false,
                };
            }
            return self.failed(scope, src, imbalance.what, kept_by_cache);
        }
    }

    /// No task could be taken off `src`: pushes the running one if the rules say so.
    fn failed(&mut self, scope: &Scope, src: usize, what: Migrate, kept_by_cache: bool) -> Outcome {
        let Scope {
            dst, level, idle, ..
        } = *scope;
        let rules = &self.kernel.balance.active;
        let counts = (what != Migrate::Misfit || !rules.misfit_is_no_failure) && !kept_by_cache;
        if idle != Idle::Newly && counts {
            self.levels(dst, level).nr_balance_failed += 1;
        }
        let tries = cache_nice_tries(self.domain(dst, level));
        let voluntary = self.pack_forces(src, dst)
            || self.pushes_by_priority(scope, src)
            || rules.voluntary && self.voluntary_active_balance(scope, src, what);
        let desperate = self.levels(dst, level).nr_balance_failed > tries + 2
            && (what == Migrate::Task || !rules.for_tasks_only);
        if !voluntary && !desperate || self.stays_in_cache(scope, src, what) {
            return Outcome::Unbalanced {
                moved: 0,
                backs_off: false,
            };
        }
        let task = self.cpus[src].curr;
        if task == NONE || !self.allowed(task, dst) {
            // With `for_tasks_only`, a source of several tasks gets here only if one of them is
            // not pinned.
            let all = !rules.for_tasks_only || self.core.cpus[src].nr_running <= 1;
            return Outcome::OnePinned { all };
        }
        if !rules.for_tasks_only {
            self.levels(dst, level).nr_balance_failed = tries + 1;
        }
        if what != Migrate::ToCache || self.prefers(task, dst) {
            self.push(src, dst, task);
        }
        Outcome::Unbalanced {
            moved: 0,
            backs_off: !voluntary && !rules.for_tasks_only,
        }
    }

    /// Has the stopper of `src` push `task`, which is current there. If it does, the number of
    /// failures in the lowest domain of `dst` that contains `src` is reset
    /// (`active_load_balance_cpu_stop`).
    fn push(&mut self, src: usize, dst: usize, task: u32) {
        let moved = match self.is_rt(task) {
            true => self.push_waiting(src, dst),
            false => {
                self.push_running(src, dst);
                self.views[task as usize].prev_cpu as usize == dst
            }
        };
        if !moved {
            return;
        }
        self.counts.active += 1;
        if !self.kernel.balance.active.push_forgets {
            return;
        }
        let common = (0..self.core.places[dst].nr_domains as usize)
            .find(|&level| self.domain(dst, level).span.contains(src as u32));
        if let Some(level) = common {
            self.levels(dst, level).nr_balance_failed = 0;
        }
    }
}

impl<'a, T: Stopper<'a>> LoadBalance<'a> for T {}
