// SPDX-License-Identifier: GPL-2.0-only
//! What is done to the machine while it runs: when, and that it can be done.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::face::api::Error;
use crate::face::changes::Action;
use crate::face::changes::Change;
use crate::face::feasible::check_changes;
use alight_machine::Machine;

/// What is still to be done, earliest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    changes: Vec<Change>,
    next: usize,
}

impl Agenda {
    /// In order of time; of one instant as they are given. `end_ns`: when the run ends, if
    /// that is known.
    ///
    /// # Errors
    /// What [`check_changes`] refuses.
    pub fn new(changes: &[Change], machine: &Machine, end_ns: Option<u64>) -> Result<Self, Error> {
        check_changes(changes, machine, end_ns)?;
        let mut changes = changes.to_vec();
        changes.sort_by_key(|change| change.at_ns);
        Ok(Agenda { changes, next: 0 })
    }

    /// When something is done next, [`NEVER`] if nothing is.
    fn due(&self) -> u64 {
        (self.changes.get(self.next)).map_or(NEVER, |change| change.at_ns.min(NEVER))
    }

    /// Slots that it needs in the queue of events.
    pub fn slots(&self) -> usize {
        usize::from(!self.changes.is_empty())
    }

    /// Limits of frequencies change in this run.
    pub fn has_limits(&self) -> bool {
        let limits = |change: &Change| matches!(change.action, Action::Limit { .. });
        self.changes.iter().any(limits)
    }

    /// CPUs go and come in this run.
    pub fn has_hotplug(&self) -> bool {
        (self.changes.iter()).any(|change| change.action.is_hotplug())
    }
}

impl Sim<'_> {
    /// Something is due that is not a CPU's own: a change of a frequency, or of
    /// the machine, whose slot is the next; or a device is done.
    pub fn machine_event(&mut self, slot: usize) {
        if slot < self.nr_freq_domains() {
            self.cpufreq_event(slot);
        } else if slot < self.nr_freq_domains() + self.agenda.slots() {
            self.change_event();
        } else {
            self.device_event();
        }
    }

    /// Awaits the next change.
    pub fn await_change(&mut self) {
        if self.agenda.slots() != 0 {
            let due = self.agenda.due();
            let slot = self.nr_freq_domains();
            self.await_machine(slot, due);
        }
    }

    /// Does what is due now.
    fn change_event(&mut self) {
        // What changes may make any CPU act.
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
