// SPDX-License-Identifier: GPL-2.0-only
//! The state that a run begins with: all memory that the loop will need.

use super::{Builder, kernel};
use crate::balance::{Balancer, keeps_signals_2013};
use crate::base::queue::{NEVER, Queue};
use crate::base::rng::{Purpose, below};
use crate::base::table::Table;
use crate::base::timeline::{NONE, Nodes};
use crate::dispatch::changes::Agenda;
use crate::dispatch::replay::Replay;
use crate::face::api::{Cgroup, Error, Scenario};
use crate::face::feasible::check_governor;
use crate::kernel::sysctl::Sysctls;
use crate::kernel::tunables::Order;
use crate::kernel::tunables::Tunables;
use crate::kernel::views::views;
use crate::layers::{Output, Power, Programs, Queues, Sim, World};
use crate::observe::results::MeasureSpec;
use crate::power::cpuidle::CpuIdle;
use crate::power::cpuidle::Memory;
use crate::power::irq_time::IrqTime;
use crate::power::pressure::Pressure;
use crate::power::smt::Smt;
use crate::power::uclamp::Limits;
use crate::program::activations::Activations;
use crate::program::channel::MessageMemory;
use crate::queues::cache_aware::CacheAware;
use crate::queues::classes::{Class, Classes, Servers};
use crate::queues::fair::{self, Eevdf, Groups};
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

/// What the idle governor of this run remembers of each CPU: nothing yet.
fn idle_memory(scenario: &Scenario<'_>, sim: &Sim<'_>) -> Result<Memory, Error> {
    let asked = scenario.idle_governor.or(scenario.machine.idle_governor);
    let governor = asked.unwrap_or(IdleGovernor::Menu);
    let states = (0..sim.cpus.len()).map(|cpu| sim.idle_states(cpu).len());
    Memory::new(governor, &sim.kernel.idle, states)
        .map_err(|why| Error::Refused(format!("{} {why}", sim.kernel.name)))
}

