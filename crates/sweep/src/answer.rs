// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep says, computed from its store alone: the best setting by each objective, the
//! settings that no other beats in all objectives, and which factors matter.

mod candidates;
mod choice;
mod points;

use std::collections::BTreeMap;

use alight_compare::stats::{CONFIDENCE, Delta};
use alight_compare::until::ERROR;
use serde::Serialize;

use crate::effects::Effects;
use crate::samples::Samples;
use crate::spec::{Constraint, Objective};
use crate::store::{Data, RefusedRow, Store, StoreError};
use candidates::collect;

/// What a sweep says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Title of the sweep; empty: none.
    pub title: String,
    /// The command line that made or continued it.
    pub command: String,
    /// `grid`, `sobol` or `morris`.
    pub design: String,
    /// The scheduler that all are compared with; empty: none.
    pub base: String,
    /// How far it is.
    pub extent: SweepExtent,
    /// What is to be small or large.
    pub objectives: Vec<Objective>,
    /// Units of the objectives.
    pub units: Vec<String>,
    /// What must hold.
    pub constraints: Vec<Constraint>,
    /// What is said of each machine and workload.
    pub places: Vec<PlaceAnswer>,
}

/// How far a sweep is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepExtent {
    /// Its cells.
    pub cells: u64,
    /// Those that are complete.
    pub complete: u64,
    /// Those that cannot run.
    pub refused: u64,
    /// Simulations that are stored.
    pub runs: u64,
    /// Runs of each setting at most.
    pub most_runs: u32,
    /// The number until which it runs; empty: as many runs as were asked for.
    pub until: String,
    /// Simulations that `until` spared.
    pub spared: u64,
    /// Complete cells in which `until` was not reached.
    pub unknown: u64,
    /// More simulations are stored than the file asks for now.
    #[serde(skip)]
    pub more_than_asked: bool,
}

/// What is said of a machine and a workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaceAnswer {
    /// The machine.
    pub machine: String,
    /// The workload.
    pub workload: String,
    /// What is said rests on this: labels and texts.
    pub rests: Vec<(String, String)>,
    /// The cells that cannot run, in the order of their numbers.
    pub refused: Vec<RefusedRow>,
    /// The settings in the order of their numbers, but for those that have not run at all values of
    /// the machine's figures yet. Values at which a cell cannot run are left out of all. None if each
    /// was tried on a machine of its own.
    pub candidates: Vec<Candidate>,
    /// The best of them, by objective.
    pub best: Vec<Best>,
    /// What each factor does, by scheduler and objective.
    pub effects: Vec<Effects>,
}

/// A setting, over all values of the machine's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its number; 0 is the base.
    pub setting: u64,
    /// The scheduler.
    pub scheduler: String,
    /// Its objectives; `None`: it has no such number.
    pub objectives: Vec<Option<Measured>>,
    /// Whether each constraint holds; `None`: it has no such number.
    pub constraints: Vec<Option<bool>>,
    /// Whether that is certain, of each: the interval of the distance from the bound does not
    /// reach 0.
    pub constraints_certain: Vec<bool>,
    /// All constraints hold.
    pub feasible: bool,
    /// No other setting that meets the constraints is as good in all objectives and better in one.
    pub on_front: bool,
    /// It is on the front, and certainly better than each other member in one objective or more.
    /// Otherwise noise may have put it there.
    pub front_certain: bool,
    /// It is off the front by no difference that is certain.
    pub near_front: bool,
}

/// A number of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Runs.
    pub runs: usize,
    /// Mean.
    pub mean: f64,
    /// Half-width of its interval; `None`: one run.
    pub half_width: Option<f64>,
    /// The difference from the base; `None`: it is the base, or there is none.
    pub delta: Option<Delta>,
    #[serde(skip)]
    pub(crate) samples: Samples,
}

/// The best setting by an objective.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Place of the objective.
    pub objective: usize,
    /// Place among the candidates; `None`: none meets the constraints.
    pub candidate: Option<usize>,
    /// Places of those that differ from it by nothing that is certain.
    pub tied: Vec<usize>,
}

