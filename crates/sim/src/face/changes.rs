// SPDX-License-Identifier: GPL-2.0-only
//! What is done to the machine while it runs, as it is asked for.

use crate::base::rng::Purpose;
use crate::base::rng::below;
use alight_machine::CpuSet;
/// Something that an administrator or the firmware does to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time of the change, ns from the start of the run.
    pub at_ns: u64,
    /// The change.
    pub action: Action,
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

impl Action {
    pub(crate) fn cpus(&self) -> &CpuSet {
        match self {
            Action::Offline(cpus) | Action::Online(cpus) | Action::Limit { cpus, .. } => cpus,
            Action::CountAnew => &NOBODY,
        }
    }

    /// Does it change which CPUs there are?
    pub(crate) fn is_hotplug(&self) -> bool {
        matches!(self, Action::Offline(_) | Action::Online(_))
    }
}

/// Shortest and longest pause between two operations of [`hotplug_torture`], ms.
pub(crate) const TORTURE_PAUSE_MS: (u64, u64) = (10, 100);

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

/// Who limits a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// An administrator, by `scaling_max_freq`.
    Administrator,
    /// The thermal framework, by a cooling device.
    CoolingDevice,
}

#[cfg(test)]
mod tests;