impl<'a> Builder<'a> {
    /// The run, ready to start.
    pub(super) fn finish(
        self,
        ends_by: u64,
        out: Output<'a>,
    ) -> Result<(Sim<'a>, Vec<MeasureSpec>), Error> {
        let Builder {
            scenario,
            mut parts,
        } = self;
        parts.instruments.reserve(parts.tasks.len());
        let replay = Replay::new(scenario.workloads, scenario.machine.cpus.len());
        let machine = scenario.machine;
        let nr_cpus = machine.cpus.len();
        let kernel = kernel(scenario)?;
        let sysctls = Sysctls::of(kernel, scenario.sysctls)?;
        let mut params = scenario.scheduler.params;
        params.scan_cpu_ns = machine.core_types[machine.cpus[0].core_type]
            .costs
            .scan_local_ns;
        check_governor(scenario.governor_in_force(), machine)?;
        let agenda = Agenda::new(scenario.changes, machine, scenario.duration_ns)?;
        let hotplug = Hotplug::new(scenario, agenda.has_hotplug());
        let limited = agenda.has_limits();
        // SAFETY: looked up by CPUs, as the tables below, and by what its own places lead to.
        let core = unsafe { views(machine, kernel, &params, hotplug.online)?.stored() };
        let signals_2013 = keeps_signals_2013(&core);
        let tick = 1_000_000_000 / u64::from(machine.hz);
        let mut tunables = Tunables::new(kernel, nr_cpus, tick);
        tunables.hrtick &= scenario.machine.hrtick;
        tunables.base_slice = sysctls.base_slice.unwrap_or(tunables.base_slice);
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
        let cpus: Vec<_> = (0..nr_cpus)
            .map(|cpu| new_cpu(machine, cpu, kind_of_cpu(machine, cpu, &mut costs)))
            .collect();
        let latency_limit_us = scenario
            .workloads
            .iter()
            .filter_map(|w| w.dma_latency_us)
            .min();
        let hz = u64::from(machine.hz);
        let governor = scenario.governor_in_force();
        let servers = match (kernel.rt.fair_server, governor) {
            (false, _) => Servers::None,
            (true, Governor::Schedutil) => Servers::Always,
            (true, _) => Servers::BesideOthers,
        };
        let irq_time = IrqTime::new(machine.irq_time_accounting, nr_cpus);
        let (own, later) = (&parts.own, &parts.attributes);
        for (task, own) in parts.tasks.iter_mut().zip(own) {
            task.prio = Class::of(own).prio();
        }
        let mut classes = Classes::new(own, later, nr_cpus, hz, servers, irq_time.used);
        classes.limit_rt(sysctls.rt, kernel.rt.throttle);
        let of: Vec<_> = parts.own.iter().map(|own| own.group).collect();
        let places = |measure: &MeasureSpec| {
            matches!(
                measure.source,
                MeasureSource::LeftCluster { .. } | MeasureSource::OnBiggest { .. }
            )
        };
        let asks_for_places = parts.measures.iter().any(places);
        let nr_tasks = parts.tasks.len();
        let uclamp_limits = Limits::new(sysctls.clamps, kernel, &parts.groups, &parts.own);
        let groups = Groups::new(&parts.groups, &of, nr_cpus, &tunables);
        let entities = parts.tasks.len();
        let is_pipe = |channel: u32| parts.channels[channel as usize].is_pipe();
        let op_cost = |op| OpCost::of(op, is_pipe);
        let op_costs: Vec<_> = parts.ops.iter().map(op_cost).collect();
        let round_lengths = rounds::lengths(&parts.ops);
        let idle = vec![CpuIdle::default(); nr_cpus];
        // SAFETY: CPUs and tasks are numbered here from 0 on; the numbers that the state holds of
        // them are these or NONE, which is looked at first. What machines, workloads and command lines
        // name is checked by `machine::check`, `link::check` and the builder; the core answers with
        // one of the CPUs.
        let (cpus, idle, tasks, views, costs) = unsafe {
            (
                Table::new(cpus),
                Table::new(idle),
                Table::new(parts.tasks),
                Table::new(views),
                Table::new(costs),
            )
        };
        // SAFETY: `link::check` holds what stands in programs against what there is of it: where
        // they jump to, mutexes, channels, counters. A program ends with an operation that ends its
        // task. Attributes name the masks that the builder made for them.
        let (ops, op_costs, round_lengths, deals, mutexes, channels, counters, masks) = unsafe {
            (
                Table::new(parts.ops),
                Table::new(op_costs),
                Table::new(round_lengths),
                Table::new(parts.deals),
                Table::new(parts.mutexes),
                Table::new(parts.channels),
                Table::new(parts.counters),
                Table::new(parts.masks),
            )
        };
        // SAFETY: `cpufreq_init` and `meters_init` put others there before anybody looks.
        let (freq, meters) = unsafe { (Table::new([]), Table::new([])) };
        // SAFETY: as above.
        let (idle_states, domain_states) = unsafe { (Table::new([]), Table::new([])) };
        let world = World {
            machine,
            now: 0,
            end_at: ends_by,
            ends: Ends::new(ends_by),
            events: 0,
            acted: 0,
            preempted: 0,
            hash: scenario.seed,
            above_fair: classes.used,
            check: scenario.check,
            kernel,
            tunables,
            jiffy: 0,
            jiffy_end: phase,
            core,
            views,
            cpus,
            costs,
            nodes: Nodes::new(entities + classes.timers()),
            tasks,
            queue: Queue::new(nr_cpus),
            hotplug,
            op_costs,
            round_lengths,
            ops,
            comms: parts.comms,
            masks,
            workloads: parts.workloads.into(),
            mutexes,
            seed: scenario.seed,
            overloaded: Mask::EMPTY,
            occupancy: Occupancy::default(),
            stats: Stats::default(),
            counting: Counting::of(if asks_for_places { nr_tasks } else { 0 }, machine),
            tracing: out.sink.is_some(),
            sampling: out.sink.as_deref().is_some_and(Sink::wants_signals),
            detailed: out.sink.as_deref().is_some_and(Sink::wants_details),
            out,
        };
        let power = Power {
            world,
            freq_queue: Queue::new(
                machine.freq_domains.len() + agenda.slots() + replay.devices.slots(),
            ),
            pressure: Pressure::new(limited, params.pressure, nr_cpus),
            irq_time,
            smt: Smt::new(machine),
            freq,
            uclamp: vec![].into(),
            uclamp_limits,
            meters,
            idle_states,
            domain_states,
            idle,
            idle_memory: Memory::Menu {
                pattern_first: None,
            },
            latency_limit_ns: latency_limit_us.map_or(u64::MAX, |us| us * 1000),
        };
        let queues = Queues {
            power,
            eevdf: match tunables.order {
                Order::Cfs => Eevdf::new(0, 0),
                Order::Eevdf => Eevdf::new(nr_cpus + groups.entities(), entities),
            },
            groups,
            classes,
            cache_aware: CacheAware::default(),
            signals_2013,
            explainer: None,
        };
        let balancer = Balancer::new(queues);
        let programs = Programs {
            balancer,
            attributes: parts.attributes,
            conditions: parts.conditions,
            semaphores: parts.semaphores,
            barriers: parts.barriers,
            channels,
            message_memory: MessageMemory::new(nr_cpus, machine.memory.messages_kept),
            counters,
            deals,
            marks: parts.marks,
            histograms: parts.histograms,
            instruments: parts.instruments,
            activations: Activations::new(parts.logs, &parts.log_of_task),
        };
        let mut sim = Sim {
            programs,
            agenda,
            replay,
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
            let world = sim.world();
            world.cpus[cpu].timers.insert(&mut world.nodes, task, at);
        }
        sim.await_change();
        sim.boot();
        Ok((sim, parts.measures))
    }
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
