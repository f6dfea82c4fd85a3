// SPDX-License-Identifier: GPL-2.0-only
//! The state of a run: one structure for a CPU, one for a task, one for all.
//!
//! What a placement policy may know lives in [`alight_policy::Core`] and in
//! [`World::views`], and nowhere else; here is what only time needs.

use crate::base::queue::NEVER;
use crate::base::timeline::{NONE, Timeline};
use crate::world::World;
use crate::world::occupancy::Count;
use crate::world::rounds::Rounds;
use crate::world::stats::CpuStats;
use crate::world::timers::Timers;
use alight_workload::program::{LOOP_SLOTS, TIMER_SLOTS};

/// How far a task is in a futex call to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Out,
    /// Of a mutex: on its way to where it looks whether it still has to wait.
    Looks,
    /// The call's work is charged; who wakes it now spares it the sleep.
    In,
    /// It slept, or need not.
    Over,
}

/// `MAX_RT_PRIO`: what is below is a real-time priority, 0 the highest; all fair
/// tasks, and CPUs without real-time tasks, are here.
pub(crate) const FAIR: u8 = 100;
/// SCHED_DEADLINE, before all real-time priorities, which are 1 more than `p->prio`.
pub(crate) const DEADLINE: u8 = 0;

/// What a CPU is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In the idle loop.
    Idle,
    /// On its way out of an idle state; interrupts wait until it is out.
    Waking,
    /// Executing its current task.
    Running,
}

/// A CPU. What each of its events touches comes first: with hundreds of CPUs the
/// cache misses are what an event costs.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub(crate) struct Cpu {
    pub phase: Phase,
    /// The current task should give way.
    pub need_resched: bool,
    /// It should when it returns to user mode (`TIF_NEED_RESCHED_LAZY`).
    pub resched_lazy: bool,
    /// It does once what it pays for is done.
    pub gives_way: bool,
    /// An IPI asks it to balance for all idle CPUs.
    pub balance_kicked: bool,
    /// Current task, [`NONE`] while idle.
    pub curr: u32,
    /// End of the current segment of execution, or of the way out of idle.
    pub end: u64,
    /// Next tick, [`NEVER`] while it is stopped.
    pub tick_at: u64,
    /// End of the current turn by the scheduler's own timer, [`NEVER`] if it is not set (`hrtick_timer`).
    pub hrtick_at: u64,
    /// Earliest interrupt on its way.
    pub ipi_at: u64,
    /// When the idle governor wants to be asked again if nothing comes before: polling has a limit, and
    /// 3.9's menu a timer. [`NEVER`] else.
    pub ask_again_at: u64,
    /// Start of what has not been accounted to the current task yet.
    pub segment_start: u64,
    /// Time that interrupts and wakeups took from the current task, ns.
    pub steal: u64,
    /// Of that, what comes before the switch if the current task gives way, [`NEVER`]: all.
    pub before_switch: u64,
    /// When the waker that told it to give way gets to that.
    pub told_at: u64,
    /// 2^32 / rate.
    pub ns_per_unit: u64,
    /// Units of work done in a ns: capacity at the current frequency, less what other threads of its core take.
    pub rate: u64,
    /// Index into [`World::costs`].
    pub costs: u32,
    pub rounds: Rounds,
    /// Timers of tasks that sleep here.
    pub timers: Timers,
    pub fair: FairQueue,
    /// vruntime of the current task counts from here, by the clock of tasks.
    pub exec_start: u64,
    /// Runqueue lock.
    pub lock: Interval,
    /// Fair tasks in balancing order: the head ran or came last.
    pub lru: List,
    /// Tasks sent by a wake list, first and last.
    pub wake_list: List,
    /// The rate if no other thread of its core executes.
    pub speed: u64,
    pub freq_domain: u32,
    pub cluster: u32,
    pub core_type: u32,
    /// Its physical core among those of its cluster.
    pub core_slot: u32,
    /// What [`World::rq_changed`] last saw.
    pub occupied: Count,
    /// `rq->next_balance`, jiffies.
    pub next_balance: u64,
    /// `rq->max_idle_balance_cost`, ns.
    pub max_idle_balance_cost: u64,
    /// Bytes brought into its private cache so far.
    pub cache_fill: u64,
    pub stats: CpuStats,
}

/// A queue of the fair class, but for the signals of its tasks: those of a CPU,
/// or of a task group on a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FairQueue {
    /// CFS: who is queued, by vruntime; who runs is not among them.
    pub tree: Timeline,
    pub min_vruntime: u64,
    /// CFS buddies; with EEVDF only a queue of groups has one, `next`.
    pub skip: u32,
    pub next: u32,
    pub last: u32,
}

