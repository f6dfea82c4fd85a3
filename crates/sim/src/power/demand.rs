// SPDX-License-Identifier: GPL-2.0-only
//! The performance that schedutil wants of a CPU.
//!
//! The fair class counts with the largest of its utilization, the estimate of its runnable tasks
//! (`util_est`) and, from 6.5 on, the time that tasks waited (`runnable_avg`). The utilization of
//! the other classes is added, and a quarter as headroom:
//!
//! - up to 6.7 clamps apply to fair and real-time tasks, deadlines add their bandwidth, and the
//!   quarter is added to the sum, clamps included;
//! - from 6.8 on the quarter is added first, and clamps apply to the result.
//!
//! With the feature `uclamp-sum` utilization is clamped task by task, and nothing is clamped here.

use crate::power::uclamp_sum;
use crate::world::World;
use alight_policy::abi::{Cpu, rule};
use alight_policy::{Params, rq};

/// Demand on a domain: the performance `perf`, of the capacity `max`, that the CPU which needs the
/// highest frequency wants. It includes the quarter, except up to 5.10, where the quarter is added
/// to the frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    pub perf: u32,
    pub max: u32,
}

impl Demand {
    pub const NONE: Demand = Demand { perf: 0, max: 1 };

    /// The demand of `self` and `other` with the larger share of its capacity; `self` if equal.
    pub fn or_higher(self, other: Demand) -> Demand {
        let needs_more = u64::from(other.perf) * u64::from(self.max)
            > u64::from(self.perf) * u64::from(other.max);
        if needs_more { other } else { self }
    }

    /// The frequency for this demand, kHz, on a domain whose highest is `top` kHz
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

/// `util` scaled down by the share of time in interrupts, plus that share (`scale_irq_capacity`).
fn with_irq(util: u32, irq: u32, max: u32) -> u32 {
    if irq == 0 {
        return util;
    }
    (u64::from(util) * u64::from(max - irq) / u64::from(max)) as u32 + irq
}

/// Up to 6.7: clamps apply first (`effective_cpu_util`, FREQUENCY_UTIL).
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

/// From 6.8 on: the least performance, by the bandwidth promised to other classes or the lower
/// clamp (`effective_cpu_util`, `min`).
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

/// From 6.8 on: clamps apply last (`effective_cpu_util`, `sugov_effective_cpu_perf`).
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

/// The demand of a CPU (`sugov_get_util`).
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

/// Do only fair tasks take time of a CPU: no real-time or deadline task, no interrupt? Deadline
/// bandwidth may be promised.
#[inline(always)]
fn only_fair(view: &Cpu) -> bool {
    view.irq_util | view.rt_util | view.dl_util | view.rt_nr_running == 0
}

/// The demand, by rule `by`, of a CPU on which only fair tasks take time and no clamps are used.
/// This shortcut covers most CPUs of most runs; the governor looks at all CPUs of a domain.
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

    /// The demand of `cpus`: that of the CPU with the largest share of its capacity.
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

    /// The least performance that is requested on `cpu`, whatever its utilization
    /// (`sg_cpu->bw_min`).
    pub fn least_performance(&self, cpu: usize) -> u32 {
        least(&self.core.cpus[cpu], self.uclamp_used())
    }

    /// Does the upper clamp limit `cpu` (`uclamp_rq_is_capped`)?
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
