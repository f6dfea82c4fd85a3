// SPDX-License-Identifier: GPL-2.0-only
//! The event schema: what happens in a run, under the names that ftrace uses.

/// A task in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRef {
    /// Thread id; 0 is the idle task of the event's CPU.
    pub pid: u32,
    /// Kernel priority: 120 + nice for the fair class, 99 - rt priority, 120 for idle.
    pub prio: i32,
}

/// State in which a task leaves the CPU (`prev_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrevState {
    /// `R`: still runnable (it yielded, or gave way on its way back to user mode).
    Running,
    /// `R+`: preempted in the middle of the kernel.
    Preempted,
    /// `S`: interruptible sleep.
    Sleeping,
    /// `D`: uninterruptible sleep.
    Uninterruptible,
    /// `X`: exited.
    Dead,
}

impl PrevState {
    /// The number in the tracepoint's field since Linux 4.14 (`__trace_sched_switch_state()`).
    #[must_use]
    pub fn raw(self) -> u32 {
        match self {
            PrevState::Running => 0,
            PrevState::Sleeping => 0x1,
            PrevState::Uninterruptible => 0x2,
            PrevState::Dead => 0x10,
            PrevState::Preempted => 0x100,
        }
    }

    /// The letters that the tracepoint's format string shows.
    #[must_use]
    pub fn letters(self) -> &'static str {
        match self {
            PrevState::Running => "R",
            PrevState::Preempted => "R+",
            PrevState::Sleeping => "S",
            PrevState::Uninterruptible => "D",
            PrevState::Dead => "X",
        }
    }
}

/// One event. Fields carry the kernel's names and units.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the tracepoints' own; what is special of them stands at the variant"
)]
pub enum Event<'a> {
    /// `sched_switch`.
    Switch {
        prev: TaskRef,
        prev_state: PrevState,
        next: TaskRef,
    },
    /// `sched_waking`: start of a wakeup, on the waker's CPU; `target_cpu` is the previous CPU.
    Waking { task: TaskRef, target_cpu: u32 },
    /// `sched_wakeup`: after the enqueue; `target_cpu` is the chosen CPU.
    Wakeup { task: TaskRef, target_cpu: u32 },
    /// `sched_wakeup_new`: first enqueue of a forked task.
    WakeupNew { task: TaskRef, target_cpu: u32 },
    /// `sched_migrate_task`.
    Migrate {
        task: TaskRef,
        orig_cpu: u32,
        dest_cpu: u32,
    },
    /// `cpu_idle`: entry into a state.
    IdleEnter { state: u32 },
    /// `cpu_idle` with state 4294967295: leaving idle.
    IdleExit,
    /// `cpu_frequency` of the event's CPU.
    Frequency { khz: u32 },
    /// `sched_process_fork`.
    Fork { parent: TaskRef, child: TaskRef },
    /// `sched_process_exit`.
    Exit { task: TaskRef },
    /// `print` from user space (rt-app markers).
    Print { task: TaskRef, text: &'a str },
    /// A placement decision: which rule of the policy answered (`why this CPU`). `cpu` is where the
    /// task is sent: another CPU than the answer if that one is offline (`select_fallback_rq`).
    Decision {
        task: TaskRef,
        prev_cpu: u32,
        cpu: u32,
        step: &'a str,
        scanned: u32,
    },
    /// Counter of the event's CPU: `util_avg`, `nr_running`, `capacity`.
    CpuCounter { counter: CpuCounter, value: u64 },
}

/// A per-CPU counter track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuCounter {
    /// `cfs_rq` `util_avg`.
    UtilAvg,
    /// Runnable tasks.
    NrRunning,
    /// Capacity left for the fair class.
    Capacity,
}

impl CpuCounter {
    /// Every counter, in the order of its tracks.
    pub const ALL: [CpuCounter; 3] = [
        CpuCounter::UtilAvg,
        CpuCounter::NrRunning,
        CpuCounter::Capacity,
    ];

    /// The name in traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CpuCounter::UtilAvg => "util_avg",
            CpuCounter::NrRunning => "nr_running",
            CpuCounter::Capacity => "capacity",
        }
    }
}

