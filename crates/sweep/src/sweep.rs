// SPDX-License-Identifier: GPL-2.0-only
//! A sweep, ready to run: its cells by number.
//!
//! A *setting* is a scheduler with a value of each of its tunables. A *cell* is a machine, a
//! workload, a value of each figure that varies, and some settings, which share seeds with the
//! base. Cells are made by number when they are asked for, so that ten million of them need no
//! memory.

mod load;
mod run;

use std::ops::Range;

use alight_ask::{Input, Texts};
use alight_policy::Scheduler;

use crate::levels::Levels;
use crate::spec::{Design, Spec};

pub use load::{BadSweep, Source};
pub use run::{Batch, BatchResult, Done, MetricName, NotRun, Refusal, RunResult, SettingResult};

/// Most settings of a cell beside the base.
const MOST_SETTINGS: u64 = 16;

/// A sweep.
pub struct Sweep {
    /// What the file says.
    pub spec: Spec,
    places: Vec<Place>,
    groups: Vec<Group>,
    /// What the runs rest on.
    pub sources: Vec<Source>,
}

/// A machine and what runs on it.
struct Place {
    machine: String,
    workload: String,
    input: Input,
}

/// The settings of one scheduler.
struct Group {
    /// Number of its first setting; that of the base is 0.
    first: u64,
    /// Points of its design.
    points: u64,
    /// Levels of its factors: tunables, and behind them the figures if the design samples both.
    sizes: Vec<u64>,
}

/// A factor of a scheduler.
#[derive(Debug, Clone, Copy)]
pub struct Factor<'a> {
    /// `bias-prev:spare`, or the path of a figure.
    pub name: &'a str,
    /// Its values.
    pub levels: &'a Levels,
    /// It is a figure of the machine.
    pub is_figure: bool,
}

/// A part of a sweep: schedulers that share a machine, workloads and seeds.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its number, from 0.
    pub number: u64,
    place: usize,
    /// The level of each figure that varies.
    figures: Vec<u64>,
    /// The settings, in the order of their numbers; the base, if there is one, is the first.
    pub settings: Vec<Setting>,
}

/// A scheduler with a value of each of its tunables.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its number in the whole sweep: 0 is the base.
    pub number: u64,
    /// Place of its template in the file; `None`: it is the base.
    pub template: Option<usize>,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The level of each factor, in the order of [`Sweep::factors`]; of the base: of the figures.
    pub levels: Vec<u64>,
}

