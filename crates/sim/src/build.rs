// SPDX-License-Identifier: GPL-2.0-only
//! Builds a run: the machine's views, the workloads' programs in one address
//! space, all memory that the loop will need.

use crate::api::{Error, Group, Scenario};
use crate::balance::{CacheAware, Nohz, Packing};
use crate::changes::Agenda;
use crate::channel::{Channel, MessageMemory};
use crate::classes::{Classes, Servers, default_clamp};
use crate::cost::{CpuCosts, OpCost};
use crate::counting::Counting;
use crate::cpuidle::Memory;
use crate::fair::{self, Eevdf, Groups, Order, Tunables};
use crate::feasible::check_governor;
use crate::hotplug::Hotplug;
use crate::instruments::Instruments;
use crate::irq_time::IrqTime;
use crate::kernel::{KERNELS, Kernel};
use crate::link::{Base, check, relocate, relocate_source};
use crate::pressure::Pressure;
use crate::queue::{NEVER, Queue};
use crate::rng::{Purpose, below};
use crate::rounds;
use crate::shell;
use crate::smt::Smt;
use crate::state::{
    Cpu, FairQueue, Interval, Life, List, MarkState, Output, Phase, Sim, Task, WorkloadState,
};
use crate::stats::{Histogram, Stats};
use crate::sync::{BarrierState, Call, Mutex, WaitQueue};
use crate::timeline::{NONE, Nodes};
use crate::timers::Timers;
use crate::uclamp::Limits;
use crate::uclamp_sum;
use alight_machine::{Governor, IdleGovernor, Machine};
use alight_policy::abi::class;
use alight_policy::topology;
use alight_policy::{Core, Mask, Params};
use alight_trace::Sink;
use alight_views::of_machine;
use alight_workload::program::{
    Better, Calibration, LOOP_SLOTS, MeasureSource, Op, Policy, TIMER_SLOTS, Workload,
};

/// Longest delay of a workload's start, ns: a few ticks, so that runs differ in
/// how they meet the tick and the balancer.
const START_SPREAD_NS: u64 = 10_000_000;

/// Longest run, ns: 52 days. The time behind it means that nothing happens.
const LONGEST_NS: u64 = NEVER - 2;

/// Scheduling attributes with everything resolved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    pub class: Option<u32>,
    pub nice: Option<i8>,
    /// Index into [`Sim::masks`].
    pub affinity: Option<u32>,
    pub uclamp_min: Option<u32>,
    pub uclamp_max: Option<u32>,
    /// Custom slice of a fair task, ns.
    pub slice_ns: Option<u64>,
    /// SCHED_FIFO or SCHED_RR; `class` is not set then.
    pub realtime: Option<Realtime>,
    /// SCHED_DEADLINE; neither of both is set then.
    pub deadline: Option<DlParams>,
    /// Index of a task group, [`NONE`] for the root.
    pub group: Option<u32>,
}

/// Parameters of SCHED_DEADLINE, ns: `runtime` in each `period`, within `deadline` of its begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DlParams {
    pub runtime: u64,
    pub deadline: u64,
    pub period: u64,
}

/// Shortest and longest period of SCHED_DEADLINE, ns, and shortest runtime
/// (`sched_dl_period_min`, `_max`, 5.5; `DL_SCALE`).
const DL_PERIOD: (u64, u64) = (100_000, 4_194_304_000);
const DL_RUNTIME_MIN: u64 = 1024;

/// Parameters of SCHED_FIFO and SCHED_RR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Realtime {
    /// The kernel's: 99 less the one that was asked for.
    pub prio: u8,
    pub round_robin: bool,
}

/// What to report, with ids of the whole run.
#[derive(Debug, Clone)]
pub(crate) struct MeasureSpec {
    pub name: String,
    pub unit: &'static str,
    pub better: Option<Better>,
    pub source: MeasureSource,
}

fn refuse<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Refused(what.into()))
}

/// The same refusal with the name of the task that it is about.
fn of_task(error: Error, comm: &str) -> Error {
    match error {
        Error::Refused(what) => Error::Refused(format!("{what} (task '{comm}')")),
        other => other,
    }
}

/// The first task that takes on entry `at` of its workload's attributes while it runs.
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

