// SPDX-License-Identifier: GPL-2.0-only
//! What a sweep's file asks (`alight.sweep/1`). docs/reference/sweep.md describes each key.

mod read;
mod rules;

use std::num::NonZeroU32;

use alight_policy::Scheduler;

use crate::levels::Levels;
use crate::template::Template;

pub use read::SCHEMA;
pub use rules::{Bound, Constraint, Direction, Limit, Objective};

/// A sweep as its file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Title of the reports; empty: none.
    pub title: String,
    /// Machines by name or file, one or more.
    pub machines: Vec<String>,
    /// Workloads, one or more. Those of one list run at once.
    pub workloads: Vec<Vec<String>>,
    /// The scheduler that all others are compared with.
    pub base: Option<Scheduler>,
    /// The schedulers, with tunables that vary.
    pub templates: Vec<Template>,
    /// The figures of the machines that vary.
    pub figures: Vec<FigureFactor>,
    /// Which points of all that there are run.
    pub design: Design,
    /// Seed of the first run of each cell, and of the design.
    pub seed: u64,
    /// Runs of each scheduler in each cell.
    pub runs: Runs,
    /// Options of every run, by their long names.
    pub options: Vec<(String, String)>,
    /// What is to be small or large.
    pub objectives: Vec<Objective>,
    /// What must hold.
    pub constraints: Vec<Constraint>,
    /// An effect of so many percent or more matters.
    pub matters_percent: f64,
    /// The file.
    pub text: String,
}

/// A figure of the machines that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFactor {
    /// The path in the machines' files, such as `memory.llc_line_ns`.
    pub path: String,
    /// Whether the values multiply those in the files, rather than replace them.
    pub times: bool,
    /// Its values.
    pub levels: Levels,
}

/// Which points of all that there are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// All.
    Grid,
    /// Saltelli's sample on a Sobol' sequence of so many points.
    Sobol {
        /// Points of the sequence, 2 or more.
        samples: u32,
    },
    /// Morris' trajectories.
    Morris {
        /// Trajectories, 2 or more.
        trajectories: u32,
    },
}

impl Design {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Design::Grid => "grid",
            Design::Sobol { .. } => "sobol",
            Design::Morris { .. } => "morris",
        }
    }
}

/// Runs of each scheduler in each cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// So many.
    Fixed(NonZeroU32),
    /// As many as it takes.
    Until {
        /// The number that is to be known.
        metric: String,
        /// Largest half-width of its interval, percent.
        half_width_percent: f64,
        /// The most runs.
        max_runs: NonZeroU32,
    },
}

impl Runs {
    /// The most runs of a scheduler in a cell.
    pub fn most(&self) -> u32 {
        match self {
            Runs::Fixed(runs) => runs.get(),
            Runs::Until { max_runs, .. } => max_runs.get(),
        }
    }

    /// The number that is to be known, if runs end when it is.
    pub fn until_metric(&self) -> Option<&str> {
        match self {
            Runs::Fixed(_) => None,
            Runs::Until { metric, .. } => Some(metric),
        }
    }
}

impl Spec {
    /// Every name of a metric that the file has.
    pub fn metrics(&self) -> Vec<&str> {
        let objectives = self.objectives.iter().map(|o| o.metric.as_str());
        let constraints = self.constraints.iter().map(|c| c.metric.as_str());
        let mut names: Vec<&str> = objectives.chain(constraints).collect();
        names.extend(self.runs.until_metric());
        names
    }
}

#[cfg(test)]
mod tests;
