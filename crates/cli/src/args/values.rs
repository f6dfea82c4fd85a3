// SPDX-License-Identifier: GPL-2.0-only
//! Values of options: how they are read, what is refused.

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use alight_compare::{Extent, Selection, Style};
use alight_machine_import::Format as ImportFormat;
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_workload::Mode;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use alight_ask::{duration, whole};

/// How runs are spread.
#[derive(Args)]
pub struct Threads {
    /// Threads that share the runs, at most one for each run and each core [default: one for each
    /// core]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
}

pub fn interval(text: &str) -> Result<Duration, String> {
    duration::parse_length(text).map(Duration::from_nanos)
}

/// A parser of one of a few words.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(&'static str, T)> = choices.into_iter().collect();
    let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let choice = choices.iter().find(|(name, _)| *name == given);
        choice
            .map(|(_, value)| value.clone())
            .ok_or("no such choice")
    })
}

/// A form of description of machines.
pub fn import_format() -> impl TypedValueParser<Value = ImportFormat> {
    one_of(ImportFormat::ALL.map(|format| (format.name(), format)))
}

/// The report as a page.
#[derive(Args)]
pub struct PageArg {
    /// Write the report as a page to FILE (.html), which needs no other file and no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The report as a page with timelines.
#[derive(Args)]
pub struct TimelineArgs {
    #[command(flatten)]
    pub page: PageArg,
    /// Part of the run that the page's timelines show, like 1s:1.2s [default: from the
    /// start, 200000 slices at most]
    #[arg(long, value_name = "FROM:TO", requires = "html", value_parser = duration::parse_span)]
    pub html_time: Option<Range<u64>>,
}

/// How much a report tells.
#[derive(Args)]
pub struct ToldArgs {
    /// Show all numbers [default: the results and the numbers that explain them]
    #[arg(long, conflicts_with = "metrics")]
    pub full: bool,
    /// Show only these numbers, by name or by a pattern like 'run_delay*'; applies to every style
    #[arg(long = "metric", value_name = "NAME", num_args = 1.., value_parser = metric)]
    pub metrics: Vec<String>,
}

impl ToldArgs {
    /// The numbers that were asked for by name.
    ///
    /// # Errors
    /// What is no pattern.
    pub fn selection(&self) -> Result<Selection, String> {
        Selection::of(self.metrics.iter().map(String::as_str))
    }

    /// How much is told.
    pub fn extent(&self) -> Extent {
        match (self.full, self.metrics.is_empty()) {
            (_, false) => Extent::Chosen,
            (true, true) => Extent::Full,
            (false, true) => Extent::Short,
        }
    }
}

/// A metric's name. That of a scheduler is one that stands behind --metric by mistake.
fn metric(text: &str) -> Result<String, String> {
    match Scheduler::choose([text], Onto::Newest) {
        Ok(_) => Err("this is a scheduler; name schedulers before --metric".to_owned()),
        Err(_) => Ok(text.to_owned()),
    }
}

/// A parser of the styles that a report has.
pub fn style<const N: usize>(styles: [Style; N]) -> impl TypedValueParser<Value = Style> {
    one_of(styles.map(|style| (style.name(), style)))
}

pub fn mode() -> impl TypedValueParser<Value = Mode> {
    one_of([Mode::Workgen, Mode::Rtapp].map(|mode| (mode.as_str(), mode)))
}

pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, u64::MAX)
}

pub fn wakee_flips(text: &str) -> Result<u32, String> {
    whole(text, u32::MAX)
}

/// A whole number from 1.
pub fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// The most runs of a scheduler: more do not make a mean better that a figure is read from.
const MOST_RUNS: u32 = 1_000_000;

pub fn runs(text: &str) -> Result<NonZeroU32, String> {
    let runs: NonZeroU32 = count(text)?;
    match runs.get() <= MOST_RUNS {
        true => Ok(runs),
        false => Err(format!("expected at most {MOST_RUNS} runs")),
    }
}
