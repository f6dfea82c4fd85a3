// SPDX-License-Identifier: GPL-2.0-only
//! The initial state of a run, with all memory that the loop needs.

use super::blank::{add_entities, cpus};
use super::{Builder, Parts, kernel};
use crate::balance::{Balancer, keeps_signals_2013};
use crate::base::queue::Queue;
use crate::base::rng::{Purpose, below};
use crate::base::table::Table;
use crate::base::timeline::Nodes;
use crate::dispatch::Sim;
use crate::dispatch::changes::Agenda;
use crate::dispatch::replay::Replay;
use crate::face::api::{Error, Scenario};
use crate::face::feasible::check_governor;
use crate::kernel::Kernel;
use crate::kernel::sysctl::{RtLimit, Sysctls};
use crate::kernel::tunables::Tunables;
use crate::kernel::views::views;
use crate::observe::results::MeasureSpec;
use crate::place::Place;
use crate::power::uclamp::Limits;
use crate::power::{Asked, Power};
use crate::program::{Objects, Programs};
use crate::queues::Queues;
use crate::queues::classes::{Class, Classes, Servers};
use crate::queues::fair::Groups;
use crate::world::cost::OpCost;
use crate::world::counting::Counting;
use crate::world::lifetime::Ends;
use crate::world::occupancy::Occupancy;
use crate::world::online::Hotplug;
use crate::world::stats::Stats;
use crate::world::{Core, Output, World, rounds};
use alight_machine::{Governor, IdleGovernor};
use alight_policy::Mask;
use alight_trace::Sink;
use alight_workload::program::MeasureSource;
use std::mem::take;

impl<'a> Builder<'a> {
    /// The run, ready to start.
    pub(super) fn finish(
        self,
        ends_by: u64,
        out: Output<'a>,
    ) -> Result<(Sim<'a>, Vec<MeasureSpec>), Error> {
        let (scenario, machine) = (self.scenario, self.scenario.machine);
        let kernel = kernel(scenario)?;
        let sysctls = Sysctls::of(kernel, scenario.sysctls)?;
        check_governor(scenario.governor_in_force(), machine)?;
        let agenda = Agenda::new(scenario.changes, machine, scenario.duration_ns)?;
        let replay = Replay::new(scenario.workloads, machine.cpus.len());
        let mut parts = self.parts;
        parts.objects.instruments.reserve(parts.tasks.len());
        let classes = classes(scenario, kernel, sysctls.rt, &mut parts);
        let uclamp_limits = Limits::new(sysctls.clamps, kernel, &parts.groups, &parts.own);
        let tunables = tunables(scenario, kernel, sysctls.base_slice);
        let of: Vec<_> = parts.own.iter().map(|own| own.group).collect();
        let groups = Groups::new(&parts.groups, &of, machine.cpus.len(), &tunables);
        let asked = asked(scenario, &agenda, &replay, uclamp_limits);
        let frame = Frame {
            kernel,
            tunables,
            hotplug: Hotplug::new(scenario, agenda.has_hotplug()),
            ends_by,
            out,
        };
        let Made {
            world,
            objects,
            measures,
            starts,
            slices,
        } = made(scenario, parts, &classes, frame)?;
        let power = Power::new(world, asked)?;
        let mut queues = Queues::new(power, classes, groups);
        let keep = keeps_signals_2013(&queues.core);
        queues.keep_signals_2013(keep);
        let balancer = Balancer::new(Place::new(queues));
        // SAFETY: `link::check` compares the ids in programs with the number of objects.
        let programs = unsafe { Programs::new(balancer, objects) };
        let mut sim = Sim::new(programs, agenda, replay);
        sim.uclamp_init(scenario.workloads);
        sim.balance_init();
        for (task, slice) in slices {
            sim.set_slice(task, slice);
        }
        start_by_timer(&mut sim, &starts);
        sim.await_change();
        sim.boot();
        Ok((sim, measures))
    }
}

/// Sets the timers of tasks that start by themselves: CPU, time, task.
fn start_by_timer(sim: &mut Sim<'_>, starts: &[(usize, u64, u32)]) {
    for &(cpu, at, task) in starts {
        sim.tasks[task as usize].timer_point = at;
        let world = sim.world();
        world.cpus[cpu].timers.insert(&mut world.nodes, task, at);
    }
}

/// The settings of the layer `Power`.
fn asked(
    scenario: &Scenario<'_>,
    agenda: &Agenda,
    replay: &Replay,
    uclamp_limits: Limits,
) -> Asked {
    let machine = scenario.machine;
    Asked {
        governor: scenario.governor_in_force(),
        idle_governor: (scenario.idle_governor.or(machine.idle_governor))
            .unwrap_or(IdleGovernor::Menu),
        latency_limit_us: scenario
            .workloads
            .iter()
            .filter_map(|w| w.dma_latency_us)
            .min(),
        limited: agenda.has_limits(),
        slots: agenda.slots() + replay.devices.slots(),
        uclamp_limits,
    }
}

/// The constants of the fair class, with sysctls and the machine applied.
fn tunables(scenario: &Scenario<'_>, kernel: &'static Kernel, base_slice: Option<u64>) -> Tunables {
    let machine = scenario.machine;
    let tick = 1_000_000_000 / u64::from(machine.hz);
    let mut tunables = Tunables::new(kernel, machine.cpus.len(), tick);
    tunables.hrtick &= machine.hrtick;
    tunables.base_slice = base_slice.unwrap_or(tunables.base_slice);
    tunables
}

