// SPDX-License-Identifier: GPL-2.0-only
//! A feature's report card: the feature against its base, over machines and the standard set of
//! workloads, harms first.
//!
//! Each cell, a workload on a machine, is a comparison as [`mod@crate::compare`] makes it. What its
//! numbers mean is decided over all cells together, since of hundreds of intervals some exclude
//! zero by chance.

mod ask;
mod csv;
mod html;
mod json;
mod markdown;
mod set;
mod table;
mod words;

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_machine::{Machine, Trust};
use alight_policy::Scheduler;
use alight_sim::{AtFault, Fault, Outcome, Scenario};
use alight_workload::Workload;
use alight_workload::program::Better;

use crate::compare::{Comparison, Question, Runner, assemble, pairs};
use crate::floors::Floor;
use crate::header::{ComparisonHeader, VERSION};
use crate::inert::lacks;
use crate::report::{Extent, Style, number};
use crate::selection::{Selection, Unknown};
use crate::spread::{NoResults, Spread, spread};
use crate::stats::{Delta, NoInterval, benjamini_hochberg, p_value};

pub use html::page;

pub use ask::{MACHINES, QUICK_RUNS, RUNS, first_look, sides, workloads};
pub use set::{StandardWorkload, WORKLOADS};

/// Share of the harms and helps that may be chance, on average.
pub const FALSE_DISCOVERIES: f64 = 0.05;
/// Differences of less than this, percent of the base, are counted, not listed.
pub const LEAST_PERCENT: f64 = 1.0;

const NS_PER_MS: u64 = 1_000_000;

/// The question of a report card.
pub struct CardQuestion<'a> {
    /// The scheduler without the feature.
    pub base: &'a Scheduler,
    /// With it.
    pub variant: &'a Scheduler,
    /// The machines.
    pub machines: &'a [Place],
    /// The workloads, of the standard set.
    pub workloads: &'a [&'static StandardWorkload],
    /// Runs of each scheduler in each cell.
    pub runs: NonZeroU32,
    /// Seed of the first run of each cell.
    pub seed: u64,
    /// The command that asks this again.
    pub command: String,
}

/// A machine by the name that was typed.
pub struct Place {
    /// The name that users type after `-m`.
    pub name: String,
    /// The machine.
    pub machine: Machine,
    /// How far its figures can be trusted.
    pub trust: Trust,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Version of the program.
    pub version: &'static str,
    /// The command that asks this again.
    pub command: String,
    /// Without the feature.
    pub base: String,
    /// With it.
    pub variant: String,
    /// Runs of each scheduler and cell.
    pub runs: u32,
    /// Seed of the first run of each cell.
    pub seed: u64,
    /// Machines where it cannot act, which were not asked, and what they lack.
    pub cannot_act: Vec<(String, &'static str)>,
    /// How far the figures of the machines with cells can be trusted, by the name that was typed.
    pub trust: Vec<(String, Trust)>,
    /// Cells that were asked for.
    pub asked: usize,
    /// Cells that are complete, machine by machine.
    pub cells: Vec<Cell>,
}

/// A workload on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Name of the machine, as typed.
    pub machine: String,
    /// Name of the workload in the standard set.
    pub workload: &'static str,
    /// The command line that gives the numbers of this cell again.
    pub command: String,
    /// What the model leaves out that it needs, a sentence each.
    pub left_out: Vec<String>,
    /// The outcome of the cell.
    pub fate: Fate,
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// The runs with the feature are those without it, event for event; why.
    Identical(String),
    /// The simulator does not run it; why.
    Refused(String),
    /// Its numbers.
    Differs(Vec<Line>),
}

impl Fate {
    /// The runs with the feature are those without it.
    pub fn is_identical(&self) -> bool {
        matches!(self, Fate::Identical(_))
    }
}

/// One number of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the metric, unit last.
    pub metric: String,
    /// Unit, as in [`crate::metrics::Key::unit`].
    pub unit: &'static str,
    /// Direction of improvement; `None` for what is only shown.
    pub better: Option<Better>,
    /// Mean of the base.
    pub base: f64,
    /// Mean with the feature.
    pub mean: f64,
    /// Their difference, with its own interval.
    pub delta: Delta,
    /// How likely so clear a difference is by chance; `None` where [`Delta::no_interval`] says why.
    pub p: Option<f64>,
    /// The p-value, adjusted for all numbers of the card.
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: LineVerdict,
    /// Whether it is told; tested it is in any case.
    pub told: bool,
}

/// What a number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineVerdict {
    /// Worse with the feature.
    Harm,
    /// Better.
    Help,
    /// Different, which is neither by itself.
    Shift,
    /// Different by as much as would count, but the same in every run: one sample, which proves nothing.
    NoSpread,
    /// Different by less than the metric's [`Floor`], though not by less than [`LEAST_PERCENT`].
    TooSmall,
    /// Different by less than [`LEAST_PERCENT`].
    Small,
    /// No difference that these runs could measure.
    None,
}

