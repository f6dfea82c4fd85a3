// SPDX-License-Identifier: GPL-2.0-only
//! The sink that keeps the events of a run.

use std::collections::HashMap;
use std::io;

use alight_trace::{CpuCounter, Event, Signals, Sink, TaskRef};

use crate::events::{Happened, Known, Trace, What, Woken};

/// Keeps what a run tells.
#[derive(Debug)]
pub struct Gather {
    trace: Trace,
    places: HashMap<String, u32>,
}

impl Gather {
    /// For a run of whose tasks and CPUs this is known.
    pub fn new(known: Known) -> Self {
        Gather {
            trace: Trace {
                known,
                ..Trace::default()
            },
            places: HashMap::new(),
        }
    }

    /// The trace of a run that began at 0 and ended at `end_ns`.
    pub fn finish(mut self, end_ns: u64) -> Trace {
        self.trace.window = 0..end_ns;
        self.trace
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = self.trace.texts.len() as u32;
        self.trace.texts.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }

    fn keep(&mut self, time: u64, cpu: u32, what: What) {
        self.trace.events.push(Happened { time, cpu, what });
    }
}

impl Sink for Gather {
    fn wants_signals(&self) -> bool {
        true
    }

    fn signals(&mut self, time_ns: u64, cpu: u32, signals: &Signals) -> io::Result<()> {
        let task = What::Task {
            pid: signals.task.pid,
            util: signals.util_avg,
            load: signals.load_avg,
            enqueued: signals.util_est_enqueued,
            ewma: signals.util_est_ewma,
        };
        self.keep(time_ns, cpu, task);
        let queue = What::Queue {
            util: signals.queue_util_avg,
            load: signals.queue_load_avg,
        };
        self.keep(time_ns, cpu, queue);
        Ok(())
    }

    /// The clocks at the start come with the details.
    fn wants_details(&self) -> bool {
        true
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> io::Result<()> {
        let what = match event {
            Event::Print { text, .. } => What::Print {
                text: self.text(text),
            },
            Event::Decision {
                task,
                prev_cpu,
                cpu,
                step,
                scanned,
            } => What::Decision {
                pid: task.pid,
                prev_cpu,
                chosen: cpu,
                step: self.text(step),
                scanned,
            },
            // The signals have it after every update.
            Event::CpuCounter {
                counter: CpuCounter::UtilAvg,
                ..
            } => return Ok(()),
            other => plain(other),
        };
        self.keep(time_ns, cpu, what);
        Ok(())
    }
}

/// An event without a text.
fn plain(event: Event<'_>) -> What {
    match event {
        Event::Switch {
            prev,
            prev_state,
            next,
        } => What::Switch {
            prev: prev.pid,
            prev_prio: prev.prio,
            state: prev_state.raw(),
            next: next.pid,
            next_prio: next.prio,
        },
        Event::Waking { task, target_cpu } => What::Waking(woken(task, target_cpu)),
        Event::Wakeup { task, target_cpu } => What::Wakeup(woken(task, target_cpu)),
        Event::WakeupNew { task, target_cpu } => What::WakeupNew(woken(task, target_cpu)),
        Event::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => What::Migrate {
            pid: task.pid,
            prio: task.prio,
            from: orig_cpu,
            to: dest_cpu,
        },
        Event::IdleEnter { state } => What::Idle { state: Some(state) },
        Event::IdleExit => What::Idle { state: None },
        Event::Frequency { khz } => What::Frequency { khz },
        Event::Fork { parent, child } => What::Fork {
            parent: parent.pid,
            child: child.pid,
        },
        Event::Exit { task } => What::Exit { pid: task.pid },
        Event::CpuCounter { counter, value } => {
            let value = u32::try_from(value).unwrap_or(u32::MAX);
            match counter {
                CpuCounter::Capacity => What::Capacity { value },
                _ => What::NrRunning { value },
            }
        }
        Event::Print { .. } | Event::Decision { .. } => unreachable!("they have a text"),
    }
}

fn woken(task: TaskRef, target: u32) -> Woken {
    Woken {
        pid: task.pid,
        prio: task.prio,
        target,
    }
}
