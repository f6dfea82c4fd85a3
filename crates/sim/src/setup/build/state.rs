// SPDX-License-Identifier: GPL-2.0-only
//! The state that a run begins with: all memory that the loop will need.

use super::{Builder, Parts, kernel};
use crate::balance::{Balancer, keeps_signals_2013};
use crate::base::queue::{NEVER, Queue};
use crate::base::rng::{Purpose, below};
use crate::base::table::Table;
use crate::base::timeline::{NONE, Nodes};
use crate::dispatch::Sim;
use crate::dispatch::changes::Agenda;
use crate::dispatch::replay::Replay;
use crate::face::api::{Cgroup, Error, Scenario};
use crate::face::feasible::check_governor;
use crate::kernel::Kernel;
use crate::kernel::sysctl::RtLimit;
use crate::kernel::sysctl::Sysctls;
use crate::kernel::tunables::Tunables;
use crate::kernel::views::views;
use crate::observe::results::MeasureSpec;
use crate::place::Place;
use crate::power::Asked;
use crate::power::Power;
use crate::power::uclamp::Limits;
use crate::program::Objects;
use crate::program::Programs;
use crate::queues::Queues;
use crate::queues::classes::{Class, Classes, Servers};
use crate::queues::fair::{self, Groups};
use crate::world::Core;
use crate::world::Output;
use crate::world::World;
use crate::world::cost::{CpuCosts, OpCost};
use crate::world::counting::Counting;
use crate::world::lifetime::Ends;
use crate::world::occupancy::Occupancy;
use crate::world::online::Hotplug;
use crate::world::rounds;
use crate::world::state::Call;
use crate::world::state::{Cpu, FAIR, FairQueue, Interval, Life, List, Phase, Task};
use crate::world::stats::Stats;
use crate::world::timers::Timers;
use alight_machine::{Governor, IdleGovernor, Machine};
use alight_policy::Mask;
use alight_policy::abi::class;
use alight_trace::Sink;
use alight_workload::program::{LOOP_SLOTS, MeasureSource, TIMER_SLOTS};

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
        let asked = Asked {
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
        };
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
        // SAFETY: `link::check` holds what stands in programs against what there is of it.
        let programs = unsafe { Programs::new(balancer, objects) };
        let mut sim = Sim::new(programs, agenda, replay);
        sim.uclamp_init(scenario.workloads);
        sim.balance_init();
        for (task, slice) in slices {
            sim.set_slice(task, slice);
        }
        for (cpu, at, task) in starts {
            sim.tasks[task as usize].timer_point = at;
            let world = sim.world();
            world.cpus[cpu].timers.insert(&mut world.nodes, task, at);
        }
        sim.await_change();
        sim.boot();
        Ok((sim, measures))
    }
}

/// The constants of the fair class, as sysctls and the machine leave them.
fn tunables(scenario: &Scenario<'_>, kernel: &'static Kernel, base_slice: Option<u64>) -> Tunables {
    let machine = scenario.machine;
    let tick = 1_000_000_000 / u64::from(machine.hz);
    let mut tunables = Tunables::new(kernel, machine.cpus.len(), tick);
    tunables.hrtick &= machine.hrtick;
    tunables.base_slice = base_slice.unwrap_or(tunables.base_slice);
    tunables
}

/// The classes of the tasks, which get their priorities.
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

/// The world of a run, and what is left of its parts.
struct Made<'a> {
    world: World<'a>,
    objects: Objects,
    measures: Vec<MeasureSpec>,
    /// (CPU, time, task) of tasks that start by themselves.
    starts: Vec<(usize, u64, u32)>,
    slices: Vec<(u32, u64)>,
}

/// What a world is made of beside machine and workloads.
struct Frame<'a> {
    kernel: &'static Kernel,
    tunables: Tunables,
    hotplug: Hotplug,
    /// When the run ends, whatever the workloads do.
    ends_by: u64,
    out: Output<'a>,
}

/// The placement core of a run.
fn core(scenario: &Scenario<'_>, kernel: &Kernel, hotplug: &Hotplug) -> Result<Core, Error> {
    let machine = scenario.machine;
    let mut params = scenario.scheduler.params;
    let costs = &machine.core_types[machine.cpus[0].core_type].costs;
    params.scan_cpu_ns = costs.scan_local_ns;
    // SAFETY: looked up by CPUs, and by what its own places lead to.
    Ok(unsafe { views(machine, kernel, &params, hotplug.online)?.stored() })
}