/// The scheduler's view of the machine while these CPUs are online.
pub(crate) fn views(machine: &Machine, params: &Params, online: Mask) -> Result<Core, Error> {
    topology::build_online(&of_machine(machine), params, online)
        .map_err(|error| Error::Refused(format!("machine '{}': {error}", machine.name)))
}

/// What the parts of a run are gathered in.
#[derive(Default)]
struct Parts {
    ops: Vec<Op>,
    tasks: Vec<Task>,
    views: Vec<alight_policy::Task>,
    comms: Vec<String>,
    masks: Vec<Mask>,
    attributes: Vec<Attributes>,
    workloads: Vec<WorkloadState>,
    mutexes: Vec<Mutex>,
    conditions: Vec<WaitQueue>,
    semaphores: Vec<(u32, WaitQueue)>,
    barriers: Vec<BarrierState>,
    channels: Vec<Channel>,
    counters: Vec<u64>,
    marks: Vec<MarkState>,
    histograms: Vec<Histogram>,
    measures: Vec<MeasureSpec>,
    instruments: Instruments,
    /// What each task starts with.
    own: Vec<Attributes>,
    groups: Vec<Group>,
    /// (CPU, time, task) of tasks that start by themselves.
    starts: Vec<(usize, u64, u32)>,
    /// Tasks that ask for a slice of their own, and for which, ns.
    slices: Vec<(u32, u64)>,
}

/// What the idle governor of this run remembers of each CPU: nothing yet.
fn idle_memory(scenario: &Scenario<'_>, sim: &Sim<'_>) -> Result<Memory, Error> {
    let asked = scenario.idle_governor.or(scenario.machine.idle_governor);
    let governor = asked.unwrap_or(IdleGovernor::Menu);
    let states = (0..sim.cpus.len()).map(|cpu| sim.idle_states(cpu).len());
    Memory::new(governor, &sim.kernel.idle, states)
        .map_err(|why| Error::Refused(format!("{} {why}", sim.kernel.name)))
}

struct Builder<'a> {
    scenario: &'a Scenario<'a>,
    parts: Parts,
}

/// A run ready to start, and what to report of it.
pub(crate) fn build<'a>(
    scenario: &'a Scenario<'a>,
    out: Output<'a>,
) -> Result<(Sim<'a>, Vec<MeasureSpec>), Error> {
    let machine = scenario.machine;
    let mut builder = Builder {
        scenario,
        parts: Parts::default(),
    };
    if scenario.workloads.is_empty() {
        return refuse("no workload given");
    }
    builder
        .parts
        .masks
        .push((0..machine.cpus.len() as u32).collect());
    builder.add_groups()?;
    for (i, workload) in scenario.workloads.iter().enumerate() {
        builder.add(i, workload)?;
    }
    let end_at = builder.end()?;
    builder.finish(end_at, out)
}

impl<'a> Builder<'a> {
    /// When the run ends at the latest.
    fn end(&self) -> Result<u64, Error> {
        match self.scenario.duration_ns {
            Some(0) => return refuse("a duration of 0 simulates nothing"),
            Some(duration) if duration > LONGEST_NS => {
                return refuse(format!(
                    "a duration of {duration} ns is more than can be simulated; \
                     the longest is {LONGEST_NS} ns"
                ));
            }
            Some(duration) => return Ok(duration),
            None => {}
        }
        let mut end = 0;
        for workload in self.scenario.workloads {
            if self.goes_along(workload) {
                continue;
            }
            if workload.duration_ns.is_none() && runs_for_ever(workload) {
                return refuse(format!(
                    "workload '{}' never ends; give the run a --duration",
                    workload.name
                ));
            }
            if let Some(duration) = workload.duration_ns.filter(|ns| *ns > LONGEST_NS) {
                return refuse(format!(
                    "workload '{}' takes {duration} ns, more than can be simulated; give the run a \
                     --duration of at most {LONGEST_NS} ns",
                    workload.name
                ));
            }
            end = end.max(over_at(workload));
        }
        Ok(end)
    }

    /// Does the run end without waiting for `workload`? Alone it is what the run is about.
    fn goes_along(&self, workload: &Workload) -> bool {
        workload.background
            && self
                .scenario
                .workloads
                .iter()
                .any(|other| !other.background)
    }

