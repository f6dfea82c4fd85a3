// SPDX-License-Identifier: GPL-2.0-only
//! `FtraceEventBundle` and `FtraceEvent`: one message an event.

use alight_recording::workload::What;

use super::compact::Cpus;
use super::wire::{Fields, Malformed, Value};
use crate::Error;
use crate::decode::{Circumstances, InterruptKind, context, cpu, prio};
use crate::item::{Body, Item};
use crate::pids::checked;
use crate::pipeline::Pipeline;
use crate::states::States;
use crate::tracepoints::Kind;

/// Of `FtraceEvent`: the number of an event, its tracepoint, what it becomes, and the numbers of the
/// fields that are read, in the order of [`Reading::what`].
const EVENTS: &[(u32, &str, Kind, &[u32])] = &[
    (
        SCHED_SWITCH,
        "sched_switch",
        Kind::Switch,
        &[2, 3, 4, 6, 7, 1, 5],
    ),
    (11, "cpu_frequency", Kind::Frequency, &[1, 2]),
    (13, "cpu_idle", Kind::Idle, &[1, 2]),
    (17, "sched_wakeup", Kind::Wakeup, &[2, 3, 5, 1]),
    (SCHED_WAKING, "sched_waking", Kind::Waking, &[2, 3, 5, 1]),
    (21, "ipi_entry", Kind::Begin(InterruptKind::Ipi), &[9]),
    (22, "ipi_exit", Kind::End(InterruptKind::Ipi), &[9]),
    (
        24,
        "softirq_entry",
        Kind::Begin(InterruptKind::Softirq),
        &[1],
    ),
    (25, "softirq_exit", Kind::End(InterruptKind::Softirq), &[1]),
    (
        36,
        "irq_handler_entry",
        Kind::Begin(InterruptKind::Device),
        &[1],
    ),
    (
        37,
        "irq_handler_exit",
        Kind::End(InterruptKind::Device),
        &[1],
    ),
    (114, "sched_wakeup_new", Kind::WakeupNew, &[2, 3, 5, 1]),
    (235, "task_newtask", Kind::NewTask, &[1, 2]),
    (238, "sched_process_exit", Kind::Exit, &[2, 1]),
    (239, "sched_process_fork", Kind::Fork, &[2, 4, 1, 3]),
    (329, "sys_enter", Kind::Call, &[1]),
    (345, "cpuhp_enter", Kind::Hotplug, &[1, 4]),
    (491, "sched_migrate_task", Kind::Migrate, &[2, 3, 4, 5, 1]),
    (
        553,
        "hrtimer_expire_entry",
        Kind::Begin(InterruptKind::Hrtimer),
        &[3],
    ),
    (
        554,
        "hrtimer_expire_exit",
        Kind::End(InterruptKind::Hrtimer),
        &[9],
    ),
    (
        557,
        "timer_expire_entry",
        Kind::Begin(InterruptKind::Timer),
        &[3],
    ),
    (
        558,
        "timer_expire_exit",
        Kind::End(InterruptKind::Timer),
        &[9],
    ),
    (
        559,
        "local_timer_entry",
        Kind::Begin(InterruptKind::Hrtimer),
        &[9],
    ),
    (
        560,
        "local_timer_exit",
        Kind::End(InterruptKind::Hrtimer),
        &[9],
    ),
];

/// Numbers below which [`EVENTS`] lie.
const NUMBERS: usize = 1024;

/// The places of numbers in [`EVENTS`], from 1; 0: it is none of them.
const PLACES: [u8; NUMBERS] = {
    let mut places = [0; NUMBERS];
    let mut at = 0;
    while at < EVENTS.len() {
        places[EVENTS[at].0 as usize] = at as u8 + 1;
        at += 1;
    }
    places
};

/// Where an event with this number stands in [`EVENTS`].
fn place_of(number: u32) -> Option<usize> {
    let place = PLACES.get(number as usize)?;
    usize::from(*place).checked_sub(1)
}

/// Numbers of the events that compact ones are, too.
pub(super) const SCHED_SWITCH: u32 = 4;
pub(super) const SCHED_WAKING: u32 = 20;

/// Most fields of an event.
const MOST_FIELDS: usize = 7;