impl Sweep {
    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.places.len() as u64 * self.figure_points() * self.chunks()
    }

    /// Simulations at most.
    pub fn most_runs(&self) -> u128 {
        let settings: u64 = self.groups.iter().map(|group| group.points).sum();
        let bases = match self.spec.base {
            Some(_) => self.chunks(),
            None => 0,
        };
        let at_place = u128::from(settings + bases) * u128::from(self.figure_points());
        self.places.len() as u128 * at_place * u128::from(self.spec.runs.most())
    }

    /// The files that decide the runs and are text: machine files, those of this machine and of
    /// recordings too, and rt-app files. With them [`Sweep::parse_with`] makes the same sweep where these
    /// files are not. Recordings of workloads are no text, and have to be there.
    pub fn texts(&self) -> Texts {
        let mut texts = Texts::new();
        for place in &self.places {
            if !alight_machine::names().contains(&place.machine.as_str()) {
                texts.insert(place.machine.clone(), place.input.machine_text.clone());
            }
            for (name, text) in &place.input.texts {
                texts.insert(name.clone(), text.clone());
            }
        }
        texts
    }

    /// Machine and workload of a cell.
    pub fn place(&self, cell: &Cell) -> (&str, &str) {
        let place = &self.places[cell.place];
        (&place.machine, &place.workload)
    }

    /// True if no cell before it has its machine and workload.
    pub fn is_first_of_place(&self, cell: u64) -> bool {
        cell.is_multiple_of(self.figure_points() * self.chunks())
    }

    /// The factors of a template, tunables first; `None`: those of the base.
    pub fn factors(&self, template: Option<usize>) -> Vec<Factor<'_>> {
        let tunables = template.map_or(&[][..], |index| &self.spec.templates[index].tunables);
        let tunables = tunables.iter().map(|tunable| Factor {
            name: &tunable.name,
            levels: &tunable.levels,
            is_figure: false,
        });
        let figures = self.spec.figures.iter().map(|figure| Factor {
            name: &figure.path,
            levels: &figure.levels,
            is_figure: true,
        });
        tunables.chain(figures).collect()
    }

    /// Number of the first setting of a template, and how many it has.
    pub fn settings_of(&self, template: usize) -> Range<u64> {
        let group = &self.groups[template];
        group.first..group.first + group.points
    }

    /// The cell of this number, 0 to [`Sweep::cells`] - 1.
    ///
    /// # Panics
    /// There is no such cell.
    pub fn cell(&self, number: u64) -> Cell {
        assert!(number < self.cells(), "cell {number} of {}", self.cells());
        let (chunks, figure_points) = (self.chunks(), self.figure_points());
        let chunk = number % chunks;
        let point = number / chunks % figure_points;
        let place = (number / chunks / figure_points) as usize;
        let sizes = self.figure_sizes();
        let figures = Design::Grid.point(&sizes, 0, point);
        let first = 1 + chunk * self.chunk();
        let settings = self.groups.iter().map(|group| group.points).sum::<u64>();
        let last = (first + self.chunk()).min(settings + 1);
        let mut settings: Vec<Setting> = (first..last)
            .map(|number| self.setting(number, &figures))
            .collect();
        let figures = match (self.spec.design, settings.first()) {
            (Design::Grid, _) | (_, None) => figures,
            // A sampled point has its own figures, and is alone in its cell if there are any.
            (_, Some(setting)) => setting.levels[setting.levels.len() - sizes.len()..].to_vec(),
        };
        if let Some(base) = &self.spec.base {
            let base = Setting {
                number: 0,
                template: None,
                scheduler: base.clone(),
                levels: figures.clone(),
            };
            settings.insert(0, base);
        }
        Cell {
            number,
            place,
            figures,
            settings,
        }
    }

    fn setting(&self, number: u64, figures: &[u64]) -> Setting {
        let template = self.groups.partition_point(|group| group.first <= number) - 1;
        let group = &self.groups[template];
        let point = number - group.first;
        let mut levels = self.spec.design.point(&group.sizes, self.spec.seed, point);
        if self.spec.design == Design::Grid {
            levels.extend_from_slice(figures);
        }
        let template_of = &self.spec.templates[template];
        let tunables = &levels[..template_of.tunables.len()];
        // Both ends of each range were tried, and each item of a list.
        let scheduler = template_of.scheduler(tunables).expect("a level of a range");
        Setting {
            number,
            template: Some(template),
            scheduler,
            levels,
        }
    }

    /// Points of the grid of figures; 1 if the design samples them with the tunables.
    fn figure_points(&self) -> u64 {
        match self.spec.design {
            Design::Grid => self.figure_sizes().iter().product(),
            _ => 1,
        }
    }

    fn figure_sizes(&self) -> Vec<u64> {
        let figures = self.spec.figures.iter();
        figures.map(|figure| figure.levels.count()).collect()
    }

    /// Settings of a cell beside the base.
    fn chunk(&self) -> u64 {
        match (self.spec.design, self.spec.figures.is_empty()) {
            (Design::Grid, _) | (_, true) => MOST_SETTINGS,
            _ => 1,
        }
    }

    fn chunks(&self) -> u64 {
        let settings: u64 = self.groups.iter().map(|group| group.points).sum();
        settings.div_ceil(self.chunk())
    }
}

#[cfg(test)]
mod tests;
