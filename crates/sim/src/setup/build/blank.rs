// SPDX-License-Identifier: GPL-2.0-only
//! Initial values of tasks, group entities and CPUs.

use super::Parts;
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::face::api::Cgroup;
use crate::queues::fair;
use crate::world::cost::CpuCosts;
use crate::world::search::Search;
use crate::world::state::{Call, Cpu, FAIR, FairQueue, Interval, Life, List, Phase, Task};
use crate::world::timers::Timers;
use alight_machine::Machine;
use alight_policy::abi::class;
use alight_workload::program::{LOOP_SLOTS, TIMER_SLOTS};

/// Adds the group entities of each CPU, and the views of the idle tasks.
pub(super) fn add_entities(parts: &mut Parts, nr_cpus: usize) {
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
pub(super) fn cpus(machine: &Machine) -> (Vec<Cpu>, Vec<CpuCosts>) {
    let mut costs = vec![];
    let cpus = (0..machine.cpus.len())
        .map(|cpu| new_cpu(machine, cpu, kind_of_cpu(machine, cpu, &mut costs)))
        .collect();
    (cpus, costs)
}

/// Index of the costs of `cpu` in `kinds`; they are added if they are new.
fn kind_of_cpu(machine: &Machine, cpu: usize, kinds: &mut Vec<CpuCosts>) -> u32 {
    let place = &machine.cpus[cpu];
    let costs = CpuCosts::new(&machine.core_types[place.core_type].costs, place.speed());
    let known = kinds.iter().position(|kind| *kind == costs);
    known.unwrap_or_else(|| {
        kinds.push(costs);
        kinds.len() - 1
    }) as u32
}

/// A task that is not created yet.
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

/// The entity of `group` on `cpu`, and its signals.
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
        search: Search::default(),
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
