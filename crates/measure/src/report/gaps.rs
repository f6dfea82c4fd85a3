// SPDX-License-Identifier: GPL-2.0-only
//! What could not be measured, and why.

use super::idle;
use crate::host::Sibling;
use crate::outcome::Unmeasured;
use crate::rounds::Distance;
use crate::session::Session;
use alight_machine::{Measured, MeasuredCore};
use std::io;
use std::path::Path;

/// Costs that a round measures if it can, with what is missing if it did not.
const COSTS: [(&str, &str); 8] = [
    (
        "wakeup_clock_ns",
        "others wanted the CPU, or the kernel does not count run times (CONFIG_SCHED_INFO); 36 % of \
         wakeup_ns",
    ),
    (
        "pipe_held_ns, pipe_read_held_ns",
        "a task of real-time priority is needed, which only root may start; 26 and 22 % of the calls",
    ),
    (
        "fork_mm_ns",
        "there is no shell, or the kernel does not count run times (CONFIG_SCHED_INFO); 0",
    ),
    ("ipi_send_ns", "a second CPU is needed"),
    (
        "ipi_receive_ns",
        "a second CPU is needed, and a round in which nobody else wants the CPUs",
    ),
    (
        "idle_exit_ns",
        "a round is needed in which nobody else wants the CPUs",
    ),
    (
        "select_ns",
        "a third CPU is needed; it is part of wakeup_ns and ipi_send_ns",
    ),
    ("switch_ns", "two tasks that yield on one CPU do not switch"),
];

/// Adds to `unmeasured` what `session` did not find.
pub(super) fn find(session: &Session, measured: &Measured, unmeasured: &mut Vec<Unmeasured>) {
    let mut add = |what: String, why: &str| unmeasured.push(Unmeasured::new(what, why));
    for name in &session.host.unusable {
        add(
            format!("core type {name}"),
            "none of its CPUs may be used by this program",
        );
    }
    if measured.hz.is_none() {
        add(
            "hz".to_owned(),
            "neither the kernel's configuration nor its clock says it",
        );
    }
    configuration(&session.root, &mut add);
    let cores = measured.cores.iter().zip(&session.host.cores);
    for (number, (core, host)) in cores.enumerate() {
        let of = match session.host.cores.len() {
            1 => String::new(),
            _ => format!(" of {}", host.name),
        };
        costs(core, &of, &session.failed, &mut add);
        if host.sibling == Some(Sibling::Unusable) {
            add(
                format!("smt_percent{of}"),
                "the sibling may not be used by this program",
            );
        }
        exits(session, number, core, &of, &mut add);
    }
    frequencies(session, measured, &mut add);
    lines(session, measured, &mut add);
    let why = "they cannot be told from wakeup_ns and ipi_send_ns, which contain them";
    add("lock_ns, lock_hold_ns, wakelist_ns".to_owned(), why);
    add(
        "scan_local_ns, scan_remote_ns, slow_scan_ns, newidle_ns, newidle_cpu_ns".to_owned(),
        "they are inside the kernel's wakeup and idle paths, where a program cannot time them",
    );
    add(
        "channel_lines".to_owned(),
        "a program cannot tell these lines from others",
    );
    add(
        "powers".to_owned(),
        "no meter is read; see \"Powers\" of the page \"Your machine\"",
    );
}

/// What only the kernel's configuration says.
fn configuration(root: &Path, add: &mut impl FnMut(String, &str)) {
    let text = |file: &str| std::fs::read_to_string(root.join(file));
    let release = text("proc/sys/kernel/osrelease").unwrap_or_default();
    if text(&format!("boot/config-{}", release.trim())).is_err() {
        let why = "there is no /boot/config-RELEASE of this kernel; false";
        add("irq_time_accounting".to_owned(), why);
    }
    if crate::costs::hrtick_tells(root)
        && let Err(error) = text("sys/kernel/debug/sched/features")
    {
        let why = match error.kind() {
            io::ErrorKind::PermissionDenied => {
                "only root may read /sys/kernel/debug/sched/features; the default of this \
                 architecture"
            }
            _ => {
                "there is no /sys/kernel/debug/sched/features: debugfs is not mounted; the default \
                 of this architecture"
            }
        };
        add("hrtick".to_owned(), why);
    }
}

fn costs(
    core: &MeasuredCore,
    of: &str,
    failed: &std::collections::BTreeMap<&'static str, String>,
    add: &mut impl FnMut(String, &str),
) {
    if core.costs.is_empty() {
        let why = failed
            .get("kernel paths")
            .map_or("no round ended", String::as_str);
        add(format!("all kernel paths{of}"), why);
        return;
    }
    for (keys, why) in COSTS {
        let first = keys.split(',').next().unwrap_or(keys);
        if !core.costs.iter().any(|(known, _)| *known == first) {
            add(format!("{keys}{of}"), why);
        }
    }
}

/// Exits of idle states of core type `number`.
fn exits(
    session: &Session,
    number: usize,
    core: &MeasuredCore,
    of: &str,
    add: &mut impl FnMut(String, &str),
) {
    let states = &session.states[number];
    let mut all = |why| add(format!("exits of idle states{of}"), why);
    if states.is_empty() {
        return all(
            "the kernel has no cpuidle: what leaving its one state takes is in idle_exit_ns",
        );
    }
    let Some(base) = idle::base(session, number) else {
        return all("its CPU was not idle: others wanted it, or its counters do not move");
    };
    let why = match session.switched {
        true => "the CPU did not enter it, even with the other states switched off",
        false => "the governor did not choose it, and only root may switch the others off",
    };
    for (at, state) in states.iter().enumerate() {
        let known = core
            .idle_exits
            .iter()
            .any(|(known, _)| *known == state.name);
        // One that takes no time is as its driver says.
        let instant = at <= base && state.latency_us == 0;
        if known || state.off || instant {
            continue;
        }
        let as_stated = "it cannot be told from leaving the idle loop: as the driver says";
        add(
            format!("exit_us of {}{of}", state.name),
            if at == base { as_stated } else { why },
        );
    }
}

fn frequencies(session: &Session, measured: &Measured, add: &mut impl FnMut(String, &str)) {
    let clocked = session.clocks.iter().any(Option::is_some);
    let several = session.host.cores.iter().any(|core| core.khz.len() > 1);
    if !clocked {
        let why = "the kernel has no cpufreq here: there is one clock";
        add("speed by frequency".to_owned(), why);
    } else if !session.held {
        let why = "only root may hold a clock: costs and speeds are those at the clocks that the \
                   governor chose";
        add("speed by frequency".to_owned(), why);
    } else if several && measured.cores.iter().all(|core| core.speed_at.is_empty()) {
        let why = session
            .failed
            .get("frequencies")
            .map_or("no round ended", String::as_str);
        add("speed by frequency".to_owned(), why);
    }
}

fn lines(session: &Session, measured: &Measured, add: &mut impl FnMut(String, &str)) {
    let known = |key: &str| measured.memory.iter().any(|(known, _)| *known == key);
    let failed = session.failed.get("cache lines of other CPUs");
    for (key, distance) in [
        ("llc_line_ns", Distance::Cache),
        ("cross_llc_line_ns", Distance::Node),
        ("cross_node_line_ns", Distance::Machine),
    ] {
        if session.host.pair(distance) && !known(key) {
            add(
                key.to_owned(),
                failed.map_or("no round ended", String::as_str),
            );
        }
    }
    if !known("refill_mlp") {
        let why = "two cores of one last-level cache are needed";
        add("refill_mlp".to_owned(), failed.map_or(why, String::as_str));
    }
}
