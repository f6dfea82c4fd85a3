// SPDX-License-Identifier: GPL-2.0-only
//! Metrics that explain the results of a run: counts of what the scheduler did.

use crate::balance::{Balancer, Named};
use crate::base::count::Count;
use crate::face::api::Metric;
use crate::world::World;
use alight_policy::STEPS;
use alight_policy::abi::class;
use alight_workload::program::Better;
use std::collections::BTreeMap;

impl World<'_> {
    /// Decisions by the step that answered.
    pub fn counted_steps(&self) -> [u64; STEPS.len()] {
        self.stats.selections.0.map(Count::reported)
    }

    fn counted_preemptions(&self) -> u64 {
        self.preempted - self.counting.preempted_before
    }

    /// Busy time of each capacity class, in percent of the time that its CPUs were online.
    fn time_by_capacity(&self) -> Vec<Metric> {
        let mut classes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (cpu, view) in self.core.cpus.iter().enumerate() {
            let class = classes.entry(view.capacity_orig).or_default();
            let stats = &self.cpus[cpu].stats;
            class.0 += stats.busy_ns - stats.busy_from;
            class.1 += self.online_ns(cpu);
        }
        classes
            .into_iter()
            .map(|(capacity, (busy, all))| {
                let name = format!("busy_capacity_{capacity}_percent");
                let busy = match all {
                    0 => f64::NAN,
                    all => 100.0 * busy as f64 / all as f64,
                };
                metric(name, "percent", busy)
            })
            .collect()
    }

    /// Migrations: in total, by distance, and at wakeups.
    fn migrations(&self) -> Vec<Metric> {
        let s = &self.stats;
        let migrations: u64 = s.migrations.0.iter().map(|count| count.reported()).sum();
        let mut all = vec![metric("cpu_migrations", "", migrations as f64)];
        for (distance, name) in self.counting.distances.known() {
            let steps = s.migrations.0[distance].reported();
            all.push(metric(format!("migrations_{name}"), "", steps as f64));
        }
        all.push(count("wake_migrations", s.migrations_wake));
        all
    }

    /// Context switches, preemptions, and wakeups by source.
    fn switches_and_wakeups(&self) -> [Metric; 6] {
        let s = &self.stats;
        let by_timer = s.wakeups_hardirq_task.reported() + s.wakeups_hardirq_idle.reported();
        let in_task = s.wakeups.reported() - by_timer;
        [
            count("context_switches", s.switches),
            metric("preemptions", "", self.counted_preemptions() as f64),
            count("wakeups", s.wakeups),
            metric("wakeups_in_task", "", in_task as f64),
            count("wakeups_in_hardirq_task", s.wakeups_hardirq_task),
            count("wakeups_in_hardirq_idle", s.wakeups_hardirq_idle),
        ]
    }

    /// CPU selections by path, and by what was found.
    fn selections(&self) -> [Metric; 8] {
        let s = &self.stats;
        [
            count("fast_path_selections", s.fast_path),
            count("slow_path_selections", s.slow_path),
            count("wakeups_still_queued", s.still_queued),
            percent("found_idle_percent", s.found_idle, self.searches()),
            percent("to_prev_percent", s.to_prev, s.wakeups),
            percent("to_this_percent", s.to_this, s.wakeups),
            percent("to_other_percent", s.to_other, s.wakeups),
            metric("looked_at_per_wakeup", "", per(s.looked_at, s.wakeups)),
        ]
    }

    /// Number of CPU selections.
    fn searches(&self) -> Count {
        let mut searches = self.stats.fast_path;
        searches += self.stats.slow_path.reported();
        searches
    }

    /// Wakeup latencies.
    fn run_delays(&self) -> [Metric; 2] {
        let latency = |us: Option<f64>| us.unwrap_or(f64::NAN);
        let delays = &self.stats.wake_latency;
        let lower_is_better = |delay| Metric {
            better: Some(Better::Lower),
            ..delay
        };
        [
            metric("run_delay_mean_us", "us", latency(delays.mean_us())),
            metric("run_delay_p99_us", "us", latency(delays.quantile_us(990))),
        ]
        .map(lower_is_better)
    }

    /// IPIs, frequency changes, and time lost to locks and cache refills.
    fn interference(&self) -> [Metric; 4] {
        let s = &self.stats;
        [
            count("ipis", s.ipis),
            count("frequency_changes", s.freq_changes),
            metric("lock_wait_s", "s", s.lock_wait_ns.reported() as f64 / 1e9),
            metric("cache_refill_s", "s", s.refill_ns.reported() as f64 / 1e9),
        ]
    }

    /// The load of the chosen CPUs, if there are SCHED_IDLE tasks.
    fn selections_beside_idle_class(&self) -> Vec<Metric> {
        if !(self.views.iter()).any(|view| view.class == class::IDLE) {
            return vec![];
        }
        let (s, searches) = (&self.stats, self.searches());
        vec![
            percent("to_idle_percent", s.to_idle, searches),
            percent("to_sched_idle_percent", s.to_sched_idle, searches),
            percent("to_busy_percent", s.to_busy, searches),
        ]
    }

    /// Counts of hotplug, if the run has hotplug.
    fn hotplugs(&self) -> Vec<Metric> {
        if !self.hotplug.used {
            return vec![];
        }
        vec![
            metric("hotplug_moves", "", self.hotplug.moved as f64),
            metric("broken_affinities", "", self.hotplug.broken as f64),
            metric("hotplug_refusals", "", self.hotplug.refused as f64),
        ]
    }
}

