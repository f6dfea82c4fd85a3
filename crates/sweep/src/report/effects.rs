// SPDX-License-Identifier: GPL-2.0-only
//! What each factor does, for a terminal: those that matter, those that do not, and those of which
//! the runs cannot tell.

use alight_compare::report::{Columns, number};

use super::table::short_name;
use crate::answer::{Answer, PlaceAnswer};
use crate::effects::indices::Indices;
use crate::effects::trajectories::Trajectories;
use crate::effects::variance::{Effect, Variance};
use crate::effects::{Effects, Found, Verdict};

/// The factors of a scheduler by one objective.
pub(super) fn block(answer: &Answer, place: &PlaceAnswer, effects: &Effects) -> String {
    let mut text = format!(
        "\n  {} by the factors of {}\n",
        effects.metric,
        short_name(answer, &effects.template)
    );
    match &effects.found {
        None if !place.refused.is_empty() => {
            text += "    points cannot run: the factors are analysed if all have run\n";
        }
        None => text += "    points are missing: the factors are analysed when all have run\n",
        Some(found) => {
            let rows = rows(found);
            let mut columns = Columns::new(4, 1).with_remark();
            columns.row(rows.0.iter().map(ToString::to_string));
            for row in rows.1 {
                columns.row(row);
            }
            text += &columns.render();
            text += &format!("    {}\n", remark(effects, found));
        }
    }
    text
}

/// Heads of columns, and rows.
pub(super) type Rows = (Vec<&'static str>, Vec<Vec<String>>);

/// The table of what was found.
pub(super) fn rows(found: &Found) -> Rows {
    match found {
        Found::Variance(found) => of_variance(found),
        Found::Indices(found) => of_indices(found),
        Found::Trajectories(found) => of_trajectories(found),
    }
}

/// What the figures of the table are.
pub(super) fn remark(effects: &Effects, found: &Found) -> String {
    let runs = match effects.runs {
        1 => "1 run of each point".to_owned(),
        runs => format!("{runs} runs of each point"),
    };
    let least = number::plain(effects.matters_percent);
    match found {
        Found::Variance(_) => format!(
            "{runs}; moves: between the two values that differ most, of the mean; {least} % or \
             more matters"
        ),
        Found::Indices(found) => {
            let deviation = found
                .deviation_percent
                .map_or(number::NONE.to_owned(), |percent| {
                    format!("{} % of the mean", number::fixed(percent, 1))
                });
            format!(
                "{runs}; shares of the variance, whose root is {deviation}; moves: as far as a \
                 straight line with the share in all, of the mean; {least} % or more matters"
            )
        }
        Found::Trajectories(_) => format!(
            "{runs}; moves: over the whole range, mean of the trajectories, of the mean; {least} % \
             or more matters"
        ),
    }
}

fn of_variance(found: &Variance) -> Rows {
    let row = |effect: &Effect| {
        let mut words = effect.verdict.words().to_owned();
        if let (Verdict::Matters, Some((least, most))) = (effect.verdict, &effect.levels) {
            words += &format!("; least at {least}, most at {most}");
        }
        vec![
            effect.factors.join(" and "),
            percent(effect.percent),
            number::interval(effect.interval),
            format!("{}%", number::fixed(effect.share_percent, 1)),
            effect.p.map_or(number::NONE.to_owned(), probability),
            words,
        ]
    };
    let rows = found.main.iter().chain(&found.pairs).map(row);
    let heads = vec!["", "moves it", "interval", "of variance", "p", ""];
    (heads, rows.collect())
}

fn of_indices(found: &Indices) -> Rows {
    let share = |value: f64| number::fixed(100.0 * value, 1);
    let interval = |(low, high): (f64, f64)| format!("[{}, {}]", share(low), share(high));
    let rows = found.factors.iter().map(|index| {
        vec![
            index.factor.clone(),
            format!("{}%", share(index.first)),
            interval(index.first_interval),
            format!("{}%", share(index.total)),
            interval(index.total_interval),
            percent(index.moves_percent),
            number::interval(index.moves_interval),
            index.noise.map_or(number::NONE.to_owned(), |noise| {
                format!("{}%", share(noise))
            }),
            index.verdict.words().to_owned(),
        ]
    });
    let heads = vec![
        "", "alone", "interval", "in all", "interval", "moves it", "interval", "noise", "",
    ];
    (heads, rows.collect())
}

fn of_trajectories(found: &Trajectories) -> Rows {
    let rows = found.factors.iter().map(|factor| {
        vec![
            factor.factor.clone(),
            percent(factor.size_percent),
            number::interval(factor.interval),
            percent(factor.mean_percent),
            percent(factor.deviation_percent),
            percent(factor.noise_percent),
            factor.verdict.words().to_owned(),
        ]
    });
    let heads = vec!["", "moves it (mu*)", "interval", "mu", "sigma", "noise", ""];
    (heads, rows.collect())
}

fn probability(p: f64) -> String {
    const LEAST: f64 = 0.0001;
    match p < LEAST {
        true => format!("<{LEAST}"),
        false => number::fixed(p, 4),
    }
}

/// Without a sign where it is a size.
fn percent(value: Option<f64>) -> String {
    value.map_or(number::NONE.to_owned(), |value| {
        format!("{}%", number::fixed(value, 1))
    })
}
