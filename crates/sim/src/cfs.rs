// SPDX-License-Identifier: GPL-2.0-only
//! The fair class: order by virtual runtime, slices, wakeup preemption, yield.
//!
//! Rules of CFS, kernel/sched/fair.c; the function behind each rule is named at
//! it. What differs between versions is in `kernel`. There are no group entities: every task hangs off the
//! root queue.

use crate::kernel::{BuddiesCleared, Cfs, Division, IdleSleeper, PickedAgain, SliceFloor};
use crate::state::{Cpu, Sim, Task, Tunables};
use crate::timeline::NONE;
use alight_policy::abi::class;
use alight_policy::rq;

/// Load weight by nice value, -20 first (`sched_prio_to_weight`).
const NICE_WEIGHT: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];
/// Weight of a `SCHED_IDLE` task (`WEIGHT_IDLEPRIO`).
const IDLE_WEIGHT: u32 = 3;
/// Weight of nice 0.
const NICE_0: u32 = 1024;

/// Load weight of a task.
pub(crate) fn weight(task_class: u32, nice: i8) -> u32 {
    match task_class {
        class::IDLE => IDLE_WEIGHT,
        _ => NICE_WEIGHT[(i32::from(nice) + 20).clamp(0, 39) as usize],
    }
}

/// 2^32 / weight (`sched_prio_to_wmult`).
pub(crate) fn inverse(weight: u32) -> u32 {
    ((1u64 << 32) / u64::from(weight.max(2))) as u32
}

/// (2^32 - 1) / weight, as queues have it (`__update_inv_weight`).
fn inverse_of_sum(weight: u32) -> u32 {
    u32::MAX / weight.max(1)
}

/// `delta * weight / of`, with `inv_of` = 2^32 / of.
#[inline]
fn scale(by: Division, delta: u64, weight: u32, inv_of: u32) -> u64 {
    match by {
        Division::Inverse => scale_down(delta, weight, inv_of),
        Division::RoundedInverse => scale_rounded(delta, weight, inv_of),
    }
}

/// `calc_delta_mine`: in two steps of 16 bits if one of 32 would overflow.
fn scale_rounded(delta: u64, weight: u32, inv_of: u32) -> u64 {
    let rounded = |x: u128, bits: u32| (x + (1 << (bits - 1))) >> bits;
    let (product, inv_of) = (u128::from(delta) * u128::from(weight), u128::from(inv_of));
    if product > 1 << 32 {
        rounded(rounded(product, 16) * inv_of, 16) as u64
    } else {
        rounded(product * inv_of, 32) as u64
    }
}

/// `__calc_delta`: the factor is cut to 32 bits, which is where the kernel loses
/// its low digits too.
#[inline]
fn scale_down(delta: u64, weight: u32, inv_of: u32) -> u64 {
    let mut factor = u64::from(weight) * u64::from(inv_of);
    let mut shift = 32;
    while factor >> 32 != 0 {
        factor >>= 1;
        shift -= 1;
    }
    ((u128::from(delta) * u128::from(factor)) >> shift) as u64
}

/// Virtual time of `delta` for a task (`calc_delta_fair`).
#[inline]
fn virtual_time(by: Division, delta: u64, weight: u32, inv_weight: u32) -> u64 {
    if weight == NICE_0 {
        delta
    } else {
        scale(by, delta, NICE_0, inv_weight)
    }
}

#[inline]
fn before(a: u64, b: u64) -> bool {
    (a.wrapping_sub(b) as i64) < 0
}

impl Tunables {
    /// Constants of CFS, scaled by the number of CPUs (`get_update_sysctl_factor`,
    /// SCHED_TUNABLESCALING_LOG: 1 + log2 of at most 8 CPUs).
    pub fn cfs(rules: &Cfs, nr_cpus: usize, tick: u64) -> Self {
        let factor = 1 + u64::from(nr_cpus.clamp(1, 8).ilog2());
        let latency = rules.latency_ns * factor;
        let min_granularity = rules.min_granularity_ns * factor;
        let (slice_floor, idle_slice_floor) = match rules.slice_floor {
            SliceFloor::None => (0, 0),
            SliceFloor::Granularity { idle_ns } => (min_granularity, idle_ns),
        };
        Tunables {
            tick,
            latency,
            min_granularity,
            wakeup_granularity: rules.wakeup_granularity_ns * factor,
            nr_latency: rules.nr_latency,
            slice_floor,
            idle_slice_floor,
            slice_limit: if rules.tick_limit_is_latency {
                latency
            } else {
                u64::MAX
            },
            sleeper_credit: latency / 2,
            idle_sleeper_credit: match rules.idle_sleeper {
                IdleSleeper::HalfLatency => latency / 2,
                IdleSleeper::HalfGranularity => min_granularity / 2,
            },
            division: rules.division,
            picked_again: rules.picked_again,
            buddies_cleared: rules.buddies_cleared,
        }
    }
}

