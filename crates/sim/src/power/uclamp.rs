// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps (`kernel/sched/core.c`, CONFIG_UCLAMP_TASK): a task asks to be treated as if
//! its utilization were at least, or at most, a value.
//!
//! A runqueue's clamps are the largest clamps of its tasks, running or waiting: one task without an
//! upper clamp lifts that of all others. To find the largest when a task leaves, a runqueue counts
//! its tasks by clamp in a few buckets. A bucket remembers the largest clamp since it was empty, so
//! the runqueue's clamp can stay up to a bucket's width too high.
//!
//! When the last task leaves, its lower clamp ends but its upper clamp stays, so that a CPU that
//! goes idle does not speed up. The next task to join ignores it (`UCLAMP_FLAG_IDLE`).
//!
//! With the feature `uclamp-sum` only the limits act; see [`crate::power::uclamp_sum`].
//!
//! A task's request is limited by its group, from below and above, and then from above by the
//! system (`uclamp_eff_get`, `uclamp_tg_restrict`).

use crate::face::api::{Cgroup, SystemClamps};
use crate::kernel::{Clamps, Kernel};
use crate::power::{Power, uclamp_sum};
use crate::world::util::fits;
use crate::world::{World, asked};
use alight_policy::abi::{Cpu, Params, rule};
use alight_policy::{Task, rq};

/// The upper clamp of a task without one: no limit.
const SCALE: u32 = 1024;
/// `UCLAMP_BUCKETS`: the default of CONFIG_UCLAMP_BUCKETS_COUNT.
const BUCKETS: usize = 5;
/// `UCLAMP_BUCKET_DELTA`: 1024 / [`BUCKETS`], rounded to nearest.
const BUCKET_WIDTH: u32 = 205;

/// `uclamp_bucket_id`.
fn bucket_of(clamp: u32) -> usize {
    ((clamp / BUCKET_WIDTH) as usize).min(BUCKETS - 1)
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    tasks: u32,
    /// Largest clamp since the bucket was empty.
    value: u32,
}

/// One kind of clamp of a queue's tasks (`struct uclamp_rq`).
#[derive(Debug, Clone, Copy, Default)]
struct Counts([Bucket; BUCKETS]);

impl Counts {
    /// A task with `clamp` joins a queue whose own clamp is `queue`. Returns the queue's new clamp
    /// (`uclamp_rq_inc_id`).
    fn join(&mut self, queue: u32, clamp: u32) -> u32 {
        let bucket = &mut self.0[bucket_of(clamp)];
        bucket.tasks += 1;
        if bucket.tasks == 1 || clamp > bucket.value {
            bucket.value = clamp;
        }
        queue.max(clamp)
    }

    /// A task with `clamp` leaves. Returns the queue's new clamp; `None`: it was the last task
    /// (`uclamp_rq_dec_id`).
    fn leave(&mut self, queue: u32, clamp: u32) -> Option<u32> {
        let bucket = &mut self.0[bucket_of(clamp)];
        bucket.tasks -= 1;
        if bucket.tasks != 0 || bucket.value < queue {
            return Some(queue);
        }
        let highest = self.0.iter().rev().find(|bucket| bucket.tasks != 0);
        highest.map(|bucket| bucket.value)
    }

    fn tasks(&self) -> u32 {
        self.0.iter().map(|bucket| bucket.tasks).sum()
    }
}

/// Both kinds of clamps of a queue's tasks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueueClamps {
    min: Counts,
    max: Counts,
}

/// The limits of clamps, and the requests of tasks. Without limits in a run it is empty, and tasks
/// get what they request.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    system: SystemClamps,
    /// A group's clamps are ceilings, not a range; a task without a request gets them
    /// (`uclamp_tg_restrict` up to 5.7; read in 5.4.30).
    by_ceiling: bool,
    /// Lower and upper clamp of each group, within the system's limits.
    groups: Vec<(u32, u32)>,
    /// Clamps that each task requested; `None`: no request.
    asked: Vec<(Option<u32>, Option<u32>)>,
}

impl Limits {
    /// The limits by `groups` and the clamps of `system`, for the requests `own` of the tasks.
    pub fn new(
        system: SystemClamps,
        kernel: &Kernel,
        groups: &[Cgroup],
        own: &[asked::Attributes],
    ) -> Self {
        let limited = system != SystemClamps::default();
        let used = limited || groups.iter().any(Cgroup::clamps);
        if !used {
            return Limits::default();
        }
        let effective = |group: &Cgroup| {
            let max = group.uclamp_max.min(system.max);
            (group.uclamp_min.min(system.min).min(max), max)
        };
        Limits {
            system,
            by_ceiling: kernel.clamps == Clamps::Always,
            groups: groups.iter().map(effective).collect(),
            asked: own.iter().map(|a| (a.uclamp_min, a.uclamp_max)).collect(),
        }
    }

