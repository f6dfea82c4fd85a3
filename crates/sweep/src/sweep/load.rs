// SPDX-License-Identifier: GPL-2.0-only
//! From a sweep's file to a sweep that can run: everything that it names is loaded and tried first.

use std::path::Path;

use alight_ask::{BadInput, Input, Options, Texts};
use alight_compare::header::VERSION;
use alight_compare::rests::RestsOn;
use alight_machine::{Setting as FigureSetting, figures_at, vary};
use alight_policy::Scheduler;
use alight_sim::{AtFault, Fault};
use xxhash_rust::xxh3::xxh3_64;

use super::{Group, Place, Sweep};
use crate::design::sobol::MOST_FACTORS;
use crate::document::Mistakes;
use crate::levels::{Levels, tried};
use crate::spec::{Design, FigureFactor, Runs, Spec};
use crate::template::Template;

/// Why there is no sweep to run.
#[derive(Debug, thiserror::Error)]
pub enum BadSweep {
    /// A file that cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that does not say what a sweep's file must say.
    #[error(transparent)]
    Written(#[from] Mistakes),
    /// Something that the file names cannot be loaded, or its parts do not go together.
    #[error("{file}: {message}")]
    Named {
        /// The file.
        file: String,
        /// What, and what to do.
        message: String,
    },
}

impl AtFault for BadSweep {
    fn fault(&self) -> Fault {
        Fault::Input
    }
}

/// Something that decides the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// `program`, `design`, `machine`, `workload`, or `rests`: what an answer rests on.
    pub kind: &'static str,
    /// Its name within its kind.
    pub name: String,
    /// Its identity: two that differ give other runs.
    pub hash: String,
    /// Its text, if it has one.
    pub text: String,
}

impl Sweep {
    /// Reads a sweep's file. `tell` hears what is odd about what it names.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with what it names.
    pub fn open(file: &Path, tell: &dyn Fn(&str)) -> Result<Self, BadSweep> {
        let name = file.display().to_string();
        match alight_text::read(file) {
            Ok(text) => Sweep::parse(&name, &text, tell),
            Err(source) => Err(BadSweep::Read { file: name, source }),
        }
    }

    /// Reads the text of a sweep's file, called `file` in messages. Files that it names are
    /// relative to the working directory.
    ///
    /// # Errors
    /// As [`Sweep::open`].
    pub fn parse(file: &str, text: &str, tell: &dyn Fn(&str)) -> Result<Self, BadSweep> {
        Sweep::parse_with(file, text, &Texts::new(), tell)
    }

    /// As [`Sweep::parse`], where machines and workloads may name `texts` in place of files.
    ///
    /// # Errors
    /// As [`Sweep::open`].
    pub fn parse_with(
        file: &str,
        text: &str,
        texts: &Texts,
        tell: &dyn Fn(&str),
    ) -> Result<Self, BadSweep> {
        let spec = Spec::parse(file, text)?;
        let bad = |message: String| BadSweep::Named {
            file: file.to_owned(),
            message,
        };
        check_design(&spec).map_err(bad)?;
        let mut places = vec![];
        for machine in &spec.machines {
            for workloads in &spec.workloads {
                let place = place(&spec, machine, workloads, texts, tell);
                places.push(place.map_err(|error| bad(error.to_string()))?);
            }
        }
        check_places(&places).map_err(bad)?;
        for place in &places {
            check_figures(&spec, place).map_err(bad)?;
        }
        let groups = groups(&spec).map_err(bad)?;
        let sources = sources(&spec, &places);
        Ok(Sweep {
            spec,
            places,
            groups,
            sources,
        })
    }
}

fn place(
    spec: &Spec,
    machine: &str,
    workloads: &[String],
    texts: &Texts,
    tell: &dyn Fn(&str),
) -> Result<Place, BadInput> {
    let mut options = Options::default();
    options.set("machine", machine)?;
    options.set("seed", &spec.seed.to_string())?;
    for workload in workloads {
        options.set("workload", workload)?;
    }
    for (name, text) in &spec.options {
        options.set(name, text)?;
    }
    let workload = workloads.join(" + ");
    let input = Input::load_with(options, texts, tell)
        .map_err(|error| BadInput(format!("{machine}, '{workload}': {error}")))?;
    Ok(Place {
        machine: machine.to_owned(),
        workload,
        input,
    })
}

