// SPDX-License-Identifier: GPL-2.0-only
//! The energy model of a machine as a kernel computes it from operating points
//! (kernel/power/energy_model.c: `em_create_perf_table()` of 6.1,
//! `em_init_performance()` and `em_compute_costs()` of 7.2).

use crate::abi::{MAX_PERF_STATES, Mask, Params, PerfDomain, PerfState, rule, state_flag};

/// One operating point of a set of CPUs that share a frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatingPoint {
    /// Frequency, kHz, rising from point to point.
    pub frequency_khz: u32,
    /// Power of one CPU that is always busy, µW, at least 1.
    pub power_uw: u32,
}

/// Why operating points are no energy model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEnergyModel {
    /// None, or more than a domain holds.
    #[error("found {0} operating points, expected 1 to {MAX_PERF_STATES}")]
    Count(usize),
    /// A frequency or power of 0, or a frequency that does not rise.
    #[error(
        "operating point {index} ({frequency_khz} kHz, {power_uw} µW): frequencies must rise from \
         point to point, and power must not be 0"
    )]
    Point {
        /// Its index, from 0.
        index: usize,
        /// Its frequency.
        frequency_khz: u32,
        /// Its power.
        power_uw: u32,
    },
}

/// The performance domain of the CPUs `span`, as a kernel with these rules computes it. `capacity`:
/// their capacity at the top frequency, 1..=1024.
///
/// # Errors
/// If the points are not what the kernel accepts.
pub fn perf_domain(
    params: &Params,
    span: Mask,
    capacity: u32,
    points: &[OperatingPoint],
) -> Result<PerfDomain, BadEnergyModel> {
    check(points)?;
    let mut state = [PerfState::default(); MAX_PERF_STATES];
    let top = u64::from(points[points.len() - 1].frequency_khz);
    let mut least = u64::MAX;
    for (state, point) in state[..points.len()].iter_mut().zip(points).rev() {
        let performance = u64::from(capacity) * u64::from(point.frequency_khz) / top;
        state.performance = performance as u32;
        state.frequency = point.frequency_khz;
        state.cost = cost(params, point, top, performance.max(1));
        // A point that costs at least as much as a faster one is inefficient.
        if state.cost >= least {
            state.flags = state_flag::INEFFICIENT;
        } else {
            least = state.cost;
        }
    }
    Ok(PerfDomain {
        span,
        nr_states: points.len() as u32,
        first_state: 0,
        last_state: points.len() as u32 - 1,
        unused: 0,
        state,
    })
}

fn check(points: &[OperatingPoint]) -> Result<(), BadEnergyModel> {
    if !(1..=MAX_PERF_STATES).contains(&points.len()) {
        return Err(BadEnergyModel::Count(points.len()));
    }
    let mut below = 0;
    for (index, point) in points.iter().enumerate() {
        if point.frequency_khz <= below || point.power_uw == 0 {
            return Err(BadEnergyModel::Point {
                index,
                frequency_khz: point.frequency_khz,
                power_uw: point.power_uw,
            });
        }
        below = point.frequency_khz;
    }
    Ok(())
}

/// Power per performance from 6.9 on, before that per frequency.
fn cost(params: &Params, point: &OperatingPoint, top: u64, performance: u64) -> u64 {
    let power = u64::from(point.power_uw);
    if params.state_by_performance != 0 {
        return power * 10 / performance;
    }
    let power = match params.em_power {
        rule::POWER_MW => power / 1000,
        rule::POWER_MW_SCALED => power / 1000 * 1000,
        _ => power,
    };
    top * power / u64::from(point.frequency_khz)
}
