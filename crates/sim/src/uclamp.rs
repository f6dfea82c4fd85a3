// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps.

use crate::balance::fits;
use crate::state::Sim;
use alight_policy::abi::{Cpu, Params, rule};

/// The clamp of everybody who asked for none: no upper limit.
const SCALE: u32 = 1024;

/// Does utilization within clamps fit a CPU?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fits {
    No,
    /// But the CPU cannot give the lower clamp.
    ButForMin,
    Yes,
}

/// What limits leave of a CPU now (`get_actual_cpu_capacity`, earlier without
/// `arch_scale_thermal_pressure`).
fn actual_capacity(params: &Params, view: &Cpu) -> u32 {
    let taken = match params.pressure {
        rule::PRESSURE_THERMAL => view.hw_pressure,
        rule::PRESSURE_AVERAGE => view.hw_load_avg.max(view.cpufreq_pressure),
        _ => 0,
    };
    view.capacity_orig.saturating_sub(taken.into())
}

impl Sim<'_> {
    /// `util_fits_cpu`, as the placement core has it.
    pub fn util_fits(&self, cpu: usize, util: u32, min: u32, max: u32) -> Fits {
        let view = &self.core.cpus[cpu];
        let fit = fits(util, view.capacity);
        let answer = |fit| if fit { Fits::Yes } else { Fits::No };
        if self.core.root.uclamp_used == 0 {
            return answer(fit);
        }
        // Limited to what the CPU has, it fits; but all of the biggest CPU is no limit.
        let limited = max <= view.capacity_orig && !(max == SCALE && view.capacity_orig == SCALE);
        let fit = fit || limited;
        let min = min.min(max);
        if fit && util < min && min > actual_capacity(&self.core.params, view) {
            return Fits::ButForMin;
        }
        answer(fit)
    }
}
