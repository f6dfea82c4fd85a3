// SPDX-License-Identifier: GPL-2.0-only
//! Metrics of clusters and of the root domain.

use crate::base::queue::NEVER;
use crate::face::api::{Metric, snake};
use crate::power::Power;
use crate::world::World;

impl Power<'_> {
    /// Metrics of clusters and of the root domain; the meters must be up to date.
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
            let now_is = self.core.root.overutilized != 0;
            let ns = self.counting.overutilized_ns(now_is, self.now);
            let percent = 100.0 * ns as f64 / all_ns;
            metrics.push(metric("overutilized_percent".into(), "percent", percent));
        }
        if self.machine.clusters.len() < 2 || !self.powered() {
            return metrics;
        }
        for (number, cluster) in self.machine.clusters.iter().enumerate() {
            let name = snake(&cluster.name);
            let meter = self.meter(number);
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
            let domains = (0..self.nr_freq_domains()).filter(here);
            let changes: u64 = domains.map(|domain| self.freq_changes(domain)).sum();
            let name = format!("frequency_changes_{name}");
            metrics.push(metric(name, "", changes as f64));
        }
        metrics
    }

    /// Percentage of the runtime of `count` tasks from `first` on that they spent on a CPU of the
    /// greatest capacity. `None` if all CPUs have the same capacity, or if no task ran.
    pub fn on_biggest_percent(&self, first: u32, count: u32) -> Option<f64> {
        if (0..self.cpus.len()).all(|cpu| self.is_biggest(cpu)) {
            return None;
        }
        let (mut ran, mut on_biggest) = (0, 0);
        for task in first as usize..(first + count) as usize {
            let place = self.counting.places[task].counted(self.ran_ns(task));
            ran += place.0;
            on_biggest += place.1;
        }
        (ran != 0).then(|| 100.0 * on_biggest as f64 / ran as f64)
    }
}

impl World<'_> {
    /// Time from the start of counting until the last of `count` tasks from `first` on first ran in
    /// another cluster, ms. `None` if some task never did.
    pub fn left_cluster_ms(&self, first: u32, count: u32) -> Option<f64> {
        let last = self.counting.left_cluster(first, count)?;
        (last != NEVER).then(|| (last - self.counting.since) as f64 / 1e6)
    }
}
