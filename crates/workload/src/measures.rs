// SPDX-License-Identifier: GPL-2.0-only
//! Measures that several kinds of workload report.

use crate::program::{Better, HistogramId, LogId, Logged, MarkId, Measure, MeasureSource, TallyId};

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

/// Seconds from the start of the workload until its last task ended.
pub(crate) fn lifetime_s() -> Measure {
    Measure {
        source: MeasureSource::Lifetime { workload: 0 },
        ..elapsed_s(0, 0)
    }
}

/// What is reported of rt-app's log of a task ([`Logged`]), by its own names; of the run events
/// if the task `computes`, of timers if it `waits` on some.
pub(crate) fn log_measures(name: &str, log: LogId, computes: bool, waits: bool) -> Vec<Measure> {
    const LOWER: Option<Better> = Some(Better::Lower);
    let all = [
        (computes, "_run_us", "us", LOWER, Logged::Run),
        (true, "_period_us", "us", None, Logged::Period),
        (waits, "_wu_lat_us", "us", LOWER, Logged::WakeupLatency),
        (
            waits,
            "_slack_us",
            "us",
            Some(Better::Higher),
            Logged::Slack,
        ),
        (
            waits,
            "_slack_min_us",
            "us",
            Some(Better::Higher),
            Logged::LeastSlack,
        ),
        (waits, "_missed", "", LOWER, Logged::Missed),
        (true, "_cpu_s", "s", None, Logged::CpuTime),
        (true, "_cpu_percent", "percent", None, Logged::CpuShare),
    ];
    let wanted = all.into_iter().filter(|(wanted, ..)| *wanted);
    let measure = |(_, suffix, unit, better, what)| Measure {
        name: format!("{name}{suffix}"),
        unit,
        better,
        source: MeasureSource::Logged { log, what },
    };
    wanted.map(measure).collect()
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
