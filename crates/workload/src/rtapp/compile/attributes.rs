// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling attributes as instructions (`set_thread_param()`, `set_thread_affinity()` of rt-app.c).

use super::super::model::{Phase, Sched, Task};
use super::thread::Inherited;
use crate::program::{Attributes, Policy};

/// What [`Sched`] changes when `policy` is in effect.
pub(super) fn of_sched(sched: &Sched, policy: Policy) -> Attributes {
    let is_deadline = policy == Policy::Deadline;
    let mut attributes = Attributes::default();
    if !is_deadline {
        attributes.uclamp_min = sched.util_min;
        attributes.uclamp_max = sched.util_max;
    }
    if is_deadline {
        attributes.policy = Some(policy);
        attributes.slice_ns = Some(sched.runtime_ns);
        attributes.dl_period_deadline_ns = Some((sched.period_ns, sched.deadline_ns));
        return attributes;
    }
    let Some(priority) = sched.priority else {
        return attributes;
    };
    attributes.policy = Some(policy);
    match policy {
        Policy::Fifo | Policy::RoundRobin => attributes.rt_priority = Some(priority as u32),
        Policy::Normal | Policy::Batch => {
            attributes.nice = Some(priority);
            attributes.slice_ns = (sched.runtime_ns > 0).then_some(sched.runtime_ns);
        }
        // rt-app sets no nice value for SCHED_IDLE.
        Policy::Idle | Policy::Deadline => {}
    }
    attributes
}

/// CPUs of a phase: its own, else the task's, else those that the thread was created with.
pub(super) fn effective_cpus(
    task: &Task,
    phase: &Phase,
    inherited: &Inherited,
) -> Option<Vec<u32>> {
    let own = phase.cpus.as_ref().or(task.cpus.as_ref());
    own.or(inherited.affinity.as_ref()).cloned()
}

/// Adds an affinity to attributes; `None` is any CPU.
pub(super) fn with_cpus(mut attributes: Attributes, cpus: Option<Vec<u32>>) -> Attributes {
    attributes.lift_affinity = cpus.is_none();
    attributes.affinity = cpus;
    attributes
}
