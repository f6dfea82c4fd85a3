// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::sync::Arc;

use alight_ask::Compared;
use alight_compare::compare::Variant;
use alight_compare::stats::{Delta, NoInterval};
use alight_compare::until::Target;
use alight_compare::verdict::Verdict;
use alight_compare::{Extent, Form, Selection, Spread, Style, observe, report};
use alight_frames as frames;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::input::{traced, warn_late};
use crate::table::Table;
use crate::trace::Trace;
use crate::wait::interruptible;

/// The most runs of a scheduler, as for the command.
const MOST_RUNS: i64 = 1_000_000;

/// A comparison.
#[pyclass(frozen, module = "alight._alight")]
pub struct Comparison {
    input: Arc<alight_ask::Input>,
    asked: Compared,
    answer: alight_compare::Comparison,
}

/// Reads what is to be compared: the words of a user.
///
/// # Errors
/// Unknown schedulers or fewer than two; a number that cannot be.
pub fn asked(
    names: &[String],
    runs: Option<i64>,
    until: Option<&str>,
) -> Result<Compared, Failure> {
    let until = until.map(|text| {
        Target::from_str(text).map_err(|why| Failure::BadInput(format!("until '{text}': {why}")))
    });
    let runs = runs.map(runs_of).transpose()?;
    let names = names.iter().map(String::as_str);
    Ok(Compared::new(names, runs, until.transpose()?)?)
}

/// Compares.
pub fn compare(
    py: Python<'_>,
    input: &Arc<alight_ask::Input>,
    asked: Compared,
    threads: Option<NonZeroUsize>,
) -> PyResult<Comparison> {
    let question = asked.question(input);
    let how = Spread {
        threads,
        ..Spread::QUIET
    };
    let all = Selection::default();
    let found = interruptible(py, |cancel| asked.run(&question, &all, how, cancel))?;
    let found = found.map_err(Failure::from)?;
    warn_late(py, input, found.earliest_end_ns)?;
    Ok(Comparison {
        input: Arc::clone(input),
        asked,
        answer: found.comparison,
    })
}

fn runs_of(runs: i64) -> Result<NonZeroU32, Failure> {
    let known = u32::try_from(runs).ok().filter(|_| runs <= MOST_RUNS);
    known
        .and_then(NonZeroU32::new)
        .ok_or_else(|| Failure::BadInput(format!("runs {runs}: expected 1 to {MOST_RUNS} runs")))
}

/// Threads at most.
pub fn jobs_of(jobs: i64) -> Result<NonZeroUsize, Failure> {
    let known = usize::try_from(jobs).ok().and_then(NonZeroUsize::new);
    known.ok_or_else(|| {
        Failure::BadInput(format!("jobs {jobs}: expected a whole number, 1 or more"))
    })
}

#[pymethods]
impl Comparison {
    /// The document `alight.compare/1`, the bytes of `alight compare --json`.
    fn json(&self) -> String {
        self.rendered(Style::Json, false)
    }

    /// The report for the terminal; `full`: all numbers.
    #[pyo3(signature = (full=false))]
    fn text(&self, full: bool) -> String {
        self.rendered(Style::Table, full)
    }

    /// The report as a page, the bytes of `alight compare --html`. The first run of each scheduler is
    /// made once more, for the timelines.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let question = self.asked.question(&self.input);
        let page = interruptible(py, |cancel| {
            let observed = observe::of_comparison(&question, &self.answer, None, &|_| (), cancel)?;
            Ok(report::page(&self.answer, observed.as_ref(), Extent::Short))
        })?;
        page.map_err(|error: alight_sim::Error| Failure::from(error).into())
    }

    /// The answer in words, a sentence each.
    fn words(&self) -> Vec<String> {
        report::answer::answers(&self.answer)
    }

    /// The labels of the schedulers, the base first, with the hash of the runs of each.
    fn hashes(&self) -> Vec<(String, String)> {
        let variants = self.answer.variants.iter();
        variants
            .map(|variant| {
                (
                    variant.scheduler.clone(),
                    report::number::hash(variant.hash),
                )
            })
            .collect()
    }

    /// The command that gives this comparison again.
    fn command(&self) -> &str {
        &self.answer.header.command
    }

    /// The name of the machine.
    fn machine(&self) -> &str {
        &self.answer.header.machine
    }

    /// The workloads, as typed.
    fn workloads(&self) -> Vec<String> {
        self.answer.header.workloads.clone()
    }

    /// The seeds.
    fn seeds(&self) -> Vec<u64> {
        self.answer.seeds.clone()
    }

    /// A row for each scheduler and number, or with `samples` for each run of these.
    fn table(&self, samples: bool) -> Table {
        Table::of(match samples {
            false => self.summaries(),
            true => self.samples(),
        })
    }

    /// The trace of the run of a scheduler, by its place, with a seed.
    fn trace(&self, py: Python<'_>, place: usize, seed: u64) -> PyResult<Trace> {
        let Some(scheduler) = self.asked.schedulers.get(place) else {
            let all = self.asked.schedulers.len();
            return Err(Failure::BadInput(format!("scheduler {place} of {all}")).into());
        };
        traced(py, &self.input, scheduler, seed)
    }
}

