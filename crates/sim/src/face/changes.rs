// SPDX-License-Identifier: GPL-2.0-only
//! Requests to change the machine during a run: hotplug, frequency limits, and the start of
//! counting.

use crate::base::rng::{Purpose, below};
use alight_machine::CpuSet;
/// An action of an administrator or the firmware, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Time of the change, ns from the start of the run.
    pub at_ns: u64,
    /// The change.
    pub action: Action,
}

impl Change {
    /// Restarts the counters at this time, ns.
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
    /// These CPUs go offline, one after the other (`echo 0 > /sys/devices/system/cpu/cpuN/online`).
    Offline(CpuSet),
    /// These CPUs come back online.
    Online(CpuSet),
    /// Limits the cpufreq policies of these CPUs to `khz` from now on.
    Limit {
        /// CPUs; the other CPUs of their policies are limited with them.
        cpus: CpuSet,
        /// The source of the limit.
        by: Limit,
        /// Highest frequency, kHz; between two operating points the lower one counts. [`u32::MAX`]
        /// removes the limit.
        khz: u32,
    },
    /// Mechanism metrics and meters count from here on; the simulated machine is not affected.
    CountAnew,
}

impl Action {
    pub(crate) fn cpus(&self) -> &CpuSet {
        match self {
            Action::Offline(cpus) | Action::Online(cpus) | Action::Limit { cpus, .. } => cpus,
            Action::CountAnew => &NOBODY,
        }
    }

    /// Does it change the set of online CPUs?
    pub(crate) fn is_hotplug(&self) -> bool {
        matches!(self, Action::Offline(_) | Action::Online(_))
    }
}

/// Shortest and longest pause between two operations of [`hotplug_torture`], ms.
pub(crate) const TORTURE_PAUSE_MS: (u64, u64) = (10, 100);

/// Random hotplug, as in LISA's hotplug torture: `operations` times a CPU of `cpus` goes offline or
/// comes back, 10 to 100 ms after the operation before. The last online CPU stays. At the end all
/// come back.
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

/// The source of a frequency limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// An administrator, by `scaling_max_freq`.
    Administrator,
    /// The thermal framework, by a cooling device.
    CoolingDevice,
}

#[cfg(test)]
mod tests;
