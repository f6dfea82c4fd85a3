// SPDX-License-Identifier: GPL-2.0-only
//! Builds a run: the machine's views, the programs of all workloads in one address space, their
//! tasks, and the initial state.

mod blank;
mod machine;
mod objects;
mod state;
mod tasks;

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::face::api::{Cgroup, Error, Scenario};
use crate::kernel::{KERNELS, Kernel};
use crate::observe::results::MeasureSpec;
use crate::program::Objects;
use crate::setup::link::{Base, check, relocate, relocate_source};
use crate::world::Output;
use crate::world::asked::Attributes;
use crate::world::state::{Task, WorkloadState};
use crate::world::waits::Mutex;
use alight_policy::Mask;
use alight_workload::program::{Calibration, Label, LatenessId, Op, Program, Workload};
use tasks::of_task;

/// Longest delay of a workload's start, ns: a few ticks, so that runs differ in their phase to the
/// tick and the balancer.
const START_SPREAD_NS: u64 = 10_000_000;

/// Longest run, ns: 52 days. Later times mean that nothing happens.
const LONGEST_NS: u64 = NEVER - 2;

fn refuse<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Refused(what.into()))
}

/// `comm` of the first task that adopts entry `at` of its workload's attributes while it runs.
fn takes_on(workload: &Workload, at: usize) -> Option<&str> {
    let takes = |op: &Op| match *op {
        Op::SetAttributes { attributes } => attributes as usize == at,
        Op::SetAttributesUntil { before, after, .. } => {
            before as usize == at || after as usize == at
        }
        _ => false,
    };
    let mut tasks = workload.tasks.iter();
    let task = tasks.find(|task| {
        let program = &workload.programs[task.program as usize];
        program.ops.iter().any(takes)
    })?;
    Some(&task.comm)
}

/// The parts of a run while it is built.
#[derive(Default)]
struct Parts {
    objects: Objects,
    ops: Vec<Op>,
    tasks: Vec<Task>,
    views: Vec<alight_policy::Task>,
    comms: Vec<String>,
    masks: Vec<Mask>,
    workloads: Vec<WorkloadState>,
    mutexes: Vec<Mutex>,
    measures: Vec<MeasureSpec>,
    /// Initial attributes of each task.
    own: Vec<Attributes>,
    groups: Vec<Cgroup>,
    /// (CPU, time, task) of tasks that start by themselves.
    starts: Vec<(usize, u64, u32)>,
    /// Tasks with a custom slice, and the slice, ns.
    slices: Vec<(u32, u64)>,
}

impl Parts {
    /// With room for so many tasks, so that no vector of tasks grows by doubling.
    fn for_tasks(tasks: usize) -> Self {
        let mut parts = Parts {
            tasks: Vec::with_capacity(tasks),
            views: Vec::with_capacity(tasks),
            comms: Vec::with_capacity(tasks),
            own: Vec::with_capacity(tasks),
            ..Parts::default()
        };
        parts.objects.log_of_task.reserve_exact(tasks);
        parts
    }
}

struct Builder<'a> {
    scenario: &'a Scenario<'a>,
    parts: Parts,
}

/// Builds a run that is ready to start, and the list of measurements to report.
pub(crate) fn build<'a>(
    scenario: &'a Scenario<'a>,
    out: Output<'a>,
) -> Result<(Sim<'a>, Vec<MeasureSpec>), Error> {
    let machine = scenario.machine;
    machine::check(machine)?;
    if scenario.workloads.is_empty() {
        return refuse("no workload is given");
    }
    let mut builder = Builder {
        scenario,
        parts: Parts::for_tasks(scenario.workloads.iter().map(|it| it.tasks.len()).sum()),
    };
    builder
        .parts
        .masks
        .push((0..machine.cpus.len() as u32).collect());
    builder.add_groups()?;
    for (i, workload) in scenario.workloads.iter().enumerate() {
        builder.add(i, workload)?;
    }
    let ends_by = builder.ends_by()?;
    builder.finish(ends_by, out)
}

impl<'a> Builder<'a> {
    /// End of the run regardless of the workloads, ns.
    fn ends_by(&self) -> Result<u64, Error> {
        match self.scenario.duration_ns {
            Some(0) => return refuse("a duration of 0 simulates nothing"),
            Some(duration) if duration > LONGEST_NS => {
                return refuse(format!(
                    "a duration of {duration} ns is too long to simulate; the longest is \
                     {LONGEST_NS} ns"
                ));
            }
            Some(duration) => return Ok(duration),
            None => {}
        }
        for workload in self.scenario.workloads {
            if self.goes_along(workload) {
                continue;
            }
            if workload.duration_ns.is_none() && runs_for_ever(workload) {
                let add = match workload.missing_limit {
                    Some(option) => format!(", or add {option} to it"),
                    None => String::new(),
                };
                return refuse(format!(
                    "workload '{}' never ends; give the run a --duration{add}",
                    workload.name
                ));
            }
            if let Some(duration) = workload.duration_ns.filter(|ns| *ns > LONGEST_NS) {
                return refuse(format!(
                    "workload '{}' takes {duration} ns, which is too long to simulate; give the \
                     run a --duration of at most {LONGEST_NS} ns",
                    workload.name
                ));
            }
        }
        Ok(NEVER - 1)
    }