impl Comparison {
    fn rendered(&self, style: Style, full: bool) -> String {
        let form = Form {
            style,
            extent: if full { Extent::Full } else { Extent::Short },
            samples: false,
        };
        report::render(&self.answer, form)
    }

    /// The columns that both tables have.
    fn begun<T>(&self, rows: &[(&Variant, &alight_compare::compare::Series, T)]) -> frames::Table {
        let keys = || rows.iter().map(|(_, series, _)| &series.key);
        let of = || rows.iter().map(|(variant, _, _)| *variant);
        frames::Table::new()
            .text("scheduler", of().map(|variant| &variant.scheduler))
            .text(
                "hash",
                of().map(|variant| report::number::hash(variant.hash)),
            )
            .text("kind", keys().map(|key| key.kind.as_str()))
            .text("metric", keys().map(|key| &key.name))
            .text("unit", keys().map(|key| key.unit))
            .text(
                "better",
                keys().map(|key| key.better_word().unwrap_or_default()),
            )
    }

    /// The columns of `--style csv`, without those that are the same in all rows.
    fn summaries(&self) -> frames::Table {
        let base = self.answer.base();
        let mut rows = vec![];
        for (place, variant) in self.answer.variants.iter().enumerate() {
            rows.extend(variant.series.iter().map(|series| (variant, series, place)));
        }
        let summary = || rows.iter().map(|(_, series, _)| &series.summary);
        let delta = || rows.iter().map(|(_, series, _)| series.delta.as_ref());
        let number = |of: fn(&Delta) -> Option<f64>| {
            delta().map(move |delta| delta.and_then(of).unwrap_or(f64::NAN))
        };
        let verdicts = rows.iter().map(|(_, series, place)| match place {
            0 => "",
            _ => Verdict::of(&series.key, series.delta.as_ref()).as_str(),
        });
        let inert = rows.iter().map(|(variant, _, _)| variant.inert.as_deref());
        self.begun(&rows)
            .int(
                "runs",
                rows.iter().map(|(_, series, _)| series.present() as i64),
            )
            .float("mean", summary().map(|summary| summary.mean))
            .float(
                "std",
                summary().map(|summary| summary.std.unwrap_or(f64::NAN)),
            )
            .float("min", summary().map(|summary| summary.min))
            .float("p50", summary().map(|summary| summary.p50))
            .float("p75", summary().map(|summary| summary.p75))
            .float("p99", summary().map(|summary| summary.p99))
            .float("max", summary().map(|summary| summary.max))
            .text(
                "base",
                delta().map(|delta| delta.map_or("", |_| &base.scheduler)),
            )
            .float("difference", number(|delta| Some(delta.difference)))
            .float("delta_percent", number(|delta| delta.delta_percent))
            .float("ci_low", number(|delta| delta.ci_low))
            .float("ci_high", number(|delta| delta.ci_high))
            .maybe_bool("significant", delta().map(|delta| Some(delta?.significant)))
            .text("verdict", verdicts)
            .text(
                "no_interval",
                delta().map(|delta| {
                    delta
                        .and_then(|d| d.no_interval)
                        .map_or("", NoInterval::as_code)
                }),
            )
            .text("why_identical", inert.map(Option::unwrap_or_default))
    }

    /// The columns of `--style csv --samples`, without those that are the same in all rows.
    fn samples(&self) -> frames::Table {
        let mut rows = vec![];
        for variant in &self.answer.variants {
            for series in &variant.series {
                for (seed, value) in self.answer.seeds.iter().zip(&series.samples) {
                    rows.extend(value.map(|value| (variant, series, (*seed, value))));
                }
            }
        }
        self.begun(&rows)
            .whole("seed", rows.iter().map(|(_, _, run)| run.0))
            .float("value", rows.iter().map(|(_, _, run)| run.1))
    }
}
