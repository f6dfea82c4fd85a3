// SPDX-License-Identifier: GPL-2.0-only
//! What is reported of a run: why its results are what they are, and what its workloads measured.

use crate::base::count::Count;
use crate::face::api::Metric;
use crate::power::Power;
use crate::program::Programs;
use crate::world::World;
use alight_policy::STEPS;
use alight_policy::abi::class;
use alight_workload::program::Better;
use alight_workload::program::MeasureSource;
use std::collections::BTreeMap;

/// What to report, with ids of the whole run.
#[derive(Debug, Clone)]
pub(crate) struct MeasureSpec {
    pub name: String,
    pub unit: &'static str,
    pub better: Option<Better>,
    pub source: MeasureSource,
}

impl World<'_> {
    /// Decisions by the step that answered.
    pub fn counted_steps(&self) -> [u64; STEPS.len()] {
        self.stats.selections.0.map(Count::reported)
    }

    pub fn counted_preemptions(&self) -> u64 {
        self.preempted - self.counting.preempted_before
    }

    /// Busy time of each capacity class, in percent of the time that its CPUs were online.
    pub fn time_by_capacity(&self) -> Vec<Metric> {
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
}

impl Power<'_> {
    /// Why the results are what they are; no number where there is nothing to take it of.
    pub fn mechanism(&self) -> Vec<Metric> {
        let s = &self.stats;
        let per = |n: Count, of: Count| match of.reported() {
            0 => f64::NAN,
            of => n.reported() as f64 / of as f64,
        };
        let share = |n, of| 100.0 * per(n, of);
        let mut searches = s.fast_path;
        searches += s.slow_path.reported();
        let latency = |us: Option<f64>| us.unwrap_or(f64::NAN);
        let count = |name, n: Count| metric(name, "", n.reported() as f64);
        let percent = |name, n, of| metric(name, "percent", share(n, of));
        let by_timer = s.wakeups_hardirq_task.reported() + s.wakeups_hardirq_idle.reported();
        let in_task = s.wakeups.reported() - by_timer;
        let migrations: u64 = s.migrations.0.iter().map(|count| count.reported()).sum();
        let mut all = vec![metric("cpu_migrations", "", migrations as f64)];
        for (distance, name) in self.counting.distances.known() {
            let steps = s.migrations.0[distance].reported();
            all.push(metric(format!("migrations_{name}"), "", steps as f64));
        }
        all.extend([
            count("wake_migrations", s.migrations_wake),
            count("context_switches", s.switches),
            metric("preemptions", "", self.counted_preemptions() as f64),
            count("wakeups", s.wakeups),
            metric("wakeups_in_task", "", in_task as f64),
            count("wakeups_in_hardirq_task", s.wakeups_hardirq_task),
            count("wakeups_in_hardirq_idle", s.wakeups_hardirq_idle),
            count("fast_path_selections", s.fast_path),
            count("slow_path_selections", s.slow_path),
            count("wakeups_still_queued", s.still_queued),
            percent("found_idle_percent", s.found_idle, searches),
            percent("to_prev_percent", s.to_prev, s.wakeups),
            percent("to_this_percent", s.to_this, s.wakeups),
            percent("to_other_percent", s.to_other, s.wakeups),
            metric("looked_at_per_wakeup", "", per(s.looked_at, s.wakeups)),
            Metric {
                better: Some(Better::Lower),
                ..metric("run_delay_mean_us", "us", latency(s.wake_latency.mean_us()))
            },
            Metric {
                better: Some(Better::Lower),
                ..metric(
                    "run_delay_p99_us",
                    "us",
                    latency(s.wake_latency.quantile_us(990)),
                )
            },
            count("mutex_waits", s.mutex_waits),
            count("balance_pulls", s.lb_pulled),
            count("newidle_attempts", s.newidle.attempts),
            count("newidle_failures", s.newidle.failures),
            count("newidle_pulls", s.newidle.pulled),
            metric("newidle_s", "s", s.newidle.ns.reported() as f64 / 1e9),
            count("active_balances", s.lb_active),
            count("ipis", s.ipis),
            count("frequency_changes", s.freq_changes),
            metric("lock_wait_s", "s", s.lock_wait_ns.reported() as f64 / 1e9),
            metric("cache_refill_s", "s", s.refill_ns.reported() as f64 / 1e9),
        ]);
        if (self.views.iter()).any(|view| view.class == class::IDLE) {
            all.push(percent("to_idle_percent", s.to_idle, searches));
            all.push(percent("to_sched_idle_percent", s.to_sched_idle, searches));
            all.push(percent("to_busy_percent", s.to_busy, searches));
        }
        if self.has_smt() {
            all.push(percent(
                "beside_sibling_percent",
                s.beside_ns,
                s.executed_ns,
            ));
        }
        if s.messages.reported() != 0 {
            all.push(count("messages", s.messages));
        }
        all.extend(self.time_by_capacity());
        all.extend(self.by_cluster());
        if self.hotplug.used {
            all.push(metric("hotplug_moves", "", self.hotplug.moved as f64));
            all.push(metric("broken_affinities", "", self.hotplug.broken as f64));
            all.push(metric("hotplug_refusals", "", self.hotplug.refused as f64));
        }
        all
    }
}

