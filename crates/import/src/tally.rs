// SPDX-License-Identifier: GPL-2.0-only
//! Counts what a trace holds, for `alight import --inspect` and for the end of a recording.

use std::collections::{BTreeMap, BTreeSet};

use alight_recording::workload::{Context, What};

/// A CPU's events.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfCpu {
    pub events: u64,
    pub last: u64,
    pub lost: u64,
    /// It went off, so often.
    pub off: u64,
}

/// Counts of one trace.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// By tracepoint: its name, whether it is imported, how many of its events the file holds.
    pub tracepoints: Vec<(String, bool, u64)>,
    /// Times of the first and the last event that can be imported, ns; those of the wanted time or not.
    pub seen: Option<(u64, u64)>,
    /// Times of the first and the last event that is imported, ns.
    pub first: Option<u64>,
    pub last: u64,
    pub cpus: Vec<OfCpu>,
    /// Wakings from tasks on a CPU, on an idle CPU, from interrupts while a task ran, and
    /// of unknown context.
    pub wakings: [u64; 4],
    /// Places where events were lost.
    pub losses: u64,
    /// Events that were lost, as far as they were counted.
    pub lost: BTreeMap<String, u64>,
    /// Events that were older than what was written before them, and by how much at most, ns.
    pub late: u64,
    pub latest_step: u64,
}

impl Tally {
    /// The index of a tracepoint.
    pub fn tracepoint(&mut self, name: &str, used: bool) -> usize {
        if let Some(at) = self
            .tracepoints
            .iter()
            .position(|(known, ..)| known == name)
        {
            return at;
        }
        self.tracepoints.push((name.to_owned(), used, 0));
        self.tracepoints.len() - 1
    }

    /// Names of tracepoints that occur.
    pub fn occurring(&self) -> BTreeSet<&str> {
        (self.tracepoints.iter())
            .filter(|(.., count)| *count > 0)
            .map(|(name, ..)| name.as_str())
            .collect()
    }

    /// Counts an event that is imported.
    pub fn count(&mut self, time: u64, cpu: u16, what: &What) {
        self.first.get_or_insert(time);
        self.last = time;
        if self.cpus.len() <= cpu.into() {
            self.cpus.resize(usize::from(cpu) + 1, OfCpu::default());
        }
        let of_cpu = &mut self.cpus[usize::from(cpu)];
        of_cpu.events += 1;
        of_cpu.last = time;
        match *what {
            What::Waking {
                context, current, ..
            } => {
                let class = match (context, current) {
                    (None, _) => 3,
                    (_, 0) => 1,
                    (Some(Context::Task), _) => 0,
                    (Some(_), _) => 2,
                };
                self.wakings[class] += 1;
            }
            What::Lost { count, .. } => {
                of_cpu.lost += count;
                self.losses += 1;
            }
            What::Hotplug { online: false } => of_cpu.off += 1,
            _ => {}
        }
    }
}
