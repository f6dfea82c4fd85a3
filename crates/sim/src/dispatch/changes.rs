// SPDX-License-Identifier: GPL-2.0-only
//! Changes of the machine during a run, such as hotplug and limits of frequencies: checked at the
//! start, executed at their times.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::face::api::Error;
use crate::face::changes::{Action, Change};
use crate::face::feasible::check_changes;
use alight_machine::Machine;

/// The changes of a run, earliest first, and the number of the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    changes: Vec<Change>,
    next: usize,
}

impl Agenda {
    /// Sorts the changes by time; those of one instant keep the given order. `end_ns`: when the run
    /// ends, if that is known.
    ///
    /// # Errors
    /// [`check_changes`] refuses a change.
    pub fn new(changes: &[Change], machine: &Machine, end_ns: Option<u64>) -> Result<Self, Error> {
        check_changes(changes, machine, end_ns)?;
        let mut changes = changes.to_vec();
        changes.sort_by_key(|change| change.at_ns);
        Ok(Agenda { changes, next: 0 })
    }

    /// The time of the next change, [`NEVER`] without one.
    fn due(&self) -> u64 {
        (self.changes.get(self.next)).map_or(NEVER, |change| change.at_ns.min(NEVER))
    }

    /// Slots that it needs in the queue of events.
    pub fn slots(&self) -> usize {
        usize::from(!self.changes.is_empty())
    }

    /// Do limits of frequencies change in this run?
    pub fn has_limits(&self) -> bool {
        let limits = |change: &Change| matches!(change.action, Action::Limit { .. });
        self.changes.iter().any(limits)
    }

    /// Do CPUs go offline or come online in this run?
    pub fn has_hotplug(&self) -> bool {
        (self.changes.iter()).any(|change| change.action.is_hotplug())
    }
}

impl Sim<'_> {
    /// An event is due that belongs to no CPU: a change of a frequency, then, in the next slot, a
    /// change of the machine, then a device that is done.
    pub fn machine_event(&mut self, slot: usize) {
        if slot < self.nr_freq_domains() {
            self.cpufreq_event(slot);
        } else if slot < self.nr_freq_domains() + self.agenda.slots() {
            self.change_event();
        } else {
            self.device_event();
        }
    }

    /// Schedules the next change.
    pub fn await_change(&mut self) {
        if self.agenda.slots() != 0 {
            let due = self.agenda.due();
            let slot = self.nr_freq_domains();
            self.await_machine(slot, due);
        }
    }

    /// Executes the changes that are due now.
    fn change_event(&mut self) {
        // A change may make any CPU act.
        (0..self.cpus.len()).for_each(|cpu| self.end_rounds(cpu));
        while self.agenda.due() <= self.now {
            let action = self.agenda.changes[self.agenda.next].action.clone();
            self.agenda.next += 1;
            match action {
                Action::Offline(cpus) => cpus.iter().for_each(|cpu| self.cpu_down(cpu)),
                Action::Online(cpus) => cpus.iter().for_each(|cpu| self.cpu_up(cpu)),
                Action::Limit { cpus, by, khz } => self.limit_frequency(&cpus, by, khz),
                Action::CountAnew => self.count_anew(),
            }
        }
        self.await_change();
    }
}
