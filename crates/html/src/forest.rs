// SPDX-License-Identifier: GPL-2.0-only
//! A forest plot: differences in percent with their intervals, a row each, on one scale.
//!
//! Better and worse differ by the form of their mark, and by a word, as well as by colour.

use maud::{Markup, html};

use crate::Part;

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A filled triangle that points up.
    Better,
    /// A filled triangle that points down.
    Worse,
    /// A filled square: it differs, and no direction is good.
    Different,
    /// An empty circle: no difference that is certain and large enough to matter.
    None,
}

/// A difference.
#[derive(Debug, Clone)]
pub struct Row {
    /// Of what.
    pub label: String,
    /// The difference, percent; `None`: there is none to draw.
    pub delta: Option<f64>,
    /// Its interval, percent.
    pub interval: Option<(f64, f64)>,
    /// What it means.
    pub mark: Mark,
    /// The same in words, with the figures.
    pub words: String,
}

/// Rows of differences.
#[derive(Debug, Clone)]
pub struct Forest {
    rows: Vec<Row>,
    reach: f64,
}

impl Forest {
    /// Rows in the order in which they are drawn.
    pub fn new(rows: Vec<Row>) -> Self {
        let reach = reach(&rows);
        Forest { rows, reach }
    }

    /// Several on one scale, so that eyes can compare them.
    pub fn on_one_scale(forests: Vec<Vec<Row>>) -> Vec<Self> {
        let reach = reach(&forests.concat());
        let forest = |rows| Forest { rows, reach };
        forests.into_iter().map(forest).collect()
    }
}

/// How far the scale reaches to both sides, percent: to the farthest difference that is certain, or
/// of all if none is. What lies beyond is cut, with an arrow.
fn reach(rows: &[Row]) -> f64 {
    let farthest = |wanted: &dyn Fn(&Row) -> bool| {
        (rows.iter().filter(|row| wanted(row)))
            .filter_map(|row| row.delta)
            .filter(|delta| delta.is_finite())
            .fold(0.0, |most: f64, delta| most.max(delta.abs()))
    };
    let certain = farthest(&|row| row.mark != Mark::None);
    let most = if certain > 0.0 {
        certain
    } else {
        farthest(&|_| true)
    };
    round_up(1.5 * most)
}

/// 1, 2 or 5 times a power of 10 that is at least so much, and at least 1.
fn round_up(percent: f64) -> f64 {
    let mut step = 1.0;
    while step < percent && step < 1e9 {
        for factor in [2.0, 5.0, 10.0] {
            if step * factor >= percent {
                return step * factor;
            }
        }
        step *= 10.0;
    }
    step
}

/// Width of the plot, and of a half of it less a margin for arrows, in its own units.
const WIDTH: f64 = 400.0;
const HALF: f64 = WIDTH / 2.0 - 10.0;
const HEIGHT: f64 = 24.0;

/// Where a difference lies, to a tenth.
fn place(percent: f64, reach: f64) -> String {
    let at = WIDTH / 2.0 + (percent / reach).clamp(-1.0, 1.0) * HALF;
    format!("{at:.1}")
}

impl Mark {
    fn class(self) -> &'static str {
        match self {
            Mark::Better => "better",
            Mark::Worse => "worse",
            Mark::Different => "different",
            Mark::None => "same",
        }
    }

    /// Its outline around 0.
    fn outline(self) -> &'static str {
        match self {
            Mark::Better => "M0-6L6 5H-6Z",
            Mark::Worse => "M0 6L6-5H-6Z",
            Mark::Different => "M-5-5H5V5H-5Z",
            Mark::None => "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z",
        }
    }
}

fn drawn(row: &Row, reach: f64) -> Markup {
    let middle = HEIGHT / 2.0;
    let cut = |(low, high): (f64, f64)| {
        [
            (low < -reach, "M4 6L0 12L4 18"),
            (high > reach, "M396 6L400 12L396 18"),
        ]
    };
    html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(row.words) {
            line.zero x1=(WIDTH / 2.0) x2=(WIDTH / 2.0) y1="0" y2=(HEIGHT) {}
            g class=(row.mark.class()) {
                @if let Some(ends) = row.interval {
                    line.interval x1=(place(ends.0, reach)) x2=(place(ends.1, reach)) y1=(middle) y2=(middle) {}
                    @for (is_cut, arrow) in cut(ends) { @if is_cut { path.arrow d=(arrow) {} } }
                }
                @if let Some(delta) = row.delta.filter(|delta| delta.is_finite()) {
                    path.mark transform={ "translate(" (place(delta, reach)) " " (middle) ")" } d=(row.mark.outline()) {}
                }
            }
        }
    }
}

impl Part for Forest {
    fn markup(&self) -> Markup {
        let reach = self.reach;
        html! {
            div.wide tabindex="0" {
                table.forest {
                    thead {
                        tr {
                            th scope="col" {}
                            th scope="col" {
                                span.scale {
                                    span { (-reach) " %" } span { "0" } span { "+" (reach) " %" }
                                }
                            }
                            th scope="col" { "difference, 95 % interval" }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                th scope="row" { (row.label) }
                                td { (drawn(row, reach)) }
                                td class=(row.mark.class()) { (row.words) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
