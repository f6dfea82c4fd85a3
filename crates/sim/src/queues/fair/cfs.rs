// SPDX-License-Identifier: GPL-2.0-only
//! CFS: order by virtual runtime, slices, wakeup preemption, buddies, yield.
//!
//! The rules are those of kernel/sched/fair.c; comments name the kernel's function. Differences
//! between versions are in `kernel`. A queue `q` belongs to a CPU, or to a task group on a CPU;
//! an entity is a task or a group: see [`super::group`].

use crate::base::timeline::NONE;
use crate::kernel::BuddiesCleared;
use crate::kernel::weight::{before, share, virtual_time};
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::{FairQueue, Task};
use alight_policy::abi::class;

impl FairQueue {
    /// `clear_buddies`; returns which of `skip`, `next` and `last` it was.
    pub fn forget(&mut self, entity: u32) -> [bool; 3] {
        [&mut self.skip, &mut self.next, &mut self.last].map(|buddy| {
            let was = *buddy == entity;
            if was {
                *buddy = NONE;
            }
            was
        })
    }
}

impl World<'_> {
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
}

impl Queues<'_> {
    /// Charges the current entity of `q` the virtual time of `delta` ns (`update_curr`).
    #[inline(always)]
    pub(super) fn charge_cfs(&mut self, q: usize, curr: u32, delta: u64) {
        let world = self.world();
        let t = &mut world.tasks[curr as usize];
        t.vruntime = t.vruntime.wrapping_add(virtual_time(
            world.tunables.division,
            delta,
            world.views[curr as usize].weight,
            t.inv_weight,
        ));
        self.update_min_vruntime(q);
    }

    pub fn update_min_vruntime(&mut self, q: usize) {
        let curr = self.fair_curr(q);
        let running = self.tasks.get(curr as usize).map(|t| t.vruntime);
        let queue = self.fair_queue_mut(q);
        let least = match (running, queue.tree.first_key()) {
            (Some(a), Some(b)) => Some(if before(a, b) { a } else { b }),
            (a, b) => a.or(b),
        };
        if let Some(least) = least
            && before(queue.min_vruntime, least)
        {
            queue.min_vruntime = least;
        }
    }

    /// Places a woken entity at most half a latency period before the queue's time; a SCHED_IDLE
    /// task has a limit of its own (`place_entity`, GENTLE_FAIR_SLEEPERS).
    pub fn place_woken(&mut self, q: usize, task: u32, migrated: bool) {
        let min_vruntime = self.fair_queue(q).min_vruntime;
        let world = self.world();
        let t = &mut world.tasks[task as usize];
        if migrated {
            t.vruntime = t.vruntime.wrapping_add(min_vruntime);
        }
        let credit = match world.views[task as usize].class {
            class::IDLE => world.tunables.idle_sleeper_credit,
            _ => world.tunables.sleeper_credit,
        };
        let floor = min_vruntime.wrapping_sub(credit);
        if before(t.vruntime, floor) {
            t.vruntime = floor;
        }
    }

    /// Length of a slice (`sched_slice`): the period is shared by weight, at each level.
    /// The period depends on the tasks of the queue, or of the CPU (ALT_PERIOD,
    /// which came with BASE_SLICE in 5.13).
    fn slice_of(&self, q: usize, task: u32, joining: bool) -> u64 {
        let mut nr = match self.tunables.slice_floor {
            0 => self.nr_queued(q),
            _ => self.core.cpus[self.cpu_of(q)].h_nr_running,
        };
        let weight = self.views[task as usize].weight;
        let mut total = self.queue_view(q).weight;
        if joining {
            (nr, total) = (nr + 1, total + weight);
        }
        let period = if nr > self.tunables.nr_latency {
            u64::from(nr) * self.tunables.min_granularity
        } else {
            self.tunables.latency
        };
        let mut slice = share(self.tunables.division, period, weight, total);
        if let Some((above, own)) = self.above(q) {
            slice = share(self.tunables.division, slice, own, above);
        }
        slice.max(self.slice_floor(q, task))
    }

    /// The shortest slice of `task` (`sched_slice`, BASE_SLICE).
    fn slice_floor(&self, q: usize, task: u32) -> u64 {
        let rq = self.queue_view(q);
        let idle_among_others = self.views[task as usize].class == class::IDLE
            && (rq.h_nr_running == 0 || rq.h_nr_idle != rq.h_nr_running);
        if idle_among_others {
            self.tunables.idle_slice_floor
        } else {
            self.tunables.slice_floor
        }
    }

    /// Does `task`, just enqueued on `cpu`, preempt its current task `curr`
    /// (`check_preempt_wakeup`)?
    pub(super) fn check_preempt_cfs(&mut self, cpu: usize, curr: u32, task: u32) {
        let is_idle = |e: u32| self.views[e as usize].class == class::IDLE;
        let mut se = curr;
        if !is_idle(curr) || is_idle(task) {
            if self.views[task as usize].class != class::NORMAL {
                return;
            }
            let pse;
            (se, pse) = self.matching(cpu, curr, task);
            if !is_idle(se) || is_idle(pse) {
                if is_idle(se) != is_idle(pse) || !self.too_far_ahead(se, pse) {
                    return;
                }
                self.set_next_buddy(cpu, pse);
            }
        }
        let many = self.nr_queued(self.queue_of(cpu, curr)) >= self.tunables.nr_latency;
        self.cpus[cpu].need_resched = true;
        if many && self.views[se as usize].class != class::IDLE && !self.is_group(se) {
            self.set_last_buddy(cpu, se);
        }
    }

    /// Is the slice over (`entity_tick`, `check_preempt_tick`)?
    pub fn tick_cfs(&mut self, q: usize, curr: u32) {
        if self.nr_queued(q) < 2 {
            return;
        }
        let slice = self.slice_of(q, curr, false).min(self.tunables.slice_limit);
        let t: &Task = &self.tasks[curr as usize];
        let ran = t.sum_exec - t.slice_start;
        let cpu = self.cpu_of(q);
        if ran > slice {
            self.cpus[cpu].need_resched = true;
            self.forget_buddy(q, curr);
            return;
        }
        if ran < self.tunables.min_granularity {
            return;
        }
        let first = self.fair_queue(q).tree.first_key().unwrap_or(t.vruntime);
        let ahead = t.vruntime.wrapping_sub(first) as i64;
        if ahead > 0 && ahead as u64 > slice {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// The entity of `q` to run next, or [`NONE`]; `curr`: the current one if it is
    /// still runnable (`pick_next_entity`).
    #[inline(always)]
    pub fn pick_cfs(&mut self, q: usize, curr: u32) -> u32 {
        let pick = self.choose_cfs(q, curr);
        if self.tunables.buddies_cleared == BuddiesCleared::Picked {
            self.forget_buddy(q, pick);
        }
        pick
    }

    #[inline(always)]
    fn choose_cfs(&self, q: usize, curr: u32) -> u32 {
        let queue = self.fair_queue(q);
        let first = queue.tree.first();
        if first == NONE {
            return curr;
        }
        let earlier = |a: u32, b: u32| {
            before(
                self.tasks[a as usize].vruntime,
                self.tasks[b as usize].vruntime,
            )
        };
        let curr_stays = curr != NONE;
        let left = if curr_stays && earlier(curr, first) {
            curr
        } else {
            first
        };
        let mut pick = left;
        if queue.skip == left {
            let mut second = if left == curr {
                first
            } else {
                queue.tree.next(&self.nodes, left)
            };
            if left != curr && curr_stays && (second == NONE || earlier(curr, second)) {
                second = curr;
            }
            if second != NONE && !self.too_far_ahead(second, left) {
                pick = second;
            }
        }
        for buddy in [queue.last, queue.next] {
            if buddy != NONE && !self.too_far_ahead(buddy, left) {
                pick = buddy;
            }
        }
        pick
    }

    /// The debit of a new task: one slice (`place_entity`, START_DEBIT), but at least the distance
    /// of the current task, which forks, from the time of its queue (`task_fork_fair`).
    pub(super) fn fork_debit(&mut self, cpu: usize, task: u32) -> u64 {
        self.clock(cpu);
        self.update_curr(cpu);
        let q = self.queue_of(cpu, task);
        let slice = self.slice_of(q, task, true);
        let weight = self.views[task as usize].weight;
        let debit = virtual_time(
            self.tunables.division,
            slice,
            weight,
            self.tasks[task as usize].inv_weight,
        );
        let curr = self.cpus[cpu].curr;
        let Some(parent) = self.tasks.get(curr as usize) else {
            return debit;
        };
        if self.curr_is_rt(cpu) || self.queue_of(cpu, curr) != q {
            return debit;
        }
        let behind = parent
            .vruntime
            .wrapping_sub(self.fair_queue(q).min_vruntime);
        if before(debit, behind) { behind } else { debit }
    }

    /// The current task is passed over once if another one waits (`yield_task_fair`).
    pub(super) fn yield_cfs(&mut self, cpu: usize, curr: u32) {
        let queue = self.queue_of(cpu, curr);
        self.forget_buddy(queue, curr);
        if self.views[curr as usize].class != class::BATCH {
            self.clock(cpu);
            self.update_curr(cpu);
        }
        self.set_skip_buddy(cpu, curr);
    }
}

#[cfg(test)]
mod tests;