impl Default for FairQueue {
    fn default() -> Self {
        FairQueue {
            tree: Timeline::default(),
            min_vruntime: 0,
            skip: NONE,
            next: NONE,
            last: NONE,
        }
    }
}

/// When something is held: the latest time that it was without a break.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Interval {
    pub from: u64,
    pub to: u64,
}

impl Interval {
    /// Holds it for `hold` from `at` on, or from when it is free; returns the
    /// wait. Work is charged ahead of the clock, so that a holder may come to
    /// it later than somebody who asks after it: that one does not wait.
    #[inline]
    pub fn take(&mut self, at: u64, hold: u64) -> u64 {
        if at < self.from {
            return 0;
        }
        let wait = self.to.saturating_sub(at);
        if wait == 0 {
            self.from = at;
        }
        self.to = at + wait + hold;
        wait
    }
}

/// Head and tail of an intrusive list of tasks ([`Task::list_prev`], [`Task::list_next`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    pub head: u32,
    pub tail: u32,
}

impl Default for List {
    fn default() -> Self {
        List {
            head: NONE,
            tail: NONE,
        }
    }
}

impl List {
    /// Adds `task` at the head of the list, by [`Task::list_next`] links.
    #[inline]
    pub fn push_front(&mut self, tasks: &mut [Task], task: u32) {
        tasks[task as usize].list_prev = NONE;
        tasks[task as usize].list_next = self.head;
        if self.head == NONE {
            self.tail = task;
        } else {
            tasks[self.head as usize].list_prev = task;
        }
        self.head = task;
    }

    /// Adds `task` at the tail.
    #[inline]
    pub fn push_back(&mut self, tasks: &mut [Task], task: u32) {
        tasks[task as usize].list_next = NONE;
        tasks[task as usize].list_prev = self.tail;
        if self.tail == NONE {
            self.head = task;
        } else {
            tasks[self.tail as usize].list_next = task;
        }
        self.tail = task;
    }

    /// Takes `task` out.
    #[inline]
    pub fn remove(&mut self, tasks: &mut [Task], task: u32) {
        let Task {
            list_prev,
            list_next,
            ..
        } = tasks[task as usize];
        if list_prev == NONE {
            self.head = list_next;
        } else {
            tasks[list_prev as usize].list_next = list_next;
        }
        if list_next == NONE {
            self.tail = list_prev;
        } else {
            tasks[list_next as usize].list_prev = list_prev;
        }
    }
}

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Not created yet.
    New,
    /// On a runqueue or running.
    Runnable,
    /// Asleep, with a reason that the waker clears.
    Asleep,
    /// On its way to a runqueue by a wake list.
    Waking,
    /// Exited.
    Dead,
    /// No task, but a task group on a CPU.
    Group,
}

/// A task. What each of its operations touches comes first and is one cache line, then what each
/// sleep, wakeup and switch does.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub life: Life,
    /// The operation at `pc` has not begun.
    pub fresh: bool,
    /// The operation at `pc` waits or waited; what that means is the operation's.
    pub waited: bool,
    /// How far it is in a futex call.
    pub call: Call,
    /// On a wake list: it comes from another CPU.
    pub wake_migrated: bool,
    /// Voluntary switch: it yielded.
    pub yielded: bool,
    /// Its sleep cannot be interrupted.
    pub blocked: bool,
    /// Its clamps are among those of the queue that it is on.
    pub clamps_counted: bool,
    pub timers_set: u8,
    /// It logs its passes.
    pub logged: bool,
    /// A run event that is logged is under way.
    pub computing: bool,
    /// It ends where its next operation would begin: the duration of its workload is over.
    pub cancelled: bool,
    /// The run does not wait for it any longer, and it may go on.
    pub retired: bool,
    /// Class and priority: [`DEADLINE`], 100 less the real-time priority that was asked for, or [`FAIR`].
    pub prio: u8,
    /// Position in [`World::ops`].
    pub pc: u32,
    /// CPU whose runqueue or timers hold it.
    pub cpu: u32,
    /// Work until the operation at `pc` takes effect: time first, then units.
    pub stall: u64,
    pub units: u64,
    /// End of a wall-clock run, 0 if none.
    pub wall_until: u64,
    /// Bytes of the operation at `pc` already moved.
    pub moved: u32,
    /// Register written by [`Op::Take`].
    pub register: u32,
    pub vruntime: u64,
    pub loops: [u64; LOOP_SLOTS],
    /// Time run in all, and at the start of the current slice, ns.
    pub sum_exec: u64,
    pub slice_start: u64,
    /// When its run was last accounted, 0 since it changed its CPU (`exec_start`, the cache-hot test).
    pub last_run: u64,
    /// When its wakeup began; wakeup latency counts from here.
    pub wake_time: u64,
    pub list_prev: u32,
    pub list_next: u32,
    /// Next in a wait queue.
    pub wait_next: u32,
    /// 2^32 / weight.
    pub inv_weight: u32,
    /// Index into [`World::masks`].
    pub affinity: u32,
    /// CPU and fill mark of the cache that holds its working set.
    pub cache_cpu: u32,
    pub cache_mark: u64,
    pub working_set: u64,
    pub timers: [u64; TIMER_SLOTS],
    /// When its timer may expire: what it asked for.
    pub timer_point: u64,
    /// Workload it belongs to.
    pub workload: u32,
    pub parent: u32,
    pub children: u32,
    pub process: u32,
    pub nice: i8,
    /// When it started, ns.
    pub started: u64,
}

