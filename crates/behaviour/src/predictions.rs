// SPDX-License-Identifier: GPL-2.0-only
//! Differences between recordings, and what replays predicted of them.
//!
//! A directory holds reports of `alight verify workload A B --json`, one folder a pair of sets of
//! recordings: `FROM..TO/WORKLOAD-RUN.json`. A report that could not be made is a file
//! `WORKLOAD-RUN.error` with its message.
//!
//! A *measured* difference is that of the medians of the recordings: those of TO less those of FROM.
//! It is *significant* if no recording of one side lies among those of the other. Of five on each
//! side this is significant by the rank test of Mann and Whitney (p = 0.008). A *predicted*
//! difference is that of the medians of the replays: FROM's recordings under TO's rules, less the
//! same recordings under their own rules. `alight compare` reports the same difference.

mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::quantity::RULES;
use crate::replayed::{Standing, Verdict, groups};

pub use page::page;

/// Between the names of two sets.
const TO: &str = "..";
/// Between the name of a quantity and that of a group.
const OF: &str = " of ";
/// How far a predicted difference may be from the measured one, percent of the measured one.
pub const SIZE_PERCENT: f64 = 25.0;
/// Recordings on each side, at least, for a difference to be significant: of three and three that do
/// not meet the rank test says p = 0.1, of four and four 0.03.
pub const LEAST_RECORDINGS: usize = 4;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum NoPredictions {
    /// The directory or a file in it cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no report.
    #[error("{}: {source}; expected a report of alight verify workload A B --json", path.display())]
    NotAReport {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A name from which no pair, workload and run can be told.
    #[error("{}: expected FROM..TO/WORKLOAD-RUN.json or .error", .0.display())]
    Name(PathBuf),
    /// Nothing to write about.
    #[error("{}: no report in it; expected FROM..TO/WORKLOAD-RUN.json", .0.display())]
    Empty(PathBuf),
}

/// A significant difference between recordings, and the predicted one.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Name of the quantity, with its group of tasks where there are several.
    pub quantity: String,
    /// Median of the recordings that are replayed, in the quantity's unit.
    pub before: f64,
    /// Median of the recordings that are predicted.
    pub after: f64,
    /// The predicted difference, in the quantity's unit.
    pub predicted: f64,
}

impl Difference {
    /// The measured difference.
    pub fn measured(&self) -> f64 {
        self.after - self.before
    }

    /// Prediction and measurement go the same way.
    pub fn sign_right(&self) -> bool {
        self.predicted * self.measured() > 0.0
    }

    /// The measured difference is larger than what is near enough for this quantity.
    pub fn matters(&self) -> bool {
        let name = self.quantity.split(OF).next().unwrap_or_default();
        let mut rules = RULES.iter().chain(groups::RULES);
        let Some(rule) = rules.find(|rule| name.starts_with(rule.name)) else {
            return false;
        };
        let percent = self.before.abs() * rule.tolerance.percent / 100.0;
        self.measured().abs() > percent.max(rule.tolerance.absolute)
    }

    /// The prediction is within [`SIZE_PERCENT`] of the measurement.
    pub fn size_right(&self) -> bool {
        let allowed = self.measured().abs() * SIZE_PERCENT / 100.0;
        (self.predicted - self.measured()).abs() <= allowed
    }
}

/// What the reports of a workload say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reports {
    /// Quantities that all reports have on all sides.
    pub compared: usize,
    /// Those of them that differ.
    pub differences: Vec<Difference>,
    /// Quantities that agree and that disagree in the self-check of each recording.
    pub own: Vec<(usize, usize)>,
    /// The verdict of each recording.
    pub standings: Vec<Standing>,
    /// What the user is told: reasons and cautions, each once.
    pub said: Vec<String>,
    /// Messages of the reports that could not be made, each once.
    pub failed: Vec<String>,
}

/// Two sets of recordings; one predicts the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The set that is replayed.
    pub from: String,
    /// The set that is predicted.
    pub to: String,
    /// By the name of the workload.
    pub workloads: BTreeMap<String, Reports>,
}

#[derive(Deserialize)]
struct Document {
    self_check: CheckIn,
    predicted: Vec<CheckIn>,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct CheckIn {
    quantities: Vec<QuantityIn>,
    groups: Vec<GroupIn>,
}

#[derive(Deserialize)]
struct GroupIn {
    name: String,
    quantities: Vec<QuantityIn>,
}

#[derive(Deserialize)]
struct QuantityIn {
    name: String,
    kernel: Option<f64>,
    model: Option<f64>,
    verdict: String,
}

impl CheckIn {
    /// All quantities. The figures of the only group are those of the workload: they count once.
    fn all(&self) -> impl Iterator<Item = (String, &QuantityIn)> {
        let groups = match self.groups.len() {
            0 | 1 => &[][..],
            _ => &self.groups[..],
        };
        let own = self.quantities.iter().map(|one| (one.name.clone(), one));
        own.chain(groups.iter().flat_map(|group| {
            let name = move |one: &QuantityIn| format!("{}{OF}{}", one.name, group.name);
            group.quantities.iter().map(move |one| (name(one), one))
        }))
    }