/// Load tracking of a fair task and of the queue that it is on, as they are behind an update
/// (`pelt_se_tp`, `pelt_cfs_tp`, `sched_util_est_se_tp`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// The task whose signals these are.
    pub task: TaskRef,
    /// Its `util_avg`, 0..=1024.
    pub util_avg: u32,
    /// Its `load_avg`, 0..=weight.
    pub load_avg: u32,
    /// `util_est.enqueued`; 0 where the estimate is a single value (6.8 and later).
    pub util_est_enqueued: u32,
    /// `util_est.ewma`; 6.8 and later: `util_est`.
    pub util_est_ewma: u32,
    /// The queue's `util_avg`.
    pub queue_util_avg: u32,
    /// The queue's `load_avg`.
    pub queue_load_avg: u32,
    /// The update is the last one before the task sleeps.
    pub sleeps: bool,
}

/// What the base alone, without the features of the run's scheduler, would have answered to an
/// [`Event::Decision`] in the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaseAnswer<'a> {
    /// The task that was placed.
    pub task: TaskRef,
    /// The CPU.
    pub cpu: u32,
    /// Which rule of the policy would have answered.
    pub step: &'a str,
    /// If that is another CPU than the one that was chosen: the features without each of which
    /// another would have been chosen. None, if each could have been spared.
    pub because: &'a [&'static str],
}

/// From where a wakeup comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waker {
    /// The task that runs on the CPU.
    Task,
    /// The hard interrupt of a timer.
    Timer,
    /// The hard interrupt of a device.
    Device,
    /// A task of a replay that goes to sleep: the one that is to wake it waited for that. What was
    /// recorded has no such wakeup.
    HandOff,
    /// Nobody: the task was there before, and joins a queue as the run begins.
    Begin,
}

/// An interrupt of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// The tick.
    Tick,
    /// Another timer.
    Timer,
    /// A device.
    Device,
    /// A message of another CPU.
    Ipi,
    /// A thread of the kernel that is no task of the run (`migration/N`, `sugov:N`): the current task
    /// makes way for it.
    KernelThread,
}

/// A call, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// `futex_wait()`; the number of the futex among all of the run.
    FutexWait(u64),
    /// `futex_wake()`; the number of the futex, and how many tasks it wakes at most.
    FutexWake(u64, u32),
    /// `poll()`; the number of the pipe or of the socket's direction.
    Poll(u32),
}

/// What happens in a run and no event of a trace file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// From where the [`Event::Waking`] right before comes.
    Waking {
        /// The task that is woken.
        task: TaskRef,
        /// From where.
        by: Waker,
        /// The waker says that it will sleep soon (`WF_SYNC`).
        sync: bool,
    },
    /// The task calls `sched_yield()`, alone on its CPU or not.
    Yield {
        /// The task.
        task: TaskRef,
        /// What the CPU has done since the task came to the call, in ns of a CPU of capacity 1.
        work: u64,
    },
    /// The CPU enters an interrupt, or leaves it.
    Interrupt {
        /// Which.
        interrupt: Interrupt,
        /// It enters, and was due at this time, ns; `None`: it leaves.
        due_ns: Option<u64>,
        /// When it gets there, ns.
        reached_ns: u64,
    },
    /// The current task has done its part of a wakeup, or of the start of a new task.
    Woken {
        /// The task that was woken.
        task: TaskRef,
        /// When it was done, ns.
        reached_ns: u64,
    },
    /// The current task comes to the scheduler, which switches to another. It is told again at the
    /// end of a search for tasks on other CPUs.
    Schedule {
        /// The task.
        task: TaskRef,
        /// When it gets there, ns.
        reached_ns: u64,
    },
    /// The current task is in a call on a pipe or a socket. It is told again until the call ends.
    Call {
        /// The task.
        task: TaskRef,
        /// It writes, or else reads.
        writes: bool,
        /// It is a socket, or else a pipe.
        socket: bool,
        /// The number of the pipe or of the socket's direction among all of the run.
        channel: u32,
        /// Bytes of the call.
        bytes: u32,
        /// What the CPU did in the call before it came to the channel, in ns of a CPU of capacity 1.
        work: u64,
    },
    /// The current task begins a call on a futex, or one that waits for a pipe or a socket (`poll()`).
    CallBegin {
        /// The task.
        task: TaskRef,
        /// Which.
        call: Called,
        /// When it begins, ns.
        reached_ns: u64,
    },
    /// The call that was told last of the current task ends.
    CallEnd {
        /// The task.
        task: TaskRef,
        /// Bytes of the call; of one on a futex 0, or how many it wakes.
        bytes: u32,
        /// When it ends, ns.
        reached_ns: u64,
    },
    /// The CPU executes at another speed from now on, or does so if it executes.
    Speed {
        /// What it does in a ns, in ns of a CPU of capacity 1.
        rate: u64,
    },
    /// The CPU, a thread of a core whose threads slow each other, is out of its idle state.
    Executes,
    /// The task takes on other scheduling attributes (`sched_setattr()`).
    Attributes {
        /// The task.
        task: TaskRef,
        /// Which: their number among the attributes that the run's workloads list, from 0.
        attributes: u32,
    },
}

