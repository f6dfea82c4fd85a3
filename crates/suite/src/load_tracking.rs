// SPDX-License-Identifier: GPL-2.0-only
//! B. Load tracking, after LISA's `load_tracking.py` and `util_tracking.py`: the
//! signals of pinned tasks against the mathematics of [`pelt`], whatever the clock.

use super::observe::{Sample, Slice, TaskSeen};
use super::pelt;
use super::plan::{ClockRule, Load, Phase, Plan, Task, Work};
use super::platform::Platform;
use super::{Bound, Entry, Family, Limit, Observed, TestFigure};

const CORRECTNESS: [&str; 4] = [
    "util_correctness mean",
    "util_correctness max",
    "load_correctness mean",
    "load_correctness max",
];
const BEHAVIOUR: [&str; 2] = ["util_behaviour", "load_behaviour"];
const CPU_INVARIANCE: &str = "cpu_invariance";
const FREQ_INVARIANCE: &str = "freq_invariance";

const fn share(
    test: &'static str,
    what: &'static str,
    percent: i64,
    reason: &'static str,
) -> Limit {
    Limit {
        test,
        what,
        unit: "% of 1024",
        bound: Bound::AtMost(percent * 1000),
        reason,
    }
}

const MEAN_REASON: &str =
    "the kernel sums whole windows in integers and the filter does not: below 2 % on average";
const MAX_REASON: &str =
    "one window of 1 ms changes a signal by 2.2 %; signal and filter may be two windows apart";
const BEHAVIOUR_REASON: &str =
    "the middle of the settled signal's range is the duty cycle only if sleep is short";

const EQUAL: [Limit; 4] = [
    share(
        CORRECTNESS[0],
        "mean distance of util_avg from the filter",
        2,
        MEAN_REASON,
    ),
    share(
        CORRECTNESS[1],
        "greatest distance of util_avg from the filter",
        5,
        MAX_REASON,
    ),
    share(
        CORRECTNESS[2],
        "mean distance of load_avg from the filter",
        2,
        MEAN_REASON,
    ),
    share(
        CORRECTNESS[3],
        "greatest distance of load_avg from the filter",
        5,
        MAX_REASON,
    ),
];
const SETTLED: [Limit; 2] = [
    share(
        BEHAVIOUR[0],
        "difference of settled util_avg from the duty cycle",
        5,
        BEHAVIOUR_REASON,
    ),
    share(
        BEHAVIOUR[1],
        "difference of settled load_avg from the duty cycle",
        5,
        BEHAVIOUR_REASON,
    ),
];
const INVARIANT: [Limit; 2] = [
    share(
        CPU_INVARIANCE,
        "settled util_avg at top frequencies, the worst CPU",
        5,
        BEHAVIOUR_REASON,
    ),
    share(
        FREQ_INVARIANCE,
        "settled util_avg at the worst frequency of the best CPU",
        5,
        "one CPU that is right at all frequencies shows that the signal is scaled by frequency",
    ),
];

/// The scenarios.
pub const ENTRIES: [Entry; 3] = [
    Entry {
        name: "PELTTask",
        family: Family::LoadTracking,
        about: "a pinned task of 50 % of a big CPU for 2 s, at the top frequency",
        limits: &[
            EQUAL[0], EQUAL[1], EQUAL[2], EQUAL[3], SETTLED[0], SETTLED[1],
        ],
        plans: half_of_a_big_cpu,
        judge: judge_task,
    },
    Entry {
        name: "TaskInvariance",
        family: Family::LoadTracking,
        about: "a pinned task of 50 % of its CPU, on a CPU of each class at up to 8 frequencies",
        limits: &[
            EQUAL[0],
            EQUAL[1],
            EQUAL[2],
            EQUAL[3],
            SETTLED[0],
            SETTLED[1],
            INVARIANT[0],
            INVARIANT[1],
        ],
        plans: each_class_and_clock,
        judge: judge_task,
    },
    Entry {
        name: "RqInvariance",
        family: Family::LoadTracking,
        about: "the same runs, judged by the signals of the run queue",
        limits: &EQUAL,
        plans: each_class_and_clock,
        judge: judge_queue,
    },
];

/// Frequencies of which a CPU is asked (`NR_FREQUENCIES`).
const FREQUENCIES: usize = 8;

fn pinned(label: String, clock: ClockRule, util: f64, cpu: usize) -> Plan {
    let phase = Phase::new("test", Work::periodic(util, 2000)).on(&[cpu]);
    let tasks = vec![Task {
        name: "invar".to_owned(),
        phases: vec![phase],
    }];
    Plan {
        label,
        clock,
        shallow_idle: true,
        signals: true,
        hotplug: 0,
        load: Load::Tasks(tasks),
    }
}

fn half_of_a_big_cpu(platform: &Platform) -> Result<Vec<Plan>, String> {
    let cpu = platform.biggest();
    let rule = ClockRule::Performance;
    Ok(vec![pinned(format!("CPU{cpu}"), rule, 512.0, cpu)])
}