impl LineVerdict {
    /// As JSON and CSV have it.
    pub fn as_str(self) -> &'static str {
        match self {
            LineVerdict::Harm => "harm",
            LineVerdict::Help => "help",
            LineVerdict::Shift => "shift",
            LineVerdict::NoSpread => "no_spread",
            LineVerdict::TooSmall => "too_small",
            LineVerdict::Small => "small",
            LineVerdict::None => "none",
        }
    }
}

/// The styles of a card.
pub const STYLES: [Style; 4] = [Style::Table, Style::Markdown, Style::Csv, Style::Json];

/// The card as text, ending in a newline; for the terminal with so much of its lists.
///
/// # Panics
/// The style is none of [`STYLES`].
pub fn render(card: &Card, style: Style, extent: Extent) -> String {
    match style {
        Style::Table => table::render(card, extent),
        Style::Markdown => markdown::render(card),
        Style::Csv => csv::render(card),
        Style::Json => json::render(card),
        other => other.is_none_of("a card"),
    }
}

/// Why there is no card.
#[derive(Debug, thiserror::Error)]
pub enum NoCard {
    /// The last seed would not be a 64-bit number.
    #[error(
        "seed {seed} with {runs} runs: the last seed exceeds {}; use a smaller seed",
        u64::MAX
    )]
    Seeds {
        /// Seed of the first run.
        seed: u64,
        /// Runs.
        runs: u32,
    },
    /// Nowhere to act.
    #[error("{0}")]
    CannotAct(String),
    /// Interrupted too early.
    #[error("interrupted before a cell was complete: there is nothing to report")]
    Interrupted,
    /// A run failed, or its thread did not start.
    #[error(transparent)]
    Run(#[from] NoResults<alight_sim::Error>),
}

impl AtFault for NoCard {
    fn fault(&self) -> Fault {
        match self {
            NoCard::Seeds { .. } | NoCard::CannotAct(_) => Fault::Input,
            NoCard::Interrupted => Fault::Interrupt,
            NoCard::Run(error) => error.fault(),
        }
    }
}

/// A cell before it is run.
struct PlannedCell<'a> {
    place: &'a Place,
    entry: &'static StandardWorkload,
    workloads: Vec<Workload>,
    command: String,
}

/// Makes the card. When `cancel` becomes true no run is begun any more, and the cells that are
/// complete are reported.
///
/// # Errors
/// A question without sense, a run that fails, an interruption before the first cell was complete.
pub fn card(
    ask: &CardQuestion<'_>,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Card, NoCard> {
    let runs = ask.runs.get();
    if ask.seed.checked_add(u64::from(runs) - 1).is_none() {
        let seed = ask.seed;
        return Err(NoCard::Seeds { seed, runs });
    }
    let (plans, cannot_act) = plan(ask)?;
    let schedulers = [ask.base.clone(), ask.variant.clone()];
    // Cell by cell, so that an interruption leaves whole cells.
    let jobs_a_cell = 2 * runs as usize;
    let results = spread(plans.len() * jobs_a_cell, how, |job, tell| {
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let question = plans[job / jobs_a_cell].question(ask, &schedulers);
        match run(&question.run(job % jobs_a_cell), cancel, tell) {
            Ok(outcome) => Ok((!outcome.interrupted).then_some(Ok(outcome))),
            Err(alight_sim::Error::Refused(why)) => Ok(Some(Err(why))),
            Err(error) => Err(error),
        }
    })?;
    let mut results = results.into_iter();
    let mut cells = Vec::new();
    for plan in &plans {
        let results: Vec<_> = results.by_ref().take(jobs_a_cell).collect();
        // Not those in which a run was interrupted, or never begun.
        if let Some(results) = results.into_iter().collect::<Option<Vec<_>>>() {
            cells.push(plan.cell(ask, &schedulers, results));
        }
    }
    if cells.is_empty() {
        return Err(NoCard::Interrupted);
    }
    judge(&mut cells);
    Ok(Card {
        version: VERSION,
        command: ask.command.clone(),
        base: ask.base.name.clone(),
        variant: ask.variant.name.clone(),
        runs,
        seed: ask.seed,
        trust: trust(&plans),
        cannot_act,
        asked: plans.len(),
        cells,
    })
}

/// Jobs of a card: simulated runs.
///
/// # Errors
/// Nowhere to act.
pub fn jobs(ask: &CardQuestion<'_>) -> Result<usize, NoCard> {
    Ok(plan(ask)?.0.len() * 2 * ask.runs.get() as usize)
}

