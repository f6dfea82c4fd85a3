// SPDX-License-Identifier: GPL-2.0-only
//! The answer for a terminal.

use alight_compare::report::{Columns, head_of, labelled, number};

use super::effects;
use crate::answer::{Answer, Best, Candidate, PlaceAnswer};
use crate::store::RefusedRow;

/// Rows of a table at most; the others are in the store.
const MOST_ROWS: usize = 40;
/// Names that are listed at most.
const MOST_NAMES: usize = 5;

pub(super) fn render(answer: &Answer) -> String {
    let mut text = format!("alight {}: sweep\n", alight_compare::header::VERSION);
    text += &head_of(head(answer), &answer.command);
    for place in &answer.places {
        text += &format!("\n{}, {}\n", place.machine, place.workload);
        let rests = place
            .rests
            .iter()
            .map(|(label, text)| (label.as_str(), text.clone()));
        text += &indented(&labelled(rests));
        text += &candidates(answer, place);
        for line in words(answer, place) {
            text += &format!("  {line}\n");
        }
        for effects in &place.effects {
            text += &effects::block(answer, place, effects);
        }
    }
    text
}

pub(super) fn head(answer: &Answer) -> Vec<(&'static str, String)> {
    let mut rows = vec![];
    if !answer.title.is_empty() {
        rows.push(("title", answer.title.clone()));
    }
    rows.push(("design", answer.design.clone()));
    if !answer.base.is_empty() {
        rows.push(("base", answer.base.clone()));
    }
    let objectives = answer.objectives.iter();
    let objectives: Vec<String> = objectives
        .map(|objective| format!("{} {}", objective.direction.as_str(), objective.metric))
        .collect();
    rows.push(("objectives", objectives.join(", ")));
    let constraints: Vec<String> = answer.constraints.iter().map(ToString::to_string).collect();
    if !constraints.is_empty() {
        rows.push(("constraints", constraints.join(", ")));
    }
    let extent = &answer.extent;
    let refused = match extent.refused {
        0 => String::new(),
        refused => format!(", {refused} cannot run"),
    };
    rows.push((
        "cells",
        format!(
            "{} of {} are complete{refused}",
            extent.complete, extent.cells
        ),
    ));
    rows.push(("runs", runs_in_words(answer)));
    rows
}

/// Every line, two characters to the right.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn runs_in_words(answer: &Answer) -> String {
    let extent = &answer.extent;
    match extent.until.as_str() {
        "" if extent.more_than_asked => format!(
            "{}; {} of each setting were asked for, and more are stored",
            extent.runs, extent.most_runs
        ),
        "" => format!("{}, {} of each setting", extent.runs, extent.most_runs),
        until => {
            let mut text = format!(
                "{}, at most {} of each setting; ",
                extent.runs, extent.most_runs
            );
            text += &match extent.spared {
                0 => format!("none spared by the looks at {until}"),
                spared => format!("{spared} spared, for {until} was known"),
            };
            text += &match extent.unknown {
                0 => String::new(),
                1 => "; in 1 cell it is not as well known as asked".to_owned(),
                cells => format!("; in {cells} cells it is not as well known as asked"),
            };
            text
        }
    }
}

/// The best settings, the front, and the cells that cannot run, a sentence each.
pub(super) fn words(answer: &Answer, place: &PlaceAnswer) -> Vec<String> {
    let best = place.best.iter().filter(|_| !place.candidates.is_empty());
    let best = best.map(|best| best_in_words(answer, place, best));
    let all = best.chain(front_in_words(answer, place));
    all.chain(refused_in_words(place)).collect()
}

fn refused_in_words(place: &PlaceAnswer) -> Vec<String> {
    let (shown, rest) = place.refused.split_at(place.refused.len().min(MOST_NAMES));
    let one = |row: &RefusedRow| {
        let figures = row.figures.iter();
        let figures: String = figures
            .map(|(name, value)| format!(", {name}={value}"))
            .collect();
        format!("cell {}{figures} cannot run: {}", row.cell, row.why)
    };
    let mut words: Vec<String> = shown.iter().map(one).collect();
    if !rest.is_empty() {
        words.push(format!(
            "{} more cells cannot run; the table `refused` of the store has them all",
            rest.len()
        ));
    }
    if !place.refused.is_empty() && place.refused.iter().any(|row| !row.figures.is_empty()) {
        words.push("means leave out the figures at which a cell cannot run".to_owned());
    }
    words
}

/// A row for each setting; where there are many, those that somebody would choose.
fn candidates(answer: &Answer, place: &PlaceAnswer) -> String {
    if place.candidates.is_empty() {
        let why = match answer.design.as_str() {
            "grid" if !place.refused.is_empty() && !answer.interrupted() => {
                "no setting can run at all values of the machine's figures"
            }
            "grid" => "no setting has run at all values of the machine's figures yet",
            _ => "each point has a machine of its own: there is no best setting, see the factors",
        };
        return format!("  {why}\n");
    }
    let all = place.candidates.len();
    let chosen = |index: usize, candidate: &Candidate| {
        candidate.setting == 0
            || candidate.on_front
            || place.best.iter().any(|best| best.candidate == Some(index))
    };
    let shown: Vec<(usize, &Candidate)> = (place.candidates.iter().enumerate())
        .filter(|(index, candidate)| all <= MOST_ROWS || chosen(*index, candidate))
        .take(MOST_ROWS)
        .collect();
    let mut columns = Columns::new(2, 1).with_remark();
    let mut heads = vec![String::new()];
    for objective in &answer.objectives {
        heads.push(objective.metric.clone());
        if !answer.base.is_empty() {
            heads.extend(["delta".to_owned(), "interval".to_owned()]);
        }
    }
    heads.push(String::new());
    columns.row(heads);
    for (index, candidate) in &shown {
        columns.row(row(answer, place, *index, candidate));
    }
    let mut text = columns.render();
    if shown.len() < all {
        text += &format!(
            "  {} of {all} settings are shown: the base, the best, the front\n",
            shown.len()
        );
    }
    text
}

