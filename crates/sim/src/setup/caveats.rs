// SPDX-License-Identifier: GPL-2.0-only
//! Caveats: things that a run uses but the model, or the kernel that it stands for, lacks. Reports
//! print them, since their results would be misleading otherwise.

use std::collections::BTreeSet;

use alight_machine::{Cpu, Governor, IdleScope, ItmtDriver};
use alight_policy::Scheduler;
use alight_workload::program::{Attributes, Op, Policy, Workload};

use crate::face::api::Scenario;
use crate::face::changes::{Action, Change};
use crate::face::sysctl::SysctlName;
use crate::kernel::{Clamps, Domains, Fair, Hybrids, Judged, Kernel, Throttle};

/// The runs that a report is about.
struct Subject<'a> {
    /// The scenario; its scheduler does not matter.
    scenario: Scenario<'a>,
    /// The schedulers, each in its own runs.
    schedulers: &'a [Scheduler],
}

/// A rule tests one thing that a run may need; `None`: the run does not need it, or the model has
/// it.
type Rule = fn(&Subject<'_>) -> Option<String>;

/// The rules, in the order in which they are reported.
const RULES: [Rule; 20] = [
    siblings_without_a_share,
    borrowed_schedutil,
    energy_model_without_powers,
    unlike_cpus_of_3_9,
    domain_states_before_5_6,
    clusters_before_5_16,
    asymmetric_packing,
    capacities_of_a_hybrid,
    numa_balancing,
    one_processor,
    hotplug_takes_time,
    slices_before_6_12,
    clamps_before_5_3,
    rt_limit_without_throttling,
    rt_beside_deadline,
    nice_reschedules,
    memory_bandwidth,
    devices,
    devices_of_a_replay,
    what_the_reader_left_out,
];

/// Sentences to print with the results of this scenario under each of `schedulers`; empty if
/// nothing is known to be missing.
pub fn caveats(scenario: &Scenario<'_>, schedulers: &[Scheduler]) -> Vec<String> {
    let scenario = *scenario;
    let subject = Subject {
        scenario,
        schedulers,
    };
    RULES.iter().filter_map(|rule| rule(&subject)).collect()
}

impl Subject<'_> {
    /// Names of the bases for which `is` holds, each once, such as `linux-3.9 and linux-5.4`.
    fn bases(&self, is: impl Fn(&Kernel, &Scheduler) -> bool) -> Option<String> {
        let mut names: Vec<&str> = vec![];
        for scheduler in self.schedulers {
            let kernel = Kernel::of(scheduler);
            if let Some(kernel) = kernel.filter(|kernel| is(kernel, scheduler))
                && !names.contains(&kernel.name)
            {
                names.push(kernel.name);
            }
        }
        (!names.is_empty()).then(|| names.join(" and "))
    }

    /// Attributes of the tasks, at their start and later.
    fn attributes(&self) -> impl Iterator<Item = &Attributes> {
        self.scenario.workloads.iter().flat_map(|workload| {
            let at_start = workload.tasks.iter().map(|task| &task.attributes);
            at_start.chain(&workload.attributes)
        })
    }

    fn does(&self, is: impl Fn(&Op) -> bool) -> bool {
        let programs = self.scenario.workloads.iter().flat_map(|w| &w.programs);
        programs.flat_map(|program| &program.ops).any(is)
    }

    fn has_asymmetry(&self) -> bool {
        let cpus = &self.scenario.machine.cpus;
        (cpus.iter()).any(|cpu| cpu.capacity_orig != cpus[0].capacity_orig)
    }

    fn has_level(&self, name: &str) -> bool {
        self.scenario
            .machine
            .levels
            .iter()
            .any(|level| level.name == name)
    }
}

fn said(applies: bool, sentence: &str) -> Option<String> {
    applies.then(|| sentence.to_owned())
}

