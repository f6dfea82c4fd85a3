// SPDX-License-Identifier: GPL-2.0-only
//! Clocks, idle states, energy, and what takes speed from CPUs.

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
