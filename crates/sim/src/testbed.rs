// SPDX-License-Identifier: GPL-2.0-only
//! The basis of the mechanisms' tests: a machine so simple that every time can be computed by hand,
//! programs as lists of operations, and a record of which task ran where and when.
//!
//! The invariants are checked after every event, and no queue's `min_vruntime` may go back.

mod machines;
mod passage;
mod record;
mod workloads;

use crate::dispatch::Sim;
use crate::face::api::{Cgroup, Scenario, SystemClamps};
use crate::face::changes::Change;
use crate::face::sysctl::{Sysctl, SysctlName};
use crate::world::Output;
use alight_machine::{Governor, Machine};
use alight_policy::Scheduler;
use alight_trace::Waker;
use alight_workload::program::Workload;
pub(crate) use machines::{big_little, machine};
pub(crate) use record::Record;
pub(crate) use workloads::{Given, child, task, with_channels, workload};

pub(crate) const US: u64 = 1000;
pub(crate) const MS: u64 = 1000 * US;

/// Runs `test` on a run at time 0 with all CPUs idle. The workload starts at 0 instead of a few ms
/// later, on CPU 0 if it may run there.
pub(crate) fn begin<R>(
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    begin_recorded(machine, workload, &mut Record::default(), test)
}

/// As [`begin`], under another base than Linux 5.5.
pub(crate) fn begin_on<R>(
    base: &str,
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = (base, Governor::Performance);
    begin_under(rules, machine, workload, &mut Record::default(), test)
}

/// As [`begin`]; the events go to `record`.
pub(crate) fn begin_recorded<R>(
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = ("linux-5.5", Governor::Performance);
    begin_under(rules, machine, workload, record, test)
}

/// As [`begin_recorded`], under another scheduler and governor.
pub(crate) fn begin_under<R>(
    (scheduler, governor): (&str, Governor),
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    begin_changed(&[], (scheduler, governor), machine, workload, record, test)
}

/// As [`begin_under`], with changes of the machine.
pub(crate) fn begin_changed<R>(
    changes: &[Change],
    (scheduler, governor): (&str, Governor),
    machine: &Machine,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let scheduler = Scheduler::parse(scheduler).expect("a scheduler");
    let scenario = Scenario {
        changes,
        ..plain(machine, workload, &scheduler, governor)
    };
    begin_scenario(&scenario, workload, record, test)
}

/// As [`begin_on`] under the base `base`, with groups and sysctls.
pub(crate) fn begin_grouped<R>(
    (groups, sysctls): (&[Cgroup], &[Sysctl]),
    base: &str,
    machine: &Machine,
    workload: &Workload,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let scheduler = Scheduler::parse(base).expect("a scheduler");
    let scenario = Scenario {
        groups,
        sysctls,
        ..plain(machine, workload, &scheduler, Governor::Performance)
    };
    begin_scenario(&scenario, workload, &mut Record::default(), test)
}

/// As [`begin_on`], with sysctls.
pub(crate) fn with_sysctls(
    machine: &Machine,
    workload: &Workload,
    base: &str,
    sysctls: &[Sysctl],
    test: impl FnOnce(&mut Sim),
) {
    begin_grouped((&[], sysctls), base, machine, workload, test);
}

/// The sysctls that set these clamps of the system.
pub(crate) fn writing(clamps: SystemClamps) -> Vec<Sysctl> {
    let all = [
        (SysctlName::UtilClampMin, clamps.min),
        (SysctlName::UtilClampMax, clamps.max),
        (SysctlName::UtilClampMinRtDefault, clamps.min_rt_default),
    ];
    let changed = all.into_iter().filter(|(_, value)| *value != 1024);
    let write = |(name, value): (_, u32)| Sysctl {
        name,
        value: value.into(),
    };
    changed.map(write).collect()
}

/// A scenario without changes of the machine.
fn plain<'a>(
    machine: &'a Machine,
    workload: &'a Workload,
    scheduler: &'a Scheduler,
    governor: Governor,
) -> Scenario<'a> {
    Scenario {
        governor: Some(governor),
        duration_ns: Some(3600 * 1000 * MS),
        check: true,
        ..Scenario::new(machine, std::slice::from_ref(workload), scheduler)
    }
}

fn begin_scenario<R>(
    scenario: &Scenario<'_>,
    workload: &Workload,
    record: &mut Record,
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let out = Output {
        sink: Some(record),
        error: None,
        waker: Waker::Task,
    };
    match crate::setup::build::build(scenario, out) {
        Ok((mut sim, _)) => {
            start_at_once(&mut sim, workload);
            test(&mut sim)
        }
        Err(error) => panic!("{error}"),
    }
}

/// Removes the random delay and CPU from the start of the tasks.
fn start_at_once(sim: &mut Sim, workload: &Workload) {
    for (task, spec) in (0..).zip(&workload.tasks) {
        let Some(at) = spec.start_ns else { continue };
        let affinity = sim.tasks[task as usize].affinity as usize;
        let first = match spec.begins {
            Some(begins) => begins.cpu,
            None => sim.masks[affinity].iter().next().expect("not empty"),
        };
        let old = sim.tasks[task as usize].cpu as usize;
        let world = sim.world();
        world.cpus[old].timers.remove(&mut world.nodes, task);
        sim.tasks[task as usize].cpu = first;
        sim.tasks[task as usize].timer_point = at;
        sim.views[task as usize].prev_cpu = first;
        let world = sim.world();
        world.cpus[first as usize]
            .timers
            .insert(&mut world.nodes, task, at);
    }
    for cpu in 0..sim.cpus.len() {
        sim.arm(cpu);
    }
}
