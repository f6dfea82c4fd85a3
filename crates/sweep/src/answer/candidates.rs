// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a place with their numbers, over all values of the machine's figures.
//!
//! A setting is set beside the base at the seeds and at the figures that it has itself: cells may
//! end after different numbers of runs. A setting that has not run at all figures yet is left out,
//! for a mean over some of them cannot stand beside a mean over all. Figures at which a cell cannot
//! run are therefore left out of all settings, and settings that cannot run at any are none.

use std::collections::{BTreeMap, BTreeSet};

use alight_compare::stats::{Delta, half_width, mean};

use super::{Candidate, Measured, Place};
use crate::samples::{Samples, averaged, pairs, values};
use crate::spec::Constraint;
use crate::store::SettingRow;

/// All settings of a place. None if each was tried with figures of its own: they cannot be
/// compared.
pub(super) fn collect(place: &Place<'_>) -> Vec<Candidate> {
    let Settings {
        rows: settings,
        points,
    } = settings_of(place);
    if points == 0 || !place.asked.is_grid() && has_figures(&settings) {
        return vec![];
    }
    let objectives = &place.asked.objectives;
    let of_base = |metric: &str| of_setting(place, metric, settings.get(&0)?, points);
    let constraints: Vec<(&Constraint, Option<Samples>)> = (place.asked.constraints.iter())
        .map(|constraint| (constraint, of_base(&constraint.metric)))
        .collect();
    let base: Vec<Option<Samples>> = (objectives.iter())
        .map(|objective| of_base(&objective.metric))
        .collect();
    let candidate = |(number, rows): (&u64, &Vec<&SettingRow>)| {
        let measured = objectives.iter().zip(&base).map(|(objective, base)| {
            let samples = of_setting(place, &objective.metric, rows, points)?;
            let base = base.as_ref().filter(|_| *number != 0);
            measured(samples, base, place.asked.error)
        });
        let constraints: Vec<(Option<bool>, bool)> = (constraints.iter())
            .map(|(constraint, base)| {
                let own = of_setting(place, &constraint.metric, rows, points);
                let own = own.unwrap_or_default();
                let holds = holds(constraint, &own, base.as_ref());
                let is_certain = is_certain(constraint, &own, base.as_ref(), place.asked.error);
                (holds, is_certain)
            })
            .collect();
        let (constraints, constraints_certain): (Vec<_>, Vec<_>) = constraints.into_iter().unzip();
        Candidate {
            setting: *number,
            scheduler: rows
                .first()
                .map_or(String::new(), |row| row.scheduler.clone()),
            objectives: measured.collect(),
            feasible: constraints.iter().all(|holds| *holds == Some(true)),
            constraints,
            constraints_certain,
            on_front: false,
            front_certain: false,
            near_front: false,
        }
    };
    let complete = (settings.iter()).filter(|(_, rows)| figures_of(rows).len() as u64 == points);
    complete.map(candidate).collect()
}

/// Whether a constraint holds for the mean, beside the base's at the same seeds.
fn holds(constraint: &Constraint, own: &Samples, base: Option<&Samples>) -> Option<bool> {
    let base = base.and_then(|base| {
        let base: Vec<f64> = pairs(base, own).into_iter().map(|pair| pair.0).collect();
        mean(&base)
    });
    constraint.holds(mean(&values(own))?, base)
}

/// Whether it certainly holds, or certainly is broken: the interval of the mean distance from the
/// bound does not reach 0.
fn is_certain(constraint: &Constraint, own: &Samples, base: Option<&Samples>, error: f64) -> bool {
    let above: Option<Vec<f64>> = match base {
        None => own
            .iter()
            .map(|(_, value)| constraint.above(*value, None))
            .collect(),
        Some(base) => (pairs(base, own).into_iter())
            .map(|(base, value)| constraint.above(value, Some(base)))
            .collect(),
    };
    above.is_some_and(|above| {
        let distance = mean(&above).zip(half_width(&above, error));
        distance.is_some_and(|(mean, half)| mean.abs() >= half)
    })
}

/// The settings that can run at a place.
struct Settings<'p> {
    /// The rows of each: one for each point of the figures. The base has one in every cell.
    rows: BTreeMap<u64, Vec<&'p SettingRow>>,
    /// Points of the figures at which all can run.
    points: u64,
}

