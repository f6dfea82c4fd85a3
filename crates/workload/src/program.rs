// SPDX-License-Identifier: GPL-2.0-only
//! What tasks do: the small instruction set that every workload is compiled to.
//! The simulator interprets it; nothing here knows how long an instruction takes.
//!
//! Identifiers ([`ChannelId`] …) are indices into the tables of one [`Workload`];
//! when several workloads run at once the simulator shifts them.

mod measure;

pub use crate::blocks::Blocks;
pub use crate::names::Names;
pub use crate::report::Report;
pub use measure::{Better, Logged, Measure, MeasureSource};

/// Index into [`Workload::channels`].
pub type ChannelId = u32;
/// Index of a mutex, `0..Workload::mutexes`.
pub type MutexId = u32;
/// Index of a condition variable, `0..Workload::conditions`.
pub type ConditionId = u32;
/// Index of a counting semaphore, `0..Workload::semaphores`.
pub type SemaphoreId = u32;
/// Index into [`Workload::barriers`].
pub type BarrierId = u32;
/// Index of a shared counter, `0..Workload::counters`.
pub type CounterId = u32;
/// Index into [`Workload::histograms`].
pub type HistogramId = u32;
/// Index of a time mark, `0..Workload::marks`.
pub type MarkId = u32;
/// Index into [`Workload::programs`].
pub type ProgramId = u32;
/// Index into [`Workload::tasks`].
pub type TaskId = u32;
/// Index into [`Workload::attributes`].
pub type AttributesId = u32;
/// Index of a stopwatch's start, `0..Instruments::stamps`.
pub type StampId = u32;
/// Index of a tally, `0..Instruments::tallies`.
pub type TallyId = u32;
/// Index of a desk, `0..Instruments::desks`.
pub type DeskId = u32;
/// Index of a log, `0..Workload::logs`.
pub type LogId = u32;
/// Index into [`Workload::deals`].
pub type DealId = u32;
/// Index into [`Workload::lateness`].
pub type LatenessId = u16;
/// Position in [`Program::ops`].
pub type Label = u32;

/// Nested loops a program may have at a time.
pub const LOOP_SLOTS: usize = 4;
/// Timers a task may have.
pub const TIMER_SLOTS: usize = 4;

/// A workload ready to be simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The command line or file as typed.
    pub name: String,
    /// All tasks; those not started by a [`Op::Fork`] start at their [`TaskSpec::start_ns`].
    pub tasks: Vec<TaskSpec>,
    /// Programs, shared by tasks that do the same.
    pub programs: Vec<Program>,
    /// The seed of a run draws the programs: there is one for each task, and these are in their place.
    pub blocks: Option<Blocks>,
    /// It repeats a recording; `None`: it does not.
    pub repeats: Option<Repeats>,
    /// Scheduling attributes that phases switch to.
    pub attributes: Vec<Attributes>,
    /// What [`Op::Take`] takes of which counter.
    pub deals: Vec<Deal>,
    /// What is late, and what comes of it.
    pub lateness: Vec<Lateness>,
    /// Pipes and sockets.
    pub channels: Vec<ChannelKind>,
    /// Barriers: how many tasks must arrive.
    pub barriers: Vec<u32>,
    /// Number of mutexes.
    pub mutexes: u32,
    /// Number of condition variables.
    pub conditions: u32,
    /// Number of semaphores, all starting at 0.
    pub semaphores: u32,
    /// Number of shared counters, all starting at 0.
    pub counters: u32,
    /// Number of time marks.
    pub marks: u32,
    /// Number of logs, all empty at the start.
    pub logs: u32,
    /// What the author calls mutexes, conditions, semaphores and barriers.
    pub names: Names,
    /// Histograms by name (what they hold is ns).
    pub histograms: Vec<String>,
    /// Sizes of the tables that the tools measure with.
    pub instruments: Instruments,
    /// The measures that are reported.
    pub measures: Vec<Measure>,
    /// Which tool this is, for a report in its own words; `None`: it has none (rt-app).
    pub report: Option<Report>,
    /// The run does not wait longer for it than this after its start, ns, though tasks remain.
    pub duration_ns: Option<u64>,
    /// The run does not wait for it: it goes on as long as others do.
    pub background: bool,
    /// Which CPU the work in [`Op::Run`] was measured on.
    pub calibration: Calibration,
    /// While the workload runs, idle states with a longer exit latency are not used
    /// (`/dev/cpu_dma_latency`), us; `None`: no limit.
    pub dma_latency_us: Option<u64>,
    /// Of a line that never ends: what to add so that it does, like `-D SECONDS`.
    pub missing_limit: Option<&'static str>,
    /// What was asked for and is not compiled, since the model does not have it; one sentence each.
    pub left_out: Vec<String>,
}