fn siblings_without_a_share(subject: &Subject<'_>) -> Option<String> {
    let machine = subject.scenario.machine;
    // CPUs that other threads do not slow, and their cores.
    let free =
        (machine.cpus.iter()).filter(|cpu| machine.core_types[cpu.core_type].smt_percent == 100);
    let cores: BTreeSet<_> = free.clone().map(|cpu| cpu.core).collect();
    said(
        cores.len() < free.count() && !machine.one_processor,
        "threads of a core do not slow each other: the machine file gives them no smt_percent below 100",
    )
}

/// drivers/cpufreq/cpufreq_schedutil.c, later kernel/sched/cpufreq_schedutil.c, came with 4.7.
fn borrowed_schedutil(subject: &Subject<'_>) -> Option<String> {
    let choice = (subject.scenario.machine.freq_domains.iter()).any(|domain| domain.opps.len() > 1);
    if subject.scenario.governor_in_force() != Governor::Schedutil || !choice {
        return None;
    }
    let bases = subject.bases(|kernel, _| kernel.schedutil.borrowed)?;
    Some(format!(
        "schedutil came with Linux 4.7: {bases} had ondemand and conservative, which are not \
         modelled; this run uses the schedutil of 5.4 (governors that {bases} had: --governor \
         performance, powersave and userspace:KHZ)"
    ))
}

fn energy_model_without_powers(subject: &Subject<'_>) -> Option<String> {
    let mut opps = (subject.scenario.machine.freq_domains.iter()).flat_map(|domain| &domain.opps);
    let asks = subject.schedulers.is_empty()
        || (subject.bases(|kernel, _| kernel.energy_aware.is_some())).is_some();
    said(
        subject.scenario.governor_in_force() == Governor::Schedutil
            && asks
            && subject.has_asymmetry()
            && opps.any(|opp| opp.em_power_uw == 0),
        "energy-aware placement is off: some operating point of the machine file has no power",
    )
}

/// arch/arm/kernel/topology.c of 3.9: `table_efficiency` has the Cortex-A15 and A7.
fn unlike_cpus_of_3_9(subject: &Subject<'_>) -> Option<String> {
    let known = |name: &str| {
        let rest = ["Cortex-A15", "Cortex-A7"].map(|core| name.strip_prefix(core));
        let whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
        rest.into_iter().flatten().any(whole)
    };
    let others = (subject.scenario.machine.core_types.iter()).any(|core| !known(&core.name));
    if !subject.has_asymmetry() || !others {
        return None;
    }
    let bases = subject.bases(|kernel, _| kernel.energy_aware.is_none())?;
    Some(format!(
        "{bases} knew only the capacities of Cortex-A15 and A7 (arch/arm/kernel/topology.c) and \
         took other CPUs for equal; here it knows the capacities of this machine's CPUs"
    ))
}

/// drivers/cpuidle/cpuidle-psci-domain.c came with 5.6.
fn domain_states_before_5_6(subject: &Subject<'_>) -> Option<String> {
    let mut states =
        (subject.scenario.machine.core_types.iter()).flat_map(|core| &core.idle_states);
    if !states.any(|state| state.scope == IdleScope::Domain) {
        return None;
    }
    let bases = subject.bases(|kernel, _| kernel.idle.domains == Domains::Nobody)?;
    Some(format!(
        "idle states of whole domains came with Linux 5.6: under {bases} those of this machine are never entered"
    ))
}

/// `CONFIG_SCHED_CLUSTER` came with 5.16.
fn clusters_before_5_16(subject: &Subject<'_>) -> Option<String> {
    if !subject.has_level("CLS") {
        return None;
    }
    let bases = subject.bases(|_, scheduler| scheduler.params.cluster_level == 0)?;
    Some(format!(
        "clusters became a level of the topology with Linux 5.16: {bases} does not know those of this machine"
    ))
}