/// Looks whether each name and pattern fits a number that cards of these workloads have.
///
/// # Errors
/// One that fits none, with the nearest names.
pub fn check(
    selection: &Selection,
    workloads: &[&'static StandardWorkload],
) -> Result<(), Unknown> {
    let names = workloads.iter().flat_map(|entry| {
        let judged = entry.judged.iter().map(|(name, _)| *name);
        judged.chain(entry.shown.iter().copied())
    });
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    selection.check_names(&names)
}

/// A machine that was not asked, and what it lacks.
type Absent = (String, &'static str);

/// The cells, and the machines that have none.
fn plan<'a>(ask: &CardQuestion<'a>) -> Result<(Vec<PlannedCell<'a>>, Vec<Absent>), NoCard> {
    let (mut plans, mut absent) = (Vec::new(), Vec::new());
    for place in ask.machines {
        if let Some(what) = lacks(ask.base, ask.variant, &place.machine) {
            absent.push((place.name.clone(), what));
            continue;
        }
        for &entry in ask.workloads {
            let commands = (entry.commands)(place.machine.cpus.len());
            if !commands.is_empty() {
                plans.push(PlannedCell::new(ask, place, entry, &commands));
            }
        }
    }
    match absent.first() {
        Some((_, what)) if absent.len() == ask.machines.len() => Err(NoCard::CannotAct(format!(
            "{} cannot act here: it needs {what}, which {} lacks",
            ask.variant.name,
            absent
                .iter()
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ))),
        _ if plans.is_empty() => Err(NoCard::CannotAct(
            "none of these workloads runs on machines of this size".to_owned(),
        )),
        _ => Ok((plans, absent)),
    }
}

impl<'a> PlannedCell<'a> {
    fn new(
        ask: &CardQuestion<'_>,
        place: &'a Place,
        entry: &'static StandardWorkload,
        commands: &[String],
    ) -> PlannedCell<'a> {
        let mut words = vec!["alight".to_owned(), "compare".to_owned()];
        words.extend(["-m".to_owned(), place.name.clone()]);
        for command in commands {
            words.extend(["-w".to_owned(), command.clone()]);
        }
        words.extend(["--seed".to_owned(), ask.seed.to_string()]);
        if let Some(ms) = entry.duration_ms {
            let typed = number::time(ms * NS_PER_MS).replace(' ', "");
            words.extend(["--duration".to_owned(), typed]);
        }
        words.extend(["--runs".to_owned(), ask.runs.to_string()]);
        words.extend([ask.base.name.clone(), ask.variant.name.clone()]);
        let loaded = commands.iter().map(|text| set::load(text));
        PlannedCell {
            place,
            entry,
            workloads: loaded
                .collect::<Result<_, _>>()
                .expect("a test loads the whole set"),
            command: shell_words::join(words),
        }
    }

    fn question<'q>(
        &'q self,
        ask: &CardQuestion<'_>,
        schedulers: &'q [Scheduler; 2],
    ) -> Question<'q> {
        Question {
            scenario: Scenario {
                seed: ask.seed,
                duration_ns: self.entry.duration_ms.map(|ms| ms * NS_PER_MS),
                ..Scenario::new(&self.place.machine, &self.workloads, &schedulers[0])
            },
            trust: &self.place.trust,
            schedulers,
            runs: ask.runs,
            command: self.command.clone(),
        }
    }

    /// From the results of its runs.
    fn cell(
        &self,
        ask: &CardQuestion<'_>,
        schedulers: &[Scheduler; 2],
        results: Vec<Result<Outcome, String>>,
    ) -> Cell {
        let outcomes: Result<Vec<Outcome>, String> = results.into_iter().collect();
        let fate = match outcomes {
            Err(why) => Fate::Refused(why),
            Ok(outcomes) => {
                let outcomes = outcomes.into_iter().map(Some).collect();
                let comparison = assemble(&self.question(ask, schedulers), outcomes)
                    .expect("every run is complete");
                self.fate(&comparison)
            }
        };
        Cell {
            machine: self.place.name.clone(),
            workload: self.entry.name,
            command: self.command.clone(),
            left_out: ComparisonHeader::of(&self.question(ask, schedulers))
                .rests
                .left_out,
            fate,
        }
    }

    fn fate(&self, comparison: &Comparison) -> Fate {
        let (base, variant) = (comparison.base(), &comparison.others()[0]);
        if let Some(why) = &variant.inert {
            return Fate::Identical(why.clone());
        }
        let judged = (self.entry.judged.iter()).map(|&(name, better)| (name, Some(better)));
        let shown = self.entry.shown.iter().map(|&name| (name, None));
        let lines = judged.chain(shown).filter_map(|(name, better)| {
            let (base, variant) = (base.series(name)?, variant.series(name)?);
            Some(Line {
                metric: name.to_owned(),
                unit: variant.key.unit,
                better,
                base: base.summary.mean,
                mean: variant.summary.mean,
                delta: variant.delta?,
                p: p_value(&pairs(base, variant)),
                p_adjusted: None,
                verdict: LineVerdict::None,
                told: true,
            })
        });
        Fate::Differs(lines.collect())
    }
}

