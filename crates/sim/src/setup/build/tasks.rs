// SPDX-License-Identifier: GPL-2.0-only
//! The tasks of a run: resolves their attributes and groups.

use super::blank::new_task;
use super::{Builder, START_SPREAD_NS, kernel, refuse};
use crate::base::queue::NEVER;
use crate::base::rng::{Purpose, below};
use crate::base::timeline::NONE;
use crate::face::api::{Cgroup, Error};
use crate::kernel::KERNELS;
use crate::power::uclamp_sum;
use crate::program::activations::log_of;
use crate::queues::classes::default_clamp;
use crate::queues::fair;
use crate::setup::link::Base;
use crate::setup::shell;
use crate::world::asked::{Attributes, DlParams, Realtime};
use crate::world::state::Task;
use alight_policy::Mask;
use alight_policy::abi::class;
use alight_workload::program::{Begins, Policy, TaskSpec, Workload};

/// Shortest and longest period of SCHED_DEADLINE, ns (`sched_dl_period_min`, `_max`, 5.5), and
/// shortest runtime, ns (`DL_SCALE`).
const DL_PERIOD: (u64, u64) = (100_000, 4_194_304_000);
const DL_RUNTIME_MIN: u64 = 1024;

/// Adds the name of the task to a refusal.
pub(super) fn of_task(error: Error, comm: &str) -> Error {
    match error {
        Error::Refused(what) => Error::Refused(format!("{what} (task '{comm}')")),
        other => other,
    }
}