fn each_class_and_clock(platform: &Platform) -> Result<Vec<Plan>, String> {
    let mut plans = vec![];
    for class in platform.classes() {
        let cpu = class.cpus[0];
        for (khz, capacity) in frequencies(platform, cpu) {
            // Half of the capacity there, in whole percent of the scale, as LISA has it.
            let percent = (f64::from(capacity) / 1024.0 * 100.0 / 2.0).floor();
            if percent == 0.0 {
                return Err(format!(
                    "CPU {cpu} at {khz} kHz is too slow for 1 % of the scale"
                ));
            }
            let label = format!("CPU{cpu}@{khz}");
            plans.push(pinned(
                label,
                ClockRule::Userspace { khz },
                percent * 10.24,
                cpu,
            ));
        }
    }
    Ok(plans)
}

/// The top frequency and those nearest to evenly spaced ones: kHz and capacity, rising.
fn frequencies(platform: &Platform, cpu: usize) -> Vec<(u32, u32)> {
    let mut left: Vec<(u32, u32)> = (platform.points(cpu).iter())
        .map(|point| (point.khz, point.capacity))
        .collect();
    let (Some((lowest, _)), Some(top)) = (left.first().copied(), left.pop()) else {
        return vec![];
    };
    let mut chosen = vec![top];
    let steps = FREQUENCIES as u32 - 2;
    for step in 0..=steps {
        let ideal = lowest + (top.0 - lowest) / steps * step;
        let nearest = (0..left.len()).min_by_key(|&at| left[at].0.abs_diff(ideal));
        if let Some(at) = nearest {
            chosen.push(left.remove(at));
        }
    }
    chosen.sort_unstable();
    chosen
}

/// What of a signal is looked at.
type Signal = fn(&Sample) -> u32;

/// What a run says of one signal, thousandths of a percent of 1024.
struct Errors {
    mean: i64,
    max: i64,
}

fn milli_percent(of_1024: f64) -> i64 {
    (of_1024 / 1024.0 * 100_000.0).round() as i64
}

/// The filter's value at each sample, from the third activation on; it begins where the
/// signal is. `speed`: how much slower the PELT clock goes while the task runs.
fn filtered(task: &TaskSeen, speed: f64, signal: Signal) -> Vec<(u64, f64, u32)> {
    let Some(start) = task.starts().nth(2).map(|slice| slice.from) else {
        return vec![];
    };
    let slices: Vec<&Slice> = task
        .slices
        .iter()
        .filter(|slice| slice.from >= start)
        .collect();
    let mut samples = task.samples.iter().filter(|sample| sample.at >= start);
    let Some(first) = samples.next() else {
        return vec![];
    };
    // The filter's value, and the PELT clock up to which it holds.
    let (mut value, mut clock) = (f64::from(signal(first)), start as f64);
    let mut at = 0;
    let mut out = vec![];
    for sample in samples {
        while at < slices.len() && slices[at].to < sample.at {
            // Idle time brings the clock back to real time.
            value = pelt::after(value, slices[at].from as f64 - clock, 0.0);
            let ran = slices[at].length() as f64 * speed;
            value = pelt::after(value, ran, 1.0);
            clock = slices[at].from as f64 + ran;
            at += 1;
        }
        let now = match slices.get(at) {
            Some(slice) if slice.from <= sample.at => {
                let begun = pelt::after(value, slice.from as f64 - clock, 0.0);
                pelt::after(begun, (sample.at - slice.from) as f64 * speed, 1.0)
            }
            _ => pelt::after(value, sample.at as f64 - clock, 0.0),
        };
        out.push((sample.at, now, signal(sample)));
    }
    out
}

fn errors(task: &TaskSeen, speed: f64, signal: Signal) -> Option<Errors> {
    let points = filtered(task, speed, signal);
    let (first, last) = (points.first()?.0, points.last()?.0);
    let distance = |point: &(u64, f64, u32)| (point.1 - f64::from(point.2)).abs();
    // Each value holds until the next.
    let weighted = |pair: &[(u64, f64, u32)]| distance(&pair[0]) * (pair[1].0 - pair[0].0) as f64;
    let sum: f64 = points.windows(2).map(weighted).sum();
    let max = points.iter().map(distance).fold(0.0, f64::max);
    Some(Errors {
        mean: milli_percent(sum / (last - first).max(1) as f64),
        max: milli_percent(max),
    })
}

/// Middle between the mean of the local maxima and that of the local minima
/// (`series_envelope_mean()`).
pub fn tunnel(values: &[u32]) -> f64 {
    let mut series = values.to_vec();
    series.dedup();
    let extremes = |is: fn(&[u32]) -> bool| {
        let found: Vec<u32> = series.windows(3).filter(|w| is(w)).map(|w| w[1]).collect();
        let sum: u64 = found.iter().map(|&value| u64::from(value)).sum();
        (!found.is_empty()).then(|| sum as f64 / found.len() as f64)
    };
    let maxima = extremes(|w| w[0] < w[1] && w[1] > w[2]);
    let minima = extremes(|w| w[0] > w[1] && w[1] < w[2]);
    let first = f64::from(series.first().copied().unwrap_or(0));
    (maxima.unwrap_or(first) + minima.unwrap_or(first)) / 2.0
}

