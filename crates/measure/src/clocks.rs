// SPDX-License-Identifier: GPL-2.0-only
//! Clocks that are held at one frequency for a while (cpufreq; root alone may).

use crate::changes::Changes;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The clock of a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clock {
    folder: PathBuf,
    lowest: u64,
    /// The highest frequency, kHz.
    pub highest: u64,
}

impl Clock {
    /// That of `cpu`; `None`: the kernel has no cpufreq for it.
    pub fn of(root: &Path, cpu: usize) -> Option<Self> {
        let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq"));
        let khz = |name: &str| {
            let text = fs::read_to_string(folder.join(name)).ok()?;
            text.trim().parse().ok()
        };
        Some(Self {
            lowest: khz("cpuinfo_min_freq")?,
            highest: khz("cpuinfo_max_freq")?,
            folder,
        })
    }

    /// Holds it at `khz`: the limits meet there, whatever they were.
    ///
    /// # Errors
    /// This user may not, or the driver cannot.
    pub fn hold(&self, khz: u64, changes: &mut Changes) -> io::Result<()> {
        let [least, most] = ["scaling_min_freq", "scaling_max_freq"].map(|f| self.folder.join(f));
        let mark = changes.mark();
        // The lower limit first out of the way: it may not be above the upper one.
        let held = (changes.set(&least, &self.lowest.to_string()))
            .and_then(|()| changes.set(&most, &khz.to_string()))
            .and_then(|()| changes.set(&least, &khz.to_string()));
        if held.is_err() {
            changes.back_to(mark);
        }
        held
    }
}

#[cfg(test)]
mod tests;