/// What a workload that repeats a recording has of it beside its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    /// Time from its start to a tick of the CPUs, ns, above 0 and not above the length of a tick;
    /// `None`: not known.
    pub first_tick_ns: Option<u64>,
}

/// How many there are of what [`Observation`]s and [`Op::Call`] use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instruments {
    /// Times remembered, all starting at 0.
    pub stamps: u32,
    /// Histograms of whole microseconds (or whatever is counted), as finely as tools have them.
    pub tallies: u32,
    /// Places where tasks wait to be answered, all empty at the start.
    pub desks: u32,
}

/// Which CPU, at its top frequency, defines a nanosecond of [`Op::Run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calibration {
    /// A CPU of the biggest capacity.
    Biggest,
    /// This CPU (rt-app `"calibration": "CPU3"`).
    Cpu(u32),
    /// One of capacity 1, which no machine has: any share of a CPU's work can be said by it.
    CapacityOne,
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSpec {
    /// `comm`, at most 15 bytes.
    pub comm: String,
    /// The program that it runs.
    pub program: ProgramId,
    /// Its scheduling attributes at its start.
    pub attributes: Attributes,
    /// Time of its creation, ns after the start; `None`: an [`Op::Fork`] creates it.
    pub start_ns: Option<u64>,
    /// Tasks with the same number share an address space.
    pub process: u32,
    /// Working set for cache refills, bytes; `None`: the machine's default.
    pub working_set_bytes: Option<u64>,
    /// Where it stands in the scheduler's eyes at its start; `None`: it is new.
    pub begins: Option<Begins>,
}

/// A task that was there before the workload's start, as a recording found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begins {
    /// The CPU that it was on last.
    pub cpu: u32,
    /// `util_avg`, 0 to 1024.
    pub util_avg: u32,
    /// `wakee_flips`.
    pub wakee_flips: u32,
    /// `vruntime`, ns of nice 0, less `min_vruntime` of its queue (before EEVDF), or less `avg_vruntime`;
    /// `None`: not known, it is placed as if it woke up.
    pub vruntime_ahead: Option<i64>,
}

/// Scheduling attributes. `None` in a phase's attributes keeps what the task has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes {
    /// Scheduling policy.
    pub policy: Option<Policy>,
    /// Nice value, -20 to 19.
    pub nice: Option<i32>,
    /// RT priority 1..99 for [`Policy::Fifo`] and [`Policy::RoundRobin`].
    pub rt_priority: Option<u32>,
    /// CPUs the task may use, in rising order; never empty.
    pub affinity: Option<Vec<u32>>,
    /// Allow all CPUs again; only where `affinity` is `None`.
    pub lift_affinity: bool,
    /// `uclamp_min`, 0..=1024.
    pub uclamp_min: Option<u32>,
    /// `uclamp_max`, 0..=1024.
    pub uclamp_max: Option<u32>,
    /// Custom slice for the fair class, ns (Linux 6.12+); or the deadline runtime.
    pub slice_ns: Option<u64>,
    /// Deadline parameters for [`Policy::Deadline`], ns: (period, deadline).
    pub dl_period_deadline_ns: Option<(u64, u64)>,
    /// Task group (cgroup of the cpu controller): a path that begins with `/`; the root is `/`.
    pub group: Option<String>,
}

