// SPDX-License-Identifier: GPL-2.0-only
//! Bars of parts: what a whole is made of. They need no script.
//!
//! Parts are told apart by a letter on each, as well as by colour; the table has every figure.

use maud::{Markup, html};

use crate::{Asset, Part};

/// Bars below each other, on one scale, each of the same parts.
///
/// ```
/// use alight_html::{Bar, Bars, Page, Segment};
///
/// let segment = |value: f64| Segment { value, text: format!("{value:.1}") };
/// let bars = Bars {
///     parts: vec!["busy, %".into(), "idle, %".into()],
///     whole: Some(100.0),
///     bars: vec![Bar { label: "CPU 0".into(), segments: vec![segment(62.5), segment(37.5)] }],
/// };
/// assert!(Page::new("CPUs").part("Residency", &bars).render().contains("62.5"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// Names of the parts, with their unit.
    pub parts: Vec<String>,
    /// How much a bar of full width is: 100 for percent. `None`: the longest bar.
    pub whole: Option<f64>,
    /// The bars, from above to below.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, Default)]
pub struct Bar {
    /// Of what.
    pub label: String,
    /// One for each part, in the same order.
    pub segments: Vec<Segment>,
}

/// A part of a bar.
#[derive(Debug, Clone, Default)]
pub struct Segment {
    /// How long it is, in the unit of the whole. One that is not above 0, or not finite, is not drawn.
    pub value: f64,
    /// How the figure reads.
    pub text: String,
}

const BARS: Asset = Asset {
    script: "",
    style: include_str!("css/bars.css"),
};

/// How many parts have a colour of their own.
const COLOURS: usize = 8;

impl Bars {
    /// How much a bar of full width is.
    fn whole(&self) -> f64 {
        let longest = || self.bars.iter().map(Bar::length).fold(0.0, f64::max);
        let whole = self.whole.unwrap_or_else(longest);
        if whole > 0.0 { whole } else { 1.0 }
    }
}

impl Bar {
    fn length(&self) -> f64 {
        self.segments.iter().map(Segment::drawn).sum()
    }
}

impl Segment {
    fn drawn(&self) -> f64 {
        if self.value.is_finite() {
            self.value.max(0.0)
        } else {
            0.0
        }
    }
}

/// The letter of a part; behind z they begin again.
fn letter(part: usize) -> char {
    char::from(b'a' + (part % 26) as u8)
}

fn class(part: usize) -> String {
    format!("part{}", part % COLOURS)
}

fn drawn(bar: &Bar, whole: f64) -> Markup {
    html! {
        // The figures stand beside it.
        div.bar aria-hidden="true" {
            @for (part, segment) in bar.segments.iter().enumerate() {
                @let percent = 100.0 * segment.drawn() / whole;
                @if percent > 0.0 {
                    span class=(class(part)) style={ "width:" (format!("{percent:.2}")) "%" } {
                        @if percent >= 3.0 { (letter(part)) }
                    }
                }
            }
        }
    }
}

impl Part for Bars {
    fn markup(&self) -> Markup {
        let whole = self.whole();
        html! {
            div.wide tabindex="0" {
                table.bars {
                    thead {
                        tr {
                            th scope="col" {}
                            th scope="col" {}
                            @for (part, name) in self.parts.iter().enumerate() {
                                th.figure scope="col" {
                                    span class={ "letter " (class(part)) } { (letter(part)) } " " (name)
                                }
                            }
                        }
                    }
                    tbody {
                        @for bar in &self.bars {
                            tr {
                                th scope="row" { (bar.label) }
                                td { (drawn(bar, whole)) }
                                @for (part, segment) in bar.segments.iter().enumerate() {
                                    td.figure data-part=(letter(part)) { (segment.text) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn assets(&self) -> &'static [Asset] {
        &[BARS]
    }
}

#[cfg(test)]
mod tests;
