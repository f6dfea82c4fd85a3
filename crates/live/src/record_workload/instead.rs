// SPDX-License-Identifier: GPL-2.0-only
//! What to run if the recorder cannot run: other tools, which record less, for `alight import`.

use super::tidy;
use alight_arguments::record::Workload;
use std::fs;

/// Includes the two capabilities below, which were split from it.
const CAP_SYS_ADMIN: u32 = 21;
/// What tracing with BPF needs.
const NEEDED: [(&str, u32); 2] = [("CAP_BPF", 39), ("CAP_PERFMON", 38)];

/// Tracepoints that `perf sched record` leaves out and `alight import` reads.
const BESIDE_SCHED: [&str; 11] = [
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "timer:timer_expire_entry",
    "timer:timer_expire_exit",
    "power:cpu_frequency",
    "power:cpu_idle",
    "syscalls:sys_enter_sched_yield",
];
/// Tracepoints of the scheduler that `perf sched record` leaves out. It takes one of waking and
/// wakeup.
const LEFT_OUT: [&str; 2] = ["sched:sched_wakeup", "sched:sched_process_exit"];
/// Tracepoints of the scheduler.
const SCHED: [&str; 7] = [
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "sched:sched_process_fork",
    "sched:sched_process_exit",
];

/// Which rights this process lacks, in words; `None`: it has what is needed, or its rights are
/// unknown.
/// `status`: text of `/proc/self/status`.
pub fn lacking(status: &str) -> Option<String> {
    let effective = (status.lines())
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())?;
    let has = |capability: u32| effective >> capability & 1 != 0;
    let missing: Vec<&str> = (NEEDED.into_iter())
        .filter(|(_, capability)| !has(*capability) && !has(CAP_SYS_ADMIN))
        .map(|(name, _)| name)
        .collect();
    match missing.is_empty() {
        true => None,
        false => Some(missing.join(" and no ")),
    }
}

/// Whether the kernel keeps even root from reading its memory (lockdown "confidentiality").
pub fn locked_down() -> bool {
    let state = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    state.contains("[confidentiality]")
}

/// The command lines of other tools for what was asked for.
pub fn instead(asked: &Workload) -> String {
    let recording = &asked.recording;
    let seconds = recording.duration.map_or(10, |length| length.as_secs());
    let command = match recording.command.as_slice() {
        [] => format!("sleep {seconds}"),
        words => (words.iter().map(|word| quoted(word)))
            .collect::<Vec<_>>()
            .join(" "),
    };
    let perf_events = events(LEFT_OUT.iter().chain(&BESIDE_SCHED));
    let output = quoted(&recording.output.display().to_string());
    let mut chosen = String::new();
    if let Some(pid) = asked.pid {
        chosen = format!(" --pid {pid}");
    }
    let head = "Record with another tool, as root, and import what it writes:";
    if let Some(path) = &asked.cgroup {
        let path = quoted(&tidy(path));
        // trace-cmd does not know of groups; `perf sched` has no option for them.
        return format!(
            "{head}\n  \
             perf record -a --all-cgroups -k CLOCK_MONOTONIC -o perf.data{} -- {command}\n  \
             alight import perf.data --cgroup {path} -o {output}",
            events(SCHED.iter().chain(&BESIDE_SCHED)),
        );
    }
    format!(
        "{head}\n  \
         perf sched record -k CLOCK_MONOTONIC -o perf.data{perf_events} -- {command}\n  \
         alight import perf.data{chosen} -o {output}\n\
         or:\n  \
         trace-cmd record -C mono -o trace.dat{} {command}\n  \
         alight import trace.dat{chosen} -o {output}",
        events(SCHED.iter().chain(&BESIDE_SCHED)),
    )
}

fn events<'a>(all: impl Iterator<Item = &'a &'a str>) -> String {
    all.map(|event| format!(" -e {event}")).collect()
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests;