fn check_places(places: &[Place]) -> Result<(), String> {
    for (index, place) in places.iter().enumerate() {
        let is_same =
            |other: &&Place| (&other.machine, &other.workload) == (&place.machine, &place.workload);
        if places[..index].iter().any(|other| is_same(&other)) {
            return Err(format!(
                "{} with '{}' is named twice",
                place.machine, place.workload
            ));
        }
    }
    Ok(())
}

/// Designs that sample need numbers that vary.
fn check_design(spec: &Spec) -> Result<(), String> {
    if spec.design == Design::Grid {
        return Ok(());
    }
    let design = spec.design.name();
    for template in &spec.templates {
        let factors = template.tunables.iter();
        let factors = factors.map(|tunable| (&tunable.name, &tunable.levels));
        let figures = spec.figures.iter();
        let figures = figures.map(|figure| (&figure.path, &figure.levels));
        let factors: Vec<_> = factors.chain(figures).collect();
        let words = factors.iter().filter(|(_, levels)| !levels.is_numeric());
        let words: Vec<String> = words
            .map(|(name, levels)| format!("`{name}` takes {levels}"))
            .collect();
        if !words.is_empty() {
            return Err(format!(
                "the design `{design}` needs factors that are numbers, and {}; use the design \
                 `grid`, or a scheduler for each word",
                words.join(", ")
            ));
        }
        if let Some((name, levels)) = factors.iter().find(|(_, levels)| levels.count() < 2) {
            return Err(format!(
                "the design `{design}` needs factors that vary, and `{name}` is always {levels}"
            ));
        }
        if factors.is_empty() || factors.len() > MOST_FACTORS {
            return Err(format!(
                "the design `{design}` needs 1 to {MOST_FACTORS} factors, and `{}` has {}: write \
                 a range like `0..512` for a tunable, or add a [[factor]]",
                template.name,
                factors.len()
            ));
        }
    }
    Ok(())
}

/// Each machine has the figures, no two factors set the same one, and the machine can be with the
/// items of lists and the ends of ranges, in every combination.
fn check_figures(spec: &Spec, place: &Place) -> Result<(), String> {
    /// Machines that are tried at most.
    const MOST_TRIED: usize = 512;
    let text = &place.input.machine_text;
    let mut set: Vec<(String, &str)> = vec![];
    for figure in &spec.figures {
        let found = figures_at(&place.machine, text, &figure.path);
        for (path, _) in found.map_err(|error| error.to_string())? {
            if let Some((path, other)) = set.iter().find(|(other, _)| *other == path) {
                return Err(format!(
                    "the factors `{other}` and `{}` both set the figure `{path}` of {}; let one \
                     of them vary it",
                    figure.path, place.machine
                ));
            }
            set.push((path, &figure.path));
        }
    }
    let try_all = |figures: &[&FigureFactor]| {
        let levels: Vec<&Levels> = figures.iter().map(|figure| &figure.levels).collect();
        tried(&levels, MOST_TRIED)
            .into_iter()
            .try_for_each(|levels| {
                let both = || figures.iter().zip(&levels);
                let settings: Vec<_> = both().map(|(f, level)| figure_setting(f, *level)).collect();
                let varied = vary(&place.machine, text, &settings);
                varied.map(drop).map_err(|error| {
                    let words = both().map(|(figure, level)| {
                        let times = if figure.times { " times" } else { "" };
                        format!("`{}` at{times} {}", figure.path, figure.levels.text(*level))
                    });
                    let factors = if figures.len() > 1 {
                        "factors"
                    } else {
                        "factor"
                    };
                    let words = words.collect::<Vec<_>>().join(", ");
                    format!("the {factors} {words}: {error}")
                })
            })
    };
    // One alone first: then a message names no others.
    (spec.figures.iter()).try_for_each(|figure| try_all(&[figure]))?;
    try_all(&spec.figures.iter().collect::<Vec<_>>())
}

