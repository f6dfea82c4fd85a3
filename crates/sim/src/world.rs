// SPDX-License-Identifier: GPL-2.0-only
//! The layer `World`: the state that all mechanisms share. It owns the time, CPUs, tasks, the
//! operations that they execute, and the placement core with its view of them.

pub(crate) mod asked;
pub(crate) mod cost;
pub(crate) mod counting;
pub(crate) mod emit;
pub(crate) mod jiffies;
pub(crate) mod lifetime;
pub(crate) mod occupancy;
pub(crate) mod online;
pub(crate) mod rounds;
pub(crate) mod search;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod timers;
pub(crate) mod util;
pub(crate) mod waits;

use crate::base::queue::Queue;
use crate::base::table::{Table, Tables};
use crate::base::timeline::Nodes;
use crate::kernel::Kernel;
use crate::kernel::tunables::Tunables;
use crate::world::cost::{CpuCosts, OpCost};
use crate::world::lifetime::Ends;
use crate::world::occupancy::Occupancy;
use crate::world::state::{Cpu, Task, WorkloadState};
use crate::world::stats::Stats;
use crate::world::waits::Mutex;
use alight_machine::Machine;
use alight_policy::Mask;
use alight_trace::Sink;
use alight_workload::program::Op;

/// The trace output of the run.
pub(crate) struct Output<'a> {
    pub sink: Option<&'a mut (dyn Sink + 'a)>,
    /// First error of the sink.
    pub error: Option<std::io::Error>,
    /// The source of the wakeup that is under way.
    pub waker: alight_trace::Waker,
}

/// The placement core, with its arrays as [`Table`]s.
pub(crate) type Core = alight_policy::Core<Tables>;

/// The state that all mechanisms share. The fields that every event touches come first.
#[repr(C)]
pub(crate) struct World<'a> {
    pub now: u64,
    pub cpus: Table<Cpu>,
    pub tasks: Table<Task>,
    /// Views of the tasks, then of each CPU's idle task.
    pub views: Table<alight_policy::Task>,
    pub nodes: Nodes,
    pub ops: Table<Op>,
    pub op_costs: Table<OpCost>,
    /// See [`crate::world::rounds::lengths`].
    pub round_lengths: Table<u8>,
    pub hash: u64,
    /// Next event of each CPU.
    pub queue: Queue,
    pub machine: &'a Machine,
    /// The rules of the base kernel.
    pub kernel: &'static Kernel,
    pub events: u64,
    /// CPUs with a lower number have already handled their events of the instant `now`.
    pub acted: usize,
    /// End of the run, as far as it is known so far.
    pub end_at: u64,
    pub ends: Ends,
    /// Some task may be in a class above the fair one.
    pub above_fair: bool,
    pub check: bool,
    pub tracing: bool,
    /// The sink also wants load tracking signals.
    pub sampling: bool,
    /// The sink also wants details that no trace file has ([`alight_trace::Detail`]).
    pub detailed: bool,
    /// Kernel path costs by kind of CPU.
    pub costs: Table<CpuCosts>,
    /// Number of ticks so far; `jiffy_end`: time of the next one.
    pub jiffy: u64,
    pub jiffy_end: u64,
    pub tunables: Tunables,
    /// The placement core: everything that a policy may know about CPUs.
    pub core: Core,
    pub masks: Table<Mask>,
    pub mutexes: Table<Mutex>,
    pub workloads: Box<[WorkloadState]>,
    pub comms: Vec<String>,
    pub stats: Stats,
    pub counting: crate::world::counting::Counting,
    /// Seed of the run's random numbers.
    pub seed: u64,
    /// Number of preemptions since the run began: key of the draws for pipe mutexes.
    pub preempted: u64,
    /// CPUs with two or more runnable tasks.
    pub overloaded: Mask,
    pub occupancy: Occupancy,
    pub hotplug: crate::world::online::Hotplug,
    pub out: Output<'a>,
}

impl World<'_> {
    /// The world that the layers above share, for borrows by field.
    #[inline(always)]
    pub fn world(&mut self) -> &mut Self {
        self
    }

    /// The core's parameters and the views of a CPU and a task, borrowed together.
    #[inline(always)]
    pub fn rq_and_task(
        &mut self,
        cpu: usize,
        task: u32,
    ) -> (
        &alight_policy::Params,
        &mut alight_policy::Cpu,
        &mut alight_policy::Task,
    ) {
        let core = &mut self.core;
        (
            &core.params,
            &mut core.cpus[cpu],
            &mut self.views[task as usize],
        )
    }
}