    fn add(&mut self, index: usize, workload: &Workload) -> Result<(), Error> {
        check(workload)?;
        let over_at = match self.goes_along(workload) {
            true => 0,
            false => over_at(workload),
        };
        let p = &mut self.parts;
        let base = Base {
            task: p.tasks.len() as u32,
            attributes: p.attributes.len() as u32,
            channel: p.channels.len() as u32,
            barrier: p.barriers.len() as u32,
            mutex: p.mutexes.len() as u32,
            condition: p.conditions.len() as u32,
            semaphore: p.semaphores.len() as u32,
            counter: p.counters.len() as u32,
            mark: p.marks.len() as u32,
            histogram: p.histograms.len() as u32,
            stamp: p.instruments.stamps.len() as u32,
            tally: p.instruments.tallies.len() as u32,
            desk: p.instruments.desks.len() as u32,
        };
        p.instruments
            .add(&workload.instruments, self.scenario.machine.cpus.len());
        p.mutexes.resize(
            p.mutexes.len() + workload.mutexes as usize,
            Mutex::default(),
        );
        p.conditions.resize(
            p.conditions.len() + workload.conditions as usize,
            WaitQueue::default(),
        );
        p.semaphores.resize(
            p.semaphores.len() + workload.semaphores as usize,
            (0, WaitQueue::default()),
        );
        p.barriers
            .extend(workload.barriers.iter().map(|&parties| BarrierState {
                parties,
                ..Default::default()
            }));
        p.channels
            .extend(workload.channels.iter().map(|&kind| Channel::new(kind)));
        p.counters
            .resize(p.counters.len() + workload.counters as usize, 0);
        p.marks.resize(
            p.marks.len() + workload.marks as usize,
            MarkState::default(),
        );
        p.histograms
            .extend(workload.histograms.iter().map(|_| Histogram::default()));
        p.workloads.push(WorkloadState {
            alive: workload.tasks.len() as u32,
            start: NEVER,
            over_at,
        });
        self.add_measures(workload, base);
        for (at, attributes) in workload.attributes.iter().enumerate() {
            let resolved =
                self.attributes(workload, attributes).map_err(|error| {
                    match takes_on(workload, at) {
                        Some(comm) => of_task(error, comm),
                        None => error,
                    }
                })?;
            self.parts.attributes.push(resolved);
        }
        let entries = self.add_programs(workload, base)?;
        self.add_tasks(index, workload, base, &entries)
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

    /// Copies the programs behind each other; returns where each begins.
    fn add_programs(&mut self, workload: &Workload, base: Base) -> Result<Vec<u32>, Error> {
        let reference = self.calibration(workload)?;
        let mut entries = vec![];
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

    /// Capacity that defines a ns of work.
    fn calibration(&self, workload: &Workload) -> Result<u64, Error> {
        let cpus = &self.scenario.machine.cpus;
        let capacity = match workload.calibration {
            Calibration::Biggest => cpus.iter().map(|c| c.capacity_orig).max(),
            Calibration::Cpu(cpu) => cpus.get(cpu as usize).map(|c| c.capacity_orig),
        };
        match (capacity, workload.calibration) {
            (Some(capacity), _) => Ok(capacity.into()),
            (None, Calibration::Cpu(cpu)) => refuse(format!(
                "workload '{}' is calibrated on CPU {cpu}; machine '{}' has CPUs 0 to {}",
                workload.name,
                self.scenario.machine.name,
                cpus.len() - 1
            )),
            (None, Calibration::Biggest) => refuse("the machine has no CPU"),
        }
    }

    fn attributes(
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
            // All CPUs are the first mask.
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

    /// Where clamped utilizations add up, those of a CPU's own queue do.
    fn refuse_sums(&self, group: &str) -> Result<(), Error> {
        match uclamp_sum::add_up(&self.scenario.scheduler.params) {
            false => Ok(()),
            true => refuse(format!(
                "group '{group}': uclamp-sum is simulated without task groups: leave out the groups, \
                 or the feature"
            )),
        }
    }

    /// The groups that were described.
    fn add_groups(&mut self) -> Result<(), Error> {
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
                return refuse("no task is ever in it".into());
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

    /// The task group of that name, added if it was not described.
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
            groups.push(Group::new(name));
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
                "workload '{}' has a task of SCHED_DEADLINE, which {} does not know (Linux 3.14)",
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

    fn affinity(&mut self, workload: &Workload, cpus: &[u32]) -> Result<u32, Error> {
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

    fn add_tasks(
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
        for spec in &workload.tasks {
            let attributes = self
                .attributes(workload, &spec.attributes)
                .map_err(|error| of_task(error, &spec.comm))?;
            let id = self.parts.tasks.len() as u32;
            let class = attributes.class.unwrap_or(class::NORMAL);
            let nice = attributes.nice.unwrap_or(0);
            let weight = fair::weight(class, nice);
            let affinity = attributes.affinity.unwrap_or(0);
            let mask = &self.parts.masks[affinity as usize];
            let cpu = match mask.contains(first_cpu) {
                true => first_cpu,
                false => mask.iter().next().unwrap_or(0),
            };
            self.parts.views.push(alight_policy::Task {
                id,
                weight,
                class,
                prev_cpu: cpu,
                nr_allowed: mask.len(),
                flips: shell::wakee_flips(self.scenario.wakee_flips, self.scenario.seed),
                uclamp_min: attributes
                    .uclamp_min
                    .unwrap_or(default_clamp(attributes.realtime.is_some())),
                uclamp_max: attributes.uclamp_max.unwrap_or(1024),
                ..Default::default()
            });
            if let Some(slice) = attributes.slice_ns {
                self.parts.slices.push((id, slice));
            }
            if let Some(start) = spec.start_ns {
                self.parts
                    .starts
                    .push((cpu as usize, delay + start.min(NEVER), id));
            }
            self.parts.own.push(attributes);
            let process = base.task + spec.process;
            self.parts.comms.push(spec.comm.clone());
            let working_set = spec
                .working_set_bytes
                .unwrap_or(self.scenario.machine.memory.working_set_bytes);
            self.parts.tasks.push(Task {
                nice,
                workload: index as u32,
                pc: entries[spec.program as usize],
                process,
                affinity,
                inv_weight: fair::inverse(weight),
                cpu,
                working_set,
                ..new_task()
            });
        }
        Ok(())
    }

    fn finish(self, end_at: u64, out: Output<'a>) -> Result<(Sim<'a>, Vec<MeasureSpec>), Error> {
        let Builder {
            scenario,
            mut parts,
        } = self;
        parts.instruments.reserve(parts.tasks.len());
        let machine = scenario.machine;
        let nr_cpus = machine.cpus.len();
        let kernel = kernel(scenario)?;
        let mut params = scenario.scheduler.params;
        params.scan_cpu_ns = machine.core_types[machine.cpus[0].core_type]
            .costs
            .scan_local_ns;
        check_governor(scenario.governor.unwrap_or(machine.governor), machine)?;
        let agenda = Agenda::new(scenario.changes, machine, scenario.duration_ns)?;
        let hotplug = Hotplug::new(scenario, agenda.has_hotplug());
        let limited = agenda.has_limits();
        let core = views(machine, &params, hotplug.online)?;
        let packing = Packing::new(&core);
        let tick = 1_000_000_000 / u64::from(machine.hz);
        let mut tunables = Tunables::new(kernel, nr_cpus, tick);
        tunables.hrtick &= scenario.machine.hrtick;
        let phase = below(scenario.seed, 0, Purpose::TickPhase, tick);
        let mut views = parts.views;
        for group in &parts.groups {
            for cpu in 0..nr_cpus as u32 {
                let (task, view) = group_entity(group, cpu);
                parts.tasks.push(task);
                views.push(view);
            }
        }
        let idle_view = |cpu: u32| alight_policy::Task {
            id: NONE,
            prev_cpu: cpu,
            ..Default::default()
        };
        views.extend((0..nr_cpus as u32).map(idle_view));
        let mut costs = vec![];
        let cpus = (0..nr_cpus)
            .map(|cpu| new_cpu(machine, cpu, kind_of_cpu(machine, cpu, &mut costs)))
            .collect();
        let latency_limit_us = scenario
            .workloads
            .iter()
            .filter_map(|w| w.dma_latency_us)
            .min();
        let hz = u64::from(machine.hz);
        let governor = scenario.governor.unwrap_or(machine.governor);
        let servers = match (kernel.rt.fair_server, governor) {
            (false, _) => Servers::None,
            (true, Governor::Schedutil) => Servers::Always,
            (true, _) => Servers::BesideOthers,
        };
        let irq_time = IrqTime::new(machine.irq_time_accounting, nr_cpus);
        let (own, later) = (&parts.own, &parts.attributes);
        let classes = Classes::new(own, later, nr_cpus, hz, servers, irq_time.used);
        let of: Vec<_> = parts.own.iter().map(|own| own.group).collect();
        let places = |measure: &MeasureSpec| {
            matches!(
                measure.source,
                MeasureSource::LeftCluster { .. } | MeasureSource::OnBiggest { .. }
            )
        };
        let asks_for_places = parts.measures.iter().any(places);
        let nr_tasks = parts.tasks.len();
        let uclamp_limits = Limits::new(scenario, kernel, &parts.groups, &parts.own)?;
        let groups = Groups::new(&parts.groups, &of, nr_cpus);
        let entities = parts.tasks.len();
        let mut sim = Sim {
            machine,
            now: 0,
            end_at,
            events: 0,
            acted: 0,
            hash: scenario.seed,
            check: scenario.check,
            kernel,
            tunables,
            eevdf: match tunables.order {
                Order::Cfs => Eevdf::new(0, 0),
                Order::Eevdf => Eevdf::new(nr_cpus + groups.entities(), entities),
            },
            groups,
            jiffy: 0,
            jiffy_end: phase,
            core,
            views: views.into(),
            cpus,
            costs: costs.into(),
            nodes: Nodes::new(entities + classes.timers()),
            classes,
            tasks: parts.tasks.into(),
            queue: Queue::new(nr_cpus),
            freq_queue: Queue::new(machine.freq_domains.len() + agenda.slots()),
            pressure: Pressure::new(limited, params.pressure, nr_cpus),
            irq_time,
            smt: Smt::new(machine),
            agenda,
            hotplug,
            packing,
            op_costs: parts
                .ops
                .iter()
                .map(|op| OpCost::of(op, &parts.channels))
                .collect(),
            round_lengths: rounds::lengths(&parts.ops),
            ops: parts.ops.into(),
            comms: parts.comms,
            masks: parts.masks.into(),
            attributes: parts.attributes,
            workloads: parts.workloads.into(),
            mutexes: parts.mutexes.into(),
            conditions: parts.conditions,
            semaphores: parts.semaphores,
            barriers: parts.barriers,
            channels: parts.channels.into(),
            message_memory: MessageMemory::new(nr_cpus, machine.memory.messages_kept),
            counters: parts.counters.into(),
            marks: parts.marks,
            histograms: parts.histograms,
            instruments: parts.instruments,
            freq: vec![].into(),
            uclamp: vec![].into(),
            uclamp_limits,
            meters: vec![].into(),
            idle_states: vec![].into(),
            idle_memory: Memory::Menu {
                pattern_first: false,
            },
            nohz: Nohz::default(),
            cache_aware: CacheAware::default(),
            seed: scenario.seed,
            overloaded: Mask::EMPTY,
            stats: Stats::default(),
            counting: Counting::of(if asks_for_places { nr_tasks } else { 0 }, machine),
            tracing: out.sink.is_some(),
            sampling: out.sink.as_deref().is_some_and(Sink::wants_signals),
            out,
            latency_limit_ns: latency_limit_us.map_or(u64::MAX, |us| us * 1000),
        };
        sim.cpufreq_init(governor);
        sim.energy_model_init(governor);
        sim.uclamp_init(scenario.workloads);
        sim.meters_init();
        sim.idle_memory = idle_memory(scenario, &sim)?;
        sim.balance_init();
        for (task, slice) in parts.slices {
            sim.set_slice(task, slice);
        }
        for (cpu, at, task) in parts.starts {
            sim.tasks[task as usize].timer_point = at;
            sim.cpus[cpu].timers.insert(&mut sim.nodes, task, at);
        }
        sim.await_change();
        sim.boot();
        Ok((sim, parts.measures))
    }
}

/// The rules of the base that is asked for.
fn kernel(scenario: &Scenario<'_>) -> Result<&'static Kernel, Error> {
    Kernel::of(scenario.scheduler).ok_or_else(|| {
        Error::Refused(format!(
            "no rules are known for the base of '{}'; there are rules for {}",
            scenario.scheduler,
            KERNELS.each_ref().map(|kernel| kernel.name).join(", ")
        ))
    })
}

/// Bases with task groups.
fn group_bases() -> String {
    let known = KERNELS.iter().filter(|kernel| kernel.task_groups.is_ok());
    known
        .map(|kernel| kernel.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Index of the costs of `cpu` in `kinds`, added if they are the first such.
fn kind_of_cpu(machine: &Machine, cpu: usize, kinds: &mut Vec<CpuCosts>) -> u32 {
    let place = &machine.cpus[cpu];
    let costs = CpuCosts::new(
        &machine.core_types[place.core_type].costs,
        place.capacity_orig,
    );
    let known = kinds.iter().position(|kind| *kind == costs);
    known.unwrap_or_else(|| {
        kinds.push(costs);
        kinds.len() - 1
    }) as u32
}

/// A task that was not created yet.
fn new_task() -> Task {
    Task {
        life: Life::New,
        fresh: true,
        waited: false,
        call: Call::Out,
        wake_migrated: false,
        yielded: false,
        clamps_counted: false,
        timers_set: 0,
        register: 0,
        parent: NONE,
        children: 0,
        stall: 0,
        units: 0,
        wall_until: 0,
        moved: 0,
        vruntime: 0,
        sum_exec: 0,
        slice_start: 0,
        last_run: 0,
        wake_time: NEVER,
        cache_cpu: NONE,
        cache_mark: 0,
        loops: [0; LOOP_SLOTS],
        timers: [0; TIMER_SLOTS],
        timer_point: 0,
        started: 0,
        list_prev: NONE,
        list_next: NONE,
        wait_next: NONE,
        nice: 0,
        workload: 0,
        pc: 0,
        process: 0,
        affinity: 0,
        inv_weight: 0,
        cpu: 0,
        working_set: 0,
    }
}

/// What stands for `group` on `cpu` among tasks, and its signals.
fn group_entity(group: &Group, cpu: u32) -> (Task, alight_policy::Task) {
    let task = Task {
        life: Life::Group,
        cpu,
        inv_weight: fair::inverse(1024),
        ..new_task()
    };
    let mut view = alight_policy::Task {
        id: NONE,
        weight: 1024,
        prev_cpu: cpu,
        class: match group.idle {
            true => class::IDLE,
            false => class::NORMAL,
        },
        ..Default::default()
    };
    // It was attached when the group was made.
    view.pelt.last = 1;
    (task, view)
}

/// A CPU before it idles for the first time.
fn new_cpu(machine: &Machine, cpu: usize, costs: u32) -> Cpu {
    let place = &machine.cpus[cpu];
    Cpu {
        phase: Phase::Idle,
        curr: NONE,
        need_resched: false,
        resched_lazy: false,
        gives_way: false,
        fair: FairQueue::default(),
        timers: Timers::default(),
        end: NEVER,
        balance_kicked: false,
        tick_at: NEVER,
        hrtick_at: NEVER,
        ipi_at: NEVER,
        segment_start: 0,
        rate: 1,
        speed: 1,
        ns_per_unit: 1 << 32,
        steal: 0,
        before_switch: NEVER,
        wake_list: List::default(),
        lock: Interval::default(),
        exec_start: 0,
        lru: List::default(),
        costs,
        rounds: Default::default(),
        idle: Default::default(),
        balance: Default::default(),
        stats: Default::default(),
        cache_fill: 0,
        freq_domain: place.freq_domain as u32,
        cluster: place.cluster as u32,
        core_type: place.core_type as u32,
    }
}

/// When `workload` counts as over though tasks of it remain; as good as never
/// if it has no duration.
fn over_at(workload: &Workload) -> u64 {
    workload.duration_ns.map_or(NEVER - 1, |duration| {
        duration.saturating_add(START_SPREAD_NS).min(LONGEST_NS)
    })
}

/// A loop without end that nothing leaves.
fn runs_for_ever(workload: &Workload) -> bool {
    let ops = || workload.programs.iter().flat_map(|p| &p.ops);
    ops().any(|op| {
        matches!(
            op,
            Op::LoopBegin {
                count: u64::MAX,
                ..
            }
        )
    }) && !ops().any(|op| matches!(op, Op::Take { .. }))
}