/// What a level of a factor sets.
pub(super) fn figure_setting(figure: &FigureFactor, level: u64) -> (&str, FigureSetting) {
    let raw = figure.levels.raw(level).unwrap_or_default();
    let setting = match figure.times {
        true => FigureSetting::Permille(raw),
        false => FigureSetting::Value(raw),
    };
    (&figure.path, setting)
}

fn groups(spec: &Spec) -> Result<Vec<Group>, String> {
    /// Numbers of settings and cells that can be stored, with room to multiply.
    const MOST: u128 = 1 << 40;
    let mut groups: Vec<Group> = vec![];
    let mut first = 1;
    for template in &spec.templates {
        let tunables = template
            .tunables
            .iter()
            .map(|tunable| tunable.levels.count());
        let figures = spec.figures.iter().map(|figure| figure.levels.count());
        let sizes: Vec<u64> = match spec.design {
            Design::Grid => tunables.collect(),
            _ => tunables.chain(figures).collect(),
        };
        let points = spec.design.points(&sizes);
        if points > MOST {
            return Err(format!(
                "`{}` has {points} points, and at most {MOST} can be numbered: use larger steps",
                template.name
            ));
        }
        groups.push(Group {
            first,
            points: points as u64,
            sizes,
        });
        first += points as u64;
    }
    let figures = Design::Grid.points(
        &(spec.figures.iter())
            .map(|figure| figure.levels.count())
            .collect::<Vec<u64>>(),
    );
    let all = figures.saturating_mul(u128::from(first));
    match all > MOST {
        true => Err(format!(
            "the sweep has {all} points, and at most {MOST} can be numbered: use larger steps"
        )),
        false => Ok(groups),
    }
}

/// What decides the runs. Objectives, constraints and a fixed number of runs do not: they may
/// change from one run of the command to the next.
fn sources(spec: &Spec, places: &[Place]) -> Vec<Source> {
    let hash = |text: &str| format!("{:016x}", xxh3_64(text.as_bytes()));
    let mut sources = vec![Source {
        kind: "program",
        name: "alight".to_owned(),
        hash: VERSION.to_owned(),
        text: String::new(),
    }];
    let until = match &spec.runs {
        Runs::Fixed(_) => None,
        until @ Runs::Until { .. } => Some(until),
    };
    let decides = format!(
        "{:?}",
        (
            &spec.machines,
            &spec.workloads,
            spec.base.as_ref().map(|base| &base.name),
            &spec.templates,
            &spec.figures,
            &spec.design,
            spec.seed,
            until,
            &spec.options,
        )
    );
    sources.push(Source {
        kind: "design",
        name: "sweep".to_owned(),
        hash: hash(&decides),
        text: String::new(),
    });
    for place in places {
        let machine = Source {
            kind: "machine",
            name: place.machine.clone(),
            hash: format!("{:016x}", place.input.machine.hash()),
            text: place.input.machine_text.clone(),
        };
        let workload = Source {
            kind: "workload",
            name: format!("{} on {}", place.workload, place.machine),
            hash: hash(&format!("{:?}", place.input.workloads)),
            text: String::new(),
        };
        let rests = Source {
            kind: "rests",
            name: workload.name.clone(),
            hash: hash(&rests_on(spec, place)),
            text: rests_on(spec, place),
        };
        for source in [machine, workload, rests] {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    sources
}

/// What an answer about a place rests on: a label and a text in each line, with a tab between them.
fn rests_on(spec: &Spec, place: &Place) -> String {
    let first = |template: &Template| template.scheduler(&vec![0; template.tunables.len()]);
    let all = spec
        .templates
        .iter()
        .filter_map(|template| first(template).ok());
    let schedulers: Vec<Scheduler> = spec.base.iter().cloned().chain(all).collect();
    let Some(scheduler) = schedulers.first() else {
        return String::new();
    };
    let scenario = place.input.scenario(scheduler);
    let rests = RestsOn::of(&place.input.trust, &scenario, &schedulers);
    let rows = rests.rows().into_iter();
    rows.map(|(label, text)| format!("{label}\t{text}\n"))
        .collect()
}
