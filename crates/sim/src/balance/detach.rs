// SPDX-License-Identifier: GPL-2.0-only
//! The move of tasks from a source queue to a destination: which tasks may move
//! (`can_migrate_task`), and how many (`detach_tasks`).

use super::groups::Scope;
use super::imbalance::{Imbalance, Migrate};
use super::{Idle, MIGRATION_COST, NR_MIGRATE, cache_nice_tries};
use crate::balance::Balancer;
use crate::base::timeline::NONE;
use crate::kernel::DetachLoad;
use crate::queues::Queues;
use alight_policy::abi::{class, domain_flag};

/// On a preemptible kernel (`CONFIG_PREEMPTION`, as in the arm64 defconfig) a
/// newly idle CPU takes one task only.
const PREEMPTIBLE: bool = true;

/// One attempt to take tasks from a queue (the changing part of `struct lb_env`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Take {
    pub src: usize,
    /// Where tasks go: first the CPU balanced for, then one of its group that a pinned task may
    /// use.
    pub dst: usize,
    pub what: Migrate,
    /// The amount left to move.
    pub amount: i64,
    /// Tasks looked at, and the limit.
    pub looked: u32,
    pub limit: u32,
    /// Number of tasks looked at after which the lock is released (`loop_break`).
    pub pause: u32,
    /// No task seen may run on `dst`.
    pub all_pinned: bool,
    /// Some task seen may not run on `dst`.
    pub some_pinned: bool,
    /// Some task seen stays for its cache (`LBF_LLC_PINNED`).
    pub kept_by_cache: bool,
    /// Another CPU of the local group that a pinned task may use.
    pub other_dst: Option<usize>,
}

impl Take {
    pub fn new(src: usize, dst: usize, imbalance: Imbalance, nr_running: u32) -> Self {
        Take {
            src,
            dst,
            what: imbalance.what,
            amount: imbalance.amount,
            looked: 0,
            limit: nr_running.min(NR_MIGRATE),
            pause: NR_MIGRATE,
            all_pinned: true,
            some_pinned: false,
            kept_by_cache: false,
            other_dst: None,
        }
    }
}

/// Tasks that are detached and not yet attached.
struct Batch {
    tasks: [u32; NR_MIGRATE as usize],
    len: usize,
}

impl Queues<'_> {
    /// Is the data of `task` probably still in the source's cache (`task_hot`)?
    fn task_hot(&self, scope: &Scope, take: &Take, task: u32) -> bool {
        if self.views[task as usize].class == class::IDLE {
            return false;
        }
        let src = self.fair_queue(self.queue_of(take.src, task));
        // Up to 3.x this is the CPU that balances, wherever tasks go.
        let dst = match self.kernel.balance.detach.tries_all {
            true => scope.dst,
            false => take.dst,
        };
        if self.core.cpus[dst].nr_running != 0 && (src.next == task || src.last == task) {
            return true;
        }
        let since = self.core.cpus[take.src]
            .clock
            .wrapping_sub(self.tasks[task as usize].last_run);
        (since as i64) < MIGRATION_COST as i64
    }
}

