// SPDX-License-Identifier: GPL-2.0-only
//! How much performance schedutil wants of a CPU.
//!
//! Of the fair class utilization counts or, if that is more, what its runnable
//! tasks are expected to use; from 6.5 on also the time that tasks waited. What
//! the other classes use comes on top, and a quarter for what may come:
//!
//! - up to 6.7 clamps hold fair and real-time tasks, deadlines add their
//!   bandwidth, and the quarter is added to all of that, clamps included;
//! - from 6.8 on the quarter is added first, and clamps hold what comes out.
//!
//! With the feature `uclamp-sum` utilization is clamped task by task, and nothing
//! is clamped here.

use crate::power::uclamp_sum;
use crate::world::World;
use alight_policy::abi::{Cpu, rule};
use alight_policy::{Params, rq};

/// Demand on a domain: performance that the CPU which needs the highest clock
/// wants, of its capacity; the quarter is in it except up to 5.10, where it is
/// added to the frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    pub perf: u32,
    pub max: u32,
}

impl Demand {
    pub const NONE: Demand = Demand { perf: 0, max: 1 };

    /// Of `self` and another CPU the one with the larger share of its capacity
    /// in use; equal shares: `self`.
    pub fn or_higher(self, other: Demand) -> Demand {
        let needs_more = u64::from(other.perf) * u64::from(self.max)
            > u64::from(self.perf) * u64::from(other.max);
        if needs_more { other } else { self }
    }

    /// The frequency that serves it on a domain whose highest is `top` kHz, kHz
    /// (`map_util_freq`).
    pub fn frequency(self, params: &Params, top: u32) -> u32 {
        let top = u64::from(top);
        let reference = match params.performance {
            rule::PERFORMANCE_FREQUENCY => top + (top >> 2),
            _ => top,
        };
        (reference * u64::from(self.perf) / u64::from(self.max)) as u32
    }
}

/// Utilization of the fair class (`cpu_util_cfs`, `cpu_util_cfs_boost`).
fn fair_util(params: &Params, view: &Cpu, clamps: bool) -> u32 {
    if clamps && uclamp_sum::add_up(params) {
        return rq::cpu_util_clamped(params, view, true);
    }
    let mut util = view.cfs.util_avg.max(view.util_est_enqueued);
    if params.util_boost != rule::BOOST_NONE {
        util = util.max(view.cfs.runnable_avg);
    }
    util.min(view.capacity_orig)
}

/// `util` beside the time that interrupts take, and that time
/// (`scale_irq_capacity`).
fn with_irq(util: u32, irq: u32, max: u32) -> u32 {
    if irq == 0 {
        return util;
    }
    (u64::from(util) * u64::from(max - irq) / u64::from(max)) as u32 + irq
}

/// Up to 6.7: clamps first (`effective_cpu_util`, FREQUENCY_UTIL).
fn clamped(params: &Params, view: &Cpu, clamps: bool) -> u32 {
    let (max, irq) = (view.capacity_orig, u32::from(view.irq_util));
    if irq >= max || !clamps && view.rt_nr_running != 0 {
        return max;
    }
    let mut util = fair_util(params, view, clamps) + u32::from(view.rt_util);
    if clamps {
        util = util.min(view.uclamp_max.into()).max(view.uclamp_min.into());
    }
    if util + u32::from(view.dl_util) >= max {
        return max;
    }
    (with_irq(util, irq, max) + u32::from(view.dl_bandwidth)).min(max)
}

/// From 6.8 on: what other classes have been promised, or the lower clamp
/// (`effective_cpu_util`, `min`).
fn least(view: &Cpu, clamps: bool) -> u32 {
    let (max, irq) = (view.capacity_orig, u32::from(view.irq_util));
    let promised = irq + u32::from(view.dl_bandwidth);
    match clamps {
        _ if irq >= max => max,
        true => promised.max(view.uclamp_min.into()),
        false if view.rt_nr_running != 0 => promised.max(max),
        false => promised,
    }
}

