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
    #[error("its kind is {0}, expected 0 to 15")]
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

const CONTEXT_UNKNOWN: u8 = 0x80;
const SYNC_UNKNOWN: u8 = 0x40;
const SYNC: u8 = 0x08;

/// The fields of an event as a file has them.
#[derive(Default)]
struct Fields {
    pid: u32,
    other: u32,
    kind: u8,
    flags: u8,
    prio: u16,
    extra: u16,
    value: u64,
}

impl Event {
    /// As a file has it.
    pub fn encode(&self) -> [u64; WORDS] {
        let f = self.what.fields();
        [
            self.time,
            u64::from(f.pid) | u64::from(f.other) << 32,
            u64::from(self.cpu)
                | u64::from(f.kind) << 16
                | u64::from(f.flags) << 24
                | u64::from(f.prio) << 32
                | u64::from(f.extra) << 48,
            f.value,
        ]
    }

    /// From what a file has.
    ///
    /// # Errors
    /// The words are not an event of this version.
    pub fn decode(words: &[u64]) -> Result<Self, Malformed> {
        let [time, tasks, rest, value] = *words else {
            return Err(Malformed::Length(words.len()));
        };
        let what = What::of(&Fields {
            pid: tasks as u32,
            other: (tasks >> 32) as u32,
            kind: (rest >> 16) as u8,
            flags: (rest >> 24) as u8,
            prio: (rest >> 32) as u16,
            extra: (rest >> 48) as u16,
            value,
        })?;
        Ok(Event {
            time,
            cpu: rest as u16,
            what,
        })
    }
}

impl What {
    fn fields(&self) -> Fields {
        let none = Fields::default();
        match *self {
            What::Switch {
                prev,
                prev_prio,
                left,
                next,
                next_prio,
            } => Fields {
                pid: prev,
                other: next,
                flags: left as u8,
                prio: prev_prio,
                extra: next_prio,
                ..none
            },
            What::Waking {
                pid,
                prio,
                current,
                prev_cpu,
                context,
                sync,
            } => Fields {
                kind: 1,
                pid,
                other: current,
                flags: context.map_or(CONTEXT_UNKNOWN, Context::flag)
                    | sync.map_or(SYNC_UNKNOWN, |sync| if sync { SYNC } else { 0 }),
                prio,
                extra: prev_cpu,
                ..none
            },
            What::Wakeup {
                pid,
                prio,
                target_cpu,
            } => Fields {
                kind: 2,
                pid,
                prio,
                extra: target_cpu,
                ..none
            },
            What::WakeupNew {
                pid,
                prio,
                target_cpu,
            } => Fields {
                kind: 3,
                pid,
                prio,
                extra: target_cpu,
                ..none
            },
            What::Migrate {
                pid,
                prio,
                from_cpu,
                to_cpu,
            } => Fields {
                kind: 4,
                pid,
                other: from_cpu.into(),
                prio,
                extra: to_cpu,
                ..none
            },
            What::Fork { parent, child } => Fields {
                kind: 5,
                pid: parent,
                other: child,
                ..none
            },
            What::Exit { pid } => Fields {
                kind: 6,
                pid,
                ..none
            },
            What::Yield { pid } => Fields {
                kind: 7,
                pid,
                ..none
            },
            What::InterruptBegin { interrupt } => interrupt.fields(8),
            What::InterruptEnd { interrupt } => interrupt.fields(9),
            What::Frequency { of_cpu, khz } => Fields {
                kind: 10,
                extra: of_cpu,
                value: khz.into(),
                ..none
            },
            What::Idle { state } => Fields {
                kind: 11,
                value: state.map_or(0, |index| u64::from(index) + 1),
                ..none
            },
            What::CallBegin {
                pid,
                call,
                object,
                count,
            } => Fields {
                kind: 12,
                pid,
                other: count,
                flags: call as u8,
                value: object,
                ..none
            },
            What::CallEnd { pid, call, result } => Fields {
                kind: 13,
                pid,
                other: result.cast_unsigned(),
                flags: call as u8,
                ..none
            },
            What::Lost { count, of_cpu_only } => Fields {
                kind: 14,
                flags: of_cpu_only.into(),
                value: count,
                ..none
            },
            What::Hotplug { online } => Fields {
                kind: 15,
                flags: online.into(),
                ..none
            },
        }
    }

