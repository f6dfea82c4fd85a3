// SPDX-License-Identifier: GPL-2.0-only
//! What is reported of a workload: how each measure is named, and how it is computed.

use super::{CounterId, HistogramId, LogId, MarkId, TallyId, TaskId};

/// A reported quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Stable name, lower_snake, unit last: `elapsed_s`, `events`, `wakeup_latency_us`.
    pub name: String,
    /// Unit, empty for counts.
    pub unit: &'static str,
    /// The better direction; `None`: neither is.
    pub better: Option<Better>,
    /// The source of its value.
    pub source: MeasureSource,
}

/// Direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lower values are better.
    Lower,
    /// Higher values are better.
    Higher,
}

/// What is reported of a log ([`super::Op::Pass`]), by rt-app's definitions (`run_event()`, `thread_body()`
/// of rt-app.c): means over the passes of all tasks that write to it. rt-app rounds to us, this does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// `run`: wall time from begin to end of the run events of a pass, us; over passes that have any.
    Run,
    /// `period`: wall time of a pass, us.
    Period,
    /// `wu_lat`: from a timer's point until the task runs, summed over the timers of a pass, us; 0 from
    /// a missed one on. Over passes that come to a timer.
    WakeupLatency,
    /// `slack`: time left until the timer's point when the task comes to the timer, us; negative: it
    /// comes too late. Over passes that come to a timer.
    Slack,
    /// Least slack of a pass, us.
    LeastSlack,
    /// How often a task came to a timer whose point had passed: it did not sleep.
    Missed,
    /// CPU time of the tasks, s, since counts began.
    CpuTime,
    /// The same in percent of the time that passed meanwhile, until the workload's last task ended; 100
    /// is one CPU all the time.
    CpuShare,
}

/// How a measure is computed at the end of the run.
#[allow(missing_docs, reason = "the text of each source explains its fields")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureSource {
    /// Seconds from the first passage of `from` to the last passage of `to`.
    Elapsed { from: MarkId, to: MarkId },
    /// Seconds from the start of the workload to the last passage of `to`. `workload` is 0 here.
    SinceStart { workload: u32, to: MarkId },
    /// Final value of a counter.
    Counter { counter: CounterId },
    /// Mean of a histogram, in us.
    HistogramMean { histogram: HistogramId },
    /// Maximum of a histogram, in us.
    HistogramMax { histogram: HistogramId },
    /// Minimum of a histogram, in us.
    HistogramMin { histogram: HistogramId },
    /// Standard deviation of a histogram's samples (divided by one less than their number), in us.
    HistogramStd { histogram: HistogramId },
    /// Quantile of a histogram in thousandths (500 = median), in us.
    HistogramQuantile {
        histogram: HistogramId,
        per_mille: u32,
    },
    /// The value that `per_mille` of a tally's are not above, as fio and schbench find it.
    TallyPercentile { tally: TallyId, per_mille: u32 },
    /// Of a tally's n values in rising order the one at position n * `per_mille` / 1000, from 0.
    TallySorted { tally: TallyId, per_mille: u32 },
    /// Ms until the last of `count` tasks from `first` on ran on a CPU of another cluster than it
    /// had been on; none if one never did.
    LeftCluster { first: TaskId, count: u32 },
    /// Of the time that `count` tasks from `first` on ran, percent on CPUs of the greatest
    /// capacity; none where all CPUs have the same, or if none ran.
    OnBiggest { first: TaskId, count: u32 },
    /// A counter by a number of seconds.
    CounterPerSecond { counter: CounterId, seconds: u32 },
    /// Percent that a counter is of another; none of nothing.
    CounterPercent { counter: CounterId, of: CounterId },
    /// Seconds from the start of the workload until its last task ended; none if one remains.
    /// `workload` is 0 here.
    Lifetime { workload: u32 },
    /// What a log says; none of no pass.
    Logged { log: LogId, what: Logged },
}
