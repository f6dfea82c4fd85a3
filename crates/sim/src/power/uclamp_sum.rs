// SPDX-License-Identifier: GPL-2.0-only
//! Feature `uclamp-sum`: the part outside of the placement core. The core keeps the sums with the
//! other signals (`policy/uclamp_sum.h`).
//!
//! A runqueue then has no clamps of its own: the buckets of [`crate::power::uclamp`] stay empty,
//! and the runqueue's clamps at "none". Utilization of a CPU or a task is the clamped one wherever
//! it is compared with a capacity or requests a frequency. This begins when a task first uses a
//! clamp. Before, clamped and plain utilization differ only in how the sums decay, and runs without
//! clamps must not change.

use crate::power::Power;
use crate::power::uclamp::Fits;
use crate::world::World;
use crate::world::util::{cpu_util, fits};
use alight_policy::abi::{Cpu, Params, rule};
use alight_policy::{Task, rq};

/// Do clamped utilizations add up under these rules?
#[inline]
pub(crate) fn add_up(params: &Params) -> bool {
    params.aggregate != rule::AGGREGATE_MAX
}

/// Is the sum that of clamped utilizations, not of what clamping adds?
pub(crate) fn summed(params: &Params) -> bool {
    add_up(params) && params.aggregate != rule::AGGREGATE_BIAS
}

/// The rule by which utilization is read in a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighed<'a> {
    params: &'a Params,
    /// A task has used a clamp.
    used: bool,
}

impl<'a> Weighed<'a> {
    pub fn new(params: &'a Params, used: bool) -> Self {
        Weighed { params, used }
    }

    /// Do clamped sums replace utilization?
    pub fn summed(self) -> bool {
        self.used && summed(self.params)
    }

    /// Utilization of a CPU (`cpu_util_cfs`).
    #[inline]
    pub fn cpu_util(self, view: &Cpu) -> u32 {
        match self.summed() {
            true => rq::cpu_util_clamped(self.params, view, false),
            false => cpu_util(view),
        }
    }

    /// Clamped sum of a CPU with the time that tasks waited (`cpu_util_cfs_boost`).
    pub fn boosted(self, view: &Cpu) -> u32 {
        rq::cpu_util_clamped(self.params, view, true)
    }
}

impl World<'_> {
    /// The rule by which utilization is read now.
    #[inline]
    pub(crate) fn weighed(&self) -> Weighed<'_> {
        Weighed::new(&self.core.params, self.uclamp_used())
    }

    /// Are clamps used, and do they add up?
    #[inline]
    pub fn clamps_add_up(&self) -> bool {
        add_up(&self.core.params) && self.uclamp_used()
    }

    /// Estimated utilization of a task (`task_util_est`).
    pub fn task_util_est(&self, task: &Task) -> u32 {
        match self.weighed().summed() {
            true => rq::clamped_est(&self.core.params, task),
            false => rq::util_est(&self.core.params, task),
        }
    }

    /// Does the utilization `util`, or `clamped` with its clamps, fit `cpu`?
    fn fits_clamped(&self, cpu: usize, util: u32, clamped: u32) -> Fits {
        let capacity = self.core.cpus[cpu].capacity;
        let params = &self.core.params;
        if fits(clamped, capacity) {
            Fits::Yes
        } else if !summed(params) && params.fit == rule::FIT_CLAMPS && fits(util, capacity) {
            Fits::ButForMin
        } else {
            Fits::No
        }
    }

    /// Does `task` fit `cpu` (`task_fits_cpu`)? Only where clamps add up.
    pub fn task_fits_clamped(&self, task: &Task, cpu: usize) -> bool {
        let params = &self.core.params;
        let (util, clamped) = (rq::util_est(params, task), rq::clamped_est(params, task));
        self.fits_clamped(cpu, util, clamped) == Fits::Yes
    }

    /// `cpu_overutilized`, only where clamps add up.
    pub fn overutilized_clamped(&self, cpu: usize) -> bool {
        let view = &self.core.cpus[cpu];
        let clamped = rq::cpu_util_clamped(&self.core.params, view, false);
        self.fits_clamped(cpu, cpu_util(view), clamped) == Fits::No
    }
}

impl Power<'_> {
    /// `task` has joined the queue of `cpu`: adds its clamped utilization and asks the frequency
    /// governor.
    pub fn clamped_joined(&mut self, cpu: usize, task: u32) {
        let world = self.world();
        let (params, view) = (&world.core.params, &mut world.views[task as usize]);
        let asks = rq::clamped_joined(params, &mut world.core.cpus[cpu], view);
        if asks && self.uclamp_used() {
            self.cpufreq_update(cpu);
        }
    }
}

#[cfg(test)]
mod tests;