    /// Does the run end without waiting for `workload`? A background workload alone is waited for.
    fn goes_along(&self, workload: &Workload) -> bool {
        workload.background
            && self
                .scenario
                .workloads
                .iter()
                .any(|other| !other.background)
    }

    /// Adds a workload's objects, measures, attributes, programs and tasks.
    fn add(&mut self, index: usize, workload: &Workload) -> Result<(), Error> {
        check(workload)?;
        let lateness = self.parts.objects.instruments.lateness.len() + workload.lateness.len();
        if lateness > usize::from(LatenessId::MAX) {
            return refuse(format!(
                "workload '{}': the workloads up to this one have {lateness} limits of lateness; a \
                 run has at most {}",
                workload.name,
                LatenessId::MAX
            ));
        }
        let over_at = match self.goes_along(workload) {
            true => 0,
            false => NEVER - 1,
        };
        let base = self.parts.base(index);
        self.parts
            .add_objects(workload, base, self.scenario.machine.cpus.len());
        self.parts.workloads.push(WorkloadState {
            alive: workload.tasks.len() as u32,
            start: NEVER,
            ended: NEVER,
            duration: workload.duration_ns.unwrap_or(NEVER),
            over_at,
            cancelled: false,
        });
        self.add_measures(workload, base);
        self.add_attributes(workload)?;
        let entries = self.add_programs(workload, base)?;
        self.add_tasks(index, workload, base, &entries)
    }

    /// Resolves the attributes that tasks of the workload may adopt while they run.
    fn add_attributes(&mut self, workload: &Workload) -> Result<(), Error> {
        for (at, attributes) in workload.attributes.iter().enumerate() {
            let resolved =
                self.attributes(workload, attributes).map_err(|error| {
                    match takes_on(workload, at) {
                        Some(comm) => of_task(error, comm),
                        None => error,
                    }
                })?;
            self.parts.objects.attributes.push(resolved);
        }
        Ok(())
    }

    fn add_measures(&mut self, workload: &Workload, base: Base) {
        self.parts
            .measures
            .extend(workload.measures.iter().map(|m| MeasureSpec {
                name: m.name.clone(),
                unit: m.unit,
                better: m.better,
                source: relocate_source(m.source, base),
            }));
    }

    /// Appends the programs; returns their first operations.
    fn add_programs(&mut self, workload: &Workload, base: Base) -> Result<Vec<u32>, Error> {
        let reference = self.calibration(workload)?;
        let mut entries = vec![];
        // In a long recording only the operations need much memory.
        let ops = workload
            .programs
            .iter()
            .map(|program| program.ops.len() + 1);
        self.parts.ops.reserve_exact(ops.sum());
        for program in &workload.programs {
            let entry = self.parts.ops.len() as u32;
            entries.push(entry);
            for &op in &program.ops {
                self.parts.ops.push(relocate(op, base, entry, reference));
            }
            self.parts.ops.push(Op::Exit);
        }
        Ok(entries)
    }

    /// The capacity at which 1 ns of work takes 1 ns.
    fn calibration(&self, workload: &Workload) -> Result<u64, Error> {
        let cpus = &self.scenario.machine.cpus;
        let capacity = match workload.calibration {
            Calibration::Biggest => cpus.iter().map(|c| c.speed()).max(),
            Calibration::Cpu(cpu) => cpus.get(cpu as usize).map(|c| c.speed()),
            Calibration::CapacityOne => Some(1),
        };
        match (capacity, workload.calibration) {
            (Some(capacity), _) => Ok(capacity.into()),
            (None, Calibration::Cpu(cpu)) => refuse(format!(
                "workload '{}' is calibrated on CPU {cpu}; machine '{}' has CPUs 0 to {}",
                workload.name,
                self.scenario.machine.name,
                cpus.len() - 1
            )),
            (None, Calibration::Biggest | Calibration::CapacityOne) => {
                refuse("the machine has no CPU")
            }
        }
    }
}

/// The rules of the scenario's base.
fn kernel(scenario: &Scenario<'_>) -> Result<&'static Kernel, Error> {
    Kernel::of(scenario.scheduler).ok_or_else(|| {
        Error::Refused(format!(
            "no rules are known for the base of '{}'; there are rules for {}",
            scenario.scheduler,
            KERNELS.each_ref().map(|kernel| kernel.name).join(", ")
        ))
    })
}

/// Does a program have an endless loop that nothing leaves?
fn runs_for_ever(workload: &Workload) -> bool {
    let mut programs = workload.programs.iter();
    programs.any(|program| has_endless_loop(workload, program))
}

fn has_endless_loop(workload: &Workload, program: &Program) -> bool {
    program.ops.iter().enumerate().any(|(at, op)| match *op {
        Op::LoopBegin {
            count: u64::MAX,
            end,
            ..
        } => !program.ops[at..end as usize]
            .iter()
            .any(|op| leaves(workload, op, end)),
        _ => false,
    })
}

/// Can an operation leave the loop that ends before `end`?
fn leaves(workload: &Workload, op: &Op, end: Label) -> bool {
    match *op {
        Op::Take { deal, done } => {
            let deal = &workload.deals[deal as usize];
            done >= end && (deal.limit != u64::MAX || deal.until_ns != u64::MAX)
        }
        Op::Serve { done, .. } => done >= end,
        Op::Answer { last: to, .. }
        | Op::Gather { none: to, .. }
        | Op::Unqueue { none: to, .. } => to >= end,
        Op::Exit => true,
        _ => false,
    }
}
