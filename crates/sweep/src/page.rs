// SPDX-License-Identifier: GPL-2.0-only
//! The answer of a sweep as a page: the question, the answer in words, the settings beside the
//! base, what each factor does, all numbers, and the command.

use alight_compare::report::number;
use alight_html::{Forest, Mark, Page, Row, Table};

use crate::answer::{Answer, Candidate, PlaceAnswer};
use crate::report::{self, short_name};
use crate::spec::Direction;

/// The whole file.
pub fn page(answer: &Answer) -> String {
    let title = match answer.title.as_str() {
        "" => "A sweep",
        title => title,
    };
    let mut page = Page::new(title).part("Question", &question(answer));
    for place in &answer.places {
        let name = format!("{}, {}", place.machine, alight_text::cell(&place.workload));
        page = page.text(&name, report::words(answer, place));
        let rests = place
            .rests
            .iter()
            .map(|(label, text)| format!("{label}: {text}"));
        page = page.text("How far to trust it", rests);
        for at in 0..answer.objectives.len() {
            let metric = &answer.objectives[at].metric;
            if !answer.base.is_empty() && !place.candidates.is_empty() {
                page = page.part(
                    &format!("{metric} beside the base"),
                    &forest(answer, place, at),
                );
            }
        }
        for effects in &place.effects {
            if let Some((heads, rows)) = report::factors(effects) {
                let table = rows.into_iter().fold(Table::new(heads), Table::row);
                let template = short_name(answer, &effects.template);
                page = page.part(
                    &format!("{} by the factors of {template}", effects.metric),
                    &table,
                );
            }
        }
        if !place.candidates.is_empty() {
            page = page.part("All settings, means of the runs", &numbers(answer, place));
        }
    }
    page.command("Again", &answer.command).render()
}

fn question(answer: &Answer) -> Table {
    let rows = report::head(answer).into_iter();
    rows.fold(Table::new(["", ""]), |table, (label, text)| {
        table.row([label.to_owned(), text])
    })
}

/// The differences of an objective from the base, a row for each setting.
fn forest(answer: &Answer, place: &PlaceAnswer, at: usize) -> Forest {
    let direction = answer.objectives[at].direction;
    let others = place
        .candidates
        .iter()
        .filter(|candidate| candidate.setting != 0);
    let row = |candidate: &Candidate| {
        let delta = candidate.objectives[at]
            .as_ref()
            .and_then(|measured| measured.delta);
        let interval = delta.and_then(|delta| delta.ci_low.zip(delta.ci_high));
        let percent = delta.and_then(|delta| delta.delta_percent);
        let mark = match delta.filter(|delta| delta.significant) {
            None => Mark::None,
            Some(delta) if delta.rises() == (direction == Direction::Maximise) => Mark::Better,
            Some(_) => Mark::Worse,
        };
        let words = match mark {
            Mark::Better => "better",
            Mark::Worse => "worse",
            _ => "not certain",
        };
        Row {
            label: short_name(answer, &candidate.scheduler).to_owned(),
            delta: percent,
            interval,
            mark,
            words: format!(
                "{} {} {words}",
                number::percent(percent),
                number::interval(interval)
            ),
        }
    };
    Forest::new(others.map(row).collect())
}

/// Whether it is on the front, in words.
fn front(candidate: &Candidate) -> &'static str {
    match (
        candidate.on_front,
        candidate.front_certain,
        candidate.near_front,
    ) {
        (true, true, _) => "yes",
        (true, false, _) => "yes, not certain",
        (false, _, true) => "no, not certain",
        (false, _, false) => "no",
    }
}

/// Whether the constraints hold, in words.
fn constraints(candidate: &Candidate) -> &'static str {
    let both = || (candidate.constraints.iter()).zip(&candidate.constraints_certain);
    match candidate.feasible {
        true if both().all(|(_, is_certain)| *is_certain) => "met",
        true => "met, not certain",
        false if both().any(|(holds, is_certain)| *holds != Some(true) && *is_certain) => "broken",
        false => "broken, not certain",
    }
}

fn numbers(answer: &Answer, place: &PlaceAnswer) -> Table {
    let mut heads = vec![String::new()];
    for (objective, unit) in answer.objectives.iter().zip(&answer.units) {
        heads.push(match alight_html::unit(unit) {
            "" => objective.metric.clone(),
            unit => format!("{}, {unit}", objective.metric),
        });
    }
    heads.extend(["front".to_owned(), "constraints".to_owned()]);
    place
        .candidates
        .iter()
        .fold(Table::new(heads), |table, candidate| {
            let mut cells = vec![candidate.scheduler.clone()];
            for measured in &candidate.objectives {
                let mean = measured
                    .as_ref()
                    .map(|measured| number::plain(measured.mean));
                cells.push(mean.unwrap_or_else(|| number::NONE.to_owned()));
            }
            cells.push(front(candidate).to_owned());
            cells.push(constraints(candidate).to_owned());
            table.row(cells)
        })
}

#[cfg(test)]
mod tests;
