// SPDX-License-Identifier: GPL-2.0-only
//! What is done to the machine while it runs: when, and that it can be done.

use crate::base::queue::NEVER;
use crate::base::rng::{Purpose, below};
use crate::face::api::Error;
use crate::face::feasible::check_changes;
use crate::layers::Sim;
use crate::power::pressure::Limit;
use alight_machine::{CpuSet, Machine};

/// Something that an administrator or the firmware does to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time of the change, ns from the start of the run.
    pub at_ns: u64,
    /// The change.
    pub action: Action,
}

/// A kind of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// These CPUs go off, one after the other
    /// (`echo 0 > /sys/devices/system/cpu/cpuN/online`).
    Offline(CpuSet),
    /// These CPUs come back.
    Online(CpuSet),
    /// The policies of these CPUs may use up to `khz` from now on;
    /// [`u32::MAX`]: any frequency again.
    Limit {
        /// CPUs; others of their policies are limited with them.
        cpus: CpuSet,
        /// Who does it.
        by: Limit,
        /// Highest frequency, kHz; between two operating points the lower one counts.
        khz: u32,
    },
    /// Mechanism and meters count from here on; the machine does not notice.
    CountAnew,
}

impl Change {
    /// Counts start anew at this time, ns.
    pub fn count_from(at_ns: u64) -> Self {
        Change {
            at_ns,
            action: Action::CountAnew,
        }
    }
}

static NOBODY: CpuSet = CpuSet::new();

impl Action {
    pub(crate) fn cpus(&self) -> &CpuSet {
        match self {
            Action::Offline(cpus) | Action::Online(cpus) | Action::Limit { cpus, .. } => cpus,
            Action::CountAnew => &NOBODY,
        }
    }

    /// Does it change which CPUs there are?
    fn is_hotplug(&self) -> bool {
        matches!(self, Action::Offline(_) | Action::Online(_))
    }
}

/// Shortest and longest pause between two operations of [`hotplug_torture`], ms.
const TORTURE_PAUSE_MS: (u64, u64) = (10, 100);

/// CPUs that go off and come back at random, as LISA's hotplug torture has it:
/// `operations` times some CPU of `cpus` changes, 10 to 100 ms after the one
/// before; never does the last one go. Then all come back.
pub fn hotplug_torture(cpus: usize, operations: u32, seed: u64) -> Vec<Change> {
    let mut online = vec![true; cpus];
    let mut at_ns = 0;
    let mut changes = vec![];
    let (shortest, longest) = TORTURE_PAUSE_MS;
    let pause = |step| {
        let more = below(seed, step, Purpose::HotplugPause, longest - shortest + 1);
        (shortest + more) * 1_000_000
    };
    for step in 0..u64::from(operations) {
        at_ns += pause(step);
        let left = online.iter().filter(|&&on| on).count();
        let choice: Vec<usize> = (0..cpus).filter(|&cpu| left > 1 || !online[cpu]).collect();
        if choice.is_empty() {
            break;
        }
        let drawn = below(seed, step, Purpose::HotplugCpu, choice.len() as u64);
        let cpu = choice[drawn as usize];
        let only = CpuSet::single(cpu);
        let action = match online[cpu] {
            true => Action::Offline(only),
            false => Action::Online(only),
        };
        online[cpu] = !online[cpu];
        changes.push(Change { at_ns, action });
    }
    let gone: CpuSet = (0..cpus).filter(|&cpu| !online[cpu]).collect();
    if !gone.is_empty() {
        at_ns += pause(operations.into());
        let action = Action::Online(gone);
        changes.push(Change { at_ns, action });
    }
    changes
}

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
        if slot < self.freq.len() {
            self.cpufreq_event(slot);
        } else if slot < self.freq.len() + self.agenda.slots() {
            self.change_event();
        } else {
            self.device_event();
        }
    }

    /// Awaits the next change.
    pub fn await_change(&mut self) {
        if self.agenda.slots() != 0 {
            let due = self.agenda.due();
            let slot = self.freq.len();
            self.freq_queue.set(slot, due);
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

#[cfg(test)]
mod tests;