/// Why a bundle cannot be read.
pub(super) enum Fault {
    /// It is no such message.
    Malformed,
    Other(Other),
}

/// Why else.
pub(super) enum Other {
    /// A value is beyond its range.
    Value(String),
    Error(Error),
}

impl Fault {
    pub fn value(what: String) -> Self {
        Fault::Other(Other::Value(what))
    }
}

impl From<Malformed> for Fault {
    fn from(_: Malformed) -> Self {
        Fault::Malformed
    }
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Fault::value(what)
    }
}

/// While bundles are read.
pub(super) struct Reading<'a> {
    pub pipeline: &'a mut Pipeline,
    pub states: States,
    circumstances: Circumstances,
    /// The index in the tally of each of [`EVENTS`].
    indices: Vec<Option<usize>>,
    /// Where events were lost, until the first event behind tells the time.
    lost: bool,
}

/// An event that is taken apart.
struct Parts<'a> {
    pid: u32,
    flags: Option<u64>,
    numbers: [u64; MOST_FIELDS],
    texts: [&'a [u8]; MOST_FIELDS],
}

impl<'a> Reading<'a> {
    pub fn new(pipeline: &'a mut Pipeline, states: States, yield_call: Option<u64>) -> Self {
        Reading {
            pipeline,
            states,
            circumstances: Circumstances {
                ticks: Vec::new(),
                yield_call,
            },
            indices: vec![None; EVENTS.len()],
            lost: false,
        }
    }

    /// Counts an event with this number in `FtraceEvent`.
    pub fn count(&mut self, number: u32) {
        if let Some(at) = place_of(number) {
            self.count_at(at);
        }
    }

    /// Counts an event of this place in [`EVENTS`].
    fn count_at(&mut self, at: usize) {
        let tally = &mut self.pipeline.tally;
        let index = self.indices[at].get_or_insert_with(|| tally.tracepoint(EVENTS[at].1, true));
        tally.tracepoints[*index].2 += 1;
    }

    /// Adds an event, and before it what was lost.
    pub fn add(&mut self, item: Item) -> Result<(), Fault> {
        let failed = |error| Fault::Other(Other::Error(error));
        if std::mem::take(&mut self.lost) {
            let lost = super::lost(item.time, item.cpu);
            self.pipeline.add(lost).map_err(failed)?;
        }
        self.pipeline.add(item).map_err(failed)
    }

