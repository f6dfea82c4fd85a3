// SPDX-License-Identifier: GPL-2.0-only
//! The energy model of a run ([`alight_machine::views::energy`]). The kernel uses one only under
//! schedutil.

use crate::kernel::hybrid;
use crate::world::World;
use alight_machine::views::energy::{clock_of, model};
use alight_machine::{FreqDomain, Governor};
use alight_policy::Params;
use alight_policy::abi::{Mask, PerfState, state_flag};
use alight_policy::energy::perf_domain;

impl World<'_> {
    /// Gives the energy model to the placement core if the kernel would use one under `governor`.
    /// Without a model `rd->overutilized` stays set, so other code need not ask for the model.
    pub fn energy_model_init(&mut self, governor: Governor) {
        let known = self.kernel.energy_aware.is_some() && governor == Governor::Schedutil;
        let model = || {
            let clocks = hybrid::clocks(self.machine, self.kernel)?;
            model(&self.core, &self.hotplug.online, &clocks).ok()
        };
        let model = known.then(model).flatten().unwrap_or_default();
        let set = self.core.set_perf(model);
        set.expect("a model of this machine's CPUs");
        self.core.root.overutilized = self.core.perf.is_empty().into();
    }
}

/// For each operating point of `domain`: does it cost no less than a faster one
/// (EM_PERF_STATE_INEFFICIENT)? Empty if their power is not known.
pub(crate) fn inefficient(domain: &FreqDomain, params: &Params) -> Vec<bool> {
    let capacity = domain.opps.last().map_or(0, |top| top.capacity);
    let points = clock_of(domain).points;
    let model = points.and_then(|points| perf_domain(params, Mask::EMPTY, capacity, &points).ok());
    model.map_or(vec![], |model| {
        let states = &model.state[..model.nr_states as usize];
        let flag = |state: &PerfState| state.flags & state_flag::INEFFICIENT != 0;
        states.iter().map(flag).collect()
    })
}

#[cfg(test)]
mod tests;
