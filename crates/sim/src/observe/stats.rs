// SPDX-License-Identifier: GPL-2.0-only
//! Counters of a run, and what is reported of them.

mod count;

pub(crate) use count::Count;

use crate::face::answers::Latency;
use crate::face::api::Metric;
use crate::face::distance::Migrations;
use crate::layers::{Power, Programs, World};
use crate::setup::build::MeasureSpec;
use alight_policy::STEPS;
use alight_policy::abi::class;
use alight_workload::program::{Better, MeasureSource};
use std::collections::BTreeMap;

/// What one CPU counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CpuStats {
    /// Time that tasks ran, ns.
    pub busy_ns: u64,
    /// What `busy_ns` was when counts started anew.
    pub busy_from: u64,
    /// Sum of the times that its tasks were runnable, ns, up to `runnable_since`.
    pub runnable_ns: u64,
    /// Their number has not changed since.
    pub runnable_since: u64,
    /// How long it was offline, ns, up to when it last came back.
    pub offline_ns: u64,
    /// When it went off, or counts started anew while it was; stale while it is online.
    pub offline_since: u64,
}

/// What the whole run counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stats {
    pub wakeups: Count,
    /// Of these, from the hard interrupt of a timer or a device, while a task was current or the idle task.
    pub wakeups_hardirq_task: Count,
    pub wakeups_hardirq_idle: Count,
    pub forks: Count,
    pub yields: Count,
    pub switches: Count,
    /// By how far they went.
    pub migrations: Migrations,
    pub migrations_wake: Count,
    pub ticks: Count,
    pub ipis: Count,
    pub messages: Count,
    pub mutex_waits: Count,
    pub fast_path: Count,
    pub slow_path: Count,
    pub found_idle: Count,
    pub to_prev: Count,
    pub to_this: Count,
    pub to_other: Count,
    /// Woken where they were, for they had not left their queue; no CPU was asked for.
    pub still_queued: Count,
    /// CPUs that ran nothing, `SCHED_IDLE` tasks only, others.
    pub to_idle: Count,
    pub to_sched_idle: Count,
    pub to_busy: Count,
    pub looked_at: Count,
    pub lock_wait_ns: Count,
    pub lock_contended: Count,
    pub refill_ns: Count,
    /// Time that threads of cores executed, and of that beside another thread; both 0 where none slow each other.
    pub executed_ns: Count,
    pub beside_ns: Count,
    pub lb_attempts: Count,
    pub lb_pulled: Count,
    pub newidle: Newidle,
    pub lb_active: Count,
    pub freq_changes: Count,
    pub selections: Selections,
    pub wake_latency: Histogram,
}

/// Newidle balancing behind its gate (`newidle_balance`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Newidle {
    /// Domains that were searched (`sd->lb_count[CPU_NEWLY_IDLE]`).
    pub attempts: Count,
    /// Of these, the ones from which no task came.
    pub failures: Count,
    /// Tasks pulled (`sd->lb_gained[CPU_NEWLY_IDLE]`).
    pub pulled: Count,
    /// Time that all of it took on its CPUs, ns.
    pub ns: Count,
}

impl Newidle {
    /// A domain was searched.
    pub fn count(&mut self, pulled: u32) {
        self.attempts += 1;
        self.failures += u64::from(pulled == 0);
        self.pulled += u64::from(pulled);
    }
}

/// Decisions by the step that answered.
#[derive(Debug, Clone)]
pub(crate) struct Selections(pub [Count; STEPS.len()]);

impl Default for Selections {
    fn default() -> Self {
        Selections([Count::default(); STEPS.len()])
    }
}

/// Buckets per power of two, a power of two.
const SUB: u64 = 128;
/// Buckets in all: up to 2^40 ns.
const BUCKETS: usize = (41 - SUB.ilog2() as usize) * SUB as usize;

/// Durations in ns: exact count, sums and extremes; quantiles to 1/128, between the samples of a
/// bucket as if they were spread evenly.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    count: u64,
    sum: u64,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    buckets: Box<[u32]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
            buckets: vec![0; BUCKETS].into(),
        }
    }
}

impl Histogram {
    /// Adds one duration.
    pub fn record(&mut self, ns: u64) {
        self.count += 1;
        self.sum += ns;
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.buckets[bucket(ns)] += 1;
    }

    fn mean_us(&self) -> Option<f64> {
        (self.count != 0).then(|| self.sum as f64 / self.count as f64 / 1e3)
    }