/// The layer's state of the scheduling classes. Sets the priorities of the tasks.
fn classes(scenario: &Scenario<'_>, kernel: &Kernel, rt: RtLimit, parts: &mut Parts) -> Classes {
    let machine = scenario.machine;
    let servers = match (kernel.rt.fair_server, scenario.governor_in_force()) {
        (false, _) => Servers::None,
        (true, Governor::Schedutil) => Servers::Always,
        (true, _) => Servers::BesideOthers,
    };
    for (task, own) in parts.tasks.iter_mut().zip(&parts.own) {
        task.prio = Class::of(own).prio();
    }
    let mut classes = Classes::new(
        &parts.own,
        &parts.objects.attributes,
        machine.cpus.len(),
        machine.hz.into(),
        servers,
        machine.irq_time_accounting,
    );
    classes.limit_rt(rt, kernel.rt.throttle);
    classes
}

/// The world of a run, and the remaining parts.
struct Made<'a> {
    world: World<'a>,
    objects: Objects,
    measures: Vec<MeasureSpec>,
    /// (CPU, time, task) of tasks that start by themselves.
    starts: Vec<(usize, u64, u32)>,
    slices: Vec<(u32, u64)>,
}

/// The inputs of a world beside machine and workloads.
struct Frame<'a> {
    kernel: &'static Kernel,
    tunables: Tunables,
    hotplug: Hotplug,
    /// End of the run regardless of the workloads, ns.
    ends_by: u64,
    out: Output<'a>,
}

/// The placement core of a run.
fn core(scenario: &Scenario<'_>, kernel: &Kernel, hotplug: &Hotplug) -> Result<Core, Error> {
    let machine = scenario.machine;
    let mut params = scenario.scheduler.params;
    let costs = &machine.core_types[machine.cpus[0].core_type].costs;
    params.scan_cpu_ns = costs.scan_local_ns;
    // SAFETY: indexed by CPUs, and by the numbers in its own places.
    Ok(unsafe { views(machine, kernel, &params, hotplug.online)?.stored() })
}

/// Does a measurement need the places of tasks?
fn asks_for_places(measure: &MeasureSpec) -> bool {
    matches!(
        measure.source,
        MeasureSource::LeftCluster { .. } | MeasureSource::OnBiggest { .. }
    )
}

/// Makes the world.
fn made<'a>(
    scenario: &'a Scenario<'a>,
    mut parts: Parts,
    classes: &Classes,
    frame: Frame<'a>,
) -> Result<Made<'a>, Error> {
    let machine = scenario.machine;
    let followed = match parts.measures.iter().any(asks_for_places) {
        true => parts.tasks.len(),
        false => 0,
    };
    let core = core(scenario, frame.kernel, &frame.hotplug)?;
    add_entities(&mut parts, machine.cpus.len());
    let counting = Counting::of(followed, machine);
    let world = world(scenario, &mut parts, classes, frame, (core, counting));
    Ok(Made {
        world,
        objects: parts.objects,
        measures: parts.measures,
        starts: parts.starts,
        slices: parts.slices,
    })
}

/// The kind of cost of each operation.
fn op_costs(parts: &Parts) -> Vec<OpCost> {
    let is_pipe = |channel: u32| parts.objects.channels[channel as usize].is_pipe();
    (parts.ops.iter().map(|op| OpCost::of(op, is_pipe))).collect()
}

/// The world before anything has happened in it.
fn world<'a>(
    scenario: &'a Scenario<'a>,
    parts: &mut Parts,
    classes: &Classes,
    frame: Frame<'a>,
    (core, counting): (Core, Counting),
) -> World<'a> {
    let machine = scenario.machine;
    let (cpus, costs) = cpus(machine);
    let out = frame.out;
    // SAFETY: CPUs and tasks are numbered from 0 on; their numbers in the state are these or NONE,
    // which is tested first. `machine::check`, `link::check` and the builder check the names in
    // machines, workloads and command lines. The core answers with one of the CPUs. `link::check`
    // compares jump targets and mutexes in programs with what exists. A program ends with an
    // operation that ends its task. Attributes name masks that the builder made for them.
    unsafe {
        World {
            machine,
            now: 0,
            end_at: frame.ends_by,
            ends: Ends::new(frame.ends_by),
            events: 0,
            acted: 0,
            preempted: 0,
            hash: scenario.seed,
            above_fair: classes.used,
            check: scenario.check,
            kernel: frame.kernel,
            tunables: frame.tunables,
            jiffy: 0,
            jiffy_end: below(scenario.seed, 0, Purpose::TickPhase, frame.tunables.tick),
            core,
            cpus: Table::new(cpus),
            costs: Table::new(costs),
            nodes: Nodes::new(parts.tasks.len() + classes.timers()),
            tasks: Table::new(take(&mut parts.tasks)),
            views: Table::new(take(&mut parts.views)),
            queue: Queue::new(machine.cpus.len()),
            hotplug: frame.hotplug,
            op_costs: Table::new(op_costs(parts)),
            round_lengths: Table::new(rounds::lengths(&parts.ops)),
            ops: Table::new(take(&mut parts.ops)),
            comms: take(&mut parts.comms),
            masks: Table::new(take(&mut parts.masks)),
            workloads: take(&mut parts.workloads).into(),
            mutexes: Table::new(take(&mut parts.mutexes)),
            seed: scenario.seed,
            overloaded: Mask::EMPTY,
            occupancy: Occupancy::default(),
            stats: Stats::default(),
            counting,
            tracing: out.sink.is_some(),
            sampling: out.sink.as_deref().is_some_and(Sink::wants_signals),
            detailed: out.sink.as_deref().is_some_and(Sink::wants_details),
            out,
        }
    }
}
