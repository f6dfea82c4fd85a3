// SPDX-License-Identifier: GPL-2.0-only
//! Measures that several kinds of workload report.

use crate::program::{Better, HistogramId, Measure, MeasureSource};

/// Mean, 99th percentile and maximum of a latency histogram: `NAME_us`, `NAME_p99_us`, `NAME_max_us`.
pub(crate) fn latency_measures(name: &str, histogram: HistogramId) -> Vec<Measure> {
    let p99 = MeasureSource::HistogramQuantile {
        histogram,
        per_mille: 990,
    };
    let measure = |suffix: &str, source| Measure {
        name: format!("{name}{suffix}_us"),
        unit: "us",
        better: Better::Lower,
        source,
    };
    vec![
        measure("", MeasureSource::HistogramMean { histogram }),
        measure("_p99", p99),
        measure("_max", MeasureSource::HistogramMax { histogram }),
    ]
}