impl Builder<'_> {
    pub(super) fn attributes(
        &mut self,
        workload: &Workload,
        given: &alight_workload::program::Attributes,
    ) -> Result<Attributes, Error> {
        let realtime = match (given.policy, given.rt_priority) {
            (Some(policy @ (Policy::Fifo | Policy::RoundRobin)), priority) => Some(Realtime {
                prio: 99 - priority.unwrap_or(1).clamp(1, 99) as u8,
                round_robin: policy == Policy::RoundRobin,
            }),
            (None, Some(priority)) => {
                return refuse(format!(
                    "workload '{}' gives a task real-time priority {priority} without a policy",
                    workload.name
                ));
            }
            _ => None,
        };
        let class = match given.policy {
            None | Some(Policy::Fifo | Policy::RoundRobin | Policy::Deadline) => None,
            Some(Policy::Normal) => Some(class::NORMAL),
            Some(Policy::Batch) => Some(class::BATCH),
            Some(Policy::Idle) => Some(class::IDLE),
        };
        let deadline = match given.policy {
            Some(Policy::Deadline) => Some(self.deadline(workload, given)?),
            _ => None,
        };
        let affinity = match &given.affinity {
            // Mask 0 has all CPUs.
            None => given.lift_affinity.then_some(0),
            Some(cpus) => Some(self.affinity(workload, cpus)?),
        };
        Ok(Attributes {
            class,
            nice: given.nice.map(|nice| nice.clamp(-20, 19) as i8),
            affinity,
            uclamp_min: given.uclamp_min,
            uclamp_max: given.uclamp_max,
            slice_ns: given.slice_ns.filter(|_| deadline.is_none()),
            realtime,
            deadline,
            group: match &given.group {
                None => None,
                Some(name) => Some(self.group(workload, name)?),
            },
        })
    }

    /// Refuses groups with `uclamp-sum`: it sums over a CPU's own queue only.
    fn refuse_sums(&self, group: &str) -> Result<(), Error> {
        match uclamp_sum::add_up(&self.scenario.scheduler.params) {
            false => Ok(()),
            true => refuse(format!(
                "group '{group}': uclamp-sum is not simulated with task groups: leave out the \
                 groups, or the feature"
            )),
        }
    }

    /// Adds the groups of the scenario.
    pub(super) fn add_groups(&mut self) -> Result<(), Error> {
        let (kernel, groups) = (kernel(self.scenario)?, self.scenario.groups);
        for (nr, group) in groups.iter().enumerate() {
            self.refuse_sums(&group.name)?;
            let refuse = |why: String| refuse(format!("group '{}': {why}", group.name));
            if groups[..nr].iter().any(|other| other.name == group.name) {
                return refuse("it is described twice".into());
            }
            let in_it =
                |a: &alight_workload::program::Attributes| a.group.as_ref() == Some(&group.name);
            let joined = |w: &Workload| {
                w.tasks.iter().any(|task| in_it(&task.attributes)) || w.attributes.iter().any(in_it)
            };
            if !self.scenario.workloads.iter().any(joined) {
                return refuse("it never has a task".into());
            }
            match kernel.task_groups {
                Err(why) => {
                    return refuse(format!(
                        "groups are simulated for {}, not for {}: {why}",
                        group_bases(),
                        kernel.name
                    ));
                }
                Ok(rules) if group.idle && !rules.idle => {
                    return refuse(format!(
                        "{} has no idle groups: cpu.idle came with Linux 5.15",
                        kernel.name
                    ));
                }
                Ok(_) => {}
            }
            self.parts.groups.push(group.clone());
        }
        Ok(())
    }

    /// Index of the task group of that name. It is added if the scenario does not describe it.
    fn group(&mut self, workload: &Workload, name: &str) -> Result<u32, Error> {
        if name == "/" {
            return Ok(NONE);
        }
        self.refuse_sums(name)?;
        let kernel = kernel(self.scenario)?;
        if let Err(why) = kernel.task_groups {
            return refuse(format!(
                "workload '{}' has a task in group '{name}': groups are simulated for {}, not for \
                 {}: {why}",
                workload.name,
                group_bases(),
                kernel.name
            ));
        }
        let groups = &mut self.parts.groups;
        let known = groups.iter().position(|group| group.name == name);
        Ok(known.unwrap_or_else(|| {
            groups.push(Cgroup::new(name));
            groups.len() - 1
        }) as u32)
    }

    /// `__checkparam_dl`.
    fn deadline(
        &self,
        workload: &Workload,
        given: &alight_workload::program::Attributes,
    ) -> Result<DlParams, Error> {
        let kernel = kernel(self.scenario)?;
        if kernel.deadline.is_none() {
            return refuse(format!(
                "workload '{}' has a task of SCHED_DEADLINE, which {} does not have (since Linux \
                 3.14)",
                workload.name, kernel.name
            ));
        }
        let (period, deadline) = given.dl_period_deadline_ns.unwrap_or_default();
        let params = DlParams {
            runtime: given.slice_ns.unwrap_or(0),
            deadline,
            period,
        };
        let (shortest, longest) = DL_PERIOD;
        if params.runtime < DL_RUNTIME_MIN || !(shortest..=longest).contains(&period) {
            return refuse(format!(
                "workload '{}' has a task of SCHED_DEADLINE with runtime {} ns and period {period} \
                 ns; Linux takes runtimes from {DL_RUNTIME_MIN} ns on and periods from {shortest} \
                 to {longest} ns",
                workload.name, params.runtime
            ));
        }
        Ok(params)
    }

    pub(super) fn affinity(&mut self, workload: &Workload, cpus: &[u32]) -> Result<u32, Error> {
        let nr = self.scenario.machine.cpus.len() as u32;
        if let Some(cpu) = cpus.iter().find(|&&cpu| cpu >= nr) {
            return refuse(format!(
                "workload '{}' binds a task to CPU {cpu}; machine '{}' has CPUs 0 to {}",
                workload.name,
                self.scenario.machine.name,
                nr - 1
            ));
        }
        let mask: Mask = cpus.iter().copied().collect();
        let masks = &mut self.parts.masks;
        let known = masks.iter().position(|m| *m == mask);
        Ok(known.unwrap_or_else(|| {
            masks.push(mask);
            masks.len() - 1
        }) as u32)
    }

    /// Adds the tasks of workload `index`, whose programs begin at `entries`.
    pub(super) fn add_tasks(
        &mut self,
        index: usize,
        workload: &Workload,
        base: Base,
        entries: &[u32],
    ) -> Result<(), Error> {
        let seed = self.scenario.seed;
        let nr_cpus = self.scenario.machine.cpus.len() as u64;
        let first_cpu = below(seed, index as u64, Purpose::FirstCpu, nr_cpus) as u32;
        let delay = below(seed, index as u64, Purpose::StartDelay, START_SPREAD_NS);
        let logs: Vec<_> = workload.programs.iter().map(log_of).collect();
        for spec in &workload.tasks {
            let attributes = self
                .attributes(workload, &spec.attributes)
                .map_err(|error| of_task(error, &spec.comm))?;
            let id = self.parts.tasks.len() as u32;
            let cpu = self.first_cpu_of(spec, &attributes, first_cpu);
            let view = self.new_view(spec, &attributes, id, cpu);
            if let Some(slice) = attributes.slice_ns {
                self.parts.slices.push((id, slice));
            }
            if let Some(start) = spec.start_ns {
                self.parts
                    .starts
                    .push((cpu as usize, delay + start.min(NEVER), id));
            }
            let log = logs[spec.program as usize].map(|log| log + base.log);
            self.parts.objects.log_of_task.push(log.unwrap_or(NONE));
            self.parts.comms.push(spec.comm.clone());
            let working_set = spec
                .working_set_bytes
                .unwrap_or(self.scenario.machine.memory.working_set_bytes);
            self.parts.tasks.push(Task {
                nice: attributes.nice.unwrap_or(0),
                workload: index as u32,
                pc: entries[spec.program as usize],
                process: base.task + spec.process,
                affinity: attributes.affinity.unwrap_or(0),
                inv_weight: fair::inverse(view.weight),
                cpu,
                working_set,
                logged: log.is_some(),
                ..new_task()
            });
            self.parts.views.push(view);
            self.parts.own.push(attributes);
        }
        Ok(())
    }

    /// The first CPU of a task: where its recording begins, else that of its workload, if the task
    /// may run there.
    fn first_cpu_of(&self, spec: &TaskSpec, attributes: &Attributes, of_workload: u32) -> u32 {
        let nr_cpus = self.scenario.machine.cpus.len() as u64;
        let mask = &self.parts.masks[attributes.affinity.unwrap_or(0) as usize];
        let begins_on = begins(spec).map(|begins| begins.cpu);
        let there = |&cpu: &u32| u64::from(cpu) < nr_cpus && mask.contains(cpu);
        let mut choice = begins_on.into_iter().chain([of_workload]);
        (choice.find(there)).unwrap_or_else(|| mask.iter().next().unwrap_or(0))
    }

    /// The initial view of a task in the placement core.
    fn new_view(
        &self,
        spec: &TaskSpec,
        attributes: &Attributes,
        id: u32,
        cpu: u32,
    ) -> alight_policy::Task {
        let class = attributes.class.unwrap_or(class::NORMAL);
        let mask = &self.parts.masks[attributes.affinity.unwrap_or(0) as usize];
        alight_policy::Task {
            id,
            weight: fair::weight(class, attributes.nice.unwrap_or(0)),
            class,
            prev_cpu: cpu,
            nr_cpus_allowed: mask.len(),
            wakee_flips: match begins(spec) {
                Some(begins) => begins.wakee_flips,
                None => shell::wakee_flips(self.scenario.wakee_flips, self.scenario.seed),
            },
            uclamp_min: attributes
                .uclamp_min
                .unwrap_or(default_clamp(attributes.realtime.is_some())),
            uclamp_max: attributes.uclamp_max.unwrap_or(1024),
            ..Default::default()
        }
    }
}

/// The recorded beginning of a task, if the task starts by itself.
fn begins(spec: &TaskSpec) -> Option<Begins> {
    spec.begins.filter(|_| spec.start_ns.is_some())
}

/// Bases with task groups.
fn group_bases() -> String {
    let known = KERNELS.iter().filter(|kernel| kernel.task_groups.is_ok());
    known
        .map(|kernel| kernel.name)
        .collect::<Vec<_>>()
        .join(", ")
}