/// `SD_ASYM_PACKING`, arch/x86/kernel/itmt.c, came with 4.10. Machines with SMT and unlike cores
/// are x86.
fn asymmetric_packing(subject: &Subject<'_>) -> Option<String> {
    let machine = subject.scenario.machine;
    let cores: BTreeSet<_> = machine.cpus.iter().map(|cpu| cpu.core).collect();
    let hybrid = machine.core_types.len() > 1 && cores.len() < machine.cpus.len();
    match &machine.itmt {
        None => said(
            hybrid,
            "asymmetric packing: x86 kernels pull tasks to the cores that the firmware ranks first \
             (ITMT), but the machine file has no [itmt] with their priorities",
        ),
        Some(itmt) if itmt.driver == ItmtDriver::IntelPstate => {
            let bases = subject.bases(|kernel, _| {
                kernel.balance.itmt.is_none() && kernel.balance.judged != Judged::Index
            })?;
            Some(format!(
                "asymmetric packing: {bases} pulled tasks to the cores that the firmware ranks first \
                 (ITMT); this is modelled from linux-5.10 on"
            ))
        }
        Some(_) => None,
    }
}

/// drivers/cpufreq/intel_pstate.c, `hybrid_init_cpu_capacity_scaling`: a file captured on a kernel
/// before 6.12 lacks the capacities that later kernels see.
fn capacities_of_a_hybrid(subject: &Subject<'_>) -> Option<String> {
    let machine = subject.scenario.machine;
    let intel = (machine.itmt.as_ref()).is_some_and(|i| i.driver == ItmtDriver::IntelPstate);
    let threads = (machine.levels.iter()).any(|level| level.name == "SMT");
    let speeds: BTreeSet<_> = machine.cpus.iter().map(Cpu::speed).collect();
    if !intel || threads || speeds.len() < 2 || subject.has_asymmetry() {
        return None;
    }
    let bases = subject.bases(|kernel, _| {
        (kernel.balance.itmt).is_some_and(|itmt| itmt.hybrids != Hybrids::Alike)
    })?;
    Some(format!(
        "capacities of a hybrid without SMT: {bases} sees unlike ones, but the machine file has 1024 \
         for all, as kernels before 6.12 show"
    ))
}

fn numa_balancing(subject: &Subject<'_>) -> Option<String> {
    said(
        subject
            .scenario
            .machine
            .cpus
            .iter()
            .any(|cpu| cpu.node != 0),
        "NUMA balancing, and the node of memory: no task is moved to its memory",
    )
}

fn one_processor(subject: &Subject<'_>) -> Option<String> {
    said(
        subject.scenario.machine.one_processor,
        "time that a hypervisor takes: the CPUs share their one processor equally, whatever the \
         host schedules",
    )
}

fn hotplug_takes_time(subject: &Subject<'_>) -> Option<String> {
    let moves = |change: &Change| matches!(change.action, Action::Offline(_) | Action::Online(_));
    said(
        subject.scenario.changes.iter().any(moves),
        "the time of a hotplug: it takes milliseconds in a kernel and none here",
    )
}

fn slices_before_6_12(subject: &Subject<'_>) -> Option<String> {
    let mut attributes = subject.attributes();
    if !attributes.any(|a| a.slice_ns.is_some() && a.policy != Some(Policy::Deadline)) {
        return None;
    }
    let bases = subject.bases(|kernel, _| match &kernel.fair {
        Fair::Cfs(_) => true,
        Fair::Eevdf(rules) => rules.custom_slice_ns.is_none(),
    })?;
    Some(format!(
        "slices that tasks ask for came with Linux 6.12: they have no effect in {bases}"
    ))
}

fn clamps_before_5_3(subject: &Subject<'_>) -> Option<String> {
    let asks = |a: &Attributes| a.uclamp_min.is_some() || a.uclamp_max.is_some();
    if !subject.attributes().any(asks) {
        return None;
    }
    let bases = subject.bases(|kernel, _| kernel.clamps == Clamps::Unknown)?;
    Some(format!(
        "clamps of utilization came with Linux 5.3: they have no effect in {bases}"
    ))
}