/// How far the settled signal is from the duty cycle.
fn off(run: &Observed, task: &TaskSeen, signal: Signal) -> Option<i64> {
    let expected = run
        .plan
        .of_tasks()
        .first()?
        .phases
        .first()?
        .work
        .mean_util();
    let settled = task.samples.first()?.at + pelt::settling_ns(expected, 10.0);
    let after = task.samples.iter().filter(|sample| sample.at >= settled);
    let values: Vec<u32> = after.map(signal).collect();
    (!values.is_empty()).then(|| milli_percent((tunnel(&values) - expected).abs()))
}

/// How fast the CPU of a pinned task is, 1: the biggest at its top.
fn speed(platform: &Platform, run: &Observed, task: &TaskSeen) -> Option<f64> {
    let cpu = task.slices.first()?.cpu as usize;
    let points = platform.points(cpu);
    let top = points.last()?.khz;
    let khz = match run.plan.clock {
        ClockRule::Userspace { khz } => khz,
        ClockRule::Performance | ClockRule::Schedutil => top,
    };
    let capacity = f64::from(platform.cpus[cpu].capacity) / 1024.0;
    Some(capacity * f64::from(khz) / f64::from(top))
}

fn compared(
    platform: &Platform,
    run: &Observed,
    signals: [Signal; 2],
) -> Result<Vec<TestFigure>, String> {
    let unseen = || format!("{}: too little was recorded", run.plan.label);
    let task = run.seen.tasks.first().ok_or_else(unseen)?;
    let speed = speed(platform, run, task).ok_or_else(unseen)?;
    let mut measured = vec![];
    for (signal, tests) in signals.into_iter().zip(CORRECTNESS.chunks(2)) {
        let errors = errors(task, speed, signal).ok_or_else(unseen)?;
        for (&test, milli) in tests.iter().zip([errors.mean, errors.max]) {
            measured.push(TestFigure {
                test,
                of: run.plan.label.clone(),
                milli,
            });
        }
    }
    Ok(measured)
}

fn judge_task(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let signals: [Signal; 2] = [|sample| sample.util, |sample| sample.load];
    let mut measured = vec![];
    let mut settled: Vec<(u32, i64, bool)> = vec![];
    for run in observed {
        measured.extend(compared(platform, run, signals)?);
        let task = &run.seen.tasks[0];
        for (test, signal) in BEHAVIOUR.into_iter().zip(signals) {
            let milli = off(run, task, signal)
                .ok_or_else(|| format!("{}: the signal never settled", run.plan.label))?;
            measured.push(TestFigure {
                test,
                of: run.plan.label.clone(),
                milli,
            });
            if test == BEHAVIOUR[0] {
                let cpu = task.slices[0].cpu;
                let top = platform.points(cpu as usize).last().map(|point| point.khz);
                let is_top = match run.plan.clock {
                    ClockRule::Userspace { khz } => Some(khz) == top,
                    ClockRule::Performance | ClockRule::Schedutil => true,
                };
                settled.push((cpu, milli, is_top));
            }
        }
    }
    measured.extend(invariance(&settled));
    Ok(measured)
}

/// `cpu_invariance`: all CPUs at their top. `freq_invariance`: one CPU at all its frequencies.
fn invariance(settled: &[(u32, i64, bool)]) -> Vec<TestFigure> {
    let tops = settled.iter().filter(|of| of.2);
    let mut measured: Vec<TestFigure> = tops
        .map(|&(cpu, milli, _)| TestFigure {
            test: CPU_INVARIANCE,
            of: format!("CPU{cpu}"),
            milli,
        })
        .collect();
    let mut cpus: Vec<u32> = settled.iter().map(|of| of.0).collect();
    cpus.dedup();
    let worst = |cpu: &u32| {
        settled
            .iter()
            .filter(|of| of.0 == *cpu)
            .map(|of| of.1)
            .max()
    };
    let best = cpus
        .iter()
        .filter_map(|cpu| Some((worst(cpu)?, *cpu)))
        .min();
    measured.extend(best.map(|(milli, cpu)| TestFigure {
        test: FREQ_INVARIANCE,
        of: format!("CPU{cpu}"),
        milli,
    }));
    measured
}

fn judge_queue(platform: &Platform, observed: &[Observed]) -> Result<Vec<TestFigure>, String> {
    let signals: [Signal; 2] = [|sample| sample.queue_util, |sample| sample.queue_load];
    let runs = observed.iter();
    let measured: Result<Vec<_>, String> =
        runs.map(|run| compared(platform, run, signals)).collect();
    Ok(measured?.concat())
}

#[cfg(test)]
mod tests;
