// SPDX-License-Identifier: GPL-2.0-only
//! What scenarios ask of a machine, and all that judging needs of it: LISA's
//! `plat_info`. It is saved with a run, which can so be judged without the machine.

use alight_machine::Machine;
use serde::{Deserialize, Serialize};

/// A machine as the scenarios see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// Tick frequency, Hz.
    pub hz: u32,
    /// CPUs, by number.
    pub cpus: Vec<Cpu>,
    /// CPUs of one clock.
    pub clocks: Vec<Clock>,
}

/// One CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// At the top operating point, 0..=1024.
    pub capacity: u32,
    /// Index into [`Platform::clocks`].
    pub clock: usize,
    /// NUMA node.
    pub node: usize,
}

/// CPUs of one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Its CPUs, rising.
    pub cpus: Vec<usize>,
    /// Operating points, rising.
    pub points: Vec<Point>,
    /// Time from a request that the scheduler itself can make until the clock has changed, ns;
    /// 0 where the driver sleeps, and the trace tells of the change when it is done.
    pub fast_switch_ns: u64,
}

/// An operating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Frequency, kHz.
    pub khz: u32,
    /// Capacity of a CPU there, 0..=1024.
    pub capacity: u32,
    /// Power of a busy CPU, uW; 0: not known.
    pub uw: u64,
}

/// CPUs of one capacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Capacity at the top operating point.
    pub capacity: u32,
    /// The CPUs, rising.
    pub cpus: Vec<usize>,
}

impl Platform {
    /// What is said of `machine`.
    pub fn of(machine: &Machine) -> Self {
        let point = |opp: &alight_machine::Opp| Point {
            khz: opp.khz,
            capacity: opp.capacity,
            uw: opp.em_power_uw,
        };
        let clock = |domain: &alight_machine::FreqDomain| Clock {
            cpus: domain.cpus.iter().collect(),
            points: domain.opps.iter().map(point).collect(),
            fast_switch_ns: u64::from(domain.fast_switch) * domain.switch_ns,
        };
        let cpu = |cpu: &alight_machine::Cpu| Cpu {
            capacity: cpu.capacity_orig,
            clock: cpu.freq_domain,
            node: cpu.node,
        };
        Platform {
            hz: machine.hz,
            cpus: machine.cpus.iter().map(cpu).collect(),
            clocks: machine.freq_domains.iter().map(clock).collect(),
        }
    }

    /// The classes of capacity, rising; there is at least one.
    pub fn classes(&self) -> Vec<Class> {
        let mut classes: Vec<Class> = vec![];
        for (cpu, of) in self.cpus.iter().enumerate() {
            match classes
                .iter_mut()
                .find(|class| class.capacity == of.capacity)
            {
                Some(class) => class.cpus.push(cpu),
                None => classes.push(Class {
                    capacity: of.capacity,
                    cpus: vec![cpu],
                }),
            }
        }
        classes.sort_by_key(|class| class.capacity);
        classes
    }

    /// The classes, where there is more than one.
    ///
    /// # Errors
    /// Why the scenario does not apply.
    pub fn asymmetric(&self) -> Result<Vec<Class>, String> {
        let classes = self.classes();
        match classes.len() {
            1 => Err("all CPUs have one capacity".to_owned()),
            _ => Ok(classes),
        }
    }

    /// A CPU of the biggest class.
    pub fn biggest(&self) -> usize {
        let biggest = self.cpus.iter().map(|cpu| cpu.capacity).max();
        let is = |cpu: &Cpu| Some(cpu.capacity) == biggest;
        self.cpus.iter().position(is).unwrap_or(0)
    }

    /// Operating points of a CPU, rising.
    pub fn points(&self, cpu: usize) -> &[Point] {
        &self.clocks[self.cpus[cpu].clock].points
    }

    /// Every operating point has a power.
    pub fn powered(&self) -> bool {
        let mut points = self.clocks.iter().flat_map(|clock| &clock.points);
        points.all(|point| point.uw != 0)
    }

    /// NUMA nodes.
    pub fn nodes(&self) -> usize {
        self.cpus.iter().map(|cpu| cpu.node + 1).max().unwrap_or(1)
    }

    /// Regular balancing interval in ns: a ms a CPU, in whole ticks (`sd_init()`).
    pub fn balance_interval_ns(&self) -> u64 {
        let tick = 1_000_000_000 / u64::from(self.hz);
        (self.cpus.len() as u64 * 1_000_000).div_ceil(tick) * tick
    }

    /// Longest balancing interval in ns (`max_load_balance_interval`).
    pub fn max_balance_interval_ns(&self) -> u64 {
        let ticks = u64::from(self.hz) * self.cpus.len() as u64 / 10;
        ticks * 1_000_000_000 / u64::from(self.hz)
    }
}