    fn of(f: &Fields) -> Result<Self, Malformed> {
        let &Fields { pid, prio, .. } = f;
        let flags = Malformed::Flags {
            kind: f.kind,
            flags: f.flags,
        };
        let number = || {
            u32::try_from(f.value).map_err(|_| Malformed::Value {
                kind: f.kind,
                value: f.value,
            })
        };
        let yes_or_no = match f.flags {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(flags),
        };
        Ok(match f.kind {
            0 => What::Switch {
                prev: pid,
                prev_prio: prio,
                left: Left::of(f.flags).ok_or(flags)?,
                next: f.other,
                next_prio: f.extra,
            },
            1 => What::Waking {
                pid,
                prio,
                current: f.other,
                prev_cpu: f.extra,
                context: match f.flags & !(SYNC | SYNC_UNKNOWN) {
                    CONTEXT_UNKNOWN => None,
                    bits => Some(Context::of(bits).ok_or(flags)?),
                },
                sync: (f.flags & SYNC_UNKNOWN == 0).then_some(f.flags & SYNC != 0),
            },
            2 => What::Wakeup {
                pid,
                prio,
                target_cpu: f.extra,
            },
            3 => What::WakeupNew {
                pid,
                prio,
                target_cpu: f.extra,
            },
            4 => What::Migrate {
                pid,
                prio,
                from_cpu: f.other as u16,
                to_cpu: f.extra,
            },
            5 => What::Fork {
                parent: pid,
                child: f.other,
            },
            6 => What::Exit { pid },
            7 => What::Yield { pid },
            8 => What::InterruptBegin {
                interrupt: Interrupt::of(f.flags, f.value).ok_or(flags)?,
            },
            9 => What::InterruptEnd {
                interrupt: Interrupt::of(f.flags, f.value).ok_or(flags)?,
            },
            10 => What::Frequency {
                of_cpu: f.extra,
                khz: number()?,
            },
            11 => What::Idle {
                state: number()?.checked_sub(1),
            },
            12 => What::CallBegin {
                pid,
                call: Call::of(f.flags).ok_or(flags)?,
                object: f.value,
                count: f.other,
            },
            13 => What::CallEnd {
                pid,
                call: Call::of(f.flags).ok_or(flags)?,
                result: f.other.cast_signed(),
            },
            14 => What::Lost {
                count: f.value,
                of_cpu_only: yes_or_no?,
            },
            15 => What::Hotplug { online: yes_or_no? },
            kind => return Err(Malformed::Kind(kind)),
        })
    }
}

impl Left {
    fn of(flags: u8) -> Option<Self> {
        use Left::{Asleep, Blocked, Dead, Preempted, Runnable};
        [Runnable, Preempted, Asleep, Blocked, Dead]
            .get(usize::from(flags))
            .copied()
    }
}

impl Context {
    fn flag(self) -> u8 {
        match self {
            Context::Task => 0,
            Context::Hardirq => 1,
            Context::Softirq => 2,
            Context::Nmi => 4,
        }
    }

    fn of(flag: u8) -> Option<Self> {
        [
            Context::Task,
            Context::Hardirq,
            Context::Softirq,
            Context::Nmi,
        ]
        .into_iter()
        .find(|context| context.flag() == flag)
    }
}

impl Interrupt {
    fn fields(self, kind: u8) -> Fields {
        let (flags, value) = match self {
            Interrupt::Hrtimer(function) => (0, function),
            Interrupt::Timer(function) => (1, function),
            Interrupt::Device(number) => (2, number),
            Interrupt::Softirq(vector) => (3, vector),
            Interrupt::Tick => (4, 0),
            Interrupt::Ipi(vector) => (5, vector),
        };
        Fields {
            kind,
            flags,
            value,
            ..Fields::default()
        }
    }

    fn of(flags: u8, value: u64) -> Option<Self> {
        Some(match flags {
            0 => Interrupt::Hrtimer(value),
            1 => Interrupt::Timer(value),
            2 => Interrupt::Device(value),
            3 => Interrupt::Softirq(value),
            4 => Interrupt::Tick,
            5 => Interrupt::Ipi(value),
            _ => return None,
        })
    }
}

impl Call {
    fn of(flags: u8) -> Option<Self> {
        [
            Call::PipeRead,
            Call::PipeWrite,
            Call::SocketReceive,
            Call::SocketSend,
            Call::FutexWait,
            Call::FutexWake,
            Call::EventfdRead,
            Call::EventfdWrite,
            Call::Poll,
            Call::Sleep,
            Call::SleepUntil,
        ]
        .get(usize::from(flags))
        .copied()
    }
}
