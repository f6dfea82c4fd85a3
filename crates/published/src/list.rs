// SPDX-License-Identifier: GPL-2.0-only
//! All studies for people, with what came out of each when it last ran whole: how far the base is from
//! what was published, what is predicted of the first row, and what was measured of that. The title of
//! a study stands below.

use std::collections::BTreeMap;

use alight_compare::report::{Columns, number, words};

use super::Study;
use super::outcomes::{Outcome, Predicted, outcomes};

const HEADS: [&str; 7] = [
    "study",
    "machine",
    "before: off by",
    "prediction",
    "costs",
    "runs, 95%",
    "published",
];

/// The list.
///
/// # Errors
/// A machine of a study is none.
pub fn list(studies: &[Study]) -> Result<String, alight_machine::Error> {
    list_of(studies, &outcomes())
}

/// The list with these outcomes.
pub(super) fn list_of(
    studies: &[Study],
    outcomes: &BTreeMap<String, Outcome>,
) -> Result<String, alight_machine::Error> {
    let mut columns = Columns::new(0, 4);
    columns.row(HEADS);
    let mut titles = vec![None];
    for study in studies {
        for row in rows(study, outcomes.get(&study.name))? {
            columns.row(row);
            titles.push(None);
        }
        titles.pop();
        titles.push(Some(&study.title));
    }
    let lines = columns.render();
    let lines = lines.lines().zip(titles).map(|(line, title)| match title {
        Some(title) => format!("{line}\n    {title}\n"),
        None => format!("{line}\n"),
    });
    Ok(lines.collect())
}

/// A row for each scheduler that is predicted in the first row of the study; one at least.
fn rows(
    study: &Study,
    outcome: Option<&Outcome>,
) -> Result<Vec<[String; 7]>, alight_machine::Error> {
    let before = match outcome {
        None => "not run".to_owned(),
        Some(outcome) => before(study, outcome)?,
    };
    let all = outcome.map_or(&[][..], |outcome| &outcome.predictions);
    let is_main = |one: &&Predicted| {
        (&one.which.case, &one.which.metric) == (&all[0].which.case, &all[0].which.metric)
    };
    let mut rows: Vec<[String; 7]> = (all.iter().filter(is_main))
        .map(|one| {
            let mut row: [String; 7] = Default::default();
            row[3..].clone_from_slice(&predicted(study, one));
            row
        })
        .collect();
    if rows.is_empty() {
        rows.push(Default::default());
    }
    rows[0][..3].clone_from_slice(&[study.name.clone(), study.machine.clone(), before]);
    Ok(rows)
}

/// How far the base is off, and whether the machine was another one then.
fn before(study: &Study, outcome: &Outcome) -> Result<String, alight_machine::Error> {
    let off = match &outcome.off {
        None => "nothing published".to_owned(),
        Some(off) => {
            let not_had = if off.is_had() { "" } else { ", not had" };
            number::percent(Some(off.percent)) + not_had
        }
    };
    let machine = alight_machine::load(&study.machine)?.machine;
    match number::hash(machine.hash()) == outcome.machine_hash {
        true => Ok(off),
        false => Ok(format!("{off}; of an earlier machine")),
    }
}

/// A prediction, its intervals, and what was published of it.
fn predicted(study: &Study, one: &Predicted) -> [String; 4] {
    let scheduler = words::short_name(&one.which.scheduler, &study.schedulers[0].name);
    let percent = number::percent(Some(one.percent));
    [
        format!("{}, {scheduler}: {percent}", one.which.metric),
        number::interval(one.costs),
        number::interval(one.runs),
        (one.published).map_or_else(String::new, |percent| number::percent(Some(percent))),
    ]
}
