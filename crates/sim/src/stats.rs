// SPDX-License-Identifier: GPL-2.0-only
//! Counters of a run, and what is reported of them.

use crate::answers::Latency;
use crate::api::Metric;
use crate::build::MeasureSpec;
use crate::state::Sim;
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
    pub wakeups: u64,
    pub forks: u64,
    pub yields: u64,
    pub preemptions: u64,
    pub switches: u64,
    pub migrations: u64,
    pub migrations_wake: u64,
    pub ticks: u64,
    pub ipis: u64,
    pub messages: u64,
    pub mutex_waits: u64,
    pub fast_path: u64,
    pub slow_path: u64,
    pub found_idle: u64,
    pub to_prev: u64,
    pub to_this: u64,
    pub to_other: u64,
    /// CPUs that ran nothing, `SCHED_IDLE` tasks only, others.
    pub to_idle: u64,
    pub to_sched_idle: u64,
    pub to_busy: u64,
    pub looked_at: u64,
    pub lock_wait_ns: u64,
    pub lock_contended: u64,
    pub refill_ns: u64,
    pub lb_attempts: u64,
    pub lb_pulled: u64,
    pub lb_newidle_pulled: u64,
    pub lb_active: u64,
    pub freq_changes: u64,
    pub selections: Selections,
    pub wake_latency: Histogram,
}

/// Decisions by the step that answered.
#[derive(Debug, Clone)]
pub(crate) struct Selections(pub [u64; STEPS.len()]);

impl Default for Selections {
    fn default() -> Self {
        Selections([0; STEPS.len()])
    }
}

/// Buckets per power of two.
const SUB: u64 = 16;
/// Buckets in all: up to 2^40 ns.
const BUCKETS: usize = 37 * SUB as usize;

/// Durations in ns: exact count, sums and extremes, quantiles to 1/16.
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

    fn mean_us(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64 / 1e3
        }
    }

    /// 0 of no sample, as for the mean and the maximum.
    fn min_us(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.min as f64 / 1e3
        }
    }

    /// Standard deviation of the samples; 0 of fewer than two.
    fn std_us(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let squared_sum = u128::from(self.sum) * u128::from(self.sum);
        let scatter = self.sum_of_squares - squared_sum / u128::from(self.count);
        (scatter as f64 / (self.count - 1) as f64).sqrt() / 1e3
    }

    pub fn summary(&self) -> Latency {
        Latency {
            samples: self.count,
            mean_us: self.mean_us(),
            p50_us: self.quantile_us(500),
            p99_us: self.quantile_us(990),
        }
    }

    pub fn quantile_us(&self, per_mille: u32) -> f64 {
        let rank = (self.count * u64::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0;
        for (i, &n) in self.buckets.iter().enumerate() {
            seen += u64::from(n);
            if seen >= rank {
                return (middle(i).min(self.max)) as f64 / 1e3;
            }
        }
        0.0
    }
}

/// Below [`SUB`] a bucket a value, above [`SUB`] buckets a power of two.
fn bucket(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let exponent = u64::from(ns.ilog2());
    let within = (ns >> (exponent - 4)) & (SUB - 1);
    (((exponent - 3) * SUB + within) as usize).min(BUCKETS - 1)
}

fn middle(bucket: usize) -> u64 {
    let (power, within) = (bucket as u64 / SUB, bucket as u64 % SUB);
    if power == 0 {
        return within;
    }
    let step = 1 << (power - 1);
    (SUB + within) * step + step / 2
}

fn metric(name: impl Into<String>, unit: &'static str, value: f64) -> Metric {
    Metric {
        name: name.into(),
        unit,
        better: None,
        value,
    }
}