/// With the fair server the limit only affects admission (kernel/sched/rt.c and deadline.c of
/// 6.12).
fn rt_limit_without_throttling(subject: &Subject<'_>) -> Option<String> {
    let limits = [SysctlName::RtRuntimeUs, SysctlName::RtPeriodUs];
    let given = subject
        .scenario
        .sysctls
        .iter()
        .find(|given| limits.contains(&given.name))?;
    let admits = subject
        .attributes()
        .any(|a| a.policy == Some(Policy::Deadline));
    let bases = subject.bases(|kernel, _| !admits && kernel.rt.throttle == Throttle::None)?;
    Some(format!(
        "{} limits only the admission to SCHED_DEADLINE in {bases} (since Linux 6.12), and no \
         task is of that class: it has no effect",
        given.name.as_str()
    ))
}

/// `CPUPRI_HIGHER` came with 5.11.
fn rt_beside_deadline(subject: &Subject<'_>) -> Option<String> {
    let has = |policies: &[Policy]| {
        let mut of_tasks = subject.attributes().filter_map(|a| a.policy);
        of_tasks.any(|policy| policies.contains(&policy))
    };
    if !has(&[Policy::Deadline]) || !has(&[Policy::Fifo, Policy::RoundRobin]) {
        return None;
    }
    let bases = subject.bases(|kernel, _| kernel.rt.throttle == Throttle::Shared)?;
    Some(format!(
        "{bases} also pushed real-time tasks to CPUs that run deadline tasks (up to Linux 5.10); \
         the model does not"
    ))
}

/// `set_user_nice` triggers a new pick (`p->sched_class->prio_changed`).
fn nice_reschedules(subject: &Subject<'_>) -> Option<String> {
    said(
        subject.scenario.workloads.iter().any(changes_nice),
        "a change of nice does not reschedule by itself: it counts from the next tick or wakeup on",
    )
}

/// Does some task change its initial nice value?
fn changes_nice(workload: &Workload) -> bool {
    let nice_of = |op: &Op| match op {
        Op::SetAttributes { attributes } => vec![*attributes],
        Op::SetAttributesUntil { before, after, .. } => vec![*before, *after],
        _ => vec![],
    };
    workload.tasks.iter().any(|task| {
        let first = task.attributes.nice.unwrap_or(0);
        let ops = &workload.programs[task.program as usize].ops;
        let set = ops.iter().flat_map(nice_of);
        let mut nice = set.filter_map(|at| workload.attributes[at as usize].nice);
        nice.any(|nice| nice != first)
    })
}

fn memory_bandwidth(subject: &Subject<'_>) -> Option<String> {
    said(
        subject.does(|op| matches!(op, Op::Memory { .. } | Op::Chase { .. })),
        "bandwidth of memory: tasks that access memory at the same time do not slow each other",
    )
}

fn devices(subject: &Subject<'_>) -> Option<String> {
    said(
        subject.does(|op| matches!(op, Op::Io { .. })),
        "devices: a write to one (`iorun`) completes at once, and the clock is not raised for a \
         task that waits for it",
    )
}

fn devices_of_a_replay(subject: &Subject<'_>) -> Option<String> {
    said(
        subject.does(|op| matches!(op, Op::Complete { .. })),
        "devices: each takes as long as was recorded, however many wait for it; the clock is not \
         raised for a task that waits for one, and idle governors do not count such tasks",
    )
}

/// Requests of a workload that its reader could not compile.
fn what_the_reader_left_out(subject: &Subject<'_>) -> Option<String> {
    let sentences = (subject.scenario.workloads.iter()).flat_map(|workload| &workload.left_out);
    let sentences: BTreeSet<&str> = sentences.map(String::as_str).collect();
    let sentences: Vec<&str> = sentences.into_iter().collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

#[cfg(test)]
mod tests;
