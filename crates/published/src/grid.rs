// SPDX-License-Identifier: GPL-2.0-only
//! A study of many cases: a table a row, with a line a case, and of the mechanism what the
//! variants change.

use alight_compare::report::{number, words};

use super::report::{Block, PREDICTION, beside, of_the_mechanism, prediction, title};
use super::{Answer, CaseAnswer, Row, Value};

/// The tables of all rows, and the mechanism.
pub(super) fn tables_by_row(answer: &Answer<'_>) -> Vec<Block> {
    let mut blocks = vec![];
    for row in &answer.study.rows {
        let cases: Vec<&CaseAnswer<'_>> = (answer.cases.iter())
            .filter(|case| case.is(&row.case) && !answer.values(row, case).is_empty())
            .collect();
        // A row without a number in any case has a title that says so.
        let Some(first) = cases.first().copied().or(answer.cases.first()) else {
            continue;
        };
        blocks.push(Block::Title(title(row, first)));
        if !cases.is_empty() {
            blocks.push(table(answer, row, &cases));
        }
    }
    blocks.push(Block::Title(
        "why: the mechanism, means of the runs, where a variant changes it (the whole of a case: --json)".to_owned(),
    ));
    blocks.push(mechanism(answer));
    blocks
}

/// The first cells of a head: whose numbers follow.
fn head(answer: &Answer<'_>, columns: &[&str]) -> Vec<String> {
    let base = &answer.study.schedulers[0].name;
    let mut cells = vec![base.clone()];
    for variant in &answer.study.schedulers[1..] {
        cells.push(words::short_name(&variant.name, base).to_owned());
        cells.extend(columns.iter().map(|column| (*column).to_owned()));
    }
    cells
}

fn table(answer: &Answer<'_>, row: &Row, cases: &[&CaseAnswer<'_>]) -> Block {
    let mut rows = vec![vec!["case".to_owned()]];
    rows[0].extend(head(answer, &PREDICTION));
    for case in cases {
        let mut cells = vec![case.case.name.clone()];
        let values = answer.values(row, case);
        for scheduler in &answer.study.schedulers {
            let mut own = vec![number::NONE.to_owned()];
            let found = |value: &&Value<'_>| value.variant.scheduler == scheduler.name;
            if let Some(value) = values.iter().find(found) {
                let decimals = number::decimals(value.summary.mean);
                own[0] = number::fixed(value.summary.mean, decimals);
                let series = value.variant.series(&row.metric);
                if let Some(delta) = series.and_then(|series| series.delta) {
                    let costs = answer.left_open(case, &row.metric, &scheduler.name);
                    own.extend(prediction(&delta, costs));
                }
            }
            let columns = if cells.len() == 1 {
                1
            } else {
                1 + PREDICTION.len()
            };
            own.resize(columns, String::new());
            cells.extend(own);
        }
        rows.push(cells);
    }
    Block::Table { left: 1, rows }
}

fn mechanism(answer: &Answer<'_>) -> Block {
    let mut rows = vec![vec!["case".to_owned(), "number".to_owned()]];
    rows[0].extend(head(answer, &["delta"]));
    for case in &answer.cases {
        let comparison = case.comparison();
        for series in of_the_mechanism(&comparison.base().series) {
            let name = &series.key.name;
            let found: Vec<_> = (comparison.others().iter())
                .map(|other| other.series(name))
                .collect();
            let changed = (found.iter().flatten())
                .any(|series| series.delta.is_some_and(|delta| delta.significant));
            if !changed {
                continue;
            }
            let mut cells = vec![case.case.name.clone(), name.clone()];
            cells.push(number::short(series.summary.mean));
            cells.extend(found.into_iter().flat_map(beside));
            rows.push(cells);
        }
    }
    match rows.len() {
        1 => Block::Lines(vec!["none does".to_owned()]),
        _ => Block::Table { left: 2, rows },
    }
}
