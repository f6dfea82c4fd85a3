// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling attributes of recorded tasks.

use alight_machine::CpuSet;
use alight_recording::workload::{Policy as Recorded, TaskFact};
use alight_workload::program::{Attributes, Policy};

/// Kernel priority of nice 0.
const NICE_0: i32 = 120;
/// Kernel priority of real-time priority 0.
const RT_0: i32 = 99;

/// The attributes that a fact states. CPUs that the machine has not are left out; `all` are those
/// that it has.
pub(crate) fn stated(fact: &TaskFact, all: &CpuSet) -> Attributes {
    let policy = fact.policy.map(policy);
    let affinity = (fact.affinity.as_deref())
        .and_then(|list| list.parse::<CpuSet>().ok())
        .map(|cpus| cpus.intersection(all))
        .filter(|cpus| !cpus.is_empty() && cpus != all)
        .map(|cpus| cpus.iter().map(|cpu| cpu as u32).collect());
    let deadline = policy == Some(Policy::Deadline);
    Attributes {
        policy,
        nice: fact.nice,
        rt_priority: fact
            .rt_priority
            .filter(|&priority| priority > 0 && is_realtime(policy)),
        affinity,
        lift_affinity: false,
        uclamp_min: fact.uclamp_min.filter(|&clamp| clamp > 0),
        uclamp_max: fact.uclamp_max.filter(|&clamp| clamp < 1024),
        slice_ns: fact.slice_ns.filter(|&slice| slice > 0),
        dl_period_deadline_ns: (fact.dl_period_ns.zip(fact.dl_deadline_ns)).filter(|_| deadline),
        group: fact.cgroup.clone().filter(|path| path != "/"),
    }
}

/// What a task that has the attributes `before` takes on by a call after which it has `after`;
/// `None` if nothing. A call that `states` a policy or a nice value is one, though they hold already.
pub(crate) fn taken_on(
    before: &Attributes,
    after: &Attributes,
    states: bool,
) -> Option<Attributes> {
    let policy = |is: &Attributes| (is.policy, is.nice, is.rt_priority);
    let deadline = |is: &Attributes| (is.slice_ns, is.dl_period_deadline_ns);
    let states = states || policy(before) != policy(after);
    let of_deadline = after.policy == Some(Policy::Deadline) && states;
    let differs = of_deadline || deadline(before) != deadline(after);
    let moved = before.affinity != after.affinity;
    let clamp = |before: Option<u32>, after: Option<u32>, none: u32| {
        (before != after).then(|| after.unwrap_or(none))
    };
    let taken = Attributes {
        policy: after.policy.filter(|_| states),
        nice: after.nice.filter(|_| states),
        rt_priority: after.rt_priority.filter(|_| states),
        affinity: after.affinity.clone().filter(|_| moved),
        lift_affinity: moved && after.affinity.is_none(),
        uclamp_min: clamp(before.uclamp_min, after.uclamp_min, 0),
        uclamp_max: clamp(before.uclamp_max, after.uclamp_max, 1024),
        slice_ns: after.slice_ns.filter(|_| differs),
        dl_period_deadline_ns: after.dl_period_deadline_ns.filter(|_| differs),
        group: (before.group != after.group)
            .then(|| after.group.clone().unwrap_or_else(|| "/".to_owned())),
    };
    (taken != Attributes::default()).then_some(taken)
}

/// The attributes that the kernel's priority of a task says, where nothing states them.
pub(crate) fn of_prio(prio: u16) -> Attributes {
    let prio = i32::from(prio);
    if prio > RT_0 {
        return Attributes {
            nice: Some((prio - NICE_0).clamp(-20, 19)).filter(|&nice| nice != 0),
            ..Attributes::default()
        };
    }
    Attributes {
        policy: Some(Policy::Fifo),
        rt_priority: Some((RT_0 - prio).clamp(1, 99) as u32),
        ..Attributes::default()
    }
}

/// Whether a task is of the fair class, by its last fact or else by what it began with.
pub(crate) fn is_fair(fact: &TaskFact, began: &Attributes) -> bool {
    let last = fact.policy.map(policy).or(began.policy);
    !is_realtime(last) && last != Some(Policy::Deadline)
}

fn is_realtime(policy: Option<Policy>) -> bool {
    matches!(policy, Some(Policy::Fifo | Policy::RoundRobin))
}

fn policy(recorded: Recorded) -> Policy {
    match recorded {
        // Under sched_ext it is the fair class that is asked about.
        Recorded::Normal | Recorded::Ext => Policy::Normal,
        Recorded::Batch => Policy::Batch,
        Recorded::Idle => Policy::Idle,
        Recorded::Fifo => Policy::Fifo,
        Recorded::Rr => Policy::RoundRobin,
        Recorded::Deadline => Policy::Deadline,
    }
}

#[cfg(test)]
mod tests;
