// SPDX-License-Identifier: GPL-2.0-only
//! Bytes of a tracepoint's event to an [`Item`], by the description that the file has of it.

use alight_recording::workload::{Context, Interrupt, What};

use crate::format::{Elsewhere, Field, Format};
use crate::item::{Body, Item};
use crate::names::Names;
use crate::pids::checked;
use crate::states::States;
use crate::tracepoints::{Kind, by_name};

/// CPUs have numbers below this (`NR_CPUS` of x86 and arm64 is 8192 at most).
const CPU_LIMIT: u64 = 8192;

/// Fields that every event has.
const COMMON: [&str; 2] = ["common_pid", "common_flags"];

/// Reads the events of one tracepoint.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The tracepoint's name.
    pub name: String,
    /// Its index in the tally.
    pub tally: usize,
    kind: Option<Kind>,
    fields: Vec<Field>,
    common: [Field; 2],
    /// An event that is used has at least so many bytes.
    need: usize,
    states: States,
}

/// What a file tells beside the descriptions.
#[derive(Debug, Default)]
pub(crate) struct Circumstances {
    /// Addresses of functions of the tick.
    pub ticks: Vec<u64>,
    /// The number of `sched_yield()`, where system calls are told by number.
    pub yield_call: Option<u64>,
}

impl Decoder {
    /// For the tracepoint that is described so.
    ///
    /// # Errors
    /// The tracepoint is used, and a field that is needed is not there.
    pub fn new(format: &Format, tally: usize) -> Result<Self, String> {
        let known = by_name(&format.name);
        let mut fields = Vec::new();
        let missing = |name: &str| {
            let tracepoint = &format.name;
            format!("the description of {tracepoint} has no field '{name}', which is needed")
        };
        for name in known.map_or(&[][..], |one| one.fields) {
            fields.push(format.field(name).ok_or_else(|| missing(name))?);
        }
        let mut common = [Field::default(); 2];
        if known.is_some() {
            for (place, name) in common.iter_mut().zip(COMMON) {
                *place = format.field(name).ok_or_else(|| missing(name))?;
            }
        }
        if let Some(bad) = (fields.iter().chain(&common))
            .find(|field| {
                field.elsewhere == Elsewhere::No && ![1, 2, 4, 8, 16].contains(&field.size)
            })
            .filter(|_| known.is_some())
        {
            return Err(format!(
                "a field of {} has {} bytes, expected 1, 2, 4, 8 or 16",
                format.name, bad.size
            ));
        }
        Ok(Decoder {
            name: format.name.clone(),
            tally,
            kind: known.map(|one| one.kind),
            need: (fields.iter().chain(&common))
                .map(|field| field.end())
                .max()
                .unwrap_or(0),
            states: match known.map(|one| one.kind) {
                Some(Kind::Switch) => States::of_print(&format.print),
                _ => States::new(),
            },
            fields,
            common,
        })
    }

    /// Reads an event; `None` if nothing of it is imported.
    ///
    /// # Errors
    /// The event is too short, or a value is beyond its range.
    pub fn decode(
        &self,
        event: &[u8],
        time: u64,
        cpu: u16,
        names: &mut Names,
        circumstances: &Circumstances,
    ) -> Result<Option<Item>, String> {
        let Some(kind) = self.kind else {
            return Ok(None);
        };
        if event.len() < self.need {
            return Err(format!(
                "an event of {} has {} bytes, expected at least {}",
                self.name,
                event.len(),
                self.need
            ));
        }
        let read = Fields {
            event,
            decoder: self,
        };
        let mut item = Item {
            time,
            cpu,
            body: Body::Named { pid: 0 },
            names: [0; 2],
        };
        let used = read.fill(kind, &mut item, names, circumstances)?;
        Ok(used.then_some(item))
    }
}

/// The fields of one event.
struct Fields<'a> {
    event: &'a [u8],
    decoder: &'a Decoder,
}

