// SPDX-License-Identifier: GPL-2.0-only
//! SCHED_DEADLINE (`kernel/sched/deadline.c`): the task with the nearest deadline runs (EDF). No
//! task runs longer than its runtime before its deadline (CBS).
//!
//! A task that has used up its runtime is throttled until its next period, which brings a later
//! deadline and a full runtime. A task that wakes keeps the runtime it has left if that does not
//! exceed its share until its deadline. Else a new period begins; but a task whose relative
//! deadline is shorter than its period, and whose deadline is not past, gets the runtime that
//! its density allows (`update_dl_entity()`). Runtime is measured at the top frequency of the
//! biggest CPU. Time is charged at ticks and switches. A task may therefore overrun by up to a
//! tick, and its next runtime is shorter by the overrun.
//!
//! The bandwidth of a task counts in its CPU's demand for frequency from its wakeup until the
//! 0-lag time after it has gone to sleep (`task_non_contending()`). From that time on a sleeper
//! has no claim to bandwidth.
//!
//! Not modelled: SCHED_FLAG_RECLAIM and _DL_OVERRUN, which rt-app does not set; HRTICK, by
//! which Debian's 7.2 throttles to the microsecond; priority inheritance.

mod bandwidth;
mod enqueue;
mod timers;

use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::World;
use crate::world::asked::DlParams;
use crate::world::state::DEADLINE;
use alight_policy::abi::Pelt;

/// `DL_SCALE`: bits that are cut off so that products fit 64 bits.
const SCALE: u32 = 10;
/// `BW_SHIFT`: bandwidth 1.
pub(super) const BW_SHIFT: u32 = 20;

/// `to_ratio`.
pub(super) fn to_ratio(period: u64, runtime: u64) -> u64 {
    (runtime << BW_SHIFT) / period.max(1)
}

/// `dl_time_before`.
#[inline]
pub(super) fn before(a: u64, b: u64) -> bool {
    (a.wrapping_sub(b) as i64) < 0
}

/// The 0-lag time of a sleeper that has `runtime` left until `deadline`; `share` is its period
/// and its runtime in each period (`task_non_contending`).
pub(super) fn zero_lag(deadline: u64, runtime: i64, share: (u64, u64)) -> i64 {
    let (period, each) = share;
    let claim = i128::from(runtime) * i128::from(period) / i128::from(each.max(1));
    deadline as i64 - claim as i64
}

/// A task's entity (`struct sched_dl_entity`).
#[derive(Debug, Clone, Default)]
pub(super) struct DlTask {
    pub params: DlParams,
    /// Absolute deadline, and runtime left until then, ns.
    pub deadline: u64,
    runtime: i64,
    throttled: bool,
    yielded: bool,
    /// It is among the runnable tasks of its CPU (`DlQueue::tasks`).
    pub queued: bool,
    /// The CPU on which its bandwidth counts as in use.
    counted_on: Option<u32>,
    /// It sleeps and counts up to its 0-lag time (`dl_non_contending`).
    non_contending: bool,
    /// Its part of the bandwidth of all tasks (`dl_b->total_bw`). After it has left the class or
    /// ended, it keeps this until its 0-lag time.
    pub admitted: u64,
    /// `dl_timer` and `inactive_timer` are pending.
    pending: [bool; 2],
}

impl DlTask {
    pub fn new(params: DlParams) -> Self {
        DlTask {
            params,
            ..DlTask::default()
        }
    }

    /// `dl_bw`.
    pub fn bandwidth(&self) -> u64 {
        to_ratio(self.params.period, self.params.runtime)
    }

    /// `replenish_dl_new_period`.
    fn new_period(&mut self, now: u64) {
        self.deadline = now + self.params.deadline;
        self.runtime = self.params.runtime as i64;
    }

    /// `replenish_dl_entity`.
    fn replenish(&mut self, now: u64) {
        if self.yielded && self.runtime > 0 {
            self.runtime = 0;
        }
        while self.runtime <= 0 {
            self.deadline += self.params.period;
            self.runtime += self.params.runtime as i64;
        }
        if before(self.deadline, now) {
            self.new_period(now);
        }
        (self.yielded, self.throttled) = (false, false);
    }

    /// Is the remaining runtime more than the share until the deadline (`dl_entity_overflow`)?
    fn overflows(&self, now: u64) -> bool {
        let left = (self.params.deadline as i64 >> SCALE).wrapping_mul(self.runtime >> SCALE);
        let until = self.deadline.wrapping_sub(now) >> SCALE;
        let right = until.wrapping_mul(self.params.runtime >> SCALE);
        before(right, left as u64)
    }

    /// A task wakes (`update_dl_entity`).
    fn wakes(&mut self, now: u64) {
        let missed = before(self.deadline, now);
        if !missed && !self.overflows(now) {
            return;
        }
        if !missed && self.params.deadline != self.params.period {
            // `update_dl_revised_wakeup`
            let density = to_ratio(self.params.deadline, self.params.runtime);
            self.runtime = ((density * (self.deadline - now)) >> BW_SHIFT) as i64;
            return;
        }
        self.new_period(now);
    }

    /// It was never in the class before. In the kernel a deadline of 0 is always past, because
    /// the machine has been up for longer than any period.
    fn is_new(&self) -> bool {
        self.deadline == 0
    }

    /// When its next period begins (`dl_next_period`).
    fn next_period(&self) -> u64 {
        (self.deadline + self.params.period).wrapping_sub(self.params.deadline)
    }

    /// The time from which it has no claim to bandwidth, if it sleeps.
    fn zero_lag(&self) -> i64 {
        let share = (self.params.period, self.params.runtime);
        zero_lag(self.deadline, self.runtime, share)
    }
}

