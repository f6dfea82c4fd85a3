// SPDX-License-Identifier: GPL-2.0-only
//! `rd->overutilized`: some CPU of the root domain is overutilized. While it is set, energy-aware
//! placement is off and the load balancer works.
//!
//! It is set where utilization may have risen: when a task wakes, at the tick of a running task,
//! and at any balancing attempt. Only an attempt in the topmost domain, which looks at all CPUs,
//! clears it. Without an energy model it stays set; it is then read only to learn that.

use crate::kernel::Overutilized;
use crate::power::uclamp::Fits;
use crate::world::World;
use crate::world::util::{cpu_util, fits};
use alight_policy::Mask;

impl World<'_> {
    /// Is there an energy model that placement goes by (`sched_energy_enabled`)?
    #[inline]
    pub fn energy_aware(&self) -> bool {
        !self.core.perf.is_empty()
    }

    /// Called when a task woke or a tick passed on `cpu` (`update_overutilized_status`,
    /// `check_update_overutilized_status`).
    #[inline]
    pub fn overutilized_update(&mut self, cpu: usize) {
        if self.core.root.overutilized == 0 && self.overutilized(cpu) {
            self.set_overutilized(true);
        }
    }

    /// Called when a balancing attempt has looked at `cpus`; `topmost`: in a domain without a
    /// parent (`update_sd_lb_stats`).
    pub fn overutilized_seen(&mut self, cpus: &Mask, topmost: bool) {
        let found = cpus.iter().any(|cpu| self.overutilized(cpu as usize));
        if topmost || found {
            self.set_overutilized(found);
        }
    }

    /// Is one of `cpus` overutilized?
    pub fn any_overutilized(&self, mut cpus: impl Iterator<Item = usize>) -> bool {
        cpus.any(|cpu| self.overutilized(cpu))
    }

    /// `cpu_overutilized`.
    fn overutilized(&self, cpu: usize) -> bool {
        if self.clamps_add_up() && self.kernel.energy_aware.is_some() {
            return self.overutilized_clamped(cpu);
        }
        let view = &self.core.cpus[cpu];
        let util = cpu_util(view);
        match self.kernel.energy_aware.map(|rules| rules.overutilized) {
            None => false,
            Some(Overutilized::Util) => !fits(util, view.capacity),
            Some(Overutilized::UtilInClamps) => {
                let (min, max) = (view.uclamp_min.into(), view.uclamp_max.into());
                self.util_fits(cpu, util, min, max) == Fits::No
            }
            Some(Overutilized::UtilUnderClamp) => {
                self.util_fits(cpu, util, 0, view.uclamp_max.into()) == Fits::No
            }
        }
    }
}

#[cfg(test)]
mod tests;