fn row(answer: &Answer, place: &PlaceAnswer, index: usize, candidate: &Candidate) -> Vec<String> {
    let mut cells = vec![short_name(answer, &candidate.scheduler).to_owned()];
    for measured in &candidate.objectives {
        let mean = measured
            .as_ref()
            .map(|measured| number::plain(measured.mean));
        cells.push(mean.unwrap_or_else(|| number::NONE.to_owned()));
        if !answer.base.is_empty() {
            let delta = measured
                .as_ref()
                .and_then(|measured| measured.delta.as_ref());
            let percent = delta.and_then(|delta| delta.delta_percent);
            cells.push(delta.map_or(String::new(), |_| number::percent(percent)));
            let ends = delta.and_then(|delta| delta.ci_low.zip(delta.ci_high));
            cells.push(number::interval(ends));
        }
    }
    let mut marks: Vec<String> = vec![];
    for best in place
        .best
        .iter()
        .filter(|best| best.candidate == Some(index))
    {
        marks.push(format!("best {}", answer.objectives[best.objective].metric));
    }
    if answer.objectives.len() > 1 && candidate.on_front {
        marks.push(match candidate.front_certain {
            true => "front".to_owned(),
            false => "front (not certain)".to_owned(),
        });
    }
    let held = (candidate.constraints.iter()).zip(&candidate.constraints_certain);
    for (constraint, (holds, is_certain)) in answer.constraints.iter().zip(held) {
        match (holds, is_certain) {
            (Some(true), true) => {}
            (Some(true), false) => marks.push(format!("meets {constraint} (not certain)")),
            (Some(false), false) => marks.push(format!("breaks {constraint} (not certain)")),
            (Some(false), true) | (None, _) => marks.push(format!("breaks {constraint}")),
        }
    }
    cells.push(marks.join(", "));
    cells
}

/// Without the base, where it begins with it.
pub fn short_name<'n>(answer: &Answer, scheduler: &'n str) -> &'n str {
    match scheduler.strip_prefix(answer.base.as_str()) {
        Some(rest) if !answer.base.is_empty() && rest.starts_with('+') => rest,
        _ => scheduler,
    }
}

fn best_in_words(answer: &Answer, place: &PlaceAnswer, best: &Best) -> String {
    let objective = &answer.objectives[best.objective];
    let unit = &answer.units[best.objective];
    let metric = &objective.metric;
    let Some(candidate) = best.candidate.map(|index| &place.candidates[index]) else {
        return format!("best {metric}: no setting meets the constraints");
    };
    let Some(measured) = &candidate.objectives[best.objective] else {
        return format!("best {metric}: no setting has this number");
    };
    let mut text = format!(
        "best {metric}: {}, {}",
        short_name(answer, &candidate.scheduler),
        number::plain(measured.mean)
    );
    if let Some(half) = measured.half_width {
        text += &format!(" ± {}", number::short(half));
    }
    if !unit.is_empty() {
        text += &format!(" {unit}");
    }
    let names: Vec<&str> = (best.tied.iter())
        .map(|index| short_name(answer, &place.candidates[*index].scheduler))
        .collect();
    text += &match names.as_slice() {
        [] => rest_in_words(answer, place, best).to_owned(),
        names => format!("; not to be told from it: {}", listed(names)),
    };
    text
}

/// What is said of the others if none is as good as the best.
fn rest_in_words(answer: &Answer, place: &PlaceAnswer, best: &Best) -> &'static str {
    let ruled_out = place.candidates.iter().any(|candidate| !candidate.feasible);
    let mut others = (place.candidates.iter().enumerate())
        .filter(|(index, _)| best.candidate != Some(*index))
        .map(|(_, candidate)| candidate);
    let compared = others.any(|other| other.feasible && other.objectives[best.objective].is_some());
    match (compared, ruled_out) {
        (true, true) => "; every other setting that meets the constraints is certainly worse",
        (true, false) => "; every other setting is certainly worse",
        (false, true) => "; no other setting meets the constraints",
        (false, false) if answer.extent.complete < answer.extent.cells => {
            "; no other setting has run yet"
        }
        (false, false) => "",
    }
}

fn front_in_words(answer: &Answer, place: &PlaceAnswer) -> Option<String> {
    if answer.objectives.len() < 2 || place.candidates.is_empty() {
        return None;
    }
    let named = |which: fn(&&Candidate) -> bool| -> Vec<&str> {
        let found = place.candidates.iter().filter(which);
        found
            .map(|candidate| short_name(answer, &candidate.scheduler))
            .collect()
    };
    let front = named(|candidate| candidate.on_front);
    let mut text = format!(
        "front, {} of {} settings: {}",
        front.len(),
        place.candidates.len(),
        listed(&front)
    );
    let by_chance = named(|candidate| candidate.on_front && !candidate.front_certain);
    if !by_chance.is_empty() {
        text += &format!("; on it by nothing certain: {}", listed(&by_chance));
    }
    let near = named(|candidate| candidate.near_front);
    if !near.is_empty() {
        text += &format!("; off it by nothing certain: {}", listed(&near));
    }
    Some(text)
}

fn listed(names: &[&str]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        // One other takes no more room than its number.
        count if count > MOST_NAMES + 1 => {
            let first = names[..MOST_NAMES].join(", ");
            format!("{first} and {} others", count - MOST_NAMES)
        }
        _ => names.join(", "),
    }
}