/// The tasks of a CPU (`struct dl_rq`).
#[derive(Debug, Clone, Default)]
pub(super) struct DlQueue {
    /// Runnable tasks, nearest deadline first, including the current one.
    pub tasks: Vec<u32>,
    /// Number of tasks on its runqueue, including throttled ones.
    pub all: u32,
    /// Bandwidth in use (`running_bw`).
    running_bw: u64,
    /// Its utilization (`rq->avg_dl`).
    pub avg: Pelt,
}

impl DlQueue {
    /// With room for `tasks`.
    pub fn new(tasks: usize) -> Self {
        DlQueue {
            tasks: Vec::with_capacity(tasks),
            ..DlQueue::default()
        }
    }
}

/// The reason why a task joins a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    /// It was woken (`ENQUEUE_WAKEUP`).
    Woken,
    /// It comes to the class (`ENQUEUE_RESTORE`).
    New,
    /// It comes from another CPU as it is.
    Moved,
    /// Its next period begins (`ENQUEUE_REPLENISH`).
    Replenished,
}

impl World<'_> {
    /// Is `task` of SCHED_DEADLINE?
    #[inline]
    pub(super) fn is_dl(&self, task: u32) -> bool {
        self.prio(task) == DEADLINE
    }
}

impl Queues<'_> {
    fn dl(&mut self, task: u32) -> &mut DlTask {
        &mut self.classes.dl_tasks[task as usize]
    }

    /// The absolute deadline of a task.
    #[inline]
    pub(super) fn deadline(&self, task: u32) -> u64 {
        self.classes.dl_tasks[task as usize].deadline
    }

    /// Does `a` go before `b`, both of the class (`dl_entity_preempt`)?
    #[inline]
    pub(super) fn earlier(&self, a: u32, b: u32) -> bool {
        before(self.deadline(a), self.deadline(b))
    }

    /// The task with the nearest deadline on `cpu`, or [`NONE`].
    #[inline]
    pub(super) fn pick_dl(&self, cpu: usize) -> u32 {
        let first = self.classes.dl[cpu].tasks.first();
        first.copied().unwrap_or(NONE)
    }

    /// Is `task`, one of this class, runnable?
    pub(super) fn is_queued_dl(&self, task: u32) -> bool {
        self.classes.dl_tasks[task as usize].queued
    }

    /// Does `sched_yield` of `task` have an effect even if no other task waits?
    #[inline]
    pub fn yields_alone(&self, task: u32) -> bool {
        self.classes.dl_used && self.is_dl(task)
    }

    /// `task` takes on parameters of the class.
    pub(super) fn set_dl_params(&mut self, task: u32, params: DlParams) {
        self.dl(task).params = params;
    }

    /// What is wrong with the class on `cpu`.
    pub(super) fn dl_check(&self, cpu: usize) -> Option<String> {
        let q = &self.classes.dl[cpu];
        let sorted = q.tasks.windows(2).all(|w| !self.earlier(w[1], w[0]));
        let own = |&&task: &&u32| {
            self.is_dl(task) && self.tasks[task as usize].cpu as usize == cpu && {
                let d = &self.classes.dl_tasks[task as usize];
                d.queued && !d.throttled
            }
        };
        if !sorted || q.tasks.iter().filter(own).count() != q.tasks.len() {
            return Some(format!("CPU {cpu}: deadline tasks {:?} are wrong", q.tasks));
        }
        let counted: u64 = (self.classes.dl_tasks.iter())
            .filter(|d| d.counted_on == Some(cpu as u32))
            .map(DlTask::bandwidth)
            .sum();
        if counted != q.running_bw {
            return Some(format!(
                "CPU {cpu} counts bandwidth {}, its tasks have {counted}",
                q.running_bw
            ));
        }
        let admitted: u64 = self.classes.dl_tasks.iter().map(|d| d.admitted).sum();
        let total = self.classes.total_bw;
        (admitted != total).then(|| format!("bandwidth {total} is admitted, of tasks {admitted}"))
    }

    /// Charges the current task of `cpu`, one of this class, the time it ran (`update_curr_dl`).
    pub(super) fn update_curr_dl(&mut self, cpu: usize) {
        let now = self.clock_task(cpu);
        let c = &mut self.cpus[cpu];
        let (task, delta) = (c.curr, now - c.exec_start);
        c.exec_start = now;
        c.stats.busy_ns += delta;
        let t = &mut self.tasks[task as usize];
        t.last_run = now;
        t.sum_exec += delta;
        let d = &self.classes.dl_tasks[task as usize];
        if !d.queued || delta == 0 && !d.yielded {
            return;
        }
        let view = &self.core.cpus[cpu];
        let scaled = (delta * u64::from(view.freq_scale)) >> 10;
        let scaled = (scaled * u64::from(view.capacity_orig)) >> 10;
        let d = self.dl(task);
        d.runtime -= scaled as i64;
        if d.runtime <= 0 || d.yielded {
            self.throttle(cpu, task);
        }
        self.charge_rt_time(cpu, delta);
    }

    /// Throttles `task`, which has used up its runtime or yielded.
    fn throttle(&mut self, cpu: usize, task: u32) {
        self.dl(task).throttled = true;
        self.unqueue_dl(cpu, task);
        if !self.start_dl_timer(cpu, task) {
            self.enqueue_dl(cpu, task, Joins::Replenished);
        }
        if self.pick_dl(cpu) != task {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// `sched_yield` of the current task gives its runtime away (`yield_task_dl`).
    pub(super) fn yield_dl(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        self.clock(cpu);
        self.dl(task).yielded = true;
        self.update_curr_dl(cpu);
    }
}