    /// The effective clamps of `task` in `group`; `default`: its lower clamp if it requests none
    /// (`uclamp_eff_get`).
    fn effective(&self, task: u32, group: u32, default: u32) -> (u32, u32) {
        let (min, max) = self.asked[task as usize];
        let restrict = |asked: Option<u32>, default, own, (lowest, highest): (u32, u32)| match (
            self.by_ceiling,
            asked,
        ) {
            (false, asked) => asked.unwrap_or(default).clamp(lowest, highest),
            (true, Some(asked)) => asked.min(own),
            (true, None) => own,
        };
        let (min, max) = match self.groups.get(group as usize) {
            None => (min.unwrap_or(default), max.unwrap_or(SCALE)),
            Some(&limits) => (
                restrict(min, default, limits.0, limits),
                restrict(max, SCALE, limits.1, limits),
            ),
        };
        (min.min(self.system.min), max.min(self.system.max))
    }
}

/// Does utilization within clamps fit a CPU?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fits {
    No,
    /// It fits, but the CPU cannot give the lower clamp.
    ButForMin,
    Yes,
}

/// The capacity of a CPU under its present limits (`get_actual_cpu_capacity`, earlier without
/// `arch_scale_thermal_pressure`).
pub(crate) fn actual_capacity(params: &Params, view: &Cpu) -> u32 {
    let taken = match params.pressure {
        rule::PRESSURE_THERMAL => view.hw_pressure,
        rule::PRESSURE_AVERAGE => view.hw_load_avg.max(view.cpufreq_pressure),
        _ => 0,
    };
    view.capacity_orig.saturating_sub(taken.into())
}

impl World<'_> {
    /// Are clamps used (`uclamp_is_used`)?
    #[inline]
    pub fn uclamp_used(&self) -> bool {
        self.core.root.uclamp_used != 0
    }

    /// Does `task` fit `cpu` by the rule of the placement (`task_fits_cpu`, earlier
    /// `task_fits_capacity`)?
    pub fn task_fits(&self, task: &Task, cpu: usize) -> bool {
        if self.clamps_add_up() {
            return self.task_fits_clamped(task, cpu);
        }
        let util = rq::util_est(&self.core.params, task);
        let capacity = self.core.cpus[cpu].capacity;
        match self.core.params.fit {
            rule::FIT_PLAIN => fits(util, capacity),
            rule::FIT_CLAMPED => fits(util.max(task.uclamp_min).min(task.uclamp_max), capacity),
            _ => self.util_fits(cpu, util, task.uclamp_min, task.uclamp_max) == Fits::Yes,
        }
    }

    /// `util_fits_cpu`, as in the placement core.
    pub fn util_fits(&self, cpu: usize, util: u32, min: u32, max: u32) -> Fits {
        let view = &self.core.cpus[cpu];
        let fit = fits(util, view.capacity);
        let answer = |fit| if fit { Fits::Yes } else { Fits::No };
        if self.core.root.uclamp_used == 0 {
            return answer(fit);
        }
        if self.core.params.fit == rule::FIT_CLAMPS_ALL {
            return answer(self.util_fits_or_not(view, util, min, max));
        }
        // A task whose upper clamp is within the CPU's capacity fits; but 1024 on the biggest CPU
        // is no clamp.
        let limited = max <= view.capacity_orig && !(max == SCALE && view.capacity_orig == SCALE);
        let fit = fit || limited;
        let min = min.min(max);
        if fit && util < min && min > actual_capacity(&self.core.params, view) {
            return Fits::ButForMin;
        }
        answer(fit)
    }

    /// The same with only yes and no as answers (5.10.262, 5.15.215).
    fn util_fits_or_not(&self, view: &Cpu, util: u32, min: u32, max: u32) -> bool {
        let (orig, reached) = match u32::from(view.capacity_inverted) {
            0 => (view.capacity_orig, actual_capacity(&self.core.params, view)),
            inverted => (inverted, inverted),
        };
        let min = min.min(max);
        let out_of_reach = util < min && min > reached && orig != SCALE;
        let limited = max <= orig && !(max == SCALE && orig == SCALE);
        !out_of_reach && (limited || fits(util, view.capacity))
    }
}

