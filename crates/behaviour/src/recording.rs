// SPDX-License-Identifier: GPL-2.0-only
//! What `alight record behaviour` wrote: the machine, the workload and the
//! events of a kernel, as the rest of the house knows them.

use std::io::BufRead;

use alight_machine::Machine;
use alight_recording::delta::Unpacker;
use alight_recording::{Header, Reader};
use alight_trace::{Event, PrevState, Sink, TaskRef};
use alight_workload::{Diagnostic, Mode, Severity, Workload};

use super::measures::Gathered;

/// The kind of record that is read.
const KIND: &str = "behaviour.event/1";
/// Words of an event, of 64 bits (`struct behaviour_event`).
const WORDS: usize = 3;
/// Priority of the idle task.
const IDLE_PRIO: i32 = 120;

/// Why a recording says nothing.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file is not whole.
    #[error(transparent)]
    Recording(#[from] alight_recording::Error),
    /// A recording of something else.
    #[error("holds {found}, not {KIND}: it was not made by `alight record behaviour`")]
    Kind {
        /// What it holds.
        found: String,
    },
    /// An event that cannot be.
    #[error("event {number}: {what}")]
    Event {
        /// Which, from 1.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A fact that the recorder writes is missing.
    #[error("does not say the {0}: it is from another recorder")]
    Fact(&'static str),
    /// Who ran where is known only if nothing is missing.
    #[error("{lost} of {events} events were lost: record again with a larger --ring")]
    Lost {
        /// Lost events.
        lost: u64,
        /// Events that are there.
        events: u64,
    },
    /// The workload failed.
    #[error("the workload failed with exit status {0}: record again with one that ends with 0")]
    Status(i32),
    /// The recorded machine cannot be simulated.
    #[error("the machine of the recording: {0}")]
    Machine(#[from] alight_machine::Error),
    /// The recorded workload cannot be simulated.
    #[error("the workload of the recording: {0}")]
    Workload(String),
}

/// A recording as read.
#[derive(Debug)]
pub struct Recorded {
    /// Where it comes from.
    pub header: Header,
    /// The machine, with its costs.
    pub machine: Machine,
    /// What ran.
    pub workload: Workload,
    /// Its first task.
    pub root: u32,
    /// What that had for `wakee_flips` where it first forked; 0 of recorders that do not say it.
    pub wakee_flips: u32,
    /// What happened.
    pub gathered: Gathered,
    /// Events.
    pub events: u64,
}

/// Reads a recording to its end.
///
/// # Errors
/// It is not whole, lost events, or what ran cannot be simulated.
pub fn read<R: BufRead>(reader: &mut Reader<R>) -> Result<Recorded, RecordingError> {
    let header = reader.header().clone();
    if header.kinds != [KIND] {
        let found = header.kinds.join(", ");
        return Err(RecordingError::Kind { found });
    }
    let machine = header
        .facts
        .get("machine")
        .ok_or(RecordingError::Fact("machine"))?;
    let machine = alight_machine::parse("the recording", machine)?
        .resolve()?
        .machine;
    let workload = workload(&header, &machine)?;
    let nr_cpus = machine.cpus.len() as u32;

    let (mut gathered, mut unpacker) = (Gathered::default(), Unpacker::default());
    let mut events = 0;
    while let Some(record) = reader.next_record()? {
        events += 1;
        let broken = |what| RecordingError::Event {
            number: events,
            what,
        };
        let words = unpacker
            .unpack(record.bytes)
            .map_err(|error| broken(error.to_string()))?;
        let words: [u64; WORDS] =
            (words.try_into()).map_err(|_| broken(format!("{} words", words.len())))?;
        event(&mut gathered, nr_cpus, words).map_err(broken)?;
    }
    let end = reader.end().ok_or(RecordingError::Fact("end"))?;
    let lost = end.lost_events();
    if lost > 0 {
        return Err(RecordingError::Lost { lost, events });
    }
    if let Some(status) = end.status.filter(|status| *status != 0) {
        return Err(RecordingError::Status(status));
    }
    let fact = |name| end.facts.get(name).and_then(|value| value.parse().ok());
    Ok(Recorded {
        header,
        machine,
        workload,
        root: fact("pid").ok_or(RecordingError::Fact("pid of the workload"))?,
        wakee_flips: fact("wakee_flips").unwrap_or(0),
        gathered,
        events,
    })
}

/// What ran: a tool's command line, or the rt-app file that it names.
fn workload(header: &Header, machine: &Machine) -> Result<Workload, RecordingError> {
    let files = header
        .facts
        .iter()
        .find(|(name, _)| name.starts_with("file "));
    let loaded = match files {
        Some((name, text)) => Workload::from_rtapp(&name[5..], text, Mode::Rtapp),
        None => Workload::from_command_line_on(&header.command, &alight_sim::site(machine)),
    };
    let loaded = loaded.map_err(|error| RecordingError::Workload(error.to_string()))?;
    // What releases of rt-app read differently is warned of: the kernel may have run something else.
    let warning = |found: &&Diagnostic| found.severity == Severity::Warning;
    match loaded.diagnostics.iter().find(warning) {
        None => Ok(loaded.workload),
        Some(Diagnostic {
            line,
            column,
            message,
            ..
        }) => Err(RecordingError::Workload(format!(
            "{line}:{column}: {message}"
        ))),
    }
}

/// One `struct behaviour_event`.
struct Written {
    time: u64,
    pid: u32,
    other: u32,
    cpu: u16,
    kind: u8,
    state: u8,
    prio: u16,
    other_prio: u16,
}

impl Written {
    fn of([time, pids, rest]: [u64; WORDS]) -> Self {
        Written {
            time,
            pid: pids as u32,
            other: (pids >> 32) as u32,
            cpu: rest as u16,
            kind: (rest >> 16) as u8,
            state: (rest >> 24) as u8,
            prio: (rest >> 32) as u16,
            other_prio: (rest >> 48) as u16,
        }
    }
}

/// Hands one on.
fn event(to: &mut Gathered, nr_cpus: u32, words: [u64; WORDS]) -> Result<(), String> {
    let Written {
        time,
        pid,
        other,
        cpu,
        kind,
        state,
        prio,
        other_prio,
    } = Written::of(words);
    let cpu = u32::from(cpu);
    let on = |cpu: u32| match cpu < nr_cpus {
        true => Ok(cpu),
        false => Err(format!("CPU {cpu} of a machine with {nr_cpus}")),
    };
    on(cpu)?;
    let task = task(pid, prio);
    let event = match kind {
        0 => Event::Switch {
            prev: task,
            prev_state: state_of(state)?,
            next: self::task(other, other_prio),
        },
        1 => Event::Waking {
            task,
            target_cpu: on(other)?,
        },
        2 => Event::Wakeup {
            task,
            target_cpu: on(other)?,
        },
        3 => Event::WakeupNew {
            task,
            target_cpu: on(other)?,
        },
        4 => Event::Migrate {
            task,
            orig_cpu: on(other_prio.into())?,
            dest_cpu: on(other)?,
        },
        5 => Event::Fork {
            parent: task,
            child: self::task(other, other_prio),
        },
        6 => Event::Exit { task },
        _ => return Err(format!("found the kind {kind}, which is unknown")),
    };
    to.event(time, cpu, event)
        .map_err(|error| error.to_string())
}

fn task(pid: u32, prio: u16) -> TaskRef {
    let prio = if pid == 0 { IDLE_PRIO } else { prio.into() };
    TaskRef { pid, prio }
}

fn state_of(state: u8) -> Result<PrevState, String> {
    Ok(match state {
        0 => PrevState::Running,
        1 => PrevState::Preempted,
        2 => PrevState::Sleeping,
        3 => PrevState::Uninterruptible,
        4 => PrevState::Dead,
        _ => return Err(format!("found the state {state}, which is unknown")),
    })
}

#[cfg(test)]
mod tests;
