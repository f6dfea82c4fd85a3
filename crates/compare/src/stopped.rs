// SPDX-License-Identifier: GPL-2.0-only
//! A comparison that ends when a difference is known, by the rule of [`until`](crate::until).

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::compare::{Comparison, NoComparison, Question, Runner, assemble_at, pairs};
use crate::metrics::{Key, MetricKind};
use crate::report::number;
use crate::spread::{Spread, spread};
use crate::until::{ERROR, Look, Target, look_at_pairs, looks};

/// How the runs ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stopped {
    /// The number that was to be known.
    pub metric: String,
    /// Half-width that was asked for, percent of the base's mean.
    pub asked_percent: f64,
    /// Half-width of the widest interval, percent of the base's mean; `None`: there is none.
    pub half_width_percent: Option<f64>,
    /// There were runs enough.
    pub known: bool,
    /// Runs of each scheduler.
    pub runs: u32,
    /// Runs that there could have been.
    pub most_runs: u32,
}

impl Stopped {
    /// `stopped at 20 of at most 80 runs: half-width 0.9 % of elapsed_s`.
    pub fn words(&self) -> String {
        let metric = alight_text::cell(&self.metric);
        let half = match self.half_width_percent {
            Some(half) => format!("half-width {} % of {metric}", number::short(half)),
            None => format!("{metric} has no interval"),
        };
        let asked = number::short(self.asked_percent);
        let Stopped {
            runs, most_runs, ..
        } = self;
        match self.known {
            true => format!("stopped at {runs} of at most {most_runs} runs: {half}"),
            false => format!("{runs} of at most {most_runs} runs: {half}; {asked} % was asked for"),
        }
    }
}

/// As [`compare`](crate::compare()), but the runs end as soon as the number of `target` is known
/// for every scheduler; `question.runs` is the most.
///
/// # Errors
/// As [`compare`](crate::compare()), and [`NoComparison::NoMetric`].
pub fn compare_until(
    question: &Question<'_>,
    target: &Target,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Comparison, NoComparison> {
    question.check(2)?;
    let most = question.runs.get();
    let mut outcomes = vec![];
    for runs in looks(most) {
        let stage = Question {
            runs: NonZeroU32::new(runs).unwrap_or(question.runs),
            ..question.clone()
        };
        let before = outcomes.len();
        let more = spread(stage.jobs() - before, how, |job, tell| {
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let outcome = run(&stage.run(before + job), cancel, tell)?;
            Ok((!outcome.interrupted).then_some(outcome))
        })?;
        outcomes.extend(more);
        if cancel.load(Ordering::Relaxed) || outcomes.iter().any(Option::is_none) {
            break;
        }
        let mut comparison = assemble_at(ERROR, &stage, &outcomes)?;
        let stopped = look(&comparison, target, most)?;
        if stopped.known || runs == most {
            comparison.stopped = Some(stopped);
            return Ok(comparison);
        }
    }
    assemble_at(ERROR, question, &outcomes)
}

/// The widest interval of all schedulers' differences.
fn look(comparison: &Comparison, target: &Target, most: u32) -> Result<Stopped, NoComparison> {
    let metric = match &target.metric {
        Some(metric) => Some(metric.clone()),
        None => first_result(comparison).map(|key| key.name.clone()),
    };
    let base = metric
        .as_ref()
        .and_then(|metric| comparison.base().series(metric));
    let Some((metric, base)) = metric.zip(base) else {
        return Err(NoComparison::NoMetric(target.to_string()));
    };
    let mut widest = Look {
        half_width_percent: Some(0.0),
        known: true,
    };
    for other in comparison.others() {
        let pairs = other
            .series(&metric)
            .map_or(vec![], |other| pairs(base, other));
        let look = look_at_pairs(&pairs, target.half_width_percent, most);
        widest.known &= look.known;
        let both = widest.half_width_percent.zip(look.half_width_percent);
        widest.half_width_percent = both.map(|(one, other)| one.max(other));
    }
    Ok(Stopped {
        metric,
        asked_percent: target.half_width_percent,
        half_width_percent: widest.half_width_percent,
        known: widest.known,
        runs: comparison.seeds.len() as u32,
        most_runs: most,
    })
}

/// The first number of the base that its workload reports.
fn first_result(comparison: &Comparison) -> Option<&Key> {
    let mut keys = comparison.base().series.iter().map(|series| &series.key);
    keys.find(|key| key.kind == MetricKind::Result)
}

#[cfg(test)]
mod tests;