/// Scheduling policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER` / `SCHED_NORMAL`.
    Normal,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO`.
    Fifo,
    /// `SCHED_RR`.
    RoundRobin,
    /// `SCHED_DEADLINE`.
    Deadline,
}

/// Numbers that a shared counter deals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deal {
    /// The counter.
    pub counter: CounterId,
    /// The number that is taken is reduced modulo this (0: it is not).
    pub modulo: u32,
    /// Numbers dealt in all (`u64::MAX`: no limit).
    pub limit: u64,
    /// Time after the workload's start from which on none is dealt, ns (`u64::MAX`: none).
    pub until_ns: u64,
}

/// A time since a stamp that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// The longest that is not late, ns.
    pub limit_ns: u64,
    /// How long [`Observation::HoldIfLate`] holds, us.
    pub hold_us: u32,
}

/// An index, or none, in four bytes: operations are many, and stay small.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptionalId(u32);

impl OptionalId {
    /// None.
    pub const NONE: OptionalId = OptionalId(u32::MAX);

    /// This one. `u32::MAX` is [`OptionalId::NONE`]: no table has so many.
    pub const fn some(id: u32) -> Self {
        OptionalId(id)
    }

    /// The index, if there is one.
    pub const fn get(self) -> Option<u32> {
        match self.0 {
            u32::MAX => None,
            id => Some(id),
        }
    }
}

impl From<Option<u32>> for OptionalId {
    fn from(id: Option<u32>) -> Self {
        id.map_or(OptionalId::NONE, OptionalId::some)
    }
}

impl std::fmt::Debug for OptionalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// A byte channel between tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// `pipe(2)`: 16 slots of a page, small writes share the last page.
    Pipe,
    /// One direction of an `AF_UNIX` stream socket pair.
    Socket,
}

/// A program. Execution starts at op 0; running off the end is [`Op::Exit`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// The instructions.
    pub ops: Vec<Op>,
}

/// One instruction, in 16 bytes: a replay of a recording has as many as the recording has events, and
/// the simulator reads one at each step.
#[allow(
    missing_docs,
    reason = "the text of each instruction explains its fields"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Compute: a fixed amount of work, in ns on the [`Calibration`] CPU at its top frequency.
    Run { ns: u64 },
    /// rt-app `runtime`: compute until this much wall time has passed since the op began,
    /// preempted or not. The tool looks at the clock each 32 us; that is not modelled.
    RunWall { ns: u64 },
    /// Touch `bytes` of memory, streaming (rt-app `mem`, `memrun` read/write).
    Memory { bytes: u64 },
    /// Follow a chain of dependent loads over `bytes` (rt-app `memrun` chase).
    Chase { bytes: u64 },
    /// Write `bytes` to a device that takes them at once (rt-app `iorun` on /dev/null).
    Io { bytes: u64 },

    /// Relative sleep (`nanosleep`).
    Sleep { ns: u64 },
    /// The same for a time below `within_ns` (not 0), which the seed of the run draws for each task.
    Stagger { within_ns: u64 },
    /// Periodic timer: sleep until the timer's next point. The first use of a slot sets
    /// its origin to `origin`. Latency (run time minus timer point) of a wakeup goes to `histogram`: a
    /// point that had passed already is no wakeup.
    Timer {
        /// Timer slot of this task, below [`TIMER_SLOTS`].
        slot: u8,
        /// Period, ns.
        period_ns: u64,
        /// What a missed point does.
        mode: TimerMode,
        /// Where the first period starts.
        origin: TimerOrigin,
        /// The latency of each wakeup is recorded in this [`HistogramId`]; none: this use is not
        /// measured.
        histogram: OptionalId,
    },

    /// Lock a mutex (futex based, no handoff).
    Lock { mutex: MutexId },
    /// Unlock it; wakes one waiter if there is any.
    Unlock { mutex: MutexId },
    /// Lock mutex `base + register`.
    LockIndexed { base: MutexId },
    /// Unlock mutex `base + register`.
    UnlockIndexed { base: MutexId },
    /// `pthread_cond_wait`: release `mutex` if given, wait, take it again.
    Wait {
        condition: ConditionId,
        mutex: Option<MutexId>,
    },
    /// Wake one waiter; nothing is remembered if there is none.
    Signal { condition: ConditionId },
    /// Wake all waiters.
    Broadcast { condition: ConditionId },
    /// Increment a semaphore, wake one waiter.
    SemPost { semaphore: SemaphoreId },
    /// Decrement, or wait until possible.
    SemWait { semaphore: SemaphoreId },
    /// Wait until all parties have arrived; the last wakes the others.
    Barrier { barrier: BarrierId },

    /// Write to a channel; blocks while it is full.
    Write { channel: ChannelId, bytes: u32 },
    /// Read exactly `bytes`; blocks while there is too little.
    Read { channel: ChannelId, bytes: u32 },
    /// Wait until the channel is readable, consuming nothing (`poll`).
    Poll { channel: ChannelId },

    /// Queue at a desk, wake whoever serves it, and wait for the answer (the worker of schbench:
    /// two futexes and a list without a lock). The answer's time goes to `stamp`. Nobody waits at
    /// a closed desk.
    Call { desk: DeskId, stamp: StampId },
    /// Answer all who wait at a desk, last come first served, as of now; if there is nobody, wait
    /// until there is, or go to `done` once the desk is closed. One task serves a desk.
    Serve { desk: DeskId, done: Label },
    /// Close a desk: its server answers who is there, and no more.
    Close { desk: DeskId },
    /// Wait until somebody is at a desk, or something was left there, or it is closed, and do nothing
    /// about it. The time of the last [`Op::Leave`], or now if there is nothing to wait for, goes to
    /// `stamp`.
    Attend { desk: DeskId, stamp: StampId },
    /// Take all who are at a desk, and all that was left there, out of the queue; go to `none` if
    /// there is nothing.
    Gather { desk: DeskId, none: Label },
    /// Answer the next one that was gathered, as of now; go to `last` if nobody of them remains.
    Answer { desk: DeskId, last: Label },
    /// Leave a request at desk `first + register`, wake whoever attends it, and go on. If more than
    /// `limit` were left there since they were last gathered: leave none, and sleep `pause_ns`.
    Leave {
        first: DeskId,
        limit: u32,
        pause_ns: u32,
    },
    /// Take the next request of those that were gathered, or go to `none`.
    Unqueue { desk: DeskId, none: Label },
    /// Spin until the lock of the CPU that the task is on is free, and take it. Each workload has
    /// one such lock for each CPU; a task holds one at most.
    LockCpu,
    /// Release it.
    UnlockCpu,

    /// Wake a task that was recorded, in the place of the call that woke it: only the wakeup is
    /// charged. It ends the task's `nth` [`Op::Await`], counted from 1, and no other one. With
    /// `hand_off` the waker first sleeps until the task has begun that one, or has ended; without,
    /// a wakeup that comes early is remembered for it.
    Wake {
        task: TaskId,
        nth: u32,
        hand_off: bool,
        /// The waker says that it will sleep soon (`WF_SYNC`).
        sync: bool,
    },
    /// Sleep until the [`Op::Wake`] for this one of the task's `Await`s has come.
    Await,
    /// Work of the kernel in a recorded call, in ns on the [`Calibration`] CPU. A task that has to
    /// give way does so behind it. What the call wakes, by an [`Op::Wake`] behind this, it wakes as
    /// other calls do: the wakeup is decided at the begin of the call, and takes place behind the
    /// work.
    Enter { ns: u64 },
    /// Sleep until this time after the workload's start, ns; a timer ends it (`clock_nanosleep` with
    /// `TIMER_ABSTIME`). What has passed is no sleep. Only the sleep is charged. The timer interrupts
    /// `slack_ns` later, unless another one on its CPU does so before.
    SleepUntil { ns: u64, slack_ns: u32 },
    /// Sleep for so long, ns; a timer of this slack ends it, as above. Only the sleep is charged.
    SleepFor { ns: u64, slack_ns: u32 },
    /// Sleep until a device has done its part, which takes `ns`: its interrupt on this CPU ends it.
    /// Only the sleep is charged.
    Complete { ns: u64, cpu: u32 },

    /// `sched_yield`.
    Yield,
    /// The run does not wait any longer for what the task does from now on.
    Retire,
    /// Switch to other scheduling attributes.
    SetAttributes { attributes: AttributesId },
    /// Switch to the attributes `before` until the time that a stamp holds, from then on to `after`.
    SetAttributesUntil {
        until: StampId,
        before: AttributesId,
        after: AttributesId,
    },
    /// Create the task (its [`TaskSpec::start_ns`] is `None`), which must not run yet.
    Fork { task: TaskId },
    /// Wait until all tasks forked by this one have exited.
    WaitChildren,
    /// End of the task.
    Exit,

    /// Begin of a loop: run the ops up to the matching [`Op::LoopEnd`] `count` times;
    /// 0 skips them, `u64::MAX` repeats for ever. `end` is the label just behind the LoopEnd.
    LoopBegin { slot: u8, count: u64, end: Label },
    /// End of a loop: `begin` is the label just behind the LoopBegin.
    LoopEnd { slot: u8, begin: Label },
    /// Take the next number of a shared counter into the task's register; go to `done` instead when
    /// no more are dealt.
    Take { deal: DealId, done: Label },
    /// Add 1 to a counter.
    Count { counter: CounterId },
    /// The task ends a pass through a phase: add 1 to `counter`, and write a line of rt-app's log
    /// about what happened since the task's last one. A task has one log. Takes no time.
    Pass {
        counter: CounterId,
        log: LogId,
        /// The phase has `run` or `runtime` events: the pass's [`Op::Run`] and [`Op::RunWall`] are logged.
        computes: bool,
        /// The slacks of the pass's timers add up (`cumulative_slack`); else the last one counts.
        cumulative_slack: bool,
    },
    /// Remember the time of the first and the last passage.
    Mark { mark: MarkId },
    /// Read the clock, or write down what was read. Takes no time.
    Observe(Observation),
}

const _: () = assert!(size_of::<Op>() == 16);

/// What a tool notes. Durations are those of `gettimeofday(2)`: the difference of two times that
/// were both cut to whole microseconds.
#[allow(
    missing_docs,
    reason = "the text of each observation explains its fields"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Set a stamp to now.
    Stamp { stamp: StampId },
    /// Set a stamp to the point that this timer of the task waited for last.
    StampTimer { stamp: StampId, slot: u8 },
    /// The us since a stamp, to a tally.
    Lapse { stamp: StampId, tally: TallyId },
    /// The same, unless it is 0.
    LapseAboveZero { stamp: StampId, tally: TallyId },
    /// The us since a stamp, added to a counter.
    AddLapse { stamp: StampId, counter: CounterId },
    /// A counter divided by `parts`, to a tally; the counter becomes 0.
    TakeShare {
        counter: CounterId,
        parts: u16,
        tally: TallyId,
    },
    /// How much a counter grew a second since it was last observed for this tally; 0 the first time.
    Rate { counter: CounterId, tally: TallyId },
    /// Count it if the time since a stamp is late.
    CountLate {
        stamp: StampId,
        lateness: LatenessId,
        counter: CounterId,
    },
    /// Set the stamp `until` to the end of the hold from now if the time since `stamp` is late.
    HoldIfLate {
        stamp: StampId,
        lateness: LatenessId,
        until: StampId,
    },
    /// Forget what a tally holds.
    Clear { tally: TallyId },
}

/// What a periodic timer does about a missed point (rt-app `timer` `mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerMode {
    /// Missed: start again from now.
    Relative,
    /// Missed: keep the cadence, the next points are in the past until caught up.
    Absolute,
    /// Missed: keep the cadence, go on to the next point that is not past (`cyclictest`).
    SkipMissed,
}

/// Origin of a periodic timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerOrigin {
    /// The first use of the slot.
    FirstUse,
    /// The start of the task (rt-app: t_zero + delay).
    TaskStart,
    /// The start of the workload, also for tasks that were forked later.
    WorkloadStart,
}
