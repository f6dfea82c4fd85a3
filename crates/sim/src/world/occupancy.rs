// SPDX-License-Identifier: GPL-2.0-only
//! The occupancy of the runqueues, kept up to date at each change: tasks and idle CPUs of each
//! group, the idle CPUs, and whether some CPU has two tasks (`rd->overload`). The queues write it.
//! Load balancing reads it instead of counting at each attempt as `update_sg_lb_stats()` does.

use crate::base::table::Table;
use crate::world::World;
use alight_policy::Mask;

/// Runnable tasks and idle CPUs of a CPU or a group, updated at each change. Most balancing
/// attempts are decided by these two numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub nr_running: u32,
    pub idle_cpus: u32,
}

impl Count {
    /// Packs both into one word, so that one addition changes both. No count falls below 0, so the
    /// carry out of the lower half cancels the borrow that a negative change makes in the upper
    /// half.
    #[inline]
    pub fn packed(self) -> u64 {
        u64::from(self.idle_cpus) << 32 | u64::from(self.nr_running)
    }

    #[inline]
    fn unpacked(both: u64) -> Self {
        Count {
            nr_running: both as u32,
            idle_cpus: (both >> 32) as u32,
        }
    }

    /// Adds the difference of two packed counts.
    #[inline]
    fn step(&mut self, change: u64) {
        *self = Count::unpacked(self.packed().wrapping_add(change));
    }
}

/// The counts of a run.
#[derive(Debug, Clone)]
pub(crate) struct Occupancy {
    /// Some CPU had two tasks since the top domain was last balanced (`rd->overload`).
    pub overload: bool,
    /// CPUs for which `idle_cpu()` holds.
    pub idle_cpus: Mask,
    /// CPUs with a task, running or waiting.
    pub runnable: Mask,
    /// Counts of each group of `alight_policy::Core::groups`.
    pub groups: Table<Count>,
    /// CPUs whose utilization or load may have changed since balancing last summed it up.
    pub changed: Mask,
}

impl Default for Occupancy {
    fn default() -> Self {
        Occupancy::of(0)
    }
}

impl Occupancy {
    /// The occupancy of a machine with `groups` groups and empty runqueues.
    pub fn of(groups: usize) -> Self {
        Occupancy {
            overload: false,
            idle_cpus: Mask::EMPTY,
            runnable: Mask::EMPTY,
            groups: of_groups(vec![Count::default(); groups]),
            changed: Mask::EMPTY,
        }
    }
}

impl World<'_> {
    /// Books a change of a CPU's `nr_running`, `curr_is_idle` or `ttwu_pending`. The caller has
    /// just made it in the CPU's view (`add_nr_running`, `sub_nr_running`, and the inputs of
    /// `idle_cpu`).
    #[inline]
    pub fn rq_changed(&mut self, cpu: usize) {
        let view = &self.core.cpus[cpu];
        let busy = view.curr_is_idle == 0 || view.ttwu_pending != 0;
        let count = Count {
            nr_running: view.nr_running,
            idle_cpus: u32::from(view.nr_running == 0 && !busy),
        };
        let c = &mut self.cpus[cpu];
        let was = std::mem::replace(&mut c.occupied, count);
        let change = count.packed().wrapping_sub(was.packed());
        if change == 0 {
            return;
        }
        c.stats.runnable_ns += u64::from(was.nr_running) * (self.now - c.stats.runnable_since);
        c.stats.runnable_since = self.now;
        let all = &mut self.occupancy;
        all.overload |= count.nr_running >= 2 && was.nr_running < 2;
        if count.idle_cpus != was.idle_cpus {
            all.idle_cpus.assign(cpu as u32, count.idle_cpus != 0);
        }
        if (count.nr_running == 0) != (was.nr_running == 0) {
            all.runnable.assign(cpu as u32, count.nr_running != 0);
        }
        // The expected utilization of a queue (`util_est`) changes with its tasks.
        all.changed.insert(cpu as u32);
        let place = &self.core.places[cpu];
        for &group in &place.group[..place.nr_domains as usize] {
            all.groups[group as usize].step(change);
        }
    }

    /// Utilization or load of the queue of `cpu` may have changed.
    #[inline]
    pub fn signals_changed(&mut self, cpu: usize) {
        self.occupancy.changed.insert(cpu as u32);
    }

    /// `idle_cpu()`: the CPU is idle, and no wakeup is on its way to it.
    #[inline]
    pub fn is_idle(&self, cpu: usize) -> bool {
        self.cpus[cpu].occupied.idle_cpus != 0
    }
}

/// A table indexed by the groups of the placement core, or by its caches; rebuilt with them.
pub(crate) fn of_groups<T>(items: Vec<T>) -> Table<T> {
    // SAFETY: only `Nohz` and `Occupancy` have such tables. They look up groups and caches that
    // places and domains of the core refer to.
    unsafe { Table::new(items) }
}
