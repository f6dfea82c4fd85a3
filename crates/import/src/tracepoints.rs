// SPDX-License-Identifier: GPL-2.0-only
//! The tracepoints that are imported, and what each adds to a recording.

use std::collections::BTreeSet;

use alight_recording::workload::{Capability, What};

use crate::decode::InterruptKind;

/// What a tracepoint becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Switch,
    Waking,
    Wakeup,
    WakeupNew,
    Migrate,
    Fork,
    /// A birth too; before it `sched_process_fork` of the same child is none.
    NewTask,
    Exit,
    Yield,
    /// A yield, if the number is that of the system call.
    Call,
    Frequency,
    Idle,
    Hotplug,
    Begin(InterruptKind),
    End(InterruptKind),
}

impl Kind {
    /// What a wakeup that puts a task on the queue of a CPU becomes: that of a new task, or another.
    pub fn queues(self, pid: u32, prio: u16, target_cpu: u16) -> What {
        match self {
            Kind::WakeupNew => What::WakeupNew {
                pid,
                prio,
                target_cpu,
            },
            _ => What::Wakeup {
                pid,
                prio,
                target_cpu,
            },
        }
    }
}

/// A tracepoint that is imported.
#[derive(Debug)]
pub(crate) struct Tracepoint {
    pub name: &'static str,
    pub kind: Kind,
    /// The fields that are read, in this order.
    pub fields: &'static [&'static str],
}

const fn of(name: &'static str, kind: Kind, fields: &'static [&'static str]) -> Tracepoint {
    Tracepoint { name, kind, fields }
}

const WOKEN: &[&str] = &["pid", "prio", "target_cpu", "comm"];

/// All of them.
pub(crate) const ALL: &[Tracepoint] = &[
    of(
        "sched_switch",
        Kind::Switch,
        &[
            "prev_pid",
            "prev_prio",
            "prev_state",
            "next_pid",
            "next_prio",
            "prev_comm",
            "next_comm",
        ],
    ),
    of("sched_waking", Kind::Waking, WOKEN),
    of("sched_wakeup", Kind::Wakeup, WOKEN),
    of("sched_wakeup_new", Kind::WakeupNew, WOKEN),
    of(
        "sched_migrate_task",
        Kind::Migrate,
        &["pid", "prio", "orig_cpu", "dest_cpu", "comm"],
    ),
    of(
        "sched_process_fork",
        Kind::Fork,
        &["parent_pid", "child_pid", "parent_comm", "child_comm"],
    ),
    of("task_newtask", Kind::NewTask, &["pid", "comm"]),
    of("sched_process_exit", Kind::Exit, &["pid", "comm"]),
    of("sys_enter_sched_yield", Kind::Yield, &[]),
    of("sys_enter", Kind::Call, &["id"]),
    of("cpu_frequency", Kind::Frequency, &["state", "cpu_id"]),
    of("cpu_idle", Kind::Idle, &["state", "cpu_id"]),
    of("cpuhp_enter", Kind::Hotplug, &["cpu", "target"]),
    of(
        "irq_handler_entry",
        Kind::Begin(InterruptKind::Device),
        &["irq"],
    ),
    of(
        "irq_handler_exit",
        Kind::End(InterruptKind::Device),
        &["irq"],
    ),
    of(
        "softirq_entry",
        Kind::Begin(InterruptKind::Softirq),
        &["vec"],
    ),
    of("softirq_exit", Kind::End(InterruptKind::Softirq), &["vec"]),
    of(
        "hrtimer_expire_entry",
        Kind::Begin(InterruptKind::Hrtimer),
        &["function"],
    ),
    of(
        "hrtimer_expire_exit",
        Kind::End(InterruptKind::Hrtimer),
        &[],
    ),
    of(
        "timer_expire_entry",
        Kind::Begin(InterruptKind::Timer),
        &["function"],
    ),
    of("timer_expire_exit", Kind::End(InterruptKind::Timer), &[]),
    of(
        "local_timer_entry",
        Kind::Begin(InterruptKind::Hrtimer),
        &[],
    ),
    of("local_timer_exit", Kind::End(InterruptKind::Hrtimer), &[]),
    of(
        "reschedule_entry",
        Kind::Begin(InterruptKind::Ipi),
        &["vector"],
    ),
    of(
        "reschedule_exit",
        Kind::End(InterruptKind::Ipi),
        &["vector"],
    ),
    of(
        "call_function_entry",
        Kind::Begin(InterruptKind::Ipi),
        &["vector"],
    ),
    of(
        "call_function_exit",
        Kind::End(InterruptKind::Ipi),
        &["vector"],
    ),
    of(
        "call_function_single_entry",
        Kind::Begin(InterruptKind::Ipi),
        &["vector"],
    ),
    of(
        "call_function_single_exit",
        Kind::End(InterruptKind::Ipi),
        &["vector"],
    ),
    of("ipi_entry", Kind::Begin(InterruptKind::Ipi), &[]),
    of("ipi_exit", Kind::End(InterruptKind::Ipi), &[]),
];

/// That of this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Tracepoint> {
    ALL.iter().find(|one| one.name == name)
}

/// What these tracepoints tell. Whether they tell the context of wakings depends on the format.
pub(crate) fn told(recorded: &BTreeSet<&str>) -> BTreeSet<Capability> {
    let has = |name: &str| recorded.contains(name);
    let rules = [
        (Capability::Wakings, has("sched_waking")),
        (
            Capability::Interrupts,
            has("irq_handler_entry") && has("hrtimer_expire_entry"),
        ),
        (
            Capability::Yields,
            has("sys_enter_sched_yield") || has("sys_enter"),
        ),
        (
            Capability::Forks,
            has("sched_process_fork") || has("task_newtask"),
        ),
        (Capability::Exits, has("sched_process_exit")),
        (Capability::Frequency, has("cpu_frequency")),
        (Capability::Wakeups, has("sched_wakeup")),
        (Capability::Migrations, has("sched_migrate_task")),
        (Capability::Idle, has("cpu_idle")),
    ];
    (rules.into_iter())
        .filter_map(|(capability, told)| told.then_some(capability))
        .collect()
}
