// SPDX-License-Identifier: GPL-2.0-only
//! Load and utilization of each CPU and each group, as attempts to balance read them.
//!
//! The kernel sums them up anew at each attempt. Here a queue whose signals change is marked. An
//! attempt that reads sums first adds the differences of the marked queues: on a machine of
//! hundreds of CPUs few queues change between two attempts.

use crate::balance::Balancer;
use crate::base::table::Table;
use crate::kernel::{Balance, Judged};
use crate::power::uclamp_sum::Weighed;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::Cpu;

/// Fair tasks of a CPU that want to run (`h_nr_running`, `h_nr_runnable`); sleepers that are still queued
/// do not, but may count.
#[inline]
pub(super) fn fair_runnable(view: &Cpu, rules: &Balance) -> u32 {
    match rules.sleepers_count {
        true => view.h_nr_running,
        false => view.h_nr_running - u32::from(view.h_nr_delayed),
    }
}

/// What one CPU adds to the sums of its groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Signals {
    /// See [`Weighed::cpu_util`].
    pub util: u32,
    pub load: u32,
    /// `cpu_runnable`; 0 if the kernel does not use it.
    pub runnable: u32,
    /// See [`fair_runnable`].
    pub fair: u32,
}

impl Signals {
    fn of(view: &Cpu, rules: &Balance, weighed: Weighed) -> Self {
        Signals {
            util: weighed.cpu_util(view),
            load: match rules.judged {
                Judged::Index => view.weight,
                Judged::Load => view.runnable_load_avg,
                Judged::Kind => view.cfs.load_avg,
            },
            runnable: match rules.runnable {
                true => view.cfs.runnable_avg,
                false => 0,
            },
            fair: fair_runnable(view, rules),
        }
    }
}

/// Signals of several CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub util: u64,
    pub load: u64,
    pub runnable: u64,
    pub fair: u32,
}

impl Sum {
    pub fn plus(self, of: Signals) -> Sum {
        Sum {
            util: self.util + u64::from(of.util),
            load: self.load + u64::from(of.load),
            runnable: self.runnable + u64::from(of.runnable),
            fair: self.fair + of.fair,
        }
    }
}

/// The sums that are kept. They are right for CPUs that are not marked as changed.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub cpus: Table<Signals>,
    /// The sum of each group of `alight_policy::Core::groups`.
    pub groups: Table<Sum>,
}

impl Sums {
    /// The sums of a machine without load.
    pub fn new(cpus: usize, groups: usize) -> Self {
        // SAFETY: looked up by CPUs, and by groups that their places lead to.
        unsafe {
            Sums {
                cpus: Table::new(vec![Signals::default(); cpus]),
                groups: Table::new(vec![Sum::default(); groups]),
            }
        }
    }
}

impl Balancer<'_> {
    /// Adds the differences of the marked queues.
    pub(super) fn sums_refresh(&mut self) {
        if self.weighed().summed() {
            // Clamped sums fall with time and rise with the tasks' clamps, which mark no queue.
            self.occupancy.changed = (0..self.cpus.len() as u32).collect();
        }
        let Balancer { place, nohz, .. } = self;
        let World {
            core,
            kernel,
            occupancy,
            ..
        } = place.world();
        let weighed = Weighed::new(&core.params, core.root.uclamp_used != 0);
        let sums = &mut nohz.sums;
        for word in 0..nohz.words {
            let mut left = std::mem::take(&mut occupancy.changed.w[word]);
            while left != 0 {
                let cpu = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let now = Signals::of(&core.cpus[cpu], &kernel.balance, weighed);
                let was = std::mem::replace(&mut sums.cpus[cpu], now);
                if now == was {
                    continue;
                }
                let place = &core.places[cpu];
                for &group in &place.group[..place.nr_domains as usize] {
                    let sum = &mut sums.groups[group as usize];
                    sum.util = sum.util + u64::from(now.util) - u64::from(was.util);
                    sum.load = sum.load + u64::from(now.load) - u64::from(was.load);
                    sum.runnable = sum.runnable + u64::from(now.runnable) - u64::from(was.runnable);
                    sum.fair = sum.fair + now.fair - was.fair;
                }
            }
        }
    }

    /// Checks the sums against the views.
    ///
    /// # Errors
    /// Names the sum that differs.
    pub(super) fn sums_check(&self) -> Result<(), String> {
        let sums = &self.nohz.sums;
        let (weighed, all_marked) = (self.weighed(), self.weighed().summed());
        for (cpu, view) in self.core.cpus.iter().enumerate() {
            let found = Signals::of(view, &self.kernel.balance, weighed);
            let kept = sums.cpus[cpu];
            if kept != found && !all_marked && !self.occupancy.changed.contains(cpu as u32) {
                return Err(format!("CPU {cpu} has {found:?}, kept {kept:?}"));
            }
        }
        for (group, &kept) in sums.groups.iter().enumerate() {
            let found = self.sum(group, &Mask::EMPTY);
            if kept != found {
                return Err(format!("group {group} has {found:?}, kept {kept:?}"));
            }
        }
        Ok(())
    }
}