/// Adds what stands among the tasks for groups on each CPU, and the idle tasks.
fn add_entities(parts: &mut Parts, nr_cpus: usize) {
    for group in &parts.groups {
        for cpu in 0..nr_cpus as u32 {
            let (task, view) = group_entity(group, cpu);
            parts.tasks.push(task);
            parts.views.push(view);
        }
    }
    let idle_view = |cpu: u32| alight_policy::Task {
        id: NONE,
        prev_cpu: cpu,
        ..Default::default()
    };
    parts.views.extend((0..nr_cpus as u32).map(idle_view));
}

/// The CPUs of a machine, and the costs of each kind of them.
fn cpus(machine: &Machine) -> (Vec<Cpu>, Vec<CpuCosts>) {
    let mut costs = vec![];
    let cpus = (0..machine.cpus.len())
        .map(|cpu| new_cpu(machine, cpu, kind_of_cpu(machine, cpu, &mut costs)))
        .collect();
    (cpus, costs)
}

/// Does a workload report where its tasks were?
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
    let (nr_tasks, nr_cpus) = (parts.tasks.len(), machine.cpus.len());
    let core = core(scenario, frame.kernel, &frame.hotplug)?;
    add_entities(&mut parts, nr_cpus);
    let (cpus, costs) = cpus(machine);
    let is_pipe = |channel: u32| parts.objects.channels[channel as usize].is_pipe();
    let op_costs: Vec<_> = (parts.ops.iter().map(|op| OpCost::of(op, is_pipe))).collect();
    let followed = if parts.measures.iter().any(asks_for_places) {
        nr_tasks
    } else {
        0
    };
    let out = frame.out;
    // SAFETY: CPUs and tasks are numbered from 0 on; the numbers that the state holds of them are
    // these or NONE, which is looked at first. What machines, workloads and command lines name is
    // checked by `machine::check`, `link::check` and the builder; the core answers with one of the
    // CPUs. `link::check` holds what stands in programs against what there is of it: where they jump
    // to, mutexes. A program ends with an operation that ends its task. Attributes name the masks
    // that the builder made for them.
    let world = unsafe {
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
            tasks: Table::new(parts.tasks),
            views: Table::new(parts.views),
            queue: Queue::new(nr_cpus),
            hotplug: frame.hotplug,
            op_costs: Table::new(op_costs),
            round_lengths: Table::new(rounds::lengths(&parts.ops)),
            ops: Table::new(parts.ops),
            comms: parts.comms,
            masks: Table::new(parts.masks),
            workloads: parts.workloads.into(),
            mutexes: Table::new(parts.mutexes),
            seed: scenario.seed,
            overloaded: Mask::EMPTY,
            occupancy: Occupancy::default(),
            stats: Stats::default(),
            counting: Counting::of(followed, machine),
            tracing: out.sink.is_some(),
            sampling: out.sink.as_deref().is_some_and(Sink::wants_signals),
            detailed: out.sink.as_deref().is_some_and(Sink::wants_details),
            out,
        }
    };
    Ok(Made {
        world,
        objects: parts.objects,
        measures: parts.measures,
        starts: parts.starts,
        slices: parts.slices,
    })
}

/// Index of the costs of `cpu` in `kinds`, added if they are the first such.
fn kind_of_cpu(machine: &Machine, cpu: usize, kinds: &mut Vec<CpuCosts>) -> u32 {
    let place = &machine.cpus[cpu];
    let costs = CpuCosts::new(&machine.core_types[place.core_type].costs, place.speed());
    let known = kinds.iter().position(|kind| *kind == costs);
    known.unwrap_or_else(|| {
        kinds.push(costs);
        kinds.len() - 1
    }) as u32
}

/// A task that was not created yet.
pub(super) fn new_task() -> Task {
    Task {
        life: Life::New,
        fresh: true,
        waited: false,
        call: Call::Out,
        wake_migrated: false,
        yielded: false,
        blocked: false,
        clamps_counted: false,
        timers_set: 0,
        logged: false,
        computing: false,
        cancelled: false,
        retired: false,
        prio: FAIR,
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
fn group_entity(group: &Cgroup, cpu: u32) -> (Task, alight_policy::Task) {
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
    view.pelt.last_update_time = 1;
    (task, view)
}

/// A CPU before it idles for the first time.
fn new_cpu(machine: &Machine, cpu: usize, costs: u32) -> Cpu {
    let place = &machine.cpus[cpu];
    Cpu {
        phase: Phase::Idle,
        curr: NONE,
        need_resched: false,
        told_at: 0,
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
        ask_again_at: NEVER,
        core_slot: 0,
        occupied: Default::default(),
        next_balance: 0,
        max_idle_balance_cost: 0,
        stats: Default::default(),
        cache_fill: 0,
        freq_domain: place.freq_domain as u32,
        cluster: place.cluster as u32,
        core_type: place.core_type as u32,
    }
}
