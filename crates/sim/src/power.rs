// SPDX-License-Identifier: GPL-2.0-only
//! The layer `Power`: CPU frequencies, idle states, energy, and what slows CPUs down (pressure,
//! SMT, time in interrupts). It also owns the utilization clamps.

pub(crate) mod counting;
pub(crate) mod cpufreq;
pub(crate) mod cpuidle;
pub(crate) mod demand;
pub(crate) mod energy;
pub(crate) mod energy_model;
pub(crate) mod irq_time;
pub(crate) mod kick;
pub(crate) mod overutilized;
pub(crate) mod pressure;
pub(crate) mod smt;
pub(crate) mod uclamp;
pub(crate) mod uclamp_sum;

use crate::base::layer::stands_on;
use crate::base::queue::Queue;
use crate::base::table::Table;
use crate::face::api::Error;
use crate::power::cpufreq::{FreqState, freq_of};
use crate::power::cpuidle::{CpuIdle, DomainState, Memory, State, idle_states_of};
use crate::power::energy::{ClusterMeter, meters_of};
use crate::power::irq_time::IrqTime;
use crate::power::pressure::Pressure;
use crate::power::smt::Smt;
use crate::power::uclamp::{Limits, QueueClamps};
use crate::world::World;
use alight_machine::{Governor, IdleGovernor};

/// CPU frequencies, idle states, energy, and what slows CPUs down.
#[repr(C)]
pub(crate) struct Power<'a> {
    pub world: World<'a>,
    /// Largest wakeup latency of an idle state, ns (PM QoS).
    latency_limit_ns: u64,
    /// The pending change of each frequency domain, then the other events of the machine.
    freq_queue: Queue,
    freq: Table<FreqState>,
    /// Clamps of the tasks on each CPU's queue.
    uclamp: Box<[QueueClamps]>,
    uclamp_limits: Limits,
    meters: Table<ClusterMeter>,
    /// Idle states, and domain states, of each core type.
    idle_states: Table<Table<State>>,
    domain_states: Table<Vec<DomainState>>,
    /// Idle state of each CPU.
    idle: Table<CpuIdle>,
    idle_memory: Memory,
    pressure: Pressure,
    irq_time: IrqTime,
    smt: Smt,
}

stands_on!(Power on World: world);

/// Settings of a run for frequencies and idle states.
pub(crate) struct Asked {
    pub governor: Governor,
    pub idle_governor: IdleGovernor,
    /// Largest wakeup latency of an idle state, us (PM QoS).
    pub latency_limit_us: Option<u64>,
    /// Frequency limits change during the run.
    pub limited: bool,
    /// Event slots of the machine beyond those of its frequency domains.
    pub slots: usize,
    pub uclamp_limits: Limits,
}

impl<'a> Power<'a> {
    /// The layer at the start of a run: all frequencies set, all CPUs executing.
    ///
    /// # Errors
    /// If the kernel lacks the idle governor.
    pub fn new(world: World<'a>, asked: Asked) -> Result<Self, Error> {
        let (machine, nr_cpus) = (world.machine, world.cpus.len());
        // SAFETY: looked up by numbers of CPUs, as the clamps are.
        let idle = unsafe { Table::new(vec![CpuIdle::default(); nr_cpus]) };
        let (idle_states, domain_states) = idle_states_of(machine, world.kernel);
        let states = world
            .cpus
            .iter()
            .map(|cpu| idle_states[cpu.core_type as usize].len());
        let idle_memory = Memory::new(asked.idle_governor, &world.kernel.idle, states)
            .map_err(|why| Error::Refused(format!("{} {why}", world.kernel.name)))?;
        let mut power = Power {
            freq_queue: Queue::new(machine.freq_domains.len() + asked.slots),
            freq: freq_of(&world, asked.governor),
            uclamp: vec![QueueClamps::default(); nr_cpus].into(),
            uclamp_limits: asked.uclamp_limits,
            meters: meters_of(&world),
            idle_states,
            domain_states,
            idle,
            idle_memory,
            pressure: Pressure::new(asked.limited, world.core.params.pressure, nr_cpus),
            irq_time: IrqTime::new(machine.irq_time_accounting, nr_cpus),
            smt: Smt::new(machine),
            latency_limit_ns: asked.latency_limit_us.map_or(u64::MAX, |us| us * 1000),
            world,
        };
        power.rates_begin();
        power.energy_model_init(asked.governor);
        power.meters_begin();
        Ok(power)
    }
}

impl Power<'_> {
    /// Do frequency limits change in this run, and does the base's scheduler learn of it?
    #[inline]
    pub fn has_pressure(&self) -> bool {
        self.pressure.used
    }

    /// Is time in interrupts accounted separately (`CONFIG_IRQ_TIME_ACCOUNTING`)?
    #[inline]
    pub fn has_irq_time(&self) -> bool {
        self.irq_time.used
    }

    /// Do threads of a core slow each other down?
    #[inline]
    pub fn has_smt(&self) -> bool {
        self.smt.used
    }

    /// Number of frequency domains. They have the event slots from 0 on.
    pub fn nr_freq_domains(&self) -> usize {
        self.freq.len()
    }

    /// Sets the machine event in `slot` to the time `at`.
    pub fn await_machine(&mut self, slot: usize, at: u64) {
        self.freq_queue.set(slot, at);
    }

    /// Time and slot of the next machine event.
    #[inline]
    pub fn next_of_machine(&self) -> (u64, usize) {
        self.freq_queue.first()
    }

    /// Index of the operating point of `domain`.
    pub fn opp_index(&self, domain: usize) -> u32 {
        self.freq[domain].opp_index()
    }

    /// Number of frequency changes of `domain` in the counted time.
    pub fn freq_changes(&self, domain: usize) -> u64 {
        self.freq[domain].changes
    }

    /// The meter of a cluster, brought up to date by [`Power::meters_flush`].
    pub fn meter(&self, cluster: usize) -> &ClusterMeter {
        &self.meters[cluster]
    }

    /// The idle state that `cpu` asked for last.
    pub fn idle_state_asked(&self, cpu: usize) -> usize {
        self.idle[cpu].state()
    }

    /// Restarts the counters of energy, residency and frequency changes.
    pub fn power_counts_anew(&mut self) {
        self.meters_flush();
        self.flush_beside();
        for meter in &mut self.meters {
            meter.reset();
        }
        for idle in &mut self.idle {
            idle.forget_residency();
        }
        for domain in &mut self.freq {
            domain.changes = 0;
        }
    }
}
