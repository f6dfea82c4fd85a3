// SPDX-License-Identifier: GPL-2.0-only
//! The layers of a run, and what each keeps: [`World`], [`Power`], [`Queues`], [`Balancer`] (in
//! `balance`, which alone can touch what it keeps), [`Programs`], [`Sim`].
//!
//! A layer owns the one below it. It can use all that stands below and cannot name what stands above:
//! the compiler refuses it. A method belongs to the lowest layer that has what it needs, so that the
//! type it is a method of says what it may touch.
//!
//! A layer dereferences to the one below: in a method of [`Balancer`], `self.now` is the world's time
//! and `self.clock(cpu)` updates the clock of a queue. Such an access borrows all layers below. To
//! change two parts at once, a method names the layer of one (`self.world.cpus` beside `self.freq`),
//! or borrows the [`world`](World::world) and takes it apart.

use crate::balance::Balancer;
use crate::base::queue::Queue;
use crate::base::table::{Table, Tables};
use crate::base::timeline::Nodes;
use crate::kernel::Kernel;
use crate::kernel::tunables::Tunables;
use crate::place::explain::Explainer;
use crate::power::cpufreq::FreqState;
use crate::power::energy::ClusterMeter;
use crate::program::channel::{Channel, MessageMemory};
use crate::program::instruments::Instruments;
use crate::program::sync::BarrierState;
use crate::queues::cache_aware::CacheAware;
use crate::queues::classes::Classes;
use crate::queues::fair::{Eevdf, Groups};
use crate::world::cost::{CpuCosts, OpCost};
use crate::world::lifetime::Ends;
use crate::world::occupancy::Occupancy;
use crate::world::state::{Cpu, MarkState, Task, WorkloadState};
use crate::world::stats::{Histogram, Stats};
use crate::world::waits::{Mutex, WaitQueue};
use alight_machine::Machine;
use alight_policy::Mask;
use alight_trace::Sink;
use alight_workload::program::{Deal, Op};
/// Output of the run besides its numbers.
pub(crate) struct Output<'a> {
    pub sink: Option<&'a mut (dyn Sink + 'a)>,
    /// First error of the sink.
    pub error: Option<std::io::Error>,
    /// From where the wakeup comes that is under way.
    pub waker: alight_trace::Waker,
}

/// The placement core, with tables like the others here.
pub(crate) type Core = alight_policy::Core<Tables>;

/// What all mechanisms share: time, CPUs, tasks, what they execute, and the placement core's view of them.
/// What every event touches comes first.
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
    /// [`crate::world::rounds::lengths`]
    pub round_lengths: Table<u8>,
    pub hash: u64,
    /// Next event of each CPU.
    pub queue: Queue,
    pub machine: &'a Machine,
    /// The rules of the base kernel.
    pub kernel: &'static Kernel,
    pub events: u64,
    /// CPUs below it have done what was due at this very instant.
    pub acted: usize,
    /// When the run ends, as far as that is known by now.
    pub end_at: u64,
    pub ends: Ends,
    /// Some task may be of a class above the fair one.
    pub above_fair: bool,
    pub check: bool,
    pub tracing: bool,
    /// The sink wants load tracking too.
    pub sampling: bool,
    /// And what no trace file tells.
    pub detailed: bool,
    /// Kernel path costs by kind of CPU.
    pub costs: Table<CpuCosts>,
    /// Ticks so far, and when the next one comes.
    pub jiffy: u64,
    pub jiffy_end: u64,
    pub tunables: Tunables,
    /// What a policy may know, of every CPU.
    pub core: Core,
    pub masks: Table<Mask>,
    pub mutexes: Table<Mutex>,
    pub workloads: Box<[WorkloadState]>,
    pub comms: Vec<String>,
    pub stats: Stats,
    pub counting: crate::world::counting::Counting,
    /// Of the run, for what is drawn.
    pub seed: u64,
    /// How often a task was preempted since the run began: numbers what is drawn of pipes' mutexes.
    pub preempted: u64,
    /// CPUs with two or more runnable tasks.
    pub overloaded: Mask,
    pub occupancy: Occupancy,
    pub hotplug: crate::world::online::Hotplug,
    pub out: Output<'a>,
}