impl Power<'_> {
    /// Number of tasks whose clamps are limited: all tasks or 0.
    pub fn uclamp_limited(&self) -> usize {
        self.uclamp_limits.asked.len()
    }

    /// Sets the clamps that `task` requests; `None` keeps the earlier request.
    pub fn uclamp_ask(&mut self, task: u32, min: Option<u32>, max: Option<u32>) {
        let asked = &mut self.uclamp_limits.asked[task as usize];
        *asked = (min.or(asked.0), max.or(asked.1));
    }

    /// Sets the effective clamps of `task` in `group`: its request within the limits.
    pub fn uclamp_restrict(&mut self, task: u32, group: u32, is_rt: bool) {
        let limits = &self.uclamp_limits;
        let default = match is_rt {
            true => limits.system.min_rt_default,
            false => 0,
        };
        let (min, max) = limits.effective(task, group, default);
        let view = &mut self.world.views[task as usize];
        (view.uclamp_min, view.uclamp_max) = (min, max);
    }

    /// A task is about to join the queue of `cpu` (`uclamp_rq_inc` before `enqueue_task`).
    #[inline]
    pub fn uclamp_join(&mut self, cpu: usize, task: u32) {
        if self.uclamp_used() && self.kernel.clamps != Clamps::OnceQueued {
            self.uclamp_count(cpu, task);
        }
    }

    /// The task has joined (`uclamp_rq_inc` behind `enqueue_task`).
    #[inline]
    pub fn uclamp_joined(&mut self, cpu: usize, task: u32) {
        if self.uclamp_used() && self.kernel.clamps == Clamps::OnceQueued {
            self.uclamp_count(cpu, task);
        }
    }

    /// The task is about to leave (`uclamp_rq_dec`).
    #[inline]
    pub fn uclamp_leave(&mut self, cpu: usize, task: u32) {
        if self.tasks[task as usize].clamps_counted {
            self.uclamp_uncount(cpu, task);
        }
    }

    fn uclamp_count(&mut self, cpu: usize, task: u32) {
        if uclamp_sum::add_up(&self.core.params) {
            return;
        }
        self.tasks[task as usize].clamps_counted = true;
        let (task, queue) = (
            &self.world.views[task as usize],
            &mut self.world.core.cpus[cpu],
        );
        if std::mem::take(&mut queue.uclamp_idle) != 0 {
            (queue.uclamp_min, queue.uclamp_max) = (0, 0);
        }
        let counts = &mut self.uclamp[cpu];
        let min = counts.min.join(queue.uclamp_min.into(), task.uclamp_min);
        let max = counts.max.join(queue.uclamp_max.into(), task.uclamp_max);
        (queue.uclamp_min, queue.uclamp_max) = (min as u16, max as u16);
    }

    fn uclamp_uncount(&mut self, cpu: usize, task: u32) {
        self.tasks[task as usize].clamps_counted = false;
        let (task, queue) = (
            &self.world.views[task as usize],
            &mut self.world.core.cpus[cpu],
        );
        let counts = &mut self.uclamp[cpu];
        let min = counts.min.leave(queue.uclamp_min.into(), task.uclamp_min);
        queue.uclamp_min = min.unwrap_or(0) as u16;
        match counts.max.leave(queue.uclamp_max.into(), task.uclamp_max) {
            Some(max) => queue.uclamp_max = max as u16,
            None => {
                queue.uclamp_max = task.uclamp_max as u16;
                queue.uclamp_idle = 1;
            }
        }
    }

    /// Do the counts agree with the tasks on the queues?
    ///
    /// # Errors
    /// The difference.
    pub fn uclamp_check(&self) -> Result<(), String> {
        let mut counted = vec![0u32; self.cpus.len()];
        for (task, view) in self.tasks.iter().zip(self.views.iter()) {
            if !task.clamps_counted {
                continue;
            }
            let cpu = task.cpu as usize;
            counted[cpu] += 1;
            let queue = &self.core.cpus[cpu];
            let below = u32::from(queue.uclamp_min) < view.uclamp_min
                || u32::from(queue.uclamp_max) < view.uclamp_max;
            if below || queue.uclamp_idle != 0 {
                return Err(format!(
                    "CPU {cpu} is clamped to {} to {}, a task of it to {} to {}",
                    queue.uclamp_min, queue.uclamp_max, view.uclamp_min, view.uclamp_max
                ));
            }
        }
        for (cpu, &tasks) in counted.iter().enumerate() {
            let found = (self.uclamp[cpu].min.tasks(), self.uclamp[cpu].max.tasks());
            if found != (tasks, tasks) {
                return Err(format!(
                    "CPU {cpu} counts clamps of {found:?} tasks, has {tasks}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
