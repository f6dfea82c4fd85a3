// SPDX-License-Identifier: GPL-2.0-only
//! CFS: order by virtual runtime, slices, wakeup preemption, buddies, yield.
//!
//! Rules of kernel/sched/fair.c; the function behind each is named at it. What
//! differs between versions is in `kernel`. There are no group entities: every
//! task hangs off the root queue.

use super::weight::{before, share, virtual_time};
use crate::kernel::BuddiesCleared;
use crate::state::{Cpu, Sim, Task};
use crate::timeline::NONE;
use alight_policy::abi::class;

impl Cpu {
    pub(super) fn forget_buddy(&mut self, task: u32) {
        for buddy in [&mut self.skip, &mut self.next, &mut self.last] {
            if *buddy == task {
                *buddy = NONE;
            }
        }
    }
}

impl Sim<'_> {
    /// `delta` ns of the current task in virtual time (`update_curr`).
    #[inline(always)]
    pub(super) fn charge_cfs(&mut self, cpu: usize, curr: u32, delta: u64) {
        let t = &mut self.tasks[curr as usize];
        t.vruntime = t.vruntime.wrapping_add(virtual_time(
            self.tunables.division,
            delta,
            self.views[curr as usize].weight,
            t.inv_weight,
        ));
        self.update_min_vruntime(cpu);
    }

    pub(super) fn update_min_vruntime(&mut self, cpu: usize) {
        let curr = self.fair_curr(cpu);
        let c = &mut self.cpus[cpu];
        let running = self.tasks.get(curr as usize).map(|t| t.vruntime);
        let least = match (running, c.fair.first_key()) {
            (Some(a), Some(b)) => Some(if before(a, b) { a } else { b }),
            (a, b) => a.or(b),
        };
        if let Some(least) = least
            && before(c.min_vruntime, least)
        {
            c.min_vruntime = least;
        }
    }

    /// Places a woken task: not further back than half a latency period from the
    /// queue's time, or what a SCHED_IDLE task gets (`place_entity`,
    /// GENTLE_FAIR_SLEEPERS).
    pub(super) fn place_woken(&mut self, cpu: usize, task: u32, migrated: bool) {
        let c = &self.cpus[cpu];
        let t = &mut self.tasks[task as usize];
        if migrated {
            t.vruntime = t.vruntime.wrapping_add(c.min_vruntime);
        }
        let credit = match self.views[task as usize].class {
            class::IDLE => self.tunables.idle_sleeper_credit,
            _ => self.tunables.sleeper_credit,
        };
        let floor = c.min_vruntime.wrapping_sub(credit);
        if before(t.vruntime, floor) {
            t.vruntime = floor;
        }
    }

    /// One slice (`place_entity`, START_DEBIT), and no less than the current task,
    /// which forks, stands behind the time of `cpu`'s queue (`task_fork_fair`).
    pub(super) fn fork_debit(&mut self, cpu: usize, task: u32) -> u64 {
        self.clock(cpu);
        self.update_curr(cpu);
        let slice = self.slice_of(cpu, task, true);
        let weight = self.views[task as usize].weight;
        let debit = virtual_time(
            self.tunables.division,
            slice,
            weight,
            self.tasks[task as usize].inv_weight,
        );
        let c = &self.cpus[cpu];
        let Some(parent) = self.tasks.get(c.curr as usize) else {
            return debit;
        };
        if self.curr_is_rt(cpu) {
            return debit;
        }
        let behind = parent.vruntime.wrapping_sub(c.min_vruntime);
        if before(debit, behind) { behind } else { debit }
    }

    /// Length of a slice (`sched_slice`): the period shared by weight.
    fn slice_of(&self, cpu: usize, task: u32, joining: bool) -> u64 {
        let rq = &self.core.cpus[cpu];
        let weight = self.views[task as usize].weight;
        let (nr, total) = if joining {
            (rq.h_nr_running + 1, rq.weight + weight)
        } else {
            (rq.h_nr_running, rq.weight)
        };
        let period = if nr > self.tunables.nr_latency {
            u64::from(nr) * self.tunables.min_granularity
        } else {
            self.tunables.latency
        };
        share(self.tunables.division, period, weight, total).max(self.slice_floor(cpu, task))
    }

    /// The shortest slice of `task` (`sched_slice`, BASE_SLICE).
    fn slice_floor(&self, cpu: usize, task: u32) -> u64 {
        let rq = &self.core.cpus[cpu];
        let idle_among_others = self.views[task as usize].class == class::IDLE
            && (rq.h_nr_running == 0 || rq.h_nr_idle != rq.h_nr_running);
        if idle_among_others {
            self.tunables.idle_slice_floor
        } else {
            self.tunables.slice_floor
        }
    }

    /// Would `b` be kept waiting too long if `a` ran (`wakeup_preempt_entity`)?
    fn too_far_ahead(&self, a: u32, b: u32) -> bool {
        let (ta, tb) = (&self.tasks[a as usize], &self.tasks[b as usize]);
        let ahead = ta.vruntime.wrapping_sub(tb.vruntime) as i64;
        ahead > 0
            && ahead as u64
                > virtual_time(
                    self.tunables.division,
                    self.tunables.wakeup_granularity,
                    self.views[b as usize].weight,
                    tb.inv_weight,
                )
    }

    /// Does `task`, just enqueued on `cpu`, preempt its current task `curr` (`check_preempt_wakeup`)?
    pub(super) fn check_preempt_cfs(&mut self, cpu: usize, curr: u32, task: u32) {
        let (wakee, running) = (
            self.views[task as usize].class,
            self.views[curr as usize].class,
        );
        let idle_gives_way = running == class::IDLE && wakee != class::IDLE;
        if !idle_gives_way {
            if wakee != class::NORMAL || !self.too_far_ahead(curr, task) {
                return;
            }
            self.cpus[cpu].next = task;
        }
        let many = self.core.cpus[cpu].h_nr_running >= self.tunables.nr_latency;
        let c = &mut self.cpus[cpu];
        c.need_resched = true;
        if many && running != class::IDLE {
            c.last = curr;
        }
    }

    /// Is the slice over (`entity_tick`, `check_preempt_tick`)?
    pub(super) fn tick_cfs(&mut self, cpu: usize, curr: u32) {
        if self.core.cpus[cpu].h_nr_running < 2 {
            return;
        }
        let slice = self
            .slice_of(cpu, curr, false)
            .min(self.tunables.slice_limit);
        let t: &Task = &self.tasks[curr as usize];
        let ran = t.sum_exec - t.slice_start;
        let c = &mut self.cpus[cpu];
        if ran > slice {
            c.need_resched = true;
            c.forget_buddy(curr);
            return;
        }
        if ran < self.tunables.min_granularity {
            return;
        }
        let first = c.fair.first_key().unwrap_or(t.vruntime);
        let ahead = t.vruntime.wrapping_sub(first) as i64;
        if ahead > 0 && ahead as u64 > slice {
            c.need_resched = true;
        }
    }

    /// The current task is passed over once if somebody waits (`yield_task_fair`).
    pub(super) fn yield_cfs(&mut self, cpu: usize, curr: u32) {
        self.cpus[cpu].forget_buddy(curr);
        if self.views[curr as usize].class != class::BATCH {
            self.clock(cpu);
            self.update_curr(cpu);
        }
        self.cpus[cpu].skip = curr;
    }

    /// The task to run next, or [`NONE`]; `curr_stays`: the current one is still
    /// runnable (`pick_next_entity`).
    pub(super) fn pick_cfs(&mut self, cpu: usize, curr_stays: bool) -> u32 {
        let c = &self.cpus[cpu];
        let first = c.fair.first();
        if first == NONE {
            let pick = if curr_stays { c.curr } else { NONE };
            self.picked(cpu, pick);
            return pick;
        }
        let earlier = |a: u32, b: u32| {
            before(
                self.tasks[a as usize].vruntime,
                self.tasks[b as usize].vruntime,
            )
        };
        let left = if curr_stays && earlier(c.curr, first) {
            c.curr
        } else {
            first
        };
        let mut pick = left;
        if c.skip == left {
            let mut second = if left == c.curr {
                first
            } else {
                c.fair.next(&self.nodes, left)
            };
            if left != c.curr && curr_stays && (second == NONE || earlier(c.curr, second)) {
                second = c.curr;
            }
            if second != NONE && !self.too_far_ahead(second, left) {
                pick = second;
            }
        }
        for buddy in [c.last, c.next] {
            if buddy != NONE && !self.too_far_ahead(buddy, left) {
                pick = buddy;
            }
        }
        self.picked(cpu, pick);
        pick
    }

    #[inline]
    fn picked(&mut self, cpu: usize, task: u32) {
        if self.tunables.buddies_cleared == BuddiesCleared::Picked {
            self.cpus[cpu].forget_buddy(task);
        }
    }
}

#[cfg(test)]
mod tests;