impl Sim<'_> {
    /// What the workloads report.
    pub fn results(&self, measures: &[MeasureSpec]) -> Vec<Metric> {
        measures
            .iter()
            .filter_map(|m| {
                Some(Metric {
                    name: m.name.clone(),
                    unit: m.unit,
                    better: m.better,
                    value: self.measure(m.source)?,
                })
            })
            .collect()
    }

    /// `None`: a run that was cut has no such value.
    fn measure(&self, source: MeasureSource) -> Option<f64> {
        let histogram = |id: u32| &self.histograms[id as usize];
        Some(match source {
            MeasureSource::Elapsed { from, to } => {
                let (from, to) = (self.marks[from as usize], self.marks[to as usize]);
                to.last?.saturating_sub(from.first?) as f64 / 1e9
            }
            MeasureSource::Counter { counter } => self.counters[counter as usize] as f64,
            MeasureSource::HistogramMean { histogram: id } => histogram(id).mean_us(),
            MeasureSource::HistogramMax { histogram: id } => histogram(id).max as f64 / 1e3,
            MeasureSource::HistogramMin { histogram: id } => histogram(id).min_us(),
            MeasureSource::HistogramStd { histogram: id } => histogram(id).std_us(),
            MeasureSource::HistogramQuantile {
                histogram: id,
                per_mille,
            } => histogram(id).quantile_us(per_mille),
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
        })
    }

    /// Why the results are what they are.
    pub fn mechanism(&self) -> Vec<Metric> {
        let s = &self.stats;
        let share = |n: u64, of: u64| {
            if of == 0 {
                0.0
            } else {
                100.0 * n as f64 / of as f64
            }
        };
        let count = |name, n: u64| metric(name, "", n as f64);
        let percent = |name, n, of| metric(name, "percent", share(n, of));
        let mut all = vec![
            count("cpu_migrations", s.migrations),
            count("wake_migrations", s.migrations_wake),
            count("context_switches", s.switches),
            count("preemptions", s.preemptions),
            count("wakeups", s.wakeups),
            count("fast_path_selections", s.fast_path),
            count("slow_path_selections", s.slow_path),
            percent("found_idle_percent", s.found_idle, s.wakeups),
            percent("to_prev_percent", s.to_prev, s.wakeups),
            percent("to_this_percent", s.to_this, s.wakeups),
            percent("to_other_percent", s.to_other, s.wakeups),
            metric(
                "looked_at_per_wakeup",
                "",
                if s.wakeups == 0 {
                    0.0
                } else {
                    s.looked_at as f64 / s.wakeups as f64
                },
            ),
            Metric {
                better: Some(Better::Lower),
                ..metric("run_delay_mean_us", "us", s.wake_latency.mean_us())
            },
            Metric {
                better: Some(Better::Lower),
                ..metric("run_delay_p99_us", "us", s.wake_latency.quantile_us(990))
            },
            count("mutex_waits", s.mutex_waits),
            count("balance_pulls", s.lb_pulled),
            count("newidle_pulls", s.lb_newidle_pulled),
            count("active_balances", s.lb_active),
            count("ipis", s.ipis),
            count("frequency_changes", s.freq_changes),
            metric("lock_wait_s", "s", s.lock_wait_ns as f64 / 1e9),
            metric("cache_refill_s", "s", s.refill_ns as f64 / 1e9),
        ];
        if (self.views.iter()).any(|view| view.class == class::IDLE) {
            all.push(percent("to_idle_percent", s.to_idle, s.wakeups));
            all.push(percent("to_sched_idle_percent", s.to_sched_idle, s.wakeups));
            all.push(percent("to_busy_percent", s.to_busy, s.wakeups));
        }
        if s.messages != 0 {
            all.push(count("messages", s.messages));
        }
        all.extend(self.time_by_capacity());
        all.extend(self.by_cluster());
        if self.hotplug.used {
            all.push(count("hotplug_moves", self.hotplug.moved));
            all.push(count("broken_affinities", self.hotplug.broken));
        }
        all
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
                metric(
                    name,
                    "percent",
                    if all == 0 {
                        0.0
                    } else {
                        100.0 * busy as f64 / all as f64
                    },
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_within_a_sixteenth() {
        for ns in [0, 1, 15, 16, 17, 31, 33, 1000, 123_456, 9_876_543_210] {
            let back = middle(bucket(ns));
            assert!(back.abs_diff(ns) <= ns / 16, "{ns} -> {back}");
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut h = Histogram::default();
        for us in 1..=1000 {
            h.record(us * 1000);
        }
        assert!((h.mean_us() - 500.5).abs() < 1e-9);
        assert!((h.quantile_us(500) - 500.0).abs() < 32.0);
        assert!((h.quantile_us(990) - 990.0).abs() < 64.0);
        assert_eq!(h.max, 1_000_000);
        assert!((h.min_us() - 1.0).abs() < 1e-9);
        // Of 1 to n the variance is n (n + 1) / 12.
        assert!((h.std_us() - (1000.0 * 1001.0 / 12.0_f64).sqrt()).abs() < 1e-3);
    }

    #[test]
    fn of_no_sample_and_of_one_nothing_is_said() {
        let mut h = Histogram::default();
        assert_eq!((h.mean_us(), h.min_us(), h.std_us()), (0.0, 0.0, 0.0));
        h.record(7000);
        assert_eq!((h.min_us(), h.std_us()), (7.0, 0.0));
    }
}
