// SPDX-License-Identifier: GPL-2.0-only
//! The state of CPUs, tasks and workloads.
//!
//! State that a placement policy may know is only in [`alight_policy::Core`] and in `World::views`.
//! This file has the state that only the simulation of time needs.

use crate::base::queue::NEVER;
use crate::base::timeline::{NONE, Timeline};
use crate::world::World;
use crate::world::occupancy::Count;
use crate::world::rounds::Rounds;
use crate::world::search::Search;
use crate::world::stats::CpuStats;
use crate::world::timers::Timers;
use alight_workload::program::{LOOP_SLOTS, TIMER_SLOTS};

/// The stage of a task in a futex call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Out,
    /// Mutex only: on the way to the point where it rechecks the mutex (`futex_wait_setup`).
    Looks,
    /// The call's work is charged; a wakeup now spares the task the sleep.
    In,
    /// It slept, or need not sleep.
    Over,
}

/// Priority of fair tasks, and of CPUs without real-time tasks (`MAX_RT_PRIO`). Real-time
/// priorities are below it, 1 to 99, 1 the highest: `p->prio` + 1.
pub(crate) const FAIR: u8 = 100;
/// Priority of SCHED_DEADLINE tasks, above all real-time priorities.
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
    /// Its task is off the queue, and it looks for another one before it switches; interrupts wait
    /// until it has (`newidle_balance`). It is not idle for wakers.
    Searching,
}

impl Phase {
    /// Does an interrupt that comes now wait for the end of the phase?
    #[inline]
    pub fn holds_interrupts(self) -> bool {
        matches!(self, Phase::Waking | Phase::Searching)
    }
}

/// A CPU. The fields that each of its events touches come first: with hundreds of CPUs, cache
/// misses dominate the cost of an event.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub(crate) struct Cpu {
    pub phase: Phase,
    /// The current task should be preempted (`TIF_NEED_RESCHED`).
    pub need_resched: bool,
    /// The current task should be preempted when it returns to user mode (`TIF_NEED_RESCHED_LAZY`).
    pub resched_lazy: bool,
    /// Reschedules when `steal` is used up, or its part `before_switch`.
    pub gives_way: bool,
    /// An IPI asks it to balance for all idle CPUs.
    pub balance_kicked: bool,
    /// Current task, [`NONE`] while idle.
    pub curr: u32,
    /// End of the current segment of execution, of the idle exit, or of the search for tasks.
    pub end: u64,
    /// Next tick, [`NEVER`] while it is stopped.
    pub tick_at: u64,
    /// End of the current slice by `hrtick_timer`, [`NEVER`] if the timer is not set.
    pub hrtick_at: u64,
    /// Arrival of the earliest pending interrupt, [`NEVER`] if there is none.
    pub ipi_at: u64,
    /// Time at which the idle governor wants to be asked again if nothing happens before: the limit
    /// of polling, or the timer of 3.9's menu. [`NEVER`]: not at all.
    pub ask_again_at: u64,
    /// Start of the time that has not been accounted to the current task yet.
    pub segment_start: u64,
    /// Time that interrupts and wakeups took from the current task, ns.
    pub steal: u64,
    /// The part of `steal` that is consumed before a pending reschedule, ns; [`NEVER`]: all.
    pub before_switch: u64,
    /// Time at which the remote waker sets `need_resched` or `resched_lazy`; they take effect then.
    pub told_at: u64,
    /// 2^32 / rate.
    pub ns_per_unit: u64,
    /// Units of work per ns: capacity at the current frequency, less the share of the core's other
    /// threads.
    pub rate: u64,
    /// Index into `World::costs`.
    pub costs: u32,
    pub rounds: Rounds,
    /// Timers of tasks that sleep here.
    pub timers: Timers,
    pub fair: FairQueue,
    /// Runtime of the current task counts from here, by `rq_clock_task`.
    pub exec_start: u64,
    /// Runqueue lock.
    pub lock: Interval,
    /// Fair tasks in balancing order (`cfs_tasks`): the head ran or was queued last.
    pub lru: List,
    /// Tasks on the wake list, first to last.
    pub wake_list: List,
    /// The rate while no other thread of its core executes, units per ns.
    pub speed: u64,
    pub freq_domain: u32,
    pub cluster: u32,
    pub core_type: u32,
    /// Index of its physical core in its cluster.
    pub core_slot: u32,
    /// Counts at the last call of [`World::rq_changed`].
    pub occupied: Count,
    /// `rq->next_balance`, jiffies.
    pub next_balance: u64,
    /// `rq->max_idle_balance_cost`, ns.
    pub max_idle_balance_cost: u64,
    /// Bytes brought into its private cache so far.
    pub cache_fill: u64,
    /// Its search for tasks on the way to idle.
    pub search: Search,
    pub stats: CpuStats,
}

/// A runqueue of the fair class, without the signals of its tasks: that of a CPU, or of a task
/// group on a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FairQueue {
    /// CFS: the queued tasks by vruntime, without the current one.
    pub tree: Timeline,
    pub min_vruntime: u64,
    /// CFS buddies. With EEVDF only group queues have one, `next`.
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

/// The latest contiguous time for which a lock is held.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Interval {
    pub from: u64,
    pub to: u64,
}

impl Interval {
    /// The lock is free from `at` on at the latest.
    #[inline]
    pub fn release(&mut self, at: u64) {
        self.to = self.to.min(at);
    }

