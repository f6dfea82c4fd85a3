// SPDX-License-Identifier: GPL-2.0-only
//! The statistics of an interval as a few lines, for `--stats` and `--monitor`.

use crate::counters::{Counters, DISTANCES};
use crate::statistics::Statistics;
use std::fmt::Write;

/// Steps that a block shows; the others are summed up.
const STEPS_SHOWN: usize = 8;

/// A time, ns, as text with a suitable unit (ns, us, ms or s).
pub fn time(ns: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", ns / unit, ns % unit * 10 / unit);
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", tenths(1_000)),
        1_000_000..1_000_000_000 => format!("{} ms", tenths(1_000_000)),
        _ => format!("{} s", tenths(1_000_000_000)),
    }
}

/// `part` in percent of `of`, with one decimal: `12.5 %`. If `of` is 0 it counts as 1.
pub fn percent(part: u64, of: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(of.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// `count` events in `ns` nanoseconds as a rate, events per second. If `ns` is 0 it counts as 1.
pub fn rate(count: u64, ns: u64) -> u64 {
    let rate = u128::from(count) * 1_000_000_000 / u128::from(ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Text from another process, without control characters.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Mean number of CPUs that a decision looked at, with a decimal.
pub fn mean_scan(totals: &Counters) -> String {
    let tenths = u128::from(totals.scanned) * 10 / u128::from(totals.decisions.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Number of CPUs on which a task started.
pub fn used_cpus(interval: &Statistics) -> usize {
    interval.cpus.iter().filter(|cpu| cpu.runs > 0).count()
}

/// A few lines about an interval. `interval`: from [`Statistics::since`]. `uptime_ns`: time since the
/// scheduler's start, ns.
pub fn block(interval: &Statistics, uptime_ns: u64) -> String {
    let totals = &interval.totals;
    let every = |count| format!("{}/s", rate(count, interval.uptime_ns));
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} s  {}  {} of {} CPUs used",
        uptime_ns / 1_000_000_000,
        printable(&interval.scheduler),
        used_cpus(interval),
        interval.cpus.len(),
    );
    let _ = writeln!(
        text,
        "  decisions  {}  found idle {}  looked at {} CPUs",
        every(totals.decisions),
        percent(totals.found_idle, totals.decisions),
        mean_scan(totals),
    );
    let _ = writeln!(text, "  steps      {}", steps(interval));
    for (feature, hits) in interval.features() {
        let share = percent(hits, totals.decisions);
        let _ = writeln!(text, "  feature    {feature} {share}");
    }
    let _ = writeln!(
        text,
        "  runs       {}  delay p50 {}  p99 {}  max {}",
        every(totals.runs),
        time(totals.delay(500)),
        time(totals.delay(990)),
        time(totals.delay_max_ns),
    );
    let distances = DISTANCES.iter().zip(totals.moved);
    let moved: Vec<String> = distances
        .map(|((name, _), count)| format!("{name} {}", percent(count, totals.runs)))
        .collect();
    let _ = writeln!(text, "  moved      {}", moved.join("  "));
    let _ = writeln!(
        text,
        "  queues     direct {}  queued {}  preempted {}  SCHED_IDLE thrown off {}  yields {}  timed {}",
        every(totals.direct),
        every(totals.queued.saturating_add(totals.patient)),
        every(totals.preempted),
        every(totals.preempted_idle),
        every(totals.yields),
        every(totals.timed),
    );
    let _ = writeln!(
        text,
        "  balancing  pulled idle {}  at tick {}  misfit {}  spread {}  packed {}",
        every(totals.pulled_idle),
        every(totals.pulled_balance),
        every(totals.misfit),
        every(totals.spread),
        every(totals.packed),
    );
    text
}

/// The steps that answered most often.
fn steps(interval: &Statistics) -> String {
    let mut steps: Vec<(&str, u64)> = interval.steps().collect();
    steps.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let all = interval.totals.decisions;
    let shown = steps.iter().take(STEPS_SHOWN);
    let mut words: Vec<String> = shown
        .map(|(name, count)| format!("{name} {}", percent(*count, all)))
        .collect();
    let rest =
        (steps.iter().skip(STEPS_SHOWN)).fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    if rest > 0 {
        words.push(format!("others {}", percent(rest, all)));
    }
    if words.is_empty() {
        words.push("none".to_owned());
    }
    words.join("  ")
}

#[cfg(test)]
mod tests;
