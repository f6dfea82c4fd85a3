// SPDX-License-Identifier: GPL-2.0-only
//! What the pages of all reports have in common.

use alight_html::Table;

use crate::header::Conditions;
use crate::rests::RestsOn;

/// Labels and texts, such as the conditions of a run. A label that is the one before it is left out.
pub fn labelled<L: Into<String>, T: Into<String>>(rows: impl IntoIterator<Item = (L, T)>) -> Table {
    let mut last = String::new();
    rows.into_iter()
        .fold(Table::new(["", ""]), |table, (label, text)| {
            let label = label.into();
            let shown = match label == last {
                true => String::new(),
                false => label.clone(),
            };
            last = label;
            table.row([shown, text.into()])
        })
}

/// How far an answer can be trusted, a sentence each.
pub fn trust(rests: &RestsOn) -> Vec<String> {
    let rows = rests.rows().into_iter();
    rows.map(|(label, text)| format!("{label}: {text}"))
        .collect()
}

/// What was asked of one run, and more of the same, without what stands below [`trust`].
pub fn asked(
    conditions: &Conditions,
    more: impl IntoIterator<Item = (&'static str, String)>,
) -> Table {
    let trust = conditions.rests.rows();
    let rows = conditions.rows().into_iter();
    labelled(rows.filter(|row| !trust.contains(row)).chain(more))
}

/// The title of a page on one run.
pub fn title(conditions: &Conditions) -> String {
    format!(
        "{} on {} under {}",
        conditions.workloads.join(" and "),
        conditions.machine,
        conditions.scheduler
    )
}