impl Programs<'_> {
    /// What the workloads report, in their order; no number where a run that was cut, or in which it
    /// never happened, has none.
    pub fn results(&self, measures: &[MeasureSpec]) -> Vec<Metric> {
        measures
            .iter()
            .map(|m| Metric {
                name: m.name.clone(),
                unit: m.unit,
                better: m.better,
                value: self.measure(m.source).unwrap_or(f64::NAN),
            })
            .collect()
    }

    pub fn measure(&self, source: MeasureSource) -> Option<f64> {
        let histogram = |id: u32| self.histogram(id);
        Some(match source {
            MeasureSource::Elapsed { from, to } => {
                let (from, to) = (self.marks()[from as usize], self.marks()[to as usize]);
                to.last?.saturating_sub(from.first?) as f64 / 1e9
            }
            MeasureSource::SinceStart { workload, to } => {
                let start = self.workloads[workload as usize].start;
                self.marks()[to as usize].last?.saturating_sub(start) as f64 / 1e9
            }
            MeasureSource::Counter { counter } => self.counted(counter) as f64,
            MeasureSource::HistogramMean { histogram: id } => histogram(id).mean_us()?,
            MeasureSource::HistogramMax { histogram: id } => histogram(id).max_us()?,
            MeasureSource::HistogramMin { histogram: id } => histogram(id).min_us()?,
            MeasureSource::HistogramStd { histogram: id } => histogram(id).std_us()?,
            MeasureSource::HistogramQuantile {
                histogram: id,
                per_mille,
            } => histogram(id).quantile_us(per_mille)?,
            MeasureSource::TallyPercentile { tally, per_mille } => {
                let tally = &self.tallies()[tally as usize];
                tally.percentile(per_mille)?.0 as f64
            }
            MeasureSource::TallySorted { tally, per_mille } => {
                let tally = &self.tallies()[tally as usize];
                tally.sorted(per_mille)? as f64
            }
            MeasureSource::LeftCluster { first, count } => self.left_cluster_ms(first, count)?,
            MeasureSource::OnBiggest { first, count } => self.on_biggest_percent(first, count)?,
            MeasureSource::CounterPerSecond { seconds, .. }
                if self.now < u64::from(seconds) * 1_000_000_000 =>
            {
                return None;
            }
            MeasureSource::CounterPerSecond { counter, seconds } => {
                self.counted(counter) as f64 / f64::from(seconds)
            }
            MeasureSource::CounterPercent { counter, of } => {
                let of = self.counted(of);
                if of == 0 {
                    return None;
                }
                100.0 * self.counted(counter) as f64 / of as f64
            }
            MeasureSource::Lifetime { workload } => self.lifetime_s(workload)?,
            MeasureSource::Logged { log, what } => self.logged(log, what)?,
        })
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
