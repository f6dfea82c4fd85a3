// SPDX-License-Identifier: GPL-2.0-only
//! What was found in a trace, in words.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use alight_recording::workload::Capability;

use crate::Error;
use crate::names::Names;
use crate::options::Options;
use crate::origin::Origin;
use crate::tally::Tally;
use crate::tasks::Tasks;

/// What was found in a trace.
#[derive(Debug)]
pub struct Report {
    origin: Origin,
    tally: Tally,
    tasks: Tasks,
    names: Names,
    told: BTreeSet<Capability>,
    options: Options,
}

/// What to record with, where nothing useful was.
const RECORD: &str = "record with `perf sched record`, or with `trace-cmd record -e sched -e irq -e \
                      timer -e power`";

impl Report {
    pub(crate) fn new(
        origin: Origin,
        tally: Tally,
        (tasks, names): (Tasks, Names),
        told: BTreeSet<Capability>,
        options: &Options,
    ) -> Self {
        Report {
            origin,
            tally,
            tasks,
            names,
            told,
            options: options.clone(),
        }
    }

    /// Events that are imported.
    pub fn events(&self) -> u64 {
        self.tally.cpus.iter().map(|cpu| cpu.events).sum()
    }

    /// Events of the tracepoint of this name that the file holds.
    pub fn of_tracepoint(&self, name: &str) -> u64 {
        let found = self
            .tally
            .tracepoints
            .iter()
            .find(|(known, ..)| known == name);
        found.map_or(0, |(.., count)| *count)
    }

    /// Names of the tracepoints of which the file holds events.
    pub fn tracepoints(&self) -> impl Iterator<Item = &str> {
        let occurring = self
            .tally
            .tracepoints
            .iter()
            .filter(|(.., count)| *count > 0);
        occurring.map(|(name, ..)| name.as_str())
    }

    /// What the trace tells.
    pub fn told(&self) -> &BTreeSet<Capability> {
        &self.told
    }

    /// Events that were lost, by cause: `ring_full`, `overwritten`, and `out_of_order`, which are
    /// older than events that stood before them.
    pub fn lost(&self) -> BTreeMap<String, u64> {
        let mut lost = self.tally.lost.clone();
        if self.tally.late > 0 {
            lost.insert("out_of_order".into(), self.tally.late);
        }
        lost
    }

    /// Whether there is something to import, and all that was asked for.
    ///
    /// # Errors
    /// There is not; the message says what there is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let asked = |what: String| Err(Error::Asked(what));
        if self.tally.seen.is_none() {
            return asked(format!("holds no event that is imported: {RECORD}"));
        }
        if self.of_tracepoint("sched_switch") == 0 {
            return asked(format!(
                "holds no sched_switch, so nobody knows which task ran: {RECORD}"
            ));
        }
        if self.events() == 0 {
            let (first, last) = self.tally.seen.unwrap_or_default();
            return asked(format!(
                "holds no event in the wanted time: its events are of @{} to @{}",
                words::seconds(first),
                words::seconds(last)
            ));
        }
        let Options { pids, cgroups, .. } = &self.options;
        if !cgroups.is_empty() && !self.told.contains(&Capability::Cgroups) {
            return asked(
                "does not say the groups of tasks: choose by --pid, or record with `perf record \
                 --all-cgroups`"
                    .into(),
            );
        }
        if pids.is_empty() && !cgroups.is_empty() && self.tasks.chosen() == 0 {
            return asked(format!(
                "holds no task of the cgroups that were asked for; it holds tasks of {}",
                self.tasks.groups().join(", ")
            ));
        }
        if (pids.len(), cgroups.len()) != (0, 0) && self.tasks.chosen() == 0 {
            return asked(format!(
                "holds no task that was asked for; the busiest of those that it holds: {}",
                words::named(&self.tasks.busiest(10, &self.names, &self.origin), ", ")
            ));
        }
        Ok(())
    }
}