/// Of each machine once.
fn trust(plans: &[PlannedCell<'_>]) -> Vec<(String, Trust)> {
    let mut list: Vec<(String, Trust)> = vec![];
    for place in plans.iter().map(|plan| plan.place) {
        if !list.iter().any(|(name, _)| *name == place.name) {
            list.push((place.name.clone(), place.trust.clone()));
        }
    }
    list
}

/// Gives every number its verdict, all being one family of tests.
fn judge(cells: &mut [Cell]) {
    let mut lines: Vec<&mut Line> = cells
        .iter_mut()
        .filter_map(|cell| match &mut cell.fate {
            Fate::Differs(lines) => Some(lines),
            _ => None,
        })
        .flatten()
        .collect();
    let p: Vec<f64> = lines.iter().filter_map(|line| line.p).collect();
    let tested = lines.iter_mut().filter(|line| line.p.is_some());
    for (line, adjusted) in tested.zip(benjamini_hochberg(&p)) {
        line.p_adjusted = Some(adjusted);
    }
    for line in lines {
        line.verdict = verdict(line);
    }
}

/// First whether chance can be told from it, then whether it is large enough, then its direction.
fn verdict(line: &Line) -> LineVerdict {
    let no_interval = line.delta.no_interval;
    if matches!(
        no_interval,
        Some(NoInterval::OneRun | NoInterval::NoDifference)
    ) || line
        .p_adjusted
        .is_some_and(|adjusted| adjusted > FALSE_DISCOVERIES)
    {
        return LineVerdict::None;
    }
    // From nothing to something has no percentage and is not small.
    if (line.delta.delta_percent).is_some_and(|percent| percent.abs() < LEAST_PERCENT) {
        return LineVerdict::Small;
    }
    if !Floor::of(&line.metric, line.unit).reached_by(line.delta.difference) {
        return LineVerdict::TooSmall;
    }
    if no_interval.is_some() {
        return LineVerdict::NoSpread;
    }
    match (line.better, line.delta.rises()) {
        (None, _) => LineVerdict::Shift,
        (Some(Better::Higher), true) | (Some(Better::Lower), false) => LineVerdict::Help,
        (Some(Better::Higher), false) | (Some(Better::Lower), true) => LineVerdict::Harm,
    }
}

impl Card {
    /// Fewer cells are complete than were asked for.
    pub fn interrupted(&self) -> bool {
        self.cells.len() < self.asked
    }

    /// All numbers with their cells.
    pub fn lines(&self) -> impl Iterator<Item = (&Cell, &Line)> {
        self.cells.iter().flat_map(|cell| {
            let lines = match &cell.fate {
                Fate::Differs(lines) => lines.as_slice(),
                _ => &[],
            };
            lines.iter().map(move |line| (cell, line))
        })
    }

    /// Tells only the numbers that are asked for by name. Verdicts stay those among all.
    pub fn only(mut self, selection: &Selection) -> Self {
        for cell in &mut self.cells {
            if let Fate::Differs(lines) = &mut cell.fate {
                for line in lines {
                    line.told = selection.has(&line.metric);
                }
            }
        }
        self
    }

    /// Those of one verdict that are told, the largest differences first.
    pub fn of(&self, verdict: LineVerdict) -> Vec<(&Cell, &Line)> {
        let mut lines: Vec<_> = self
            .lines()
            .filter(|(_, line)| line.verdict == verdict && line.told)
            .collect();
        let size = |line: &Line| {
            line.delta
                .delta_percent
                .map_or(f64::INFINITY, |percent| percent.abs())
        };
        lines.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
        lines
    }

    /// Numbers of which each run gave the same difference, if any: there is nothing to test.
    pub fn untested(&self) -> usize {
        let varies = |line: &Line| line.delta.no_interval.is_none();
        self.lines().filter(|(_, line)| !varies(line)).count()
    }

    /// Numbers that were tested.
    pub fn tests(&self) -> usize {
        self.lines().filter(|(_, line)| line.p.is_some()).count()
    }

    /// Numbers whose own interval excludes zero, but which are not clear enough among so many.
    pub fn dropped(&self) -> usize {
        self.of(LineVerdict::None)
            .iter()
            .filter(|(_, line)| line.delta.significant)
            .count()
    }
}

/// `1.234`, with as many digits as the order of magnitude needs.
fn value(value: f64) -> String {
    number::short(value)
}