/// From 6.8 on: clamps last (`effective_cpu_util`, `sugov_effective_cpu_perf`).
fn clamped_last(params: &Params, view: &Cpu, clamps: bool) -> u32 {
    let (max, irq) = (view.capacity_orig, u32::from(view.irq_util));
    if irq >= max {
        return max;
    }
    let least = least(view, clamps);
    let most = match clamps {
        true => max.min(view.uclamp_max.into()),
        false => max,
    };
    let fair = fair_util(params, view, clamps);
    let util = fair + u32::from(view.rt_util) + u32::from(view.dl_util);
    let util = match util >= max {
        true => max,
        false => with_irq(util, irq, max).min(max),
    };
    most.min(util + (util >> 2)).max(least)
}

/// What the governor wants of a CPU (`sugov_get_util`).
fn of_all(params: &Params, view: &Cpu, clamps: bool) -> Demand {
    let perf = match params.performance {
        rule::PERFORMANCE_CLAMPED => clamped_last(params, view, clamps),
        rule::PERFORMANCE_UTIL => {
            let util = clamped(params, view, clamps);
            util + (util >> 2)
        }
        _ => clamped(params, view, clamps),
    };
    Demand {
        perf,
        max: view.capacity_orig,
    }
}

/// Do no real-time or deadline task and no interrupt take time of a CPU? Bandwidth may be promised.
#[inline(always)]
fn only_fair(view: &Cpu) -> bool {
    view.irq_util | view.rt_util | view.dl_util | view.rt_nr_running == 0
}

/// The same by rule `by` of a CPU that only fair tasks take time of, without clamps: most CPUs of most
/// runs, and the governor looks at all of a domain.
#[inline(always)]
fn of_fair(view: &Cpu, by: u32, boosts: bool) -> Demand {
    let (max, promised) = (view.capacity_orig, u32::from(view.dl_bandwidth));
    let mut util = view.cfs.util_avg.max(view.util_est_enqueued);
    if boosts {
        util = util.max(view.cfs.runnable_avg);
    }
    let util = util.min(max);
    let perf = match by {
        rule::PERFORMANCE_CLAMPED => max.min(util + (util >> 2)).max(promised),
        _ if util == max => max,
        _ => (util + promised).min(max),
    };
    let perf = match by {
        rule::PERFORMANCE_UTIL => perf + (perf >> 2),
        _ => perf,
    };
    Demand { perf, max }
}

impl World<'_> {
    /// Utilization of `cpu` by all classes (`sched_cpu_util`; read in 6.5).
    pub fn energy_util(&self, cpu: usize) -> u32 {
        let view = &self.core.cpus[cpu];
        let (max, irq) = (view.capacity_orig, u32::from(view.irq_util));
        let util = self.weighed().cpu_util(view) + u32::from(view.rt_util);
        let util = util + u32::from(view.dl_util);
        match irq >= max || util >= max {
            true => max,
            false => with_irq(util, irq, max),
        }
    }

    /// What the governor wants of `cpus`: that of the one with the highest share of its capacity in use.
    pub fn highest_demand(&self, cpus: &[u32]) -> Demand {
        let params = &self.core.params;
        let (clamps, by) = (self.uclamp_used(), params.performance);
        let boosts = params.util_boost != rule::BOOST_NONE;
        cpus.iter().fold(Demand::NONE, |highest, &cpu| {
            let view = &self.core.cpus[cpu as usize];
            let demand = match !clamps && only_fair(view) {
                true => of_fair(view, by, boosts),
                false => of_all(params, view, clamps),
            };
            highest.or_higher(demand)
        })
    }

    /// The least that is asked for on `cpu`, whatever its tasks use (`sg_cpu->bw_min`).
    pub fn least_performance(&self, cpu: usize) -> u32 {
        least(&self.core.cpus[cpu], self.uclamp_used())
    }

    /// Is `cpu` held down by its upper clamp (`uclamp_rq_is_capped`)?
    pub fn capped(&self, cpu: usize) -> bool {
        let view = &self.core.cpus[cpu];
        let util = view
            .cfs
            .util_avg
            .max(view.util_est_enqueued)
            .min(view.capacity_orig);
        self.uclamp_used()
            && view.uclamp_max != 1024
            && util + u32::from(view.rt_util) >= view.uclamp_max.into()
    }
}

#[cfg(test)]
mod tests;
