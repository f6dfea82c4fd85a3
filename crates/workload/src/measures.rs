// SPDX-License-Identifier: GPL-2.0-only
//! Measures that several kinds of workload report.

use crate::program::{Better, HistogramId, MarkId, Measure, MeasureSource, TallyId};

/// What is reported of a latency histogram: its mean, `NAME_us`, and `NAME_std_us`, `NAME_min_us`,
/// `NAME_p99_us`, `NAME_max_us`, each over the samples of the run.
pub(crate) fn latency_measures(name: &str, histogram: HistogramId) -> Vec<Measure> {
    let p99 = MeasureSource::HistogramQuantile {
        histogram,
        per_mille: 990,
    };
    let measure = |suffix: &str, source| Measure {
        name: format!("{name}{suffix}_us"),
        unit: "us",
        better: Some(Better::Lower),
        source,
    };
    vec![
        measure("", MeasureSource::HistogramMean { histogram }),
        measure("_std", MeasureSource::HistogramStd { histogram }),
        measure("_min", MeasureSource::HistogramMin { histogram }),
        measure("_p99", p99),
        measure("_max", MeasureSource::HistogramMax { histogram }),
    ]
}

/// Seconds from the first passage of one mark to the last of another.
pub(crate) fn elapsed_s(from: MarkId, to: MarkId) -> Measure {
    Measure {
        name: "elapsed_s".to_owned(),
        unit: "s",
        better: Some(Better::Lower),
        source: MeasureSource::Elapsed { from, to },
    }
}

/// Percentiles of a tally of us, in thousandths: `NAME_p50_us`, `NAME_p999_us` …
pub(crate) fn tally_measures(
    name: &str,
    tally: TallyId,
    per_mille: &[u32],
) -> impl Iterator<Item = Measure> {
    per_mille.iter().map(move |&per_mille| {
        let percent = match per_mille % 10 {
            0 => per_mille / 10,
            _ => per_mille,
        };
        Measure {
            name: format!("{name}_p{percent}_us"),
            unit: "us",
            better: Some(Better::Lower),
            source: MeasureSource::TallyPercentile { tally, per_mille },
        }
    })
}
