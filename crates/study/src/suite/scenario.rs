// SPDX-License-Identifier: GPL-2.0-only
//! The scenarios, after LISA's `lisa_tests/arm/kernel/scheduler/eas_behaviour.py`.

use std::fmt::Write;

use alight_machine::Machine;

/// Activation period of every task, us: LISA's `TASK_PERIOD`.
pub const PERIOD_US: u32 = 16_000;
/// Periods before the asserted phase: twice the 0.33 s in which PELT's sum (half-life 32 ms)
/// comes within 0.1 % of its end.
pub const BUFFER_PERIODS: u32 = 42;

/// How big a task is, relative to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Midway between the two operating points around half of the smallest CPUs' capacity.
    Little,
    /// What fills the second-biggest class, or nearly all that fits the next one.
    Big,
}

/// A named test.
#[derive(Debug)]
pub struct Entry {
    /// LISA's name.
    pub name: &'static str,
    /// What it asks.
    pub about: &'static str,
    /// Tasks.
    pub tasks: &'static [(Size, u32)],
    /// Asserted periods.
    pub periods: u32,
    /// How much more than the cheapest placement may be spent, percent.
    pub energy_percent: u64,
    /// Why so much.
    pub reason: &'static str,
}

/// Activations of a task that may end after the next one was due, percent.
pub const LATE_PERCENT: u64 = 15;

/// One asserted second, in periods.
const SECOND: u32 = 63;

/// The table.
pub const ENTRIES: [Entry; 4] = [
    Entry {
        name: "OneSmallTask",
        about: "one little task stays where it is cheapest",
        tasks: &[(Size::Little, 1)],
        periods: SECOND,
        energy_percent: 5,
        reason: "a lone task has nothing to be moved by; a stray activation is allowed",
    },
    Entry {
        name: "ThreeSmallTasks",
        about: "three little tasks share the cheap CPUs",
        tasks: &[(Size::Little, 3)],
        periods: SECOND,
        energy_percent: 20,
        reason: "packed or spread over the small CPUs differ by little, and both are accepted",
    },
    Entry {
        name: "TwoBigTasks",
        about: "two big tasks run on CPUs that hold them",
        tasks: &[(Size::Big, 2)],
        periods: SECOND,
        energy_percent: 5,
        reason: "few CPUs hold a big task: there is hardly a choice",
    },
    Entry {
        name: "TwoBigThreeSmall",
        about: "big tasks on big CPUs, little ones on the cheap CPUs, at once",
        tasks: &[(Size::Big, 2), (Size::Little, 3)],
        periods: SECOND,
        energy_percent: 5,
        reason: "the big tasks outweigh what the little ones can add",
    },
];

/// Periodic work: `run_us` of every period, in time of the biggest CPU at its top frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duty {
    /// Work a period, us.
    pub run_us: u32,
}

impl Duty {
    /// What `util_avg` reaches at the end of an activation: the mean and PELT's swing above it.
    pub fn peak_util(self) -> u32 {
        (f64::from(self.run_us) * 1024.0 / f64::from(PERIOD_US) + swing(self.run_us)).round() as u32
    }
}

/// How far PELT's sum rises over its mean, for work of `run_us` a period:
/// 1024 (1 - y^run) / (1 - y^period) less the mean, y^32ms = 1/2.
fn swing(run_us: u32) -> f64 {
    let left = |us: u32| 0.5_f64.powf(f64::from(us) / 32_768.0);
    let mean = 1024.0 * f64::from(run_us) / f64::from(PERIOD_US);
    1024.0 * (1.0 - left(run_us)) / (1.0 - left(PERIOD_US)) - mean
}

fn duty(util: f64) -> Duty {
    let run_us = (util / 1024.0 * f64::from(PERIOD_US)).max(1.0) as u32;
    Duty { run_us }
}

/// The capacities that CPUs of the machine have, rising.
fn classes(machine: &Machine) -> Vec<u32> {
    let mut classes: Vec<u32> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// The task of this size; `None` on a machine of one capacity.
pub fn size(machine: &Machine, size: Size) -> Option<Duty> {
    let classes = classes(machine);
    if classes.len() < 2 {
        return None;
    }
    match size {
        Size::Little => little(machine, classes[0]),
        Size::Big => Some(big(&classes)),
    }
}

fn little(machine: &Machine, smallest: u32) -> Option<Duty> {
    let cpu = (machine.cpus.iter()).find(|cpu| cpu.capacity_orig == smallest)?;
    let opps = &machine.freq_domains[cpu.freq_domain].opps;
    let mut near: Vec<u32> = opps.iter().map(|opp| opp.capacity).collect();
    near.sort_by_key(|capacity| (capacity * 2).abs_diff(smallest));
    let middle = f64::from(near[0] + near.get(1).unwrap_or(&near[0])) / 2.0;
    // Schedutil adds a quarter, and the estimate rises by the swing.
    let roughly = duty(middle / 1.25);
    Some(duty((middle - swing(roughly.run_us)) / 1.25))
}

fn big(classes: &[u32]) -> Duty {
    let [below, next] = [classes[classes.len() - 2], classes[classes.len() - 1]].map(f64::from);
    let full = duty(below);
    let fits = 0.8 * next;
    if f64::from(full.peak_util()) < fits {
        return full;
    }
    duty(0.95 * fits - swing(full.run_us))
}

impl Entry {
    /// Its tasks on the machine; `None` where it does not apply.
    pub fn duties(&self, machine: &Machine) -> Option<Vec<Duty>> {
        let mut duties = vec![];
        for &(kind, count) in self.tasks {
            let duty = size(machine, kind)?;
            duties.extend((0..count).map(|_| duty));
        }
        Some(duties)
    }
}

/// The tasks as an rt-app file.
pub fn rt_app(machine: &Machine, duties: &[Duty], periods: u32) -> String {
    let biggest = machine.cpus.iter().map(|cpu| cpu.capacity_orig).max();
    let cpu = (machine.cpus.iter()).position(|cpu| Some(cpu.capacity_orig) == biggest);
    let mut tasks = String::new();
    for (index, duty) in duties.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(
            tasks,
            "{comma}\"task{index}\":{{\"loop\":{periods},\"run\":{},\
             \"timer\":{{\"ref\":\"unique\",\"period\":{PERIOD_US}}}}}",
            duty.run_us
        );
    }
    let cpu = cpu.unwrap_or(0);
    format!("{{\"global\":{{\"calibration\":\"CPU{cpu}\",\"duration\":-1}},\"tasks\":{{{tasks}}}}}")
}