impl Balancer<'_> {
    /// Takes tasks off the source's queue, coldest first, and puts them on the
    /// destination's (`detach_tasks`, `attach_tasks`).
    ///
    /// `by` pays for both locks, but does not queue for them. Its attempt is charged ahead of the
    /// clock: a CPU that wants the lock before that time has come must not wait for the attempt.
    pub(super) fn move_tasks(&mut self, by: usize, scope: &Scope, take: &mut Take) -> u32 {
        let rules = &self.kernel.balance.detach;
        if rules.lone_is_not_pinned && self.core.cpus[take.src].nr_running <= 1 {
            take.all_pinned = false;
            return 0;
        }
        if take.amount <= 0 {
            return 0;
        }
        let costs = self.costs(by);
        let lock = costs.lock + costs.lock_hold;
        self.charge(by, lock);
        self.clock(take.src);
        let mut batch = Batch {
            tasks: [NONE; NR_MIGRATE as usize],
            len: 0,
        };
        self.detach_batch(scope, take, &mut batch);
        if batch.len == 0 {
            return 0;
        }
        self.counts.pulled += batch.len as u64;
        self.charge(by, lock);
        for at in 0..batch.len {
            let at = match self.kernel.balance.detach.newest_first {
                true => at,
                // The kernel's list of detached tasks is a stack.
                false => batch.len - 1 - at,
            };
            self.attach_task(by, take.dst, batch.tasks[at]);
        }
        if by != take.dst && self.cpus[take.dst].need_resched {
            self.kick(by, take.dst);
        }
        for cpu in [take.src, take.dst] {
            if cpu != by {
                self.arm(cpu);
            }
        }
        batch.len as u32
    }

    fn detach_batch(&mut self, scope: &Scope, take: &mut Take, batch: &mut Batch) {
        let rules = &self.kernel.balance.detach;
        loop {
            let lru = self.cpus[take.src].lru;
            let task = if rules.newest_first {
                lru.head
            } else {
                lru.tail
            };
            // An idle CPU leaves the source its last task.
            let last = !rules.takes_last
                && scope.idle != Idle::No
                && self.core.cpus[take.src].nr_running <= 1;
            let more = take.looked < take.limit || take.all_pinned && rules.past_pinned;
            if task == NONE || last || !more {
                return;
            }
            take.looked += 1;
            if take.looked > take.pause {
                // The kernel releases the lock here, and goes on if there may be more tasks.
                take.pause += NR_MIGRATE;
                if take.looked >= self.core.cpus[take.src].nr_running {
                    return;
                }
                continue;
            }
            if !self.may_go(scope, take, task) {
                let world = self.world();
                let lru = &mut world.cpus[take.src].lru;
                lru.remove(&mut world.tasks, task);
                match rules.newest_first {
                    true => lru.push_back(&mut world.tasks, task),
                    false => lru.push_front(&mut world.tasks, task),
                }
                continue;
            }
            self.detach_task(take.src, task);
            batch.tasks[batch.len] = task;
            batch.len += 1;
            if PREEMPTIBLE && scope.idle == Idle::Newly || take.amount <= 0 {
                return;
            }
        }
    }

    /// May the task move, and is it small enough? If so, subtracts it from the amount.
    fn may_go(&self, scope: &Scope, take: &mut Take, task: u32) -> bool {
        let load_first = self.kernel.balance.detach.load_first;
        if load_first && i64::from(self.views[task as usize].weight) / 2 > take.amount {
            return false;
        }
        self.may_migrate(scope, take, task) && self.small_enough(scope, take, task)
    }

    /// `can_migrate_task`.
    fn may_migrate(&self, scope: &Scope, take: &mut Take, task: u32) -> bool {
        let rules = &self.kernel.balance.detach;
        let failed = self.balance[scope.dst].levels[scope.level].nr_balance_failed;
        if self.is_delayed(task) && take.what != Migrate::Load {
            return false;
        }
        if rules.ineligible_stays
            && failed == 0
            && self.nr_queued(self.line_of(take.dst, task)) != 0
            && !self.is_eligible(self.line_of(take.src, task), task)
        {
            return false;
        }
        if !self.allowed(task, take.dst) {
            take.some_pinned = true;
            let others_too = scope.idle != Idle::Newly || rules.tries_all;
            if others_too && take.other_dst.is_none() {
                let own = self.core.places[scope.dst].group[scope.level] as usize;
                take.other_dst = self
                    .members(own, scope.excluded.as_ref())
                    .find(|&cpu| self.allowed(task, cpu));
            }
            return false;
        }
        take.all_pinned = false;
        if self.cpus[take.src].curr == task || self.is_delayed(task) {
            return false;
        }
        if self.cache_aware.used && self.is_kept(scope, take, task) {
            take.kept_by_cache |= take.what != Migrate::ToCache;
            return false;
        }
        let domain = self.domain(scope.dst, scope.level);
        let cold = rules.cold_among_siblings && domain.flags & domain_flag::SMT != 0;
        cold || failed > cache_nice_tries(domain) || !self.task_hot(scope, take, task)
    }

    /// Is the task small enough for the amount left? If so, subtracts it (`detach_tasks`).
    fn small_enough(&self, scope: &Scope, take: &mut Take, task: u32) -> bool {
        let view = &self.views[task as usize];
        let rules = &self.kernel.balance.detach;
        // `shr_bound`
        let failed = self.balance[scope.dst].levels[scope.level].nr_balance_failed;
        let failed = failed.min(i64::BITS - 1);
        match take.what {
            Migrate::Misfit if rules.load != DetachLoad::Half => {
                if self.task_fits(view, take.src) {
                    return false;
                }
                take.amount = 0;
            }
            Migrate::Load | Migrate::Misfit => {
                let load = match rules.load {
                    DetachLoad::HalfWeight => i64::from(view.weight),
                    _ => i64::from(self.task_h_load(task)),
                };
                let (load, too_much) = match rules.load {
                    DetachLoad::HalfWeight | DetachLoad::Half => (load, load / 2 > take.amount),
                    DetachLoad::HalfUntilFailed => {
                        let tries = cache_nice_tries(self.domain(scope.dst, scope.level));
                        (load, load / 2 > take.amount && failed <= tries)
                    }
                    DetachLoad::Shifted => (load.max(1), load.max(1) >> failed > take.amount),
                };
                if too_much {
                    return false;
                }
                take.amount -= load;
            }
            Migrate::Util => {
                let util = i64::from(self.task_util_est(view));
                let counted = if rules.util_shifts {
                    util >> failed
                } else {
                    util
                };
                if counted > take.amount {
                    return false;
                }
                take.amount -= util;
            }
            Migrate::Task | Migrate::ToCache => take.amount -= 1,
        }
        true
    }
}
