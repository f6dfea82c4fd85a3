// SPDX-License-Identifier: GPL-2.0-only
//! Slice protection of the current task, preemption at wakeups, and `sched_yield`.

use super::before;
use crate::base::timeline::NONE;
use crate::kernel::{Protection, WakeupTest, Yields};
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::class;

impl World<'_> {
    /// `se_is_idle`.
    fn is_idle_entity(&self, entity: u32) -> bool {
        self.views[entity as usize].class == class::IDLE
    }
}

impl Queues<'_> {
    /// Does the current task give way before its deadline (`did_preempt_short`; in later kernels
    /// when it is not protected)?
    pub(super) fn turn_ends_early(&self, q: usize, curr: u32) -> bool {
        match self.tunables.eevdf.wakeup {
            WakeupTest::Pick => false,
            WakeupTest::ShortEndsProtection => !self.protected(curr) && !self.is_eligible(q, curr),
            WakeupTest::ShortCutsProtection
            | WakeupTest::ShortPassesProtection
            | WakeupTest::ShortIsNext => !self.protected(curr),
        }
    }

    /// `protect_slice`.
    pub(crate) fn protected(&self, curr: u32) -> bool {
        let e = self.entity(curr);
        match self.tunables.eevdf.protection {
            Protection::ThisDeadline => e.protected_until == e.deadline,
            Protection::UpTo => before(e.vruntime, e.protected_until),
        }
    }

    /// `cancel_protect_slice`.
    pub(super) fn cancel_protection(&mut self, curr: u32) {
        if !self.protected(curr) {
            return;
        }
        let rule = self.tunables.eevdf.protection;
        let e = self.entity_mut(curr);
        e.protected_until = match rule {
            Protection::ThisDeadline => e.deadline.wrapping_add(1),
            Protection::UpTo => e.vruntime,
        };
    }

    /// `task` is being switched to: it is protected until its deadline. If a queued entity has a
    /// shorter slice, protection lasts for the shortest slice only, in 7.3 while `task` is
    /// eligible (`set_protect_slice`).
    pub(crate) fn protect(&mut self, q: usize, task: u32) {
        let e = *self.entity(task);
        if self.tunables.eevdf.protection == Protection::ThisDeadline {
            self.entity_mut(task).protected_until = e.deadline;
            return;
        }
        let shortest = self.eevdf.queues[q].shortest_slice(&self.eevdf.entities);
        let mut until = e.deadline;
        if let Some(shortest) = shortest.filter(|&shortest| shortest < e.slice) {
            let end = match self.tunables.eevdf.wakeup {
                WakeupTest::ShortIsNext => self.eevdf.queues[q].mean().wrapping_add(1),
                _ => e.vruntime.wrapping_add(self.virtual_of(task, shortest)),
            };
            if before(end, until) {
                until = end;
            }
        }
        self.entity_mut(task).protected_until = until;
    }

    /// A waking task did not preempt: cuts the protection of the current task to the shortest
    /// slice in the queue. In 7.3 that slice begins at the mean if the current task is ahead of it
    /// (`update_protect_slice`).
    fn shorten_protection(&mut self, q: usize, curr: u32) {
        let stands = self.entity(curr).vruntime;
        let from = match self.tunables.eevdf.wakeup {
            WakeupTest::ShortIsNext => {
                let mean = self.mean_vruntime(q);
                if before(mean, stands) { mean } else { stands }
            }
            _ => stands,
        };
        let own = self.entity(curr).slice;
        let queue = &self.eevdf.queues[q];
        let shortest = queue
            .shortest_slice(&self.eevdf.entities)
            .map_or(own, |s| s.min(own));
        let reach = self.virtual_of(curr, shortest);
        let e = self.entity_mut(curr);
        let end = from.wrapping_add(reach);
        if before(end, e.protected_until) {
            e.protected_until = end;
        }
    }

    /// A woken entity is eligible and has a shorter slice than the current one, and has the earlier
    /// deadline or the current one is not eligible (`do_preempt_short`).
    fn short_is_due(&self, q: usize, woken: u32, curr: u32) -> bool {
        let (w, c) = (self.entity(woken), self.entity(curr));
        let mean = self.mean(q);
        w.slice < c.slice
            && mean.eligible(w.vruntime)
            && (before(w.deadline, c.deadline) || !mean.eligible(c.vruntime))
    }

    /// `task`, whose slice is shorter than the current one's, becomes the next buddy of `cpu`,
    /// unless the buddy has a still shorter slice (`set_short_buddy`).
    fn set_short_buddy(&mut self, cpu: usize, task: u32) {
        let next = self.fair_queue(cpu).next;
        let shorter = next != NONE && self.entity(next).slice < self.entity(task).slice;
        if !shorter && !self.is_idle_entity(task) {
            self.fair_queue_mut(cpu).next = task;
        }
    }

    /// Does `task`, just enqueued on `cpu`, preempt `curr` (`wakeup_preempt_fair`)?
    pub(crate) fn check_preempt_eevdf(&mut self, cpu: usize, curr: u32, task: u32, new: bool) {
        if curr == task {
            return;
        }
        if self.fair_curr(self.line_of(cpu, curr)) == NONE || self.eevdf.is_delayed(curr) {
            // The current task is going to sleep.
            return self.resched_fair(cpu);
        }
        if self.tunables.eevdf.wakeup == WakeupTest::ShortIsNext {
            return self.check_preempt_flat(cpu, curr, task, new);
        }
        let (se, pse) = self.matching(cpu, curr, task);
        let q = self.line_of(cpu, se);
        match (self.is_idle_entity(se), self.is_idle_entity(pse)) {
            (true, false) => {
                if !self.tunables.eevdf.idle_keeps_protection {
                    self.cancel_protection(se);
                }
                return self.resched_fair(cpu);
            }
            (false, true) => return,
            _ if self.views[task as usize].class != class::NORMAL => return,
            _ => {}
        }
        self.update_curr(cpu);
        match self.tunables.eevdf.wakeup {
            WakeupTest::Pick => {}
            WakeupTest::ShortEndsProtection => {
                if self.short_is_due(q, pse, se) {
                    self.cancel_protection(se);
                }
            }
            _ => return self.check_preempt_vprot(q, se, pse, new),
        }
        // This pick does not dequeue a delayed sleeper.
        if self.pick_eevdf(q, true) == pse {
            self.resched_fair(cpu);
        }
    }

    /// The end of [`Queues::check_preempt_eevdf`] if protection ends at a virtual time.
    fn check_preempt_vprot(&mut self, q: usize, se: u32, pse: u32, new: bool) {
        let short = self.entity(pse).slice < self.entity(se).slice;
        let cuts = self.tunables.eevdf.wakeup == WakeupTest::ShortCutsProtection;
        if new && !short && !cuts {
            return;
        }
        if self.wakee_is_picked(q, pse, !short) {
            if short {
                self.cancel_protection(se);
                if self.groups.used {
                    self.forget_buddy(q, se);
                }
            }
            let cpu = self.cpu_of(q);
            self.resched_fair(cpu);
        } else if short || !cuts {
            self.shorten_protection(q, se);
        }
    }

    /// [`Queues::check_preempt_eevdf`] of 7.3: compares the tasks themselves, whatever groups
    /// they are in.
    fn check_preempt_flat(&mut self, cpu: usize, curr: u32, task: u32, new: bool) {
        let (curr_idle, idle) = (self.is_idle_entity(curr), self.is_idle_entity(task));
        if curr_idle && !idle {
            self.cancel_protection(curr);
            return self.resched_fair(cpu);
        }
        self.update_curr(cpu);
        let asks = curr_idle == idle && self.views[task as usize].class == class::NORMAL;
        let short = self.entity(task).slice < self.entity(curr).slice;
        if !asks || new && !short {
            return self.shorten_protection(cpu, curr);
        }
        let preempts =
            self.wakee_is_picked(cpu, task, !short) || short && self.is_eligible(cpu, task);
        if !preempts {
            return self.shorten_protection(cpu, curr);
        }
        self.cancel_protection(curr);
        if short {
            self.set_short_buddy(cpu, task);
        }
        self.resched_fair(cpu);
    }

    /// Would `task` run next? Delayed sleepers that are picked before it are dequeued; in 6.18.15
    /// such a sleeper stays queued, and `task` counts as not picked.
    pub(super) fn wakee_is_picked(&mut self, q: usize, task: u32, protect: bool) -> bool {
        let sleepers_stay = self.tunables.eevdf.wakeup == WakeupTest::ShortCutsProtection;
        loop {
            let pick = self.pick_eevdf(q, protect);
            if pick == NONE || sleepers_stay || !self.eevdf.is_delayed(pick) {
                return pick == task;
            }
            self.finish_delayed(q, pick);
        }
    }

    /// `sched_yield` of the current task (`yield_task_fair`). By the kernel's rule, it gives up the
    /// rest of its turn if it is eligible, or only its deadline moves by a slice.
    pub(crate) fn yield_eevdf(&mut self, cpu: usize, curr: u32) {
        self.clock(cpu);
        self.update_curr(cpu);
        let q = self.line_of(cpu, curr);
        if self.groups.buddies {
            self.forget_buddy(q, curr);
        }
        let gives_up = self.tunables.eevdf.yields == Yields::Turn;
        if gives_up && !self.is_eligible(q, curr) {
            return;
        }
        let turn = self.virtual_of(curr, self.entity(curr).slice);
        let e = self.entity_mut(curr);
        if gives_up {
            e.vruntime = e.deadline;
        }
        e.deadline = e.deadline.wrapping_add(turn);
    }
}
