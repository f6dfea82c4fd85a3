// SPDX-License-Identifier: GPL-2.0-only
//! Counters of a run, and what is reported of them.

mod count;

pub(crate) use count::Count;

use crate::face::answers::Latency;
use crate::face::distance::Migrations;
use crate::layers::World;
use alight_policy::STEPS;

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

    pub fn mean_us(&self) -> Option<f64> {
        (self.count != 0).then(|| self.sum as f64 / self.count as f64 / 1e3)
    }

    pub fn min_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.min as f64 / 1e3)
    }

    pub fn max_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.max as f64 / 1e3)
    }

    /// Standard deviation of the samples.
    pub fn std_us(&self) -> Option<f64> {
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
}

#[cfg(test)]
mod tests;