impl Fields<'_> {
    fn number(&self, index: usize) -> u64 {
        self.decoder.fields[index].number(self.event)
    }

    fn pid(&self, index: usize) -> Result<u32, String> {
        checked(self.number(index), &self.decoder.name)
    }

    fn current(&self) -> Result<u32, String> {
        checked(self.decoder.common[0].number(self.event), "common_pid")
    }

    fn cpu(&self, index: usize) -> Result<u16, String> {
        cpu(self.number(index), &self.decoder.name)
    }

    /// Of deadline tasks it is -1.
    fn prio(&self, index: usize) -> Result<u16, String> {
        prio(self.number(index), &self.decoder.name)
    }

    fn name(&self, index: usize, pid: u32, names: &mut Names) -> u32 {
        names.of(pid, self.decoder.fields[index].string(self.event))
    }

    /// The order of fields is that of [`crate::tracepoints`].
    fn fill(
        &self,
        kind: Kind,
        item: &mut Item,
        names: &mut Names,
        circumstances: &Circumstances,
    ) -> Result<bool, String> {
        let what = match kind {
            Kind::Switch => {
                let (prev, next) = (self.pid(0)?, self.pid(3)?);
                item.names = [self.name(5, prev, names), self.name(6, next, names)];
                What::Switch {
                    prev,
                    prev_prio: self.prio(1)?,
                    left: self.decoder.states.left(self.number(2)),
                    next,
                    next_prio: self.prio(4)?,
                }
            }
            Kind::Waking | Kind::Wakeup | Kind::WakeupNew => self.wakeup(kind, item, names)?,
            Kind::Migrate => {
                let pid = self.pid(0)?;
                item.names[0] = self.name(4, pid, names);
                What::Migrate {
                    pid,
                    prio: self.prio(1)?,
                    from_cpu: self.cpu(2)?,
                    to_cpu: self.cpu(3)?,
                }
            }
            Kind::Fork => {
                let (parent, child) = (self.pid(0)?, self.pid(1)?);
                item.names = [self.name(2, parent, names), self.name(3, child, names)];
                What::Fork { parent, child }
            }
            Kind::NewTask => {
                let child = self.pid(0)?;
                item.names[1] = self.name(1, child, names);
                What::Fork {
                    parent: self.current()?,
                    child,
                }
            }
            Kind::Exit => {
                let pid = self.pid(0)?;
                item.names[0] = self.name(1, pid, names);
                What::Exit { pid }
            }
            Kind::Yield => What::Yield {
                pid: self.current()?,
            },
            Kind::Call if Some(self.number(0)) == circumstances.yield_call => What::Yield {
                pid: self.current()?,
            },
            Kind::Call => return Ok(false),
            _ => return self.of_cpu(kind, item, circumstances),
        };
        item.body = Body::What(what);
        Ok(true)
    }

    fn wakeup(&self, kind: Kind, item: &mut Item, names: &mut Names) -> Result<What, String> {
        let (pid, prio, cpu) = (self.pid(0)?, self.prio(1)?, self.cpu(2)?);
        item.names[0] = self.name(3, pid, names);
        Ok(match kind {
            Kind::Waking => What::Waking {
                pid,
                prio,
                current: self.current()?,
                prev_cpu: cpu,
                context: Some(context(self.decoder.common[1].number(self.event))),
                sync: None,
            },
            _ => kind.queues(pid, prio, cpu),
        })
    }

    /// Events that are about a CPU.
    fn of_cpu(
        &self,
        kind: Kind,
        item: &mut Item,
        circumstances: &Circumstances,
    ) -> Result<bool, String> {
        let what = match kind {
            Kind::Frequency => What::Frequency {
                khz: self.number(0) as u32,
                of_cpu: self.cpu(1)?,
            },
            Kind::Idle => {
                item.cpu = self.cpu(1)?;
                let state = self.number(0) as u32;
                What::Idle {
                    state: (state != u32::MAX).then_some(state),
                }
            }
            Kind::Hotplug => {
                item.cpu = self.cpu(0)?;
                What::Hotplug {
                    online: self.number(1) != 0,
                }
            }
            Kind::Begin(kind) => What::InterruptBegin {
                interrupt: kind.with(self.number_or_0(), circumstances),
                late_ns: 0,
            },
            Kind::End(kind) => What::InterruptEnd {
                interrupt: kind.with(self.number_or_0(), circumstances),
            },
            _ => return Ok(false),
        };
        item.body = Body::What(what);
        Ok(true)
    }

    fn number_or_0(&self) -> u64 {
        match self.decoder.fields.is_empty() {
            true => 0,
            false => self.number(0),
        }
    }
}

/// Which of the interrupts a tracepoint is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterruptKind {
    Hrtimer,
    Timer,
    Device,
    Softirq,
    Ipi,
}

impl InterruptKind {
    /// That of this number.
    pub fn with(self, number: u64, circumstances: &Circumstances) -> Interrupt {
        match self {
            InterruptKind::Hrtimer if circumstances.ticks.contains(&number) => Interrupt::Tick,
            InterruptKind::Hrtimer => Interrupt::Hrtimer(number),
            InterruptKind::Timer => Interrupt::Timer(number),
            InterruptKind::Device => Interrupt::Device(number),
            InterruptKind::Softirq => Interrupt::Softirq(number),
            InterruptKind::Ipi => Interrupt::Ipi(number),
        }
    }
}

/// The context in `common_flags` (`enum trace_flag_type` of include/linux/trace_events.h).
pub(crate) fn context(flags: u64) -> Context {
    const HARDIRQ: u64 = 0x08;
    const SOFTIRQ: u64 = 0x10;
    const NMI: u64 = 0x40;
    match flags {
        _ if flags & NMI != 0 => Context::Nmi,
        _ if flags & HARDIRQ != 0 => Context::Hardirq,
        _ if flags & SOFTIRQ != 0 => Context::Softirq,
        _ => Context::Task,
    }
}

/// A number of a CPU.
pub(crate) fn cpu(number: u64, what: &str) -> Result<u16, String> {
    if number >= CPU_LIMIT {
        return Err(format!(
            "{what} names CPU {}, expected 0 to {}",
            number.cast_signed(),
            CPU_LIMIT - 1
        ));
    }
    Ok(number as u16)
}

/// A priority: 0 to 139, and -1 of deadline tasks, which is kept as 65535.
pub(crate) fn prio(number: u64, what: &str) -> Result<u16, String> {
    match number.cast_signed() {
        prio @ -1..=140 => Ok(prio as u16),
        other => Err(format!(
            "{what} has the priority {other}, expected -1 to 140"
        )),
    }
}
