// SPDX-License-Identifier: GPL-2.0-only
//! An event as a file has it, and back: the table at the head of `event.rs`.

use super::event::{Call, Context, Event, Interrupt, Left, Malformed, WORDS, What};

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
            What::InterruptBegin { interrupt, late_ns } => Fields {
                other: late_ns,
                ..interrupt.fields(8)
            },
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
            What::WakingEnd { pid } => Fields {
                kind: 16,
                pid,
                ..none
            },
            What::Schedule { pid } => Fields {
                kind: 17,
                pid,
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
                late_ns: f.other,
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
            16 => What::WakingEnd { pid },
            17 => What::Schedule { pid },
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
    /// All of them, in the order of their numbers.
    pub const ALL: [Call; 11] = [
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
    ];

    fn of(flags: u8) -> Option<Self> {
        Call::ALL.get(usize::from(flags)).copied()
    }
}
