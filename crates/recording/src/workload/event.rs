// SPDX-License-Identifier: GPL-2.0-only
//! One event, and its layout in a file: four words of 64 bits.
//!
//! | word | bits | holds |
//! |---|---|---|
//! | 0 | 0..64 | time, ns |
//! | 1 | 0..32 | `pid`: who it is about |
//! | 1 | 32..64 | `other`: another task, or a number |
//! | 2 | 0..16 | `cpu` on which it happened |
//! | 2 | 16..24 | kind, the column "kind" of [`What`] |
//! | 2 | 24..32 | `flags` |
//! | 2 | 32..48 | `prio` of `pid` |
//! | 2 | 48..64 | `extra` |
//! | 3 | 0..64 | `value` |
//!
//! What a kind does not use is 0. Priorities are the kernel's: 120 + nice, or 99 - `rt_priority`.

/// Words of an event.
pub const WORDS: usize = 4;

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, ns; the header says on which clock.
    pub time: u64,
    /// On which CPU.
    pub cpu: u16,
    /// What.
    pub what: What,
}

/// What happened. The number is the kind in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// 0, `sched_switch`: `prev` leaves the CPU, `next` comes. Pid 0 is the idle task.
    Switch {
        /// Who leaves (`pid`, `prio`).
        prev: u32,
        /// Its priority.
        prev_prio: u16,
        /// Why (`flags`).
        left: Left,
        /// Who comes (`other`, `extra`).
        next: u32,
        /// Its priority.
        next_prio: u16,
    },
    /// 1, `sched_waking`: a wakeup begins.
    Waking {
        /// Who is woken (`pid`, `prio`).
        pid: u32,
        /// Its priority.
        prio: u16,
        /// Who ran on this CPU (`other`).
        current: u32,
        /// The CPU that the task was on (`extra`); not the one that is chosen.
        prev_cpu: u16,
        /// From where (`flags`, bits 0 to 2); `None` (bit 7): the source does not say.
        context: Option<Context>,
        /// `WF_SYNC` (`flags`, bit 3); `None` (bit 6): the source does not say.
        sync: Option<bool>,
    },
    /// 2, `sched_wakeup`: the task is on the queue of a CPU.
    Wakeup {
        /// Who was woken (`pid`, `prio`).
        pid: u32,
        /// Its priority.
        prio: u16,
        /// The CPU that was chosen (`extra`).
        target_cpu: u16,
    },
    /// 3, `sched_wakeup_new`: the same of a task that was just born.
    WakeupNew {
        /// Who was born (`pid`, `prio`).
        pid: u32,
        /// Its priority.
        prio: u16,
        /// The CPU that was chosen (`extra`).
        target_cpu: u16,
    },
    /// 4, `sched_migrate_task`.
    Migrate {
        /// Who is moved (`pid`, `prio`).
        pid: u32,
        /// Its priority.
        prio: u16,
        /// From this CPU (`other`).
        from_cpu: u16,
        /// To this CPU (`extra`).
        to_cpu: u16,
    },
    /// 5, `sched_process_fork`.
    Fork {
        /// Who forks (`pid`).
        parent: u32,
        /// Whom (`other`).
        child: u32,
    },
    /// 6, `sched_process_exit`: the task ends.
    Exit {
        /// Who (`pid`).
        pid: u32,
    },
    /// 7: the task calls `sched_yield()`.
    Yield {
        /// Who (`pid`).
        pid: u32,
    },
    /// 8: an interrupt begins on the CPU, or a part of one. They nest.
    InterruptBegin {
        /// Which (`flags`), with its number (`value`).
        interrupt: Interrupt,
        /// How long ago a timer was due (`other`), ns; 0 if the source does not say.
        late_ns: u32,
    },
    /// 9: the interrupt that began last on the CPU ends.
    InterruptEnd {
        /// Which (`flags`), with its number (`value`).
        interrupt: Interrupt,
    },
    /// 10, `cpu_frequency`: the clock of a CPU changes.
    Frequency {
        /// Of this CPU (`extra`), which need not be the one on which it happens.
        of_cpu: u16,
        /// To so many kHz (`value`).
        khz: u32,
    },
    /// 11, `cpu_idle`: the CPU enters an idle state, or leaves it.
    Idle {
        /// The state by its index (`value`: index + 1); `None` (0): it leaves.
        state: Option<u32>,
    },
    /// 12: a task begins a system call by which it can wait for another.
    CallBegin {
        /// Who (`pid`).
        pid: u32,
        /// Which (`flags`).
        call: Call,
        /// On what (`value`): a number that is the same for all who use the same object; of
        /// [`Call::Sleep`] how long, ns; of [`Call::SleepUntil`] until when, ns on the events' clock.
        object: u64,
        /// Bytes that are asked for, or how many are to be woken (`other`).
        count: u32,
    },
    /// 13: the call ends.
    CallEnd {
        /// Who (`pid`).
        pid: u32,
        /// Which (`flags`).
        call: Call,
        /// What it returned (`other`, as i32).
        result: i32,
    },
    /// 14: events were lost here. What is before and what is behind do not belong together.
    Lost {
        /// How many (`value`); 0: the source does not say.
        count: u64,
        /// Events of this CPU alone (`flags` 1) or of all (`flags` 0).
        of_cpu_only: bool,
    },
    /// 15: a CPU goes on or off.
    Hotplug {
        /// Whether it is there from now on (`flags`).
        online: bool,
    },
    /// 16: the CPU has done its part of a wakeup (the end of `try_to_wake_up()`), or of the start of a
    /// new task (`wake_up_new_task()`).
    ///
    /// Runs of the model tell it, recorders of a kernel do not: Debian's kernels 6.1 to 7.3 have no
    /// function that is called at this end alone.
    ///
    /// - `try_to_wake_up()` itself is called for tasks that are awake, too: on one CPU 476 000 times
    ///   for 32 000 wakeups. A hook there was nearly all that a recorder cost.
    /// - `ttwu_stat()`, which is called for wakeups alone, is inlined in all of them.
    ///
    /// Two hooks are called about once a wakeup and lie just before the end. A wakeup that the CPU
    /// queues itself has only locks to give back behind `sched_wakeup`, which is [`What::Wakeup`] on
    /// this CPU. One that another CPU queues ends at the exit of `ttwu_queue_wakelist()` that
    /// returns true, behind its interrupt.
    WakingEnd {
        /// Who was woken, or is new (`pid`).
        pid: u32,
    },
    /// 17: the current task has come to `__schedule()`, and a switch to another follows. What the CPU
    /// does until then is the scheduler's.
    Schedule {
        /// Who is current (`pid`).
        pid: u32,
    },
}

