// SPDX-License-Identifier: GPL-2.0-only
//! The CPU of a real-time task: wakeup, push and pull. A task wakes on its previous CPU unless
//! it would have to wait there for the current task; whether CPUs are idle does not matter. A
//! CPU with a waiting task pushes it to another CPU. A CPU whose highest priority drops pulls.

use crate::base::timeline::NONE;
use crate::kernel::Pull;
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::{DEADLINE, FAIR, Life};
use alight_policy::abi::domain_flag;
use alight_policy::{Answer, Mask};

/// A round over the CPUs with tasks to push; each CPU interrupts the next
/// (`rto_push_work` and the fields around it in `struct root_domain`).
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The CPU that pushes now.
    at: Option<u32>,
    /// Number of the round, and of the last one asked for.
    number: u32,
    asked: u32,
}

impl World<'_> {
    /// Is `cpu` as big as the clamps of `task` ask (`rt_task_fits_capacity`)?
    fn rt_fits(&self, task: u32, cpu: usize) -> bool {
        if !self.kernel.rt.fits_capacity || self.core.topology.asym == 0 {
            return true;
        }
        let task = &self.views[task as usize];
        self.core.cpus[cpu].capacity_orig >= task.uclamp_min.min(task.uclamp_max)
    }
}

impl Queues<'_> {
    /// Chooses the CPU of a real-time task that `cpu` wakes, and counts the decision.
    pub fn place_rt(&mut self, cpu: usize, task: u32) -> usize {
        let prev = self.views[task as usize].prev_cpu as usize;
        let cost = self.costs(cpu).selection(&Answer::default());
        self.charge(cpu, cost);
        let target = self.select_rt(cpu, task);
        if target == prev {
            self.stats.to_prev += 1;
        } else {
            self.trace_migrate(cpu, task, target);
            self.stats.migrations_wake += 1;
            match target == cpu {
                true => self.stats.to_this += 1,
                false => self.stats.to_other += 1,
            }
        }
        target
    }

    /// `select_task_rq`.
    pub fn select_rt(&mut self, by: usize, task: u32) -> usize {
        let prev = self.views[task as usize].prev_cpu as usize;
        let target = match self.views[task as usize].nr_cpus_allowed {
            1 => prev,
            // A new deadline task stays: only wakeups search (`WF_TTWU`).
            _ if self.is_dl(task) && self.tasks[task as usize].life == Life::New => prev,
            _ if self.is_dl(task) => self.target_of_dl(by, prev, task),
            _ => self.target_of(by, prev, task),
        };
        self.allowed_cpu(target, task)
    }

    /// `select_task_rq_rt`.
    fn target_of(&mut self, by: usize, prev: usize, task: u32) -> usize {
        let curr = self.cpus[prev].curr;
        let blocked = self.is_rt(curr)
            && (self.views[curr as usize].nr_cpus_allowed < 2
                || self.prio(curr) <= self.prio(task));
        if !blocked && self.rt_fits(task, prev) {
            return prev;
        }
        match self.find_lowest(by, task) {
            Some(target) if !blocked && !self.rt_fits(task, target) => prev,
            Some(target) if self.prio(task) < self.highest_prio(target) => target,
            _ => prev,
        }
    }

    /// Is there a CPU of lower priority than `task` (`cpupri_find`)?
    pub(super) fn has_lower_cpu(&self, task: u32) -> bool {
        self.level_below(task, FAIR + 1).is_some()
    }

    /// The lowest level of CPUs that `task` may use, below its own and above `under`
    /// in the order of the kernel's levels: CPUs without real-time tasks are the lowest.
    fn level_below(&self, task: u32, under: u8) -> Option<u8> {
        let allowed = &self.masks[self.tasks[task as usize].affinity as usize];
        let words = self.classes.words;
        let online = &self.hotplug.online;
        let free = |w: usize| allowed.w[w] & online.w[w] & !self.classes.busy.w[w] != 0;
        let free = || (0..words).any(free);
        if under > FAIR && free() {
            return Some(FAIR);
        }
        let busy = allowed.and(&self.classes.busy, words);
        let prios = busy.map(|cpu| self.highest_prio(cpu as usize));
        let own = self.prio(task);
        prios.filter(|&prio| prio > own && prio < under).max()
    }

    /// The CPUs of a level that `task` may use; `fit`: only those that are big enough.
    fn level(&self, task: u32, level: u8, fit: bool) -> Mask {
        let allowed = &self.masks[self.tasks[task as usize].affinity as usize];
        allowed
            .and(&self.hotplug.online, self.classes.words)
            .filter(|&cpu| self.highest_prio(cpu as usize) == level)
            .filter(|&cpu| !fit || self.rt_fits(task, cpu as usize))
            .collect()
    }

    /// CPUs of the lowest level that has big enough ones, else of the lowest level
    /// (`cpupri_find_fitness`).
    fn lowest_cpus(&self, task: u32) -> Option<Mask> {
        let lowest = self.level_below(task, FAIR + 1)?;
        let mut level = Some(lowest);
        while let Some(at) = level {
            let mask = self.level(task, at, true);
            if !mask.is_empty() {
                return Some(mask);
            }
            level = self.level_below(task, at);
        }
        Some(self.level(task, lowest, false))
    }

    /// A CPU where `task` does not have to wait, near where it ran; `by` asks
    /// (`find_lowest_rq`).
    fn find_lowest(&mut self, by: usize, task: u32) -> Option<usize> {
        if self.views[task as usize].nr_cpus_allowed == 1 {
            return None;
        }
        let lowest = self.lowest_cpus(task)?;
        self.near_in(by, task, &lowest)
    }

    /// A CPU of `mask`: the previous CPU of `task`; else, in the smallest domain around it that
    /// has one, `by` or any; else `by` or any.
    pub(super) fn near_in(&mut self, by: usize, task: u32, mask: &Mask) -> Option<usize> {
        let lowest = *mask;
        let prev = self.views[task as usize].prev_cpu;
        if lowest.contains(prev) {
            return Some(prev as usize);
        }
        let this = lowest.contains(by as u32).then_some(by);
        let place = self.core.places[prev as usize];
        for &domain in &place.domain[..place.nr_domains as usize] {
            let domain = &self.core.domains[domain as usize];
            if domain.flags & domain_flag::WAKE_AFFINE == 0 {
                continue;
            }
            if let Some(this) = this.filter(|&this| domain.span.contains(this as u32)) {
                return Some(this);
            }
            let span = domain.span;
            if let Some(cpu) = self.any_of(by, &lowest, &span) {
                return Some(cpu);
            }
        }
        this.or_else(|| self.any_of(by, &lowest, &lowest))
    }

    /// A CPU in both masks: the next in turn if the kernel spreads (`cpumask_any_and_distribute`),
    /// else the first.
    fn any_of(&mut self, by: usize, a: &Mask, b: &Mask) -> Option<usize> {
        let words = self.classes.words;
        let first = || a.next_and(b, 0, words);
        if !self.kernel.rt.spreads {
            return first().map(|cpu| cpu as usize);
        }
        let from = self.classes.cpus[by].spread + 1;
        let found = a.next_and(b, from, words).or_else(first)?;
        self.classes.cpus[by].spread = found;
        Some(found as usize)
    }

    /// The task of the highest priority that waits on `cpu` and may move, to `dst` if
    /// given (`pick_next_pushable_task`, `pick_highest_pushable_task`).
    fn first_pushable(&self, cpu: usize, dst: Option<usize>) -> Option<u32> {
        let q = &self.classes.cpus[cpu];
        let mut levels = q.active & !(1 << DEADLINE);
        while levels != 0 {
            let list = &q.lists[levels.trailing_zeros() as usize];
            levels &= levels - 1;
            let next = |task: u32| match self.tasks[task as usize].list_next {
                NONE => None,
                next => Some(next),
            };
            let first = std::iter::successors(Some(list.head), |&task| next(task))
                .filter(|&task| self.cpus[cpu].curr != task)
                .filter(|&task| self.views[task as usize].nr_cpus_allowed > 1)
                .filter(|&task| dst.is_none_or(|dst| self.allowed(task, dst)))
                .min_by_key(|&task| self.classes.tasks[task as usize].turn);
            if first.is_some() {
                return first;
            }
        }
        None
    }

    /// The first CPU from `from` on where a task waits that may move. A CPU that goes offline is
    /// left out (`rq_offline_rt`).
    fn next_overloaded(&self, from: u32) -> Option<u32> {
        let busy = &self.classes.busy;
        let words = self.classes.words;
        let mut from = from;
        while let Some(cpu) = busy.next_and(&self.hotplug.online, from, words) {
            if self.classes.cpus[cpu as usize].nr > 1
                && self.first_pushable(cpu as usize, None).is_some()
            {
                return Some(cpu);
            }
            from = cpu + 1;
        }
        None
    }

    /// Asks the CPUs where tasks wait to push them, one CPU after the other
    /// (`tell_cpu_to_push`, RT_PUSH_IPI).
    fn ask_to_push(&mut self, cpu: usize) {
        self.classes.round.asked = self.classes.round.asked.wrapping_add(1);
        if self.classes.round.at.is_none() {
            self.ask_next(cpu);
        }
    }

    /// `rto_next_cpu`.
    fn ask_next(&mut self, by: usize) {
        loop {
            let from = self.classes.round.at.map_or(0, |at| at + 1);
            let next = self.next_overloaded(from);
            self.classes.round.at = next;
            if let Some(cpu) = next {
                self.classes.cpus[cpu as usize].push_asked = true;
                if cpu as usize == by {
                    self.cpus[by].ipi_at = self.now;
                } else {
                    self.kick(by, cpu as usize);
                }
                return;
            }
            let round = &mut self.classes.round;
            if round.number == round.asked {
                return;
            }
            round.number = round.asked;
        }
    }

    /// `cpu` goes offline: if it was asked to push, the next CPU of the round is asked instead.
    pub(super) fn push_round_goes_on(&mut self, cpu: usize) {
        if std::mem::take(&mut self.classes.cpus[cpu].push_asked) {
            let first = self.hotplug.online.iter().next();
            self.ask_next(first.expect("one is online") as usize);
        }
    }

    /// `by` woke `task` on `cpu`: if it has to wait there it is pushed elsewhere
    /// (`task_woken_rt`).
    pub fn woken_rt(&mut self, by: usize, cpu: usize, task: u32) {
        if self.is_dl(task) {
            return self.woken_dl(by, cpu, task);
        }
        let curr = self.cpus[cpu].curr;
        let waits = curr != task
            && !self.cpus[cpu].need_resched
            && self.views[task as usize].nr_cpus_allowed > 1
            && self.is_rt(curr)
            && (self.views[curr as usize].nr_cpus_allowed < 2
                || self.prio(curr) <= self.prio(task));
        if waits {
            self.push_rt(by, cpu);
        }
    }

    /// `cpu` has switched to a real-time task: pushes the tasks that now have to wait.
    pub fn switched_rt(&mut self, cpu: usize) {
        if self.curr_is_rt(cpu) {
            match self.is_dl(self.cpus[cpu].curr) {
                true => self.push_dl(cpu, cpu),
                false => self.push_rt(cpu, cpu),
            }
        }
    }

    /// `push_rt_tasks`.
    fn push_rt(&mut self, by: usize, cpu: usize) {
        while self.push_one(by, cpu) {}
    }

    /// `push_rt_task`.
    fn push_one(&mut self, by: usize, cpu: usize) -> bool {
        if self.classes.cpus[cpu].nr < 2 {
            return false;
        }
        let Some(task) = self.first_pushable(cpu, None) else {
            return false;
        };
        if self.prio(task) < self.prio(self.cpus[cpu].curr) {
            self.cpus[cpu].need_resched = true;
            self.kick(by, cpu);
            return false;
        }
        match self.find_lowest(by, task) {
            Some(dst) if dst != cpu && self.prio(task) < self.highest_prio(dst) => {
                self.move_rt(by, cpu, dst, task);
                self.cpus[dst].need_resched = true;
                self.kick(by, dst);
                true
            }
            _ => false,
        }
    }

    /// A waiting task goes from `src` to `dst`; `by` takes both locks.
    pub(super) fn move_rt(&mut self, by: usize, src: usize, dst: usize, task: u32) {
        let costs = self.costs(by);
        let locks = 2 * (costs.lock + costs.lock_hold);
        self.charge(by, locks);
        self.clock(src);
        self.dequeue_rt(src, task);
        self.trace_migrate(by, task, dst);
        self.enqueue_rt(dst, task, false);
    }

    /// A real-time task has stopped running on `cpu`: tasks of higher priority than the remaining
    /// ones may wait on other CPUs (`pull_rt_task`).
    pub fn pull_rt(&mut self, cpu: usize) {
        match self.kernel.rt.pull {
            Pull::Direct => self.pull_directly(cpu),
            Pull::Ipi => self.ask_to_push(cpu),
        }
    }

    fn pull_directly(&mut self, cpu: usize) {
        let mut from = 0;
        while let Some(src) = self.next_overloaded(from) {
            from = src + 1;
            let src = src as usize;
            if src == cpu {
                continue;
            }
            if let Some(task) = self.first_pushable(src, Some(cpu))
                && self.prio(task) < self.highest_prio(cpu)
                && self.prio(task) >= self.prio(self.cpus[src].curr)
            {
                self.move_rt(cpu, src, cpu, task);
            }
        }
    }

    /// An interrupt on `cpu`: is it asked to push (`rto_push_irq_work_func`)?
    pub fn asked_to_push(&mut self, cpu: usize) {
        if !std::mem::take(&mut self.classes.cpus[cpu].push_asked) {
            return;
        }
        self.push_rt(cpu, cpu);
        self.ask_next(cpu);
    }
}
