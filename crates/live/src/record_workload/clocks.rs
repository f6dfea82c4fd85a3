// SPDX-License-Identifier: GPL-2.0-only
//! The clocks of the CPUs at the start of a recording: `cpu_frequency` reports only changes.

use std::fs;
use std::path::Path;

/// Where Linux shows its CPUs.
pub const CPUS: &str = "/sys/devices/system/cpu";

/// The present clock of each CPU that has cpufreq, kHz. `cpus`: [`CPUS`], or another one in tests.
pub fn clocks(cpus: &Path) -> Vec<(u16, u32)> {
    let clock = |cpu: u16| {
        let file = cpus.join(format!("cpu{cpu}/cpufreq/scaling_cur_freq"));
        // A driver that cannot say says "<unknown>".
        Some((cpu, fs::read_to_string(file).ok()?.trim().parse().ok()?))
    };
    let present = |cpu: &u16| cpus.join(format!("cpu{cpu}")).exists();
    (0..u16::MAX)
        .take_while(present)
        .filter_map(clock)
        .collect()
}

#[cfg(test)]
mod tests;