fn settings_of<'p>(place: &Place<'p>) -> Settings<'p> {
    let cells: BTreeSet<u64> = place.cells.iter().copied().collect();
    let refused: BTreeSet<u64> = place.data.refused.iter().map(|row| row.cell).collect();
    let own = (place.data.settings.iter()).filter(|row| cells.contains(&row.cell));
    let (refused, ran): (Vec<_>, Vec<_>) = own.partition(|row| refused.contains(&row.cell));
    let of = |row: &SettingRow| figures_of_row(place, row);
    let can_run: BTreeSet<u64> = ran.iter().map(|row| row.setting).collect();
    let is_other = |row: &&&SettingRow| row.setting != 0 && can_run.contains(&row.setting);
    let left_out: BTreeSet<Figures> = refused.iter().filter(is_other).map(|row| of(row)).collect();
    let mut rows: BTreeMap<u64, Vec<&SettingRow>> = BTreeMap::new();
    for row in ran
        .into_iter()
        .filter(|row| left_out.is_empty() || !left_out.contains(&of(row)))
    {
        rows.entry(row.setting).or_default().push(row);
    }
    let points = figure_points(place).saturating_sub(left_out.len() as u64);
    Settings { rows, points }
}

/// The figures of the machine among the levels of a setting.
fn figures_of_row(place: &Place<'_>, row: &SettingRow) -> Figures {
    let factors = place.data.templates.first().map(|first| &first.factors);
    let figures = factors.into_iter().flatten().filter(|f| f.is_figure);
    let levels = figures.filter_map(|figure| row.levels.get_key_value(&figure.name));
    levels
        .map(|(name, level)| (name.clone(), level.clone()))
        .collect()
}

type Figures = BTreeMap<String, (u64, String)>;

/// The rows by the values of figures; for a setting that is not the base, of tunables too, which
/// are the same in all of them.
fn figures_of<'p>(rows: &[&'p SettingRow]) -> BTreeMap<&'p Figures, Vec<&'p SettingRow>> {
    let mut all: BTreeMap<&Figures, Vec<&SettingRow>> = BTreeMap::new();
    for row in rows {
        all.entry(&row.levels).or_default().push(row);
    }
    all
}

/// Points of the grid of figures; all templates have the same.
fn figure_points(place: &Place<'_>) -> u64 {
    if !place.asked.is_grid() {
        return 1;
    }
    let factors = place.data.templates.first().map(|first| &first.factors);
    let figures = factors.into_iter().flatten().filter(|f| f.is_figure);
    figures.map(|factor| factor.levels).product()
}

fn has_figures(settings: &BTreeMap<u64, Vec<&SettingRow>>) -> bool {
    let base = settings.get(&0);
    let varied = |rows: &Vec<&SettingRow>| rows.iter().any(|row| !row.levels.is_empty());
    base.map_or(settings.values().any(varied), varied)
}

/// The mean over all `needed` points of the figures, at each seed that all of them have. `None`: there is
/// none. Where several rows have the same figures, as of the base, their runs are the same, and
/// the row that has most of them counts.
fn of_setting(
    place: &Place<'_>,
    metric: &str,
    rows: &[&SettingRow],
    needed: u64,
) -> Option<Samples> {
    let samples = place.samples.get(metric)?;
    let longest = |rows: &Vec<&SettingRow>| {
        let all = (rows.iter()).filter_map(|row| samples.get(&(row.cell, row.setting)));
        all.reduce(|longest, other| {
            if other.len() > longest.len() {
                other
            } else {
                longest
            }
        })
    };
    let points = figures_of(rows);
    if (points.len() as u64) < needed {
        return None;
    }
    let of_points: Option<Vec<&Samples>> = points.values().map(longest).collect();
    let all = averaged(&of_points?);
    (!all.is_empty()).then_some(all)
}

fn measured(samples: Samples, base: Option<&Samples>, error: f64) -> Option<Measured> {
    let numbers = values(&samples);
    Some(Measured {
        runs: numbers.len(),
        mean: mean(&numbers)?,
        half_width: half_width(&numbers, error),
        delta: base.and_then(|base| Delta::at(error, &pairs(base, &samples))),
        samples,
    })
}