/// How a task left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// 0: it would have gone on, and gave way at a point of its own: the way back to user mode, or
    /// a call.
    Runnable,
    /// 1: it would have gone on, and was in the middle of something.
    Preempted,
    /// 2: it sleeps, and signals end that.
    Asleep,
    /// 3: it sleeps, and only who it waits for ends that.
    Blocked,
    /// 4: it ended.
    Dead,
}

/// From where a waking came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// 0: from the task that ran on the CPU.
    Task,
    /// 1: from a hard interrupt.
    Hardirq,
    /// 2: from a soft interrupt.
    Softirq,
    /// 4: from an interrupt that cannot be masked.
    Nmi,
}

/// An interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// 0: a high-resolution timer expires (`hrtimer_expire_entry`); the function's address, or 0.
    Hrtimer(u64),
    /// 1: a timer of the wheel expires (`timer_expire_entry`); the function's address, or 0.
    Timer(u64),
    /// 2: a device (`irq_handler_entry`); its number.
    Device(u64),
    /// 3: a soft interrupt (`softirq_entry`); its vector.
    Softirq(u64),
    /// 4: the tick (`tick_sched_timer`, `tick_nohz_handler`); 0.
    Tick,
    /// 5: a message of another CPU; its vector, or 0.
    Ipi(u64),
}

impl Interrupt {
    /// Whether it is one of the high-resolution timers, of which the tick is one.
    pub fn is_timer(self) -> bool {
        matches!(self, Interrupt::Hrtimer(_) | Interrupt::Tick)
    }
}

/// A system call by which tasks wait for each other, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// 0
    PipeRead,
    /// 1
    PipeWrite,
    /// 2
    SocketReceive,
    /// 3
    SocketSend,
    /// 4
    FutexWait,
    /// 5
    FutexWake,
    /// 6
    EventfdRead,
    /// 7
    EventfdWrite,
    /// 8: `epoll_wait()`, `poll()` or `select()`.
    Poll,
    /// 9: `nanosleep()`, or `clock_nanosleep()` without `TIMER_ABSTIME`.
    Sleep,
    /// 10: `clock_nanosleep()` with `TIMER_ABSTIME`.
    SleepUntil,
}

/// Words that are not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not four words.
    #[error("it has {0} words of 8 bytes, expected {WORDS}")]
    Length(usize),
    /// No kind has this number.
    #[error("its kind is {0}, expected 0 to 17")]
    Kind(u8),
    /// The flags are not those of its kind.
    #[error("an event of kind {kind} has the flags {flags:#x}, which mean nothing")]
    Flags {
        /// The kind.
        kind: u8,
        /// Its flags.
        flags: u8,
    },
    /// A value is beyond its range.
    #[error("an event of kind {kind} has the value {value}, which is too large")]
    Value {
        /// The kind.
        kind: u8,
        /// Its value.
        value: u64,
    },
}