    fn min_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.min as f64 / 1e3)
    }

    fn max_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.max as f64 / 1e3)
    }

    /// Standard deviation of the samples.
    fn std_us(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let squared_sum = u128::from(self.sum) * u128::from(self.sum);
        let scatter = self.sum_of_squares - squared_sum / u128::from(self.count);
        Some((scatter as f64 / (self.count - 1) as f64).sqrt() / 1e3)
    }

    pub fn summary(&self) -> Latency {
        Latency {
            samples: self.count,
            mean_us: self.mean_us().unwrap_or_default(),
            p50_us: self.quantile_us(500).unwrap_or_default(),
            p99_us: self.quantile_us(990).unwrap_or_default(),
        }
    }

    pub fn quantile_us(&self, per_mille: u32) -> Option<f64> {
        let rank = (self.count * u64::from(per_mille)).div_ceil(1000).max(1);
        let mut below = 0;
        for (i, &n) in self.buckets.iter().enumerate() {
            let n = u64::from(n);
            if below + n >= rank {
                let (low, width) = range(i);
                let within = u128::from(width) * u128::from(2 * (rank - below) - 1);
                let ns = low + (within / u128::from(2 * n)) as u64;
                return Some(ns.clamp(self.min, self.max) as f64 / 1e3);
            }
            below += n;
        }
        None
    }
}

/// Below [`SUB`] a bucket a value, above [`SUB`] buckets a power of two.
fn bucket(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let exponent = ns.ilog2();
    let within = (ns >> (exponent - SUB.ilog2())) & (SUB - 1);
    let power = u64::from(exponent - SUB.ilog2()) + 1;
    ((power * SUB + within) as usize).min(BUCKETS - 1)
}

/// The least value of a bucket, and how many it holds.
fn range(bucket: usize) -> (u64, u64) {
    let (power, within) = (bucket as u64 / SUB, bucket as u64 % SUB);
    if power == 0 {
        return (within, 1);
    }
    let step = 1 << (power - 1);
    ((SUB + within) * step, step)
}

fn metric(name: impl Into<String>, unit: &'static str, value: f64) -> Metric {
    Metric {
        name: name.into(),
        unit,
        better: None,
        value,
    }
}

impl World<'_> {
    /// Counters start anew. What is left of before is what the progress of a run asks for.
    pub fn forget_counts(&mut self) {
        self.counting.messages_before = self.messages_written();
        self.counting.preempted_before = self.preempted;
        self.stats = Stats::default();
    }

    /// Messages that tasks wrote since the run began.
    pub fn messages_written(&self) -> u64 {
        self.counting.messages_before + self.stats.messages.reported()
    }

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
        if self.smt.used {
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

    fn measure(&self, source: MeasureSource) -> Option<f64> {
        let histogram = |id: u32| &self.histograms[id as usize];
        Some(match source {
            MeasureSource::Elapsed { from, to } => {
                let (from, to) = (self.marks[from as usize], self.marks[to as usize]);
                to.last?.saturating_sub(from.first?) as f64 / 1e9
            }
            MeasureSource::SinceStart { workload, to } => {
                let start = self.workloads[workload as usize].start;
                self.marks[to as usize].last?.saturating_sub(start) as f64 / 1e9
            }
            MeasureSource::Counter { counter } => self.counters[counter as usize] as f64,
            MeasureSource::HistogramMean { histogram: id } => histogram(id).mean_us()?,
            MeasureSource::HistogramMax { histogram: id } => histogram(id).max_us()?,
            MeasureSource::HistogramMin { histogram: id } => histogram(id).min_us()?,
            MeasureSource::HistogramStd { histogram: id } => histogram(id).std_us()?,
            MeasureSource::HistogramQuantile {
                histogram: id,
                per_mille,
            } => histogram(id).quantile_us(per_mille)?,
            MeasureSource::TallyPercentile { tally, per_mille } => {
                let tally = &self.instruments.tallies[tally as usize];
                tally.percentile(per_mille)?.0 as f64
            }
            MeasureSource::TallySorted { tally, per_mille } => {
                let tally = &self.instruments.tallies[tally as usize];
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
                self.counters[counter as usize] as f64 / f64::from(seconds)
            }
            MeasureSource::CounterPercent { counter, of } => {
                let of = self.counters[of as usize];
                if of == 0 {
                    return None;
                }
                100.0 * self.counters[counter as usize] as f64 / of as f64
            }
            MeasureSource::Lifetime { workload } => self.lifetime_s(workload)?,
            MeasureSource::Logged { log, what } => self.logged(log, what)?,
        })
    }
}

#[cfg(test)]
mod tests;
