// SPDX-License-Identifier: GPL-2.0-only
//! The points of each scheduler's design, for the analysis of its factors.

use std::collections::BTreeSet;

use super::Place;
use crate::effects::{Effects, Found, Points, indices, trajectories, variance};
use crate::samples::Samples;
use crate::store::{SettingRow, TemplateRow};

/// The effects at a place, by template and objective.
pub(super) fn effects(place: &Place<'_>) -> Vec<Effects> {
    let mut all = vec![];
    for template in &place.data.templates {
        if template.factors.iter().all(|factor| factor.levels < 2) {
            continue;
        }
        let rows = rows(place, template);
        for objective in &place.asked.objectives {
            let points = points(place, template, &rows, &objective.metric);
            all.push(Effects {
                template: template.name.clone(),
                metric: objective.metric.clone(),
                runs: points.as_ref().map_or(0, Points::seeds),
                matters_percent: place.asked.matters_percent,
                found: points.map(|points| found(place, &points)),
            });
        }
    }
    all
}

fn found(place: &Place<'_>, points: &Points) -> Found {
    let (error, least) = (place.asked.error, place.asked.matters_percent);
    match place.asked.fact("design").as_str() {
        "sobol" => Found::Indices(indices::analyse(points, error, least)),
        "morris" => Found::Trajectories(trajectories::analyse(points, error, least)),
        _ => Found::Variance(variance::analyse(points, error, least)),
    }
}

/// The settings of a template at a place, in the order of their numbers.
fn rows<'d>(place: &Place<'d>, template: &TemplateRow) -> Vec<&'d SettingRow> {
    let cells: BTreeSet<u64> = place.cells.iter().copied().collect();
    let own = place.data.settings.iter().filter(|row| {
        cells.contains(&row.cell) && row.template.as_deref() == Some(template.name.as_str())
    });
    let mut rows: Vec<&SettingRow> = own.collect();
    rows.sort_by_key(|row| (row.setting, row.cell));
    rows
}

/// `None`: points are missing, or a run of one.
fn points(
    place: &Place<'_>,
    template: &TemplateRow,
    rows: &[&SettingRow],
    metric: &str,
) -> Option<Points> {
    let figures = template.factors.iter().filter(|factor| factor.is_figure);
    let figures: u64 = match place.asked.is_grid() {
        true => figures.map(|factor| factor.levels).product(),
        false => 1,
    };
    if rows.len() as u64 != template.settings * figures {
        return None;
    }
    // What does not vary is no factor.
    let factors = template.factors.iter().filter(|factor| factor.levels > 1);
    let factors: Vec<_> = factors.collect();
    let texts = factors.iter().map(|factor| {
        let levels = rows.iter().filter_map(|row| row.levels.get(&factor.name));
        levels.cloned().collect()
    });
    let levels = rows.iter().map(|row| {
        let levels = factors
            .iter()
            .map(|factor| Some(row.levels.get(&factor.name)?.0));
        levels.collect::<Option<Vec<u64>>>()
    });
    let samples = place.samples.get(metric)?;
    let samples = rows.iter().map(|row| samples.get(&(row.cell, row.setting)));
    let samples: Vec<&Samples> = samples.collect::<Option<_>>()?;
    Some(Points {
        factors: factors.iter().map(|factor| factor.name.clone()).collect(),
        sizes: factors.iter().map(|factor| factor.levels).collect(),
        texts: texts.collect(),
        levels: levels.collect::<Option<_>>()?,
        values: at_common_seeds(&samples)?,
    })
}

/// The values at the seeds that all have; `None`: there is no such seed.
fn at_common_seeds(samples: &[&Samples]) -> Option<Vec<Vec<f64>>> {
    let seeds =
        |samples: &Samples| -> BTreeSet<u64> { samples.iter().map(|(seed, _)| *seed).collect() };
    let (first, rest) = samples.split_first()?;
    let mut common = seeds(first);
    for other in rest {
        let other = seeds(other);
        common.retain(|seed| other.contains(seed));
    }
    let values = samples.iter().map(|samples| {
        let kept = samples.iter().filter(|(seed, _)| common.contains(seed));
        kept.map(|(_, value)| *value).collect()
    });
    (!common.is_empty()).then(|| values.collect())
}