/// Receives a run's events in time order.
///
/// # Example
///
/// A sink need not write a file. This one keeps the time and the CPU of each wakeup.
///
/// ```
/// use alight_trace::{Event, Sink, TaskRef};
///
/// struct Wakeups(Vec<(u64, u32)>);
///
/// impl Sink for Wakeups {
///     fn event(&mut self, time_ns: u64, _cpu: u32, event: Event<'_>) -> std::io::Result<()> {
///         if let Event::Wakeup { target_cpu, .. } = event {
///             self.0.push((time_ns, target_cpu));
///         }
///         Ok(())
///     }
/// }
///
/// let mut wakeups = Wakeups(Vec::new());
/// let task = TaskRef { pid: 100, prio: 120 };
/// wakeups.event(5_000, 0, Event::Waking { task, target_cpu: 1 })?;
/// wakeups.event(5_800, 0, Event::Wakeup { task, target_cpu: 3 })?;
/// assert_eq!(wakeups.0, [(5_800, 3)]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Sink {
    /// Whether [`signals`](Self::signals) is to be called. Asked once, when the run begins.
    fn wants_signals(&self) -> bool {
        false
    }

    /// Takes one update of load tracking on `cpu` at `time_ns`.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    fn signals(&mut self, _time_ns: u64, _cpu: u32, _signals: &Signals) -> std::io::Result<()> {
        Ok(())
    }

    /// Whether [`base_answer`](Self::base_answer) is to be called, for which every decision is made
    /// again by the rules of the base. Asked once, when the run begins.
    fn wants_base_answers(&self) -> bool {
        false
    }

    /// Takes what the base would have answered to the [`Event::Decision`] right before, on `cpu` at
    /// `time_ns`.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    fn base_answer(
        &mut self,
        _time_ns: u64,
        _cpu: u32,
        _answer: &BaseAnswer<'_>,
    ) -> std::io::Result<()> {
        Ok(())
    }

    /// Whether [`detail`](Self::detail) is to be called. Asked once, when the run begins.
    fn wants_details(&self) -> bool {
        false
    }

    /// Takes one detail of what happens on `cpu` at `time_ns`.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    fn detail(&mut self, _time_ns: u64, _cpu: u32, _detail: Detail) -> std::io::Result<()> {
        Ok(())
    }

    /// Takes one event of `cpu` at `time_ns`.
    ///
    /// # Errors
    /// What the output said (disk full, closed pipe); the run stops.
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()>;

    /// As [`Sink::event`], of a run that charges kernel work ahead of its clock: `reached_ns` is when the
    /// CPU gets to what happens here, not before `time_ns`. Of one CPU these times go back by less than a
    /// switch, where an interrupt falls into it; those of several are not in order.
    ///
    /// # Errors
    /// As for [`Sink::event`].
    #[inline]
    fn event_reached(
        &mut self,
        time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Event<'_>,
    ) -> std::io::Result<()> {
        let _ = reached_ns;
        self.event(time_ns, cpu, event)
    }
}