    /// Takes the lock for `hold` ns, from `at` on or from when it is free. Returns the wait, ns.
    /// Work is charged ahead of the clock, so a holder may take it later than a task that asks
    /// after it; that task does not wait.
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

    /// Removes `task`.
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

/// The life cycle of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Not created yet.
    New,
    /// On a runqueue or running.
    Runnable,
    /// Asleep until a waker ends the reason.
    Asleep,
    /// On a wake list, on its way to a runqueue.
    Waking,
    /// Exited.
    Dead,
    /// Not a task: the entity of a task group on a CPU.
    Group,
}

/// A task. The fields that each operation touches come first and fill one cache line; those of each
/// sleep, wakeup and switch follow.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub life: Life,
    /// The operation at `pc` has not begun.
    pub fresh: bool,
    /// The operation at `pc` waits or has waited; the operation defines the meaning.
    pub waited: bool,
    /// Stage of its futex call.
    pub call: Call,
    /// On a wake list: the wakeup changed its CPU.
    pub wake_migrated: bool,
    /// Voluntary switch: it yielded.
    pub yielded: bool,
    /// Its sleep is uninterruptible.
    pub blocked: bool,
    /// Its clamps are counted in its runqueue.
    pub clamps_counted: bool,
    pub timers_set: u8,
    /// It logs its passes.
    pub logged: bool,
    /// A logged run operation is under way.
    pub computing: bool,
    /// It ends at its next operation, since the duration of its workload has passed.
    pub cancelled: bool,
    /// The run no longer waits for it; it may go on.
    pub retired: bool,
    /// Class and priority: [`DEADLINE`], 100 minus the requested real-time priority, or [`FAIR`].
    pub prio: u8,
    /// Index of its operation in `World::ops`.
    pub pc: u32,
    /// CPU whose runqueue or timers hold it.
    pub cpu: u32,
    /// Work left until the operation at `pc` takes effect: first stall (ns), then units.
    pub stall: u64,
    pub units: u64,
    /// End of a wall-clock run, 0 if none.
    pub wall_until: u64,
    /// Bytes that the operation at `pc` has moved so far.
    pub moved: u32,
    /// Register that `Op::Take` writes.
    pub register: u32,
    pub vruntime: u64,
    pub loops: [u64; LOOP_SLOTS],
    /// Total runtime, and its value at the start of the current slice, ns.
    pub sum_exec: u64,
    pub slice_start: u64,
    /// Time at which its runtime was last accounted; 0: not since it changed its CPU (`exec_start`
    /// in the cache-hot test).
    pub last_run: u64,
    /// Start of its wakeup; wakeup latency counts from here.
    pub wake_time: u64,
    pub list_prev: u32,
    pub list_next: u32,
    /// Next in a wait queue.
    pub wait_next: u32,
    /// 2^32 / weight.
    pub inv_weight: u32,
    /// Index into `World::masks`.
    pub affinity: u32,
    /// CPU whose cache holds its working set, and that cache's fill when the task left.
    pub cache_cpu: u32,
    pub cache_mark: u64,
    pub working_set: u64,
    pub timers: [u64; TIMER_SLOTS],
    /// Earliest expiry of its timer: the requested time.
    pub timer_point: u64,
    /// Workload it belongs to.
    pub workload: u32,
    pub parent: u32,
    pub children: u32,
    pub process: u32,
    pub nice: i8,
    /// Start of the task, ns.
    pub started: u64,
}

/// The state of a workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkloadState {
    /// Tasks not dead yet.
    pub alive: u32,
    /// Time of its start, [`NEVER`] before.
    pub start: u64,
    /// Time at which its last task ended, [`NEVER`] before.
    pub ended: u64,
    /// The run waits for it at most this long, ns; [`NEVER`]: until all its tasks have ended.
    pub duration: u64,
    /// From this time on it counts as over, and its tasks end.
    pub over_at: u64,
    /// Its tasks were told to end.
    pub cancelled: bool,
}

/// A time mark.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MarkState {
    pub first: Option<u64>,
    pub last: Option<u64>,
}

impl World<'_> {
    /// Priority ([`Task::prio`]) of a task; [`NONE`]: of an idle task.
    #[inline]
    pub fn prio(&self, task: u32) -> u8 {
        match self.tasks.get(task as usize) {
            Some(t) => t.prio,
            None => FAIR,
        }
    }

    /// Is `task` in the real-time or deadline class?
    #[inline]
    pub fn is_rt(&self, task: u32) -> bool {
        self.above_fair && self.prio(task) != FAIR
    }

    /// Is the current task of `cpu` in the real-time or deadline class?
    #[inline]
    pub fn curr_is_rt(&self, cpu: usize) -> bool {
        self.above_fair && self.prio(self.cpus[cpu].curr) != FAIR
    }

    /// Priority of a task in traces; `None` in the fair class.
    pub fn rt_prio(&self, task: u32) -> Option<i32> {
        self.is_rt(task).then(|| i32::from(self.prio(task)) - 1)
    }

    /// View index of the task that executes on `cpu`, or of its idle task.
    #[inline]
    pub fn current_view(&self, cpu: usize) -> usize {
        match self.cpus[cpu].curr {
            NONE => self.tasks.len() + cpu,
            task => task as usize,
        }
    }

    /// Enters the next event of `cpu` in the event queue.
    #[inline(always)]
    pub fn arm(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        let time = match c.phase {
            Phase::Waking | Phase::Searching => c.end,
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