    fn count(&self, verdict: &str) -> usize {
        self.all().filter(|(_, one)| one.verdict == verdict).count()
    }
}

/// The figures of one quantity, one a report.
#[derive(Default)]
struct Figures {
    before: Vec<f64>,
    after: Vec<f64>,
    model_before: Vec<f64>,
    model_after: Vec<f64>,
}

impl Figures {
    /// The difference, if it is significant.
    fn difference(mut self, quantity: String) -> Option<Difference> {
        apart(&self.before, &self.after).then(|| {
            let predicted = median(&mut self.model_after) - median(&mut self.model_before);
            Difference {
                quantity,
                before: median(&mut self.before),
                after: median(&mut self.after),
                predicted,
            }
        })
    }
}

/// No figure of one side lies among those of the other, and there are enough of them.
fn apart(one: &[f64], two: &[f64]) -> bool {
    let least = |side: &[f64]| side.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |side: &[f64]| side.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    one.len().min(two.len()) >= LEAST_RECORDINGS
        && (most(one) < least(two) || most(two) < least(one))
}

/// Of an even number, the upper of the two in the middle.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

impl Reports {
    fn of(documents: &[Document], failed: Vec<String>) -> Self {
        let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
        let mut reports = Reports {
            failed,
            ..Reports::default()
        };
        for document in documents {
            let own = &document.self_check;
            (reports.own).push((own.count("agree"), own.count("disagree")));
            reports.standings.push(document.verdict.standing);
            let verdict = &document.verdict;
            for sentence in verdict.reasons.iter().chain(&verdict.cautions) {
                once(&mut reports.said, sentence);
            }
            let Some(predicted) = document.predicted.first() else {
                continue;
            };
            let own: BTreeMap<String, &QuantityIn> = own.all().collect();
            for (name, to) in predicted.all() {
                let sides = own.get(&name).map(|from| (from.kernel, from.model));
                if let (Some((Some(before), Some(model_before))), Some(after), Some(model_after)) =
                    (sides, to.kernel, to.model)
                {
                    let of = figures.entry(name).or_default();
                    of.before.push(before);
                    of.after.push(after);
                    of.model_before.push(model_before);
                    of.model_after.push(model_after);
                }
            }
        }
        figures.retain(|_, of| of.before.len() == documents.len());
        reports.compared = figures.len();
        let of_each = figures.into_iter();
        reports.differences = of_each
            .filter_map(|(name, of)| of.difference(name))
            .collect();
        reports
    }
}

fn once(sentences: &mut Vec<String>, sentence: &str) {
    if !sentences.iter().any(|one| one == sentence) {
        sentences.push(sentence.to_owned());
    }
}

/// Reads the reports of a directory: the pairs in the order of their names.
///
/// # Errors
/// A file cannot be read, is no report, or has another name; or there is none.
pub fn read(directory: &Path) -> Result<Vec<Pair>, NoPredictions> {
    let mut pairs = Vec::new();
    for folder in listed(directory)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let bad = || NoPredictions::Name(folder.clone());
        let (from, to) = name.split_once(TO).ok_or_else(bad)?;
        let mut read: BTreeMap<String, (Vec<Document>, Vec<String>)> = BTreeMap::new();
        for path in listed(&folder)? {
            let bad = || NoPredictions::Name(path.clone());
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let (workload, _) = stem.rsplit_once('-').ok_or_else(bad)?;
            let (documents, failed) = read.entry(workload.to_owned()).or_default();
            let text = std::fs::read_to_string(&path).map_err(|source| at(&path, source))?;
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("json") => documents.push(serde_json::from_str(&text).map_err(|source| {
                    NoPredictions::NotAReport {
                        path: path.clone(),
                        source,
                    }
                })?),
                Some("error") => once(failed, text.trim()),
                _ => return Err(bad()),
            }
        }
        let of_each = read.into_iter();
        pairs.push(Pair {
            from: from.to_owned(),
            to: to.to_owned(),
            workloads: of_each
                .map(|(name, (documents, failed))| (name, Reports::of(&documents, failed)))
                .collect(),
        });
    }
    match pairs.iter().all(|pair| pair.workloads.is_empty()) {
        true => Err(NoPredictions::Empty(directory.to_owned())),
        false => Ok(pairs),
    }
}

fn at(path: &Path, source: std::io::Error) -> NoPredictions {
    NoPredictions::Read {
        path: path.to_owned(),
        source,
    }
}

/// What lies in a directory, by name.
fn listed(directory: &Path) -> Result<Vec<PathBuf>, NoPredictions> {
    let entries = std::fs::read_dir(directory).map_err(|source| at(directory, source))?;
    let paths: Result<Vec<PathBuf>, _> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut paths = paths.map_err(|source| at(directory, source))?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