/// What one of the workloads shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkloadState {
    /// Tasks not dead yet.
    pub alive: u32,
    /// When it was started, [`NEVER`] before.
    pub start: u64,
    /// When its last task ended, [`NEVER`] before.
    pub ended: u64,
    /// The run does not wait longer for it than this, ns; [`NEVER`]: until all its tasks have ended.
    pub duration: u64,
    /// From then on it counts as over, and its tasks end.
    pub over_at: u64,
    /// They were told to.
    pub cancelled: bool,
}

/// A time mark.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MarkState {
    pub first: Option<u64>,
    pub last: Option<u64>,
}

impl World<'_> {
    /// `p->prio` of a task or, for [`NONE`], of an idle one.
    #[inline]
    pub fn prio(&self, task: u32) -> u8 {
        match self.tasks.get(task as usize) {
            Some(t) => t.prio,
            None => FAIR,
        }
    }

    /// Is `task` in the real-time class?
    #[inline]
    pub fn is_rt(&self, task: u32) -> bool {
        self.above_fair && self.prio(task) != FAIR
    }

    /// Is the current task of `cpu` in the real-time class?
    #[inline]
    pub fn curr_is_rt(&self, cpu: usize) -> bool {
        self.above_fair && self.prio(self.cpus[cpu].curr) != FAIR
    }

    /// Priority of a task in traces; `None` in the fair class.
    pub fn rt_prio(&self, task: u32) -> Option<i32> {
        self.is_rt(task).then(|| i32::from(self.prio(task)) - 1)
    }

    /// View index of the task that executes on `cpu`, its idle task included.
    #[inline]
    pub fn current_view(&self, cpu: usize) -> usize {
        match self.cpus[cpu].curr {
            NONE => self.tasks.len() + cpu,
            task => task as usize,
        }
    }

    /// Brings the pending event of `cpu` into the queue.
    #[inline(always)]
    pub fn arm(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        let time = match c.phase {
            Phase::Waking => c.end,
            Phase::Idle => {
                let interrupt = c.ipi_at.min(c.tick_at).min(c.ask_again_at);
                interrupt.min(c.timers.first_at())
            }
            Phase::Running => {
                let t = &self.tasks[c.curr as usize];
                let mut rest = t.stall;
                if t.units != 0 {
                    rest += t.units.div_ceil(c.rate);
                }
                if t.wall_until != 0 {
                    rest = rest.max(t.wall_until.saturating_sub(c.segment_start + c.steal));
                }
                c.end = c.segment_start + c.steal + rest;
                if c.rounds.task != NONE {
                    let left = self.rounds_left(cpu);
                    let c = &mut self.cpus[cpu];
                    c.end = c.end.saturating_add(left).min(NEVER);
                }
                let c = &self.cpus[cpu];
                let end = match c.gives_way {
                    true => c.segment_start + c.steal.min(c.before_switch),
                    false => c.end,
                };
                let interrupt = c.ipi_at.min(c.tick_at).min(c.hrtick_at);
                end.min(interrupt).min(c.timers.first_at())
            }
        };
        self.queue.set(cpu, time);
    }

    /// Accounts the time since the segment began to the current task.
    #[inline]
    pub fn progress(&mut self, cpu: usize) {
        if self.cpus[cpu].rounds.task != NONE {
            self.catch_up_rounds(cpu);
        }
        let c = &mut self.cpus[cpu];
        let mut elapsed = self.now - c.segment_start;
        c.segment_start = self.now;
        if c.phase != Phase::Running || elapsed == 0 {
            return;
        }
        if c.steal != 0 {
            let stolen = c.steal.min(elapsed);
            c.steal -= stolen;
            c.before_switch = c.before_switch.saturating_sub(stolen);
            elapsed -= stolen;
        }
        let t = &mut self.tasks[c.curr as usize];
        let stalled = t.stall.min(elapsed);
        t.stall -= stalled;
        elapsed -= stalled;
        t.units = t.units.saturating_sub(elapsed * c.rate);
    }
}

#[cfg(test)]
mod tests;