impl Balancer<'_> {
    /// What `perf stat` derives of a run: CPU time of all tasks, CPUs that it kept busy, and
    /// migrations and context switches a second of it. With messages: CPU time of each, and
    /// messages between two context switches. A task's time ends at the switch
    /// (`perf_event_task_sched_out`): the search for other tasks before it counts.
    fn rates(&self) -> Vec<Metric> {
        let s = &self.stats;
        let busy = |cpu| self.busy_ns(cpu) - self.cpus[cpu].stats.busy_from;
        let ran: u64 = (0..self.cpus.len()).map(busy).sum();
        let busy = ran + self.searched_ns().reported();
        let busy_s = busy as f64 / 1e9;
        let migrations: u64 = s.migrations.0.iter().map(|count| count.reported()).sum();
        let (switches, messages) = (s.switches.reported(), s.messages.reported());
        let utilized = ratio(busy as f64, self.counted_ns() as f64);
        let mut all = vec![
            metric("task_clock_s", "s", busy_s),
            metric("cpus_utilized", "", utilized),
            metric(
                "cpu_migrations_per_cpu_s",
                "",
                ratio(migrations as f64, busy_s),
            ),
            metric(
                "context_switches_per_cpu_s",
                "",
                ratio(switches as f64, busy_s),
            ),
        ];
        if messages != 0 {
            let messages = messages as f64;
            all.push(metric(
                "cpu_us_per_message",
                "us",
                busy as f64 / 1e3 / messages,
            ));
            all.push(metric(
                "messages_per_switch",
                "",
                ratio(messages, switches as f64),
            ));
        }
        all
    }

    /// All metrics of this kind; NaN where a metric has no sample.
    pub fn mechanism(&self) -> Vec<Metric> {
        let s = &self.stats;
        let mut all = self.migrations();
        all.extend(self.switches_and_wakeups());
        all.extend(self.rates());
        all.extend(self.selections());
        all.extend(self.run_delays());
        all.push(count("mutex_waits", s.mutex_waits));
        all.extend(self.balance_counts().map(named));
        all.extend(self.interference());
        all.extend(self.selections_beside_idle_class());
        if self.has_smt() {
            let (name, beside) = ("beside_sibling_percent", s.beside_ns);
            all.push(percent(name, beside, s.executed_ns));
        }
        if s.messages.reported() != 0 {
            all.push(count("messages", s.messages));
        }
        all.extend(self.time_by_capacity());
        all.extend(self.by_cluster());
        all.extend(self.hotplugs());
        all
    }
}

/// A counter of a room as a metric, under the room's name for it.
fn named(what: Named) -> Metric {
    match what {
        Named::Times(name, times) => count(name, times),
        Named::Seconds(name, ns) => metric(name, "s", ns.reported() as f64 / 1e9),
    }
}

fn metric(name: impl Into<String>, unit: &'static str, value: f64) -> Metric {
    Metric {
        name: name.into(),
        unit,
        better: None,
        value,
    }
}

fn count(name: &str, n: Count) -> Metric {
    metric(name, "", n.reported() as f64)
}

fn percent(name: &str, n: Count, of: Count) -> Metric {
    metric(name, "percent", 100.0 * per(n, of))
}

/// `n / of`; NaN if `of` is 0.
fn per(n: Count, of: Count) -> f64 {
    ratio(n.reported() as f64, of.reported() as f64)
}

/// The same of numbers.
fn ratio(n: f64, of: f64) -> f64 {
    match of {
        0.0 => f64::NAN,
        of => n / of,
    }
}