impl Answer {
    /// The answer of a store.
    ///
    /// # Errors
    /// What the system refuses, and a file that is damaged.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        let data = store.data()?;
        let asked = Asked::of(&data).map_err(|what| store.damaged(what))?;
        let mut samples = BTreeMap::new();
        for metric in asked.metrics() {
            samples.insert(metric.to_owned(), store.samples(metric)?);
        }
        let mut units = vec![];
        for objective in &asked.objectives {
            units.push(store.unit(&objective.metric)?.unwrap_or_default());
        }
        let places = places_of(&data).into_iter().map(|(machine, workload)| {
            let place = Place {
                data: &data,
                asked: &asked,
                samples: &samples,
                cells: cells_of(&data, &machine, &workload),
            };
            let candidates = collect(&place);
            let (candidates, best) = choice::choose(&place, candidates);
            let rests = data.rests.get(&format!("{workload} on {machine}"));
            let is_here = |row: &&RefusedRow| row.machine == machine && row.workload == workload;
            PlaceAnswer {
                refused: data.refused.iter().filter(is_here).cloned().collect(),
                rests: rests.cloned().unwrap_or_default(),
                machine,
                workload,
                candidates,
                best,
                effects: points::effects(&place),
            }
        });
        Ok(Answer {
            places: places.collect(),
            title: asked.fact("title"),
            command: asked.fact("command"),
            design: asked.fact("design"),
            base: asked.fact("base"),
            extent: extent(&data, &asked, store.runs()?),
            objectives: asked.objectives.clone(),
            units,
            constraints: asked.constraints.clone(),
        })
    }

    /// True if cells are missing.
    pub fn interrupted(&self) -> bool {
        self.extent.complete + self.extent.refused < self.extent.cells
    }
}

/// What the file asked, as the store keeps it.
struct Asked<'d> {
    data: &'d Data,
    objectives: Vec<Objective>,
    constraints: Vec<Constraint>,
    /// Probability with which each interval misses, by Student's t.
    error: f64,
    /// An effect of so many percent or more matters.
    matters_percent: f64,
}

impl<'d> Asked<'d> {
    /// What cannot be read is the error.
    fn of(data: &'d Data) -> Result<Self, &'static str> {
        let list = |key: &str| data.facts.get(key).map_or("[]", String::as_str);
        let objectives = serde_json::from_str(list("objectives"));
        let constraints = serde_json::from_str(list("constraints"));
        let looked = data
            .facts
            .get("until")
            .is_some_and(|until| !until.is_empty());
        Ok(Asked {
            data,
            objectives: objectives.map_err(|_| "the list of objectives")?,
            constraints: constraints.map_err(|_| "the list of constraints")?,
            error: if looked { ERROR } else { 1.0 - CONFIDENCE },
            matters_percent: (data.facts.get("matters_percent"))
                .and_then(|percent| percent.parse().ok())
                .unwrap_or(1.0),
        })
    }

    fn fact(&self, key: &str) -> String {
        self.data.facts.get(key).cloned().unwrap_or_default()
    }

    fn metrics(&self) -> impl Iterator<Item = &str> {
        let objectives = self.objectives.iter().map(|o| o.metric.as_str());
        let constraints = self.constraints.iter().map(|c| c.metric.as_str());
        objectives.chain(constraints)
    }

    fn is_grid(&self) -> bool {
        self.fact("design") == "grid"
    }
}

/// By cell and setting.
type SamplesOf = BTreeMap<(u64, u64), Samples>;

/// A machine and a workload, with all that is known of it.
struct Place<'d> {
    data: &'d Data,
    asked: &'d Asked<'d>,
    samples: &'d BTreeMap<String, SamplesOf>,
    cells: Vec<u64>,
}

fn places_of(data: &Data) -> Vec<(String, String)> {
    let mut places = vec![];
    for cell in &data.cells {
        let place = (cell.machine.clone(), cell.workload.clone());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn cells_of(data: &Data, machine: &str, workload: &str) -> Vec<u64> {
    let cells = data.cells.iter();
    cells
        .filter(|cell| cell.machine == machine && cell.workload == workload)
        .map(|cell| cell.cell)
        .collect()
}

fn extent(data: &Data, asked: &Asked<'_>, runs: u64) -> SweepExtent {
    let number = |key: &str| asked.fact(key).parse().unwrap_or(0);
    let mut settings: BTreeMap<u64, u64> = BTreeMap::new();
    for setting in &data.settings {
        *settings.entry(setting.cell).or_default() += 1;
    }
    let spared = data.ends.iter().map(|(cell, end)| {
        let settings = settings.get(cell).copied().unwrap_or(0);
        u64::from(end.most.saturating_sub(end.runs)) * settings
    });
    SweepExtent {
        cells: number("cells"),
        complete: data.ends.len() as u64,
        refused: data.refused.len() as u64,
        runs,
        most_runs: number("runs") as u32,
        until: asked.fact("until"),
        spared: spared.sum(),
        unknown: data
            .ends
            .values()
            .filter(|end| end.known == Some(false))
            .count() as u64,
        more_than_asked: runs > data.settings.len() as u64 * number("runs"),
    }
}

#[cfg(test)]
mod tests;
