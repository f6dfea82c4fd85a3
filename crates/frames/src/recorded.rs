// SPDX-License-Identifier: GPL-2.0-only
//! A trace of a recording of a workload.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

use alight_recording::Reader;
use alight_recording::workload::{Capability, Item, NotAWorkload, WorkloadReader};
use alight_recording::workload::{Event, Left, What as Recorded};

use crate::events::{EVENTS, Happened, Known, Trace, What, Woken};

/// Why a file is no trace.
#[derive(Debug, thiserror::Error)]
pub enum NoTrace {
    /// It is no recording of a workload, or not a whole one.
    #[error("{0}: {1}")]
    Recording(String, NotAWorkload),
    /// Its list of capabilities is of another version.
    #[error("{0}: {1}")]
    Capability(String, String),
}

impl Trace {
    /// The trace of a recording of a workload (`.alight`): made by `alight record workload`, by
    /// `alight import` or by `alight simulate --trace`.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or holds something else.
    pub fn open(path: &Path) -> Result<Self, NoTrace> {
        let name = path.display().to_string();
        let refused = |error| NoTrace::Recording(name.clone(), error);
        let reader = Reader::open(path).map_err(|error| refused(error.into()))?;
        let mut reader = WorkloadReader::new(reader).map_err(refused)?;
        let trace = read(&mut reader).map_err(refused)?;
        let end = reader.end().expect("all items are read");
        let told = Capability::listed(end)
            .map_err(|error| NoTrace::Capability(name.clone(), error.to_string()))?;
        Ok(Trace {
            untold: EVENTS
                .into_iter()
                .filter_map(|event| Some((event, untold(event, &told)?)))
                .collect(),
            ..trace
        })
    }
}

fn read<R: BufRead>(reader: &mut WorkloadReader<R>) -> Result<Trace, NotAWorkload> {
    let mut trace = Trace {
        known: Known {
            capacities: (reader.header().cpus.iter())
                .map(|cpu| cpu.capacity)
                .collect(),
            ..Known::default()
        },
        ..Trace::default()
    };
    let mut times: Option<(u64, u64)> = None;
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Task(fact) => {
                if let Some(comm) = fact.comm {
                    trace.known.comms.insert(fact.pid, comm);
                }
            }
            Item::Event(event) => {
                let first = times.map_or(event.time, |(first, _)| first);
                times = Some((first, event.time));
                trace.events.extend(happened(&event));
            }
        }
    }
    let (first, last) = times.unwrap_or_default();
    trace.window = first..last;
    Ok(trace)
}

/// Why a recording that tells `told` has no events of this kind; `None`: it has them.
fn untold(event: &str, told: &BTreeSet<Capability>) -> Option<String> {
    let needed = match event {
        "sched_switch" => return None,
        "sched_waking" => Capability::Wakings,
        "sched_wakeup" => Capability::Wakeups,
        "sched_migrate_task" => Capability::Migrations,
        "sched_process_fork" | "sched_wakeup_new" => Capability::Forks,
        "sched_process_exit" => Capability::Exits,
        "cpu_idle" => Capability::Idle,
        "cpu_frequency" => Capability::Frequency,
        _ => return Some("runs of the model tell it, recordings do not".to_owned()),
    };
    (!told.contains(&needed)).then(|| format!("the recording lacks `{}`", needed.name()))
}

/// An event as tables have it; interrupts and calls are in none.
fn happened(event: &Event) -> Option<Happened> {
    let mut cpu = event.cpu;
    let what = match event.what {
        Recorded::Switch {
            prev,
            prev_prio,
            left,
            next,
            next_prio,
        } => What::Switch {
            prev,
            prev_prio: prev_prio.into(),
            state: state(left),
            next,
            next_prio: next_prio.into(),
        },
        Recorded::Waking {
            pid,
            prio,
            prev_cpu,
            ..
        } => What::Waking(woken(pid, prio, prev_cpu)),
        Recorded::Wakeup {
            pid,
            prio,
            target_cpu,
        } => What::Wakeup(woken(pid, prio, target_cpu)),
        Recorded::WakeupNew {
            pid,
            prio,
            target_cpu,
        } => What::WakeupNew(woken(pid, prio, target_cpu)),
        Recorded::Migrate {
            pid,
            prio,
            from_cpu,
            to_cpu,
        } => What::Migrate {
            pid,
            prio: prio.into(),
            from: from_cpu.into(),
            to: to_cpu.into(),
        },
        Recorded::Fork { parent, child } => What::Fork { parent, child },
        Recorded::Exit { pid } => What::Exit { pid },
        Recorded::Frequency { of_cpu, khz } => {
            cpu = of_cpu;
            What::Frequency { khz }
        }
        Recorded::Idle { state } => What::Idle { state },
        _ => return None,
    };
    Some(Happened {
        time: event.time,
        cpu: cpu.into(),
        what,
    })
}

fn woken(pid: u32, prio: u16, target: u16) -> Woken {
    Woken {
        pid,
        prio: prio.into(),
        target: target.into(),
    }
}

/// The number in the tracepoint's field `prev_state` since Linux 4.14.
fn state(left: Left) -> u32 {
    match left {
        Left::Runnable => 0,
        Left::Asleep => 0x1,
        Left::Blocked => 0x2,
        Left::Dead => 0x10,
        Left::Preempted => 0x100,
    }
}

#[cfg(test)]
mod tests;
