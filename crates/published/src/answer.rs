// SPDX-License-Identifier: GPL-2.0-only
//! What came out of a study: comparisons, rows in the unit of the publication, checks judged.

use alight_compare::compare::{Comparison, Variant};
use alight_compare::header::VERSION;
use alight_compare::stats::Summary;

use super::{Case, Check, Length, Open, Row, Study, StudyQuestion};

/// The answer of a study.
pub struct Answer<'a> {
    /// The study.
    pub study: &'a Study,
    /// Version of the program.
    pub version: &'static str,
    /// The command that asks this again.
    pub command: String,
    /// The length in which it ran.
    pub length: Length,
    /// Runs of each scheduler in each case.
    pub runs: u32,
    /// Seed of the first run.
    pub seed: u64,
    /// Hash of the machine.
    pub machine: u64,
    /// The cases that are complete, the last perhaps with fewer runs.
    pub cases: Vec<CaseAnswer<'a>>,
    /// The checks of those cases.
    pub checks: Vec<(&'a Check, CheckOutcome)>,
    /// How far the predictions move with the costs that are left open, once that is known.
    pub open: Option<Open>,
}

/// The answer of one case.
pub struct CaseAnswer<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its numbers.
    pub(super) comparison: Comparison,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CheckOutcome {
    /// The check holds; the value found.
    Held(f64),
    /// The check fails; the value found.
    Failed(f64),
    /// The model has no such number here.
    NoNumber,
    /// A claim about full runs only.
    NotInShort,
}

/// One scheduler's value of a row, in the unit of the publication.
#[derive(Debug, Clone, PartialEq)]
pub struct Value<'a> {
    /// The scheduler's results.
    pub variant: &'a Variant,
    /// Summary of its runs.
    pub summary: Summary,
}

impl<'a> Answer<'a> {
    pub(super) fn of(
        study: &'a Study,
        ask: &StudyQuestion<'_>,
        cases: Vec<CaseAnswer<'a>>,
    ) -> Self {
        let checks = (study.checks.iter())
            .filter_map(|check| {
                let case = cases.iter().find(|case| case.is(&check.case))?;
                Some((check, judge(check, &case.comparison, ask.length)))
            })
            .collect();
        Answer {
            study,
            version: VERSION,
            command: ask.command.clone(),
            length: ask.length,
            runs: study.runs(ask).get(),
            seed: ask.scenario.seed,
            machine: ask.scenario.machine.hash(),
            cases,
            checks,
            open: None,
        }
    }

    /// Fewer runs are complete than were asked for.
    pub fn interrupted(&self) -> bool {
        self.cases.len() < self.study.cases.len()
            || self.cases.iter().any(|case| case.comparison.interrupted())
    }

    /// Checks that failed, those that found no number among them, and rows of which the model has
    /// none.
    pub fn failed(&self) -> usize {
        let fails = |outcome: &CheckOutcome| {
            matches!(outcome, CheckOutcome::Failed(_) | CheckOutcome::NoNumber)
        };
        let checks = (self.checks.iter()).filter(|(_, outcome)| fails(outcome));
        let rows = (self.study.rows.iter()).filter(|row| !self.has(row));
        checks.count() + rows.count()
    }

    /// Whether a case that is complete has a number in this row, or no case of it is complete.
    pub fn has(&self, row: &Row) -> bool {
        let mut of_it = (self.cases.iter())
            .filter(|case| case.is(&row.case))
            .peekable();
        of_it.peek().is_none() || of_it.any(|case| !self.values(row, case).is_empty())
    }

    /// What each scheduler has in a row of a case.
    pub fn values<'s>(&'s self, row: &Row, case: &'s CaseAnswer<'_>) -> Vec<Value<'s>> {
        let factor = self.factor(row, case);
        let variants = case.comparison.variants.iter();
        let value = |variant: &'s Variant| {
            let summary = variant.series(&row.metric)?.summary.times(factor?);
            Some(Value { variant, summary })
        };
        variants.filter_map(value).collect()
    }

    /// What brings the model's number to the publication's unit.
    fn factor(&self, row: &Row, case: &CaseAnswer<'_>) -> Option<f64> {
        let Some(unit) = &row.unit else {
            return Some(1.0);
        };
        let reference = match unit.case.as_str() {
            "" => case,
            name => self.cases.iter().find(|case| case.is(name))?,
        };
        let base = reference.comparison.base();
        let means = (unit.of.iter()).filter_map(|name| Some(base.series(name)?.summary.mean));
        let largest = means.fold(0.0, f64::max);
        (largest > 0.0).then(|| unit.is / largest)
    }
}

impl CaseAnswer<'_> {
    /// Its numbers.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// Of this name; the name that is empty is every case's.
    pub fn is(&self, name: &str) -> bool {
        name.is_empty() || self.case.name == name
    }
}

/// The one in percent of the other; of equal numbers 100 to the last bit, so divided first.
pub(super) fn percent_of(found: f64, other: f64) -> f64 {
    100.0 * (found / other)
}

fn judge(check: &Check, comparison: &Comparison, length: Length) -> CheckOutcome {
    let mean = |scheduler: &str| {
        let variant =
            (comparison.variants.iter()).find(|variant| variant.scheduler == scheduler)?;
        Some(variant.series(&check.metric)?.summary.mean)
    };
    let found = match &check.relative_to {
        None => mean(&check.scheduler),
        Some(other) => (mean(&check.scheduler).zip(mean(other)))
            .filter(|(_, other)| *other != 0.0)
            .map(|(found, other)| percent_of(found, other)),
    };
    let Some(found) = found else {
        return CheckOutcome::NoNumber;
    };
    if length == Length::Short && !check.in_short {
        return CheckOutcome::NotInShort;
    }
    let below = check.at_least.is_some_and(|least| found < least);
    let above = check.at_most.is_some_and(|most| found > most);
    match below || above {
        true => CheckOutcome::Failed(found),
        false => CheckOutcome::Held(found),
    }
}
