// SPDX-License-Identifier: GPL-2.0-only
//! Counters of a run that belong to no CPU, and the time from which they count. They cover the time
//! that the root domain was overutilized, and per task when it first left its cluster, and how long
//! it had a CPU of the greatest capacity.

use crate::base::count::Count;
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::face::distance::Distances;
use crate::world::World;
use alight_machine::Machine;

/// Counters that are read only at the end of the run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting {
    /// Counters cover the time from here on, ns.
    pub since: u64,
    /// Time at which `rd->overutilized` was last set; valid only while it is set.
    overutilized_from: u64,
    overutilized_ns: u64,
    /// Messages that tasks wrote before `since`.
    pub messages_before: Count,
    /// Preemptions before `since`.
    pub preempted_before: u64,
    /// Greatest `capacity_orig` of a CPU.
    biggest: u32,
    /// Distances between the CPUs.
    pub distances: Distances,
    /// An entry per task if some workload asks for it, else empty.
    pub places: Vec<Whereabouts>,
}

/// The clusters of a task, and its time on the biggest CPUs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whereabouts {
    /// The first cluster that it ran in; [`NONE`]: it has not run.
    home: u32,
    /// Time at which it first ran in another cluster; [`NEVER`]: it has not.
    left: u64,
    /// Its runtime when counting started (`ran_from`) and when it last came to a CPU (`ran`), ns.
    ran_from: u64,
    ran: u64,
    /// Part of the runtime between the two on a CPU of the greatest capacity, ns.
    on_biggest: u64,
    /// The CPU that it came to last is one of the greatest capacity.
    is_on_biggest: bool,
}

impl Whereabouts {
    /// The task comes to a CPU of `cluster` after a runtime of `ran` ns; `is_on_biggest`: the CPU
    /// has the greatest capacity.
    pub fn comes_to(&mut self, cluster: u32, is_on_biggest: bool, ran: u64, now: u64) {
        self.ran_to(ran);
        self.is_on_biggest = is_on_biggest;
        if self.home == NONE {
            self.home = cluster;
        } else if self.home != cluster && self.left == NEVER {
            self.left = now;
        }
    }

    /// Restarts the counters: `home` is its present cluster, `ran` its runtime so far, ns.
    pub fn begins_anew(&mut self, home: u32, ran: u64) {
        self.ran_to(ran);
        *self = Whereabouts {
            home,
            left: NEVER,
            ran_from: ran,
            on_biggest: 0,
            ..*self
        };
    }

    /// Runtime in the counted time, and the part of it on a CPU of the greatest capacity, ns. `ran`
    /// is the runtime so far, ns.
    pub fn counted(mut self, ran: u64) -> (u64, u64) {
        self.ran_to(ran);
        (self.ran - self.ran_from, self.on_biggest)
    }

    /// Accounts the runtime up to `ran`, ns, to the CPU that the task came to last.
    fn ran_to(&mut self, ran: u64) {
        if self.is_on_biggest {
            self.on_biggest += ran - self.ran;
        }
        self.ran = ran;
    }
}

impl Counting {
    /// The counters of a run that follows `tasks` tasks.
    pub fn of(tasks: usize, machine: &Machine) -> Self {
        let nowhere = Whereabouts {
            home: NONE,
            left: NEVER,
            ran_from: 0,
            ran: 0,
            on_biggest: 0,
            is_on_biggest: false,
        };
        Counting {
            biggest: (machine.cpus.iter().map(|cpu| cpu.capacity_orig).max()).unwrap_or(0),
            distances: Distances::new(machine),
            places: vec![nowhere; tasks],
            ..Counting::default()
        }
    }
}

impl Counting {
    /// Restarts the counters.
    pub fn begins_anew(&mut self, now: u64) {
        self.since = now;
        self.overutilized_ns = 0;
        self.overutilized_from = now;
    }

    /// Time that the root domain was overutilized, ns; `is`: it is overutilized now.
    pub fn overutilized_ns(&self, is: bool, now: u64) -> u64 {
        let still = if is { now - self.overutilized_from } else { 0 };
        self.overutilized_ns + still
    }

    /// Time at which the last of the `count` tasks from `first` on left its first cluster, ns;
    /// [`NEVER`] if some task did not.
    pub fn left_cluster(&self, first: u32, count: u32) -> Option<u64> {
        let places = self.places.iter().skip(first as usize).take(count as usize);
        places.map(|place| place.left).max()
    }
}

impl World<'_> {
    /// Sets `rd->overutilized`: `now_is` if some CPU of the root domain is overutilized.
    #[inline]
    pub fn set_overutilized(&mut self, now_is: bool) {
        let was = self.core.root.overutilized != 0;
        if was == now_is {
            return;
        }
        self.core.root.overutilized = now_is.into();
        if now_is {
            self.counting.overutilized_from = self.now;
        } else {
            self.counting.overutilized_ns += self.now - self.counting.overutilized_from;
        }
    }

    pub fn is_biggest(&self, cpu: usize) -> bool {
        self.machine.cpus[cpu].capacity_orig == self.counting.biggest
    }

    /// Length of the counted time, ns.
    pub fn counted_ns(&self) -> u64 {
        self.now - self.counting.since
    }

    /// Part of the counted time in which `cpu` was online, ns.
    pub fn online_ns(&self, cpu: usize) -> u64 {
        let stats = &self.cpus[cpu].stats;
        let off_now = match self.hotplug.online.contains(cpu as u32) {
            true => 0,
            false => self.now - stats.offline_since,
        };
        self.counted_ns() - stats.offline_ns - off_now
    }
}

#[cfg(test)]
mod tests;
