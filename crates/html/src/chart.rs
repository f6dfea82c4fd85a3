// SPDX-License-Identifier: GPL-2.0-only
//! Lines over an axis: distributions with their tails, signals over time.
//!
//! Drawn by uPlot, which stands in `vendor/uplot/`, and by `js/chart.js`.

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use crate::asset::{COMMON, embedded};
use crate::{Asset, Part, Table};

/// Lines on common axes.
///
/// ```
/// use alight_html::chart::{Axis, Chart, Line, Scale, Shape};
/// use alight_html::{MICROSECONDS, Page, Table};
///
/// let line = Line { name: "linux-6.1".into(), points: vec![(3.1, 0.5), (40.0, 0.999)] };
/// let chart = Chart {
///     x: Axis { label: "wakeup latency".into(), unit: MICROSECONDS.into(), scale: Scale::Log },
///     y: Axis { label: "part of the wakeups".into(), unit: String::new(), scale: Scale::Tail },
///     shape: Shape::Stepped,
///     lines: vec![line],
///     short: Table::new(["", "p50", "p99.9"]).row(["linux-6.1", "3.1", "40.0"]),
/// };
/// assert!(Page::new("Latency").part("Distribution", &chart).render().contains("p99.9"));
/// ```
#[derive(Debug, Clone)]
pub struct Chart {
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from below to above.
    pub y: Axis,
    /// How points are connected.
    pub shape: Shape,
    /// The lines.
    pub lines: Vec<Line>,
    /// The same in short: a few quantiles, or points. Shown where scripts are off.
    pub short: Table,
}

/// An axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// In this unit; may be empty.
    pub unit: String,
    /// How its values are spread.
    pub scale: Scale,
}

/// How the values of an axis are spread over its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm. Values of 0 and below are left out.
    Log,
    /// Probabilities, by the logarithm of what is missing to 1: 0.9, 0.99 and 0.999 are equally far
    /// from each other. 1 is at the end of the axis.
    Tail,
}

/// How points are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By straight lines.
    Straight,
    /// A value stays until the next one.
    Stepped,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points, by rising x. Points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

const UPLOT: Asset = Asset {
    script: concat!(
        "/*\n",
        include_str!("../vendor/uplot/LICENSE"),
        "*/\n",
        include_str!("../vendor/uplot/uPlot.iife.min.js")
    ),
    style: include_str!("../vendor/uplot/uPlot.min.css"),
};

const CHART: Asset = Asset {
    script: concat!("(() => {\n", include_str!("js/chart.js"), "})();\n"),
    style: include_str!("css/chart.css"),
};

impl Axis {
    fn json(&self) -> Value {
        let scale = match self.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Tail => "tail",
        };
        json!({ "label": self.label, "unit": self.unit, "scale": scale })
    }
}

impl Chart {
    fn json(&self) -> Value {
        let lines: Vec<Value> = self.lines.iter().map(Line::json).collect();
        let stepped = self.shape == Shape::Stepped;
        json!({ "x": self.x.json(), "y": self.y.json(), "stepped": stepped, "lines": lines })
    }

    fn title(&self) -> String {
        let names: Vec<&str> = self.lines.iter().map(|line| line.name.as_str()).collect();
        format!(
            "{} over {}: {}",
            self.y.label,
            self.x.label,
            names.join(", ")
        )
    }
}

impl Line {
    /// Its points, without those that have no place on the scales.
    fn json(&self) -> Value {
        let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let (x, y): (Vec<f64>, Vec<f64>) = self.points.iter().filter(finite).copied().unzip();
        json!({ "name": self.name, "x": x, "y": y })
    }
}

impl Part for Chart {
    fn markup(&self) -> Markup {
        html! {
            div.chart {
                noscript {
                    p { "The chart is drawn by a script, and scripts are off. In short:" }
                    (self.short.markup())
                }
                div.scripted hidden {
                    div.key {}
                    div.canvas tabindex="0" role="application" aria-roledescription="chart"
                        aria-label=(self.title()) {}
                    p.at role="status" {
                        "Point, or use ← and →, for values. Drag, + and − zoom; 0 shows all."
                    }
                }
                script.head type="application/json" { (PreEscaped(embedded(&self.json()))) }
            }
        }
    }

    fn assets(&self) -> &'static [Asset] {
        &[COMMON, UPLOT, CHART]
    }
}

#[cfg(test)]
mod tests;
