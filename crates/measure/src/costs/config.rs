// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel's configuration says of its ticks and its clocks.

use alight_machine::HRTICK_SINCE;
use std::path::Path;

/// The kernel's release, as `uname -r` prints it.
pub(super) fn release(root: &Path) -> Option<String> {
    let release = std::fs::read_to_string(root.join("proc/sys/kernel/osrelease")).ok()?;
    Some(release.trim().to_owned())
}

/// The kernel's config, where it can be read.
pub(super) fn config(root: &Path) -> Option<String> {
    let config = root.join("boot").join(format!("config-{}", release(root)?));
    std::fs::read_to_string(config).ok()
}

/// Ticks a second of the running kernel: its coarse clocks advance at each tick, and it says how far
/// (`CLOCK_MONOTONIC_COARSE`, kernel/time/posix-timers.c: `KTIME_LOW_RES`).
pub fn running_hz() -> Option<u32> {
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    let ns = u64::try_from(tick.tv_nsec).ok().filter(|ns| *ns > 0)?;
    // 300 a second are 3333333 ns.
    (tick.tv_sec == 0).then_some(((1_000_000_000 + ns / 2) / ns) as u32)
}

/// Ticks a second, by the kernel's config.
pub(super) fn hz(config: &str) -> Option<u32> {
    let line = config
        .lines()
        .find_map(|line| line.strip_prefix("CONFIG_HZ="));
    line?.parse().ok()
}

/// Is time in interrupts accounted by itself?
pub(super) fn irq_time_accounting(config: &str) -> bool {
    config
        .lines()
        .any(|line| line == "CONFIG_IRQ_TIME_ACCOUNTING=y")
}

/// Whether the HRTICK of this kernel says something of other kernels on this machine: it is not older
/// than [`HRTICK_SINCE`].
pub(crate) fn hrtick_tells(root: &Path) -> bool {
    let two = |release: String| {
        let mut parts = release.split(|it: char| !it.is_ascii_digit());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    release(root)
        .and_then(two)
        .is_some_and(|it: (u32, u32)| it >= HRTICK_SINCE)
}

/// Does the kernel end slices by timers? `None`: it does not say, or it is older than that.
pub(super) fn hrtick(root: &Path) -> Option<bool> {
    let features = std::fs::read_to_string(root.join("sys/kernel/debug/sched/features")).ok()?;
    hrtick_tells(root).then(|| features.split_whitespace().any(|name| name == "HRTICK"))
}