impl Cpu {
    fn forget_buddy(&mut self, task: u32) {
        for buddy in [&mut self.skip, &mut self.next, &mut self.last] {
            if *buddy == task {
                *buddy = NONE;
            }
        }
    }
}

impl Sim<'_> {
    /// Brings the clocks of `cpu` and the progress of its task to now.
    #[inline]
    pub fn clock(&mut self, cpu: usize) {
        self.rq_clock(cpu);
        self.progress(cpu);
    }

    /// Brings the clocks of the queue of `cpu` to now.
    #[inline]
    pub fn rq_clock(&mut self, cpu: usize) {
        let view = &mut self.core.cpus[cpu];
        if view.clock != self.now {
            rq::clock(view, self.now);
        }
    }

    #[inline]
    fn curr_is_fair(&self, cpu: usize) -> bool {
        self.cpus[cpu].curr != NONE
    }

    /// Charges the current task's virtual runtime (`update_curr`).
    pub fn update_curr(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        let Some(t) = self.tasks.get_mut(c.curr as usize) else {
            return;
        };
        let delta = self.now - c.exec_start;
        if delta == 0 {
            return;
        }
        c.exec_start = self.now;
        c.stats.busy_ns += delta;
        t.last_run = self.now;
        t.sum_exec += delta;
        t.vruntime = t.vruntime.wrapping_add(virtual_time(
            self.tunables.division,
            delta,
            self.views[c.curr as usize].weight,
            t.inv_weight,
        ));
        self.update_min_vruntime(cpu);
    }

    fn update_min_vruntime(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        let running = self
            .tasks
            .get(c.curr as usize)
            .filter(|_| {
                self.views[c.curr as usize].flags & alight_policy::abi::task_flag::ON_RQ != 0
            })
            .map(|t| t.vruntime);
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

    /// A task joins the queue of `cpu` (`enqueue_task_fair`); clocks are current.
    fn join(&mut self, cpu: usize, task: u32) {
        let curr_fair = self.curr_is_fair(cpu);
        let view = &mut self.views[task as usize];
        view.prev_cpu = cpu as u32;
        let rq = &mut self.core.cpus[cpu];
        let changed = rq::enqueue(&self.core.params, rq, view, curr_fair);
        if rq.nr_running == 2 {
            self.overloaded.insert(cpu as u32);
        }
        let t = &mut self.tasks[task as usize];
        t.cpu = cpu as u32;
        let key = t.vruntime;
        self.rq_changed(cpu);
        let c = &mut self.cpus[cpu];
        Self::list_push_front(&mut self.tasks, &mut c.lru, task);
        c.fair.insert(&mut self.nodes, task, key);
        if changed {
            self.cpufreq_update(cpu);
        }
    }

    /// What leaving costs the queue's books, whether it runs or is queued.
    fn leave(&mut self, cpu: usize, task: u32) {
        let c = &mut self.cpus[cpu];
        Self::list_remove(&mut self.tasks, &mut c.lru, task);
        c.forget_buddy(task);
        if self.core.cpus[cpu].nr_running == 1 {
            self.overloaded.remove(cpu as u32);
        }
        self.rq_changed(cpu);
    }

    /// A woken task joins: not further back than half a latency period from the
    /// queue's time, or what a SCHED_IDLE task gets (`place_entity`, GENTLE_FAIR_SLEEPERS).
    pub fn enqueue_woken(&mut self, cpu: usize, task: u32, migrated: bool) {
        self.clock(cpu);
        self.update_curr(cpu);
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
        self.join(cpu, task);
        self.overutilized_update(cpu);
    }

    /// A new task joins. It stands as far behind the queue's time as it would on
    /// the CPU that it was forked on; `None`: nobody forked it.
    pub fn enqueue_new(&mut self, cpu: usize, task: u32, forked_on: Option<usize>) {
        let debit = self.fork_debit(forked_on.unwrap_or(cpu), task);
        self.clock(cpu);
        self.update_curr(cpu);
        let view = &mut self.views[task as usize];
        rq::init_util(&self.core.params, &self.core.cpus[cpu], view);
        self.tasks[task as usize].vruntime = self.cpus[cpu].min_vruntime.wrapping_add(debit);
        self.join(cpu, task);
    }

    /// One slice (`place_entity`, START_DEBIT), and no less than the current task,
    /// which forks, stands behind the time of `cpu`'s queue (`task_fork_fair`).
    fn fork_debit(&mut self, cpu: usize, task: u32) -> u64 {
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
        let behind = parent.vruntime.wrapping_sub(c.min_vruntime);
        if before(debit, behind) { behind } else { debit }
    }

    /// The current task of `cpu` goes to sleep or dies (`dequeue_task_fair`).
    pub fn dequeue_current(&mut self, cpu: usize) {
        self.clock(cpu);
        self.update_curr(cpu);
        let task = self.cpus[cpu].curr;
        let view = &mut self.views[task as usize];
        let rq = &mut self.core.cpus[cpu];
        if rq::dequeue(&self.core.params, rq, view, true, true, true) {
            self.cpufreq_update(cpu);
        }
        self.leave(cpu, task);
        self.update_min_vruntime(cpu);
    }

    /// A queued task leaves `src` for another CPU; its vruntime becomes relative.
    pub fn detach_task(&mut self, src: usize, task: u32) {
        self.clock(src);
        self.update_curr(src);
        let curr_fair = self.curr_is_fair(src);
        let view = &mut self.views[task as usize];
        rq::detach(&self.core.params, &mut self.core.cpus[src], view, curr_fair);
        self.cpus[src].fair.remove(&mut self.nodes, task);
        self.leave(src, task);
        let t = &mut self.tasks[task as usize];
        t.vruntime = t.vruntime.wrapping_sub(self.cpus[src].min_vruntime);
        self.update_min_vruntime(src);
    }

    /// A detached task joins `dst`, which may have to reschedule for it.
    pub fn attach_task(&mut self, dst: usize, task: u32) {
        self.clock(dst);
        self.update_curr(dst);
        self.trace_migrate(task, dst);
        let t = &mut self.tasks[task as usize];
        t.vruntime = t.vruntime.wrapping_add(self.cpus[dst].min_vruntime);
        self.join(dst, task);
        self.check_preempt(dst, task);
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
        let share = scale(
            self.tunables.division,
            period,
            weight,
            inverse_of_sum(total),
        );
        share.max(self.slice_floor(cpu, task))
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

    /// Does `task`, just enqueued on `cpu`, preempt its current task (`check_preempt_wakeup`)?
    pub fn check_preempt(&mut self, cpu: usize, task: u32) {
        let curr = self.cpus[cpu].curr;
        if curr == NONE {
            self.cpus[cpu].need_resched = true;
            return;
        }
        if self.cpus[cpu].need_resched {
            return;
        }
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

    /// The fair part of a tick (`entity_tick`, `check_preempt_tick`).
    pub fn tick_fair(&mut self, cpu: usize) {
        self.update_curr(cpu);
        let curr = self.cpus[cpu].curr;
        let rq = &mut self.core.cpus[cpu];
        if rq::update_curr(rq, &mut self.views[curr as usize]) {
            self.cpufreq_update(cpu);
        }
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

    /// `sched_yield` of the current task: pass it over once if somebody waits (`yield_task_fair`).
    pub fn yield_fair(&mut self, cpu: usize) {
        let curr = self.cpus[cpu].curr;
        self.cpus[cpu].forget_buddy(curr);
        if self.views[curr as usize].class != class::BATCH {
            self.clock(cpu);
            self.update_curr(cpu);
        }
        self.cpus[cpu].skip = curr;
    }

    /// The task to run next, or [`NONE`]; `curr_stays`: the current one is still
    /// runnable (`pick_next_entity`).
    pub fn pick_fair(&mut self, cpu: usize, curr_stays: bool) -> u32 {
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

    /// The current task was picked to run on.
    #[inline]
    pub fn picked_again(&mut self, cpu: usize) {
        if self.tunables.picked_again == PickedAgain::BeginsSlice {
            let t = &mut self.tasks[self.cpus[cpu].curr as usize];
            t.slice_start = t.sum_exec;
        }
    }

    /// The current task stays runnable but stops running (`put_prev_entity`).
    pub fn put_prev(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        let rq = &mut self.core.cpus[cpu];
        if rq::update_curr(rq, &mut self.views[task as usize]) {
            self.cpufreq_update(cpu);
        }
        let key = self.tasks[task as usize].vruntime;
        self.cpus[cpu].fair.insert(&mut self.nodes, task, key);
    }

    /// A queued task becomes current (`set_next_entity`).
    pub fn set_next(&mut self, cpu: usize, task: u32) {
        let c = &mut self.cpus[cpu];
        c.fair.remove(&mut self.nodes, task);
        let rq = &mut self.core.cpus[cpu];
        let changed = rq::set_next(rq, &mut self.views[task as usize]);
        if self.tunables.buddies_cleared == BuddiesCleared::SwitchedTo {
            c.forget_buddy(task);
        }
        c.curr = task;
        c.exec_start = self.now;
        let t = &mut self.tasks[task as usize];
        t.slice_start = t.sum_exec;
        t.last_run = self.now;
        Self::list_remove(&mut self.tasks, &mut c.lru, task);
        Self::list_push_front(&mut self.tasks, &mut c.lru, task);
        if changed {
            self.cpufreq_update(cpu);
        }
    }
}

#[cfg(test)]
mod tests;
