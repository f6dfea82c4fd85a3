// SPDX-License-Identifier: GPL-2.0-only
//! From when on a run is counted, and what is counted of clusters and of the root domain: how long
//! some CPU executed, how many tasks were runnable, how often the clock changed, how long the
//! root domain was overutilized, when tasks went to another cluster, and how long they had a CPU
//! of the greatest capacity.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::face::api::Metric;
use crate::face::distance::Distances;
use crate::layers::{Power, Programs, World};
use crate::power::cpuidle::snake;
use crate::world::state::Life;
use alight_machine::Machine;

const NS_PER_MS: f64 = 1e6;

/// What only the end of a run reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting {
    /// Counts are of what happened from then on.
    pub since: u64,
    /// When `rd->overutilized` was set, where it is.
    overutilized_from: u64,
    overutilized_ns: u64,
    /// Messages that tasks wrote before.
    pub messages_before: u64,
    /// Times that tasks were preempted before.
    pub preempted_before: u64,
    /// Greatest capacity of a CPU.
    biggest: u32,
    /// How far its CPUs are apart.
    pub distances: Distances,
    /// Of each task, if some workload asks: where it was first, and when it first ran elsewhere.
    pub places: Vec<Place>,
}

/// Where a task was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
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

impl Place {
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
        let nowhere = Place {
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

    /// ms from the start of the counts until the last of `count` tasks from `first` on ran in
    /// another cluster than before; nothing if one never did.
    pub fn left_cluster_ms(&self, first: u32, count: u32) -> Option<f64> {
        let places = self.counting.places.iter();
        let all = places.skip(first as usize).take(count as usize);
        let last = all.map(|place| place.left).max()?;
        (last != NEVER).then(|| (last - self.counting.since) as f64 / NS_PER_MS)
    }

    fn is_biggest(&self, cpu: usize) -> bool {
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

impl Power<'_> {
    /// `task` runs on `cpu` now, and some workload asks where its tasks are.
    pub fn note_place(&mut self, cpu: usize, task: u32) {
        let cluster = self.cpus[cpu].cluster;
        let now = self.now;
        let ran = self.ran_ns(task as usize);
        let is_on_biggest = self.is_biggest(cpu);
        let Some(place) = self.counting.places.get_mut(task as usize) else {
            return;
        };
        place.ran_to(ran);
        place.is_on_biggest = is_on_biggest;
        if place.home == NONE {
            place.home = cluster;
        } else if place.home != cluster && place.left == NEVER {
            place.left = now;
        }
    }

    /// Percent of the time that `count` tasks from `first` on ran in which they had a CPU of the
    /// greatest capacity; nothing where all have the same, or if none ran.
    pub fn on_biggest_percent(&self, first: u32, count: u32) -> Option<f64> {
        if (0..self.cpus.len()).all(|cpu| self.is_biggest(cpu)) {
            return None;
        }
        let (mut ran, mut on_biggest) = (0, 0);
        for task in first as usize..(first + count) as usize {
            let mut place = self.counting.places[task];
            place.ran_to(self.ran_ns(task));
            ran += place.ran - place.ran_from;
            on_biggest += place.on_biggest;
        }
        (ran != 0).then(|| 100.0 * on_biggest as f64 / ran as f64)
    }

    /// How long `task` has run, ns, what it has run since it was last accounted included.
    pub fn ran_ns(&self, task: usize) -> u64 {
        let accounted = self.tasks[task].sum_exec;
        let cpu = self.tasks[task].cpu as usize;
        match self.cpus[cpu].curr as usize == task {
            true => accounted + (self.clock_task_now(cpu) - self.cpus[cpu].exec_start),
            false => accounted,
        }
    }

    /// Time that tasks ran on `cpu`, ns, the run of its current task included.
    pub fn busy_ns(&self, cpu: usize) -> u64 {
        let c = &self.cpus[cpu];
        let current = match c.curr {
            NONE => 0,
            _ => self.clock_task_now(cpu) - c.exec_start,
        };
        c.stats.busy_ns + current
    }

    /// What clusters and the root domain were; meters are up to date.
    pub fn by_cluster(&self) -> Vec<Metric> {
        let all_ns = self.counted_ns().max(1) as f64;
        let metric = |name: String, unit, value| Metric {
            name,
            unit,
            better: None,
            value,
        };
        let mut metrics = vec![];
        if self.energy_aware() {
            let still = match self.core.root.overutilized {
                0 => 0,
                _ => self.now - self.counting.overutilized_from,
            };
            let percent = 100.0 * (self.counting.overutilized_ns + still) as f64 / all_ns;
            metrics.push(metric("overutilized_percent".into(), "percent", percent));
        }
        if self.meters.len() < 2 || !self.powered() {
            return metrics;
        }
        for (number, cluster) in self.machine.clusters.iter().enumerate() {
            let name = snake(&cluster.name);
            let meter = &self.meters[number];
            let active = 100.0 * meter.active_ns() as f64 / all_ns;
            metrics.push(metric(format!("active_{name}_percent"), "percent", active));
            let runnable = meter.cpus.iter().map(|&cpu| {
                let view = &self.core.cpus[cpu as usize];
                let stats = &self.cpus[cpu as usize].stats;
                let still = u64::from(view.nr_running) * (self.now - stats.runnable_since);
                (stats.runnable_ns + still) as f64 / all_ns
            });
            let mean = runnable.clone().sum::<f64>() / meter.cpus.len() as f64;
            let most = runnable.fold(0.0, f64::max);
            metrics.push(metric(format!("runnable_per_cpu_{name}"), "", mean));
            metrics.push(metric(format!("runnable_most_{name}"), "", most));
            let first = |domain: usize| self.machine.freq_domains[domain].cpus.first();
            let here = |domain: &usize| {
                first(*domain).is_some_and(|cpu| self.cpus[cpu].cluster as usize == number)
            };
            let domains = (0..self.freq.len()).filter(here);
            let changes: u64 = domains.map(|domain| self.freq[domain].changes).sum();
            let name = format!("frequency_changes_{name}");
            metrics.push(metric(name, "", changes as f64));
        }
        metrics
    }
}

impl Programs<'_> {
    /// Counts start anew: what the mechanism says and what the meters show is of the time from now
    /// on. What workloads measure goes on. Nothing that decides is touched.
    pub fn count_anew(&mut self) {
        if let Some(explainer) = &mut self.out.explainer {
            explainer.count_anew();
        }
        self.meters_flush();
        self.flush_beside();
        for meter in &mut self.meters {
            meter.reset();
        }
        let now = self.now;
        for cpu in 0..self.cpus.len() {
            let busy_ns = self.busy_ns(cpu);
            let c = &mut self.cpus[cpu];
            c.idle.forget_residency();
            c.stats.busy_from = busy_ns;
            c.stats.runnable_ns = 0;
            c.stats.runnable_since = now;
            c.stats.offline_ns = 0;
            c.stats.offline_since = now;
        }
        for domain in &mut self.freq {
            domain.changes = 0;
        }
        self.count_cpu_time_anew();
        self.forget_counts();
        (
            self.hotplug.moved,
            self.hotplug.broken,
            self.hotplug.refused,
        ) = (0, 0, 0);
        self.counting.since = now;
        self.counting.overutilized_ns = 0;
        self.counting.overutilized_from = now;
        for id in 0..self.counting.places.len() {
            let lives = matches!(
                self.tasks[id].life,
                Life::Runnable | Life::Asleep | Life::Waking
            );
            let cpu = self.views[id].prev_cpu as usize;
            let home = if lives { self.cpus[cpu].cluster } else { NONE };
            let ran = self.ran_ns(id);
            let place = &mut self.counting.places[id];
            place.ran_to(ran);
            *place = Place {
                home,
                left: NEVER,
                ran_from: ran,
                on_biggest: 0,
                ..*place
            };
        }
    }
}

#[cfg(test)]
mod tests;
