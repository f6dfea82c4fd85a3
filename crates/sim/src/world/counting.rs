// SPDX-License-Identifier: GPL-2.0-only
//! From when on a run is counted, and what is counted of clusters and of the root domain: how long
//! some CPU executed, how many tasks were runnable, how often the clock changed, how long the
//! root domain was overutilized, when tasks went to another cluster, and how long they had a CPU
//! of the greatest capacity.

use crate::base::count::Count;
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::face::distance::Distances;
use crate::world::World;
use alight_machine::Machine;

/// What only the end of a run reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting {
    /// Counts are of what happened from then on.
    pub since: u64,
    /// When `rd->overutilized` was set, where it is.
    overutilized_from: u64,
    overutilized_ns: u64,
    /// Messages that tasks wrote before.
    pub messages_before: Count,
    /// Times that tasks were preempted before.
    pub preempted_before: u64,
    /// Greatest capacity of a CPU.
    biggest: u32,
    /// How far its CPUs are apart.
    pub distances: Distances,
    /// Of each task, if some workload asks: where it was first, and when it first ran elsewhere.
    pub places: Vec<Whereabouts>,
}

/// Where a task was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whereabouts {
    /// The cluster that it first ran in, [`NONE`] before.
    home: u32,
    /// When it first ran in another one, [`NEVER`] before.
    left: u64,
    /// How long it had run, ns, when counts started, and when it last came to a CPU.
    ran_from: u64,
    ran: u64,
    /// How long of the time between it had a CPU of the greatest capacity, ns.
    on_biggest: u64,
    /// It came to one last.
    is_on_biggest: bool,
}

impl Whereabouts {
    /// The task comes to `cluster`, to a CPU of the greatest capacity or not, when it has run for so
    /// long, ns.
    pub fn comes_to(&mut self, cluster: u32, is_on_biggest: bool, ran: u64, now: u64) {
        self.ran_to(ran);
        self.is_on_biggest = is_on_biggest;
        if self.home == NONE {
            self.home = cluster;
        } else if self.home != cluster && self.left == NEVER {
            self.left = now;
        }
    }

    /// Counts start anew: its home is where it is, it has run for so long, ns.
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

    /// Of the time that was counted when it has run for so long, ns: how long it ran, and had a CPU
    /// of the greatest capacity.
    pub fn counted(mut self, ran: u64) -> (u64, u64) {
        self.ran_to(ran);
        (self.ran - self.ran_from, self.on_biggest)
    }

    /// The task has run for so long, ns, and was where it came to last.
    fn ran_to(&mut self, ran: u64) {
        if self.is_on_biggest {
            self.on_biggest += ran - self.ran;
        }
        self.ran = ran;
    }
}

impl Counting {
    /// Of a run in which so many tasks are followed.
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
    /// Counts start anew.
    pub fn begins_anew(&mut self, now: u64) {
        self.since = now;
        self.overutilized_ns = 0;
        self.overutilized_from = now;
    }

    /// How long the root domain was overutilized, ns, if it is now or not.
    pub fn overutilized_ns(&self, is: bool, now: u64) -> u64 {
        let still = if is { now - self.overutilized_from } else { 0 };
        self.overutilized_ns + still
    }

    /// When the last of `count` tasks from `first` on left its cluster, [`NEVER`] if one did not.
    pub fn left_cluster(&self, first: u32, count: u32) -> Option<u64> {
        let places = self.places.iter().skip(first as usize).take(count as usize);
        places.map(|place| place.left).max()
    }
}

impl World<'_> {
    /// Some CPU of the root domain is overutilized from now on, or none is.
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

    /// Length of the time that was counted, ns.
    pub fn counted_ns(&self) -> u64 {
        self.now - self.counting.since
    }

    /// How much of the time that was counted `cpu` was online, ns.
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