    /// `cpu` 1, `event` 2, `lost_events` 3, `compact_sched` 4
    pub fn bundle(&mut self, content: &[u8], cpus: &mut Cpus) -> Result<(), Fault> {
        let mut on = 0;
        self.lost = false;
        for field in Fields::of(content) {
            match field? {
                (1, value) => on = cpu(value.number(), "a bundle")?,
                (3, value) => self.lost = value.number() != 0,
                _ => {}
            }
        }
        if self.lost {
            // Who runs is not known any more.
            *cpus.of(on) = (0, 120, 0);
        }
        for field in Fields::of(content) {
            match field? {
                (2, value) => self.event(value.bytes(), on)?,
                (4, value) => self.compact(value.bytes(), on, cpus)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `timestamp` 1, `pid` 2, `common_flags` 5, and the event under its own number.
    fn event(&mut self, content: &[u8], on: u16) -> Result<(), Fault> {
        let (mut time, mut parts) = (
            0,
            Parts {
                pid: 0,
                flags: None,
                numbers: [0; MOST_FIELDS],
                texts: [&[]; MOST_FIELDS],
            },
        );
        let mut found = None;
        for field in Fields::of(content) {
            match field? {
                (1, value) => time = value.number(),
                (2, value) => parts.pid = checked(value.number(), "an event's pid")?,
                (5, value) => parts.flags = Some(value.number()),
                (number, Value::Bytes(bytes)) => {
                    found = place_of(number).map(|at| (at, bytes)).or(found);
                }
                _ => {}
            }
        }
        let Some((at, bytes)) = found else {
            return Ok(());
        };
        let (_, _, kind, places) = EVENTS[at];
        self.count_at(at);
        for field in Fields::of(bytes) {
            let (found, value) = field?;
            if let Some(at) = places.iter().position(|place| *place == found) {
                parts.numbers[at] = value.number();
                parts.texts[at] = value.bytes();
            }
        }
        let mut item = Item {
            time,
            cpu: on,
            body: Body::Named { pid: parts.pid },
            names: [0; 2],
        };
        match self.what(kind, &parts, &mut item)? {
            Some(what) => {
                item.body = Body::What(what);
                self.add(item)
            }
            None => Ok(()),
        }
    }

    fn what(&mut self, kind: Kind, parts: &Parts, item: &mut Item) -> Result<Option<What>, Fault> {
        let [first, second, third, fourth, fifth, ..] = parts.numbers;
        let names = &mut self.pipeline.names;
        Ok(Some(match kind {
            Kind::Switch => {
                let (prev, next) = (checked(first, "prev_pid")?, checked(fourth, "next_pid")?);
                item.names = [
                    names.of(prev, parts.texts[5]),
                    names.of(next, parts.texts[6]),
                ];
                What::Switch {
                    prev,
                    prev_prio: prio(second, "prev_prio")?,
                    left: self.states.left(third),
                    next,
                    next_prio: prio(fifth, "next_prio")?,
                }
            }
            Kind::Waking | Kind::Wakeup | Kind::WakeupNew => {
                let (pid, prio) = (checked(first, "pid")?, prio(second, "prio")?);
                let cpu = cpu(third, "target_cpu")?;
                item.names[0] = names.of(pid, parts.texts[3]);
                woken(kind, parts, (pid, prio, cpu))
            }
            Kind::Migrate => {
                let pid = checked(first, "pid")?;
                item.names[0] = names.of(pid, parts.texts[4]);
                What::Migrate {
                    pid,
                    prio: prio(second, "prio")?,
                    from_cpu: cpu(third, "orig_cpu")?,
                    to_cpu: cpu(fourth, "dest_cpu")?,
                }
            }
            Kind::Fork => {
                let (parent, child) =
                    (checked(first, "parent_pid")?, checked(second, "child_pid")?);
                item.names = [
                    names.of(parent, parts.texts[2]),
                    names.of(child, parts.texts[3]),
                ];
                What::Fork { parent, child }
            }
            Kind::NewTask => {
                let (parent, child) = (parts.pid, checked(first, "pid")?);
                item.names[1] = names.of(child, parts.texts[1]);
                What::Fork { parent, child }
            }
            Kind::Exit => {
                let pid = checked(first, "pid")?;
                item.names[0] = names.of(pid, parts.texts[1]);
                What::Exit { pid }
            }
            Kind::Call if Some(first) != self.circumstances.yield_call => return Ok(None),
            Kind::Yield | Kind::Call => What::Yield { pid: parts.pid },
            _ => return self.of_cpu(kind, (first, second), item),
        }))
    }

    /// Events that are about a CPU.
    fn of_cpu(
        &self,
        kind: Kind,
        (first, second): (u64, u64),
        item: &mut Item,
    ) -> Result<Option<What>, Fault> {
        Ok(Some(match kind {
            Kind::Frequency => What::Frequency {
                khz: first as u32,
                of_cpu: cpu(second, "cpu_id")?,
            },
            Kind::Idle => {
                item.cpu = cpu(second, "cpu_id")?;
                let state = first as u32;
                What::Idle {
                    state: (state != u32::MAX).then_some(state),
                }
            }
            Kind::Hotplug => {
                item.cpu = cpu(first, "cpu")?;
                What::Hotplug {
                    online: second != 0,
                }
            }
            Kind::Begin(kind) => What::InterruptBegin {
                interrupt: kind.with(first, &self.circumstances),
                late_ns: 0,
            },
            Kind::End(kind) => What::InterruptEnd {
                interrupt: kind.with(first, &self.circumstances),
            },
            _ => return Ok(None),
        }))
    }
}

fn woken(kind: Kind, parts: &Parts, (pid, prio, cpu): (u32, u16, u16)) -> What {
    match kind {
        Kind::Waking => What::Waking {
            pid,
            prio,
            current: parts.pid,
            prev_cpu: cpu,
            context: parts.flags.map(context),
            sync: None,
        },
        _ => kind.queues(pid, prio, cpu),
    }
}