/// Clocks, idle states, energy, and what takes speed from CPUs.
#[repr(C)]
pub(crate) struct Power<'a> {
    pub world: World<'a>,
    /// PM QoS: no idle state with a longer wakeup latency, ns.
    pub latency_limit_ns: u64,
    /// Pending change of each frequency domain.
    pub freq_queue: Queue,
    pub freq: Table<FreqState>,
    /// Clamps of the tasks on each CPU's queue.
    pub uclamp: Box<[crate::power::uclamp::QueueClamps]>,
    pub uclamp_limits: crate::power::uclamp::Limits,
    pub meters: Table<ClusterMeter>,
    /// Of each core type.
    pub idle_states: Table<Table<crate::power::cpuidle::State>>,
    pub domain_states: Table<Vec<crate::power::cpuidle::DomainState>>,
    /// Of each CPU.
    pub idle: Table<crate::power::cpuidle::CpuIdle>,
    pub idle_memory: crate::power::cpuidle::Memory,
    pub pressure: crate::power::pressure::Pressure,
    pub irq_time: crate::power::irq_time::IrqTime,
    pub smt: crate::power::smt::Smt,
}

/// Which task runs next on each CPU: the fair class, its groups, and the classes before it.
#[repr(C)]
pub(crate) struct Queues<'a> {
    pub power: Power<'a>,
    /// The classes above the fair one.
    pub classes: Classes,
    pub eevdf: Eevdf,
    pub groups: Groups,
    /// Which caches processes prefer, and what is queued where they do.
    pub cache_aware: CacheAware,
    /// The queues keep the load signals of 2013, for the feature pack.
    pub signals_2013: bool,
    /// Decisions are explained.
    pub explainer: Option<Box<Explainer>>,
}

/// What tasks do: channels, locks, what is measured of them.
#[repr(C)]
pub(crate) struct Programs<'a> {
    pub balancer: Balancer<'a>,
    pub channels: Table<Channel>,
    pub message_memory: MessageMemory,
    pub counters: Table<u64>,
    pub deals: Table<Deal>,
    pub attributes: Vec<crate::world::asked::Attributes>,
    pub conditions: Vec<WaitQueue>,
    pub semaphores: Vec<(u32, WaitQueue)>,
    pub barriers: Vec<BarrierState>,
    pub marks: Vec<MarkState>,
    pub histograms: Vec<Histogram>,
    pub instruments: Instruments,
    pub activations: crate::program::activations::Activations,
}

/// A run: CPUs and tasks that do what programs say, and what is done to them from outside.
#[repr(C)]
pub(crate) struct Sim<'a> {
    pub programs: Programs<'a>,
    /// What is done to the machine, and the CPUs that there are.
    pub agenda: crate::dispatch::changes::Agenda,
    pub replay: crate::dispatch::replay::Replay,
}

/// Gives a layer the fields and methods of the one below it.
macro_rules! stands_on {
    ($($above:ident on $below:ident: $field:ident),* $(,)?) => {$(
        impl<'a> std::ops::Deref for $above<'a> {
            type Target = $below<'a>;
            #[inline(always)]
            fn deref(&self) -> &$below<'a> {
                &self.$field
            }
        }
        impl std::ops::DerefMut for $above<'_> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.$field
            }
        }
    )*};
}

pub(crate) use stands_on;

stands_on!(
    Power on World: world,
    Queues on Power: power,
    Programs on Balancer: balancer,
    Sim on Programs: programs,
);

impl World<'_> {
    /// All that the layers above share, to be borrowed in parts.
    #[inline(always)]
    pub fn world(&mut self) -> &mut Self {
        self
    }

    /// The core's parameters, and the views of a CPU and of a task, to be changed together.
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
