// SPDX-License-Identifier: GPL-2.0-only
//! The measurements of the workloads of a run.

use crate::face::api::Metric;
use crate::program::Programs;
use alight_workload::program::{Better, MeasureSource};

/// A measurement to report, with ids in the run's tables.
#[derive(Debug, Clone)]
pub(crate) struct MeasureSpec {
    pub name: String,
    pub unit: &'static str,
    pub better: Option<Better>,
    pub source: MeasureSource,
}

impl Programs<'_> {
    /// The workloads' metrics, in their order. The value is NaN if it does not exist: the run was
    /// cut, or the event never happened.
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
