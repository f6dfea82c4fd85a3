// SPDX-License-Identifier: GPL-2.0-only
//! Which figures of a machine nobody measured, by what they are about; costs and capacities have
//! members of their own in [`Trust`](crate::Trust).

use std::fmt;

use serde::Serialize;

use crate::figure::{Confidence, Figure};
use crate::resolve::DataSheet;

/// Figures about one thing, of which nobody measured some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assumed {
    /// What they are about.
    pub what: &'static str,
    /// Figures that are assumed.
    pub assumed: usize,
    /// Figures in all.
    pub of: usize,
}

/// `powers`, or `some powers`.
impl fmt::Display for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.assumed == self.of {
            true => f.write_str(self.what),
            false => write!(f, "some {}", self.what),
        }
    }
}

/// What figures are about, in the order of reports.
const ABOUT: [&str; 7] = [
    "clocks",
    "times of clock changes",
    "speed of threads beside each other (smt_percent)",
    "times of idle states",
    "powers",
    "memory times and sizes",
    "the tick's rate",
];

impl DataSheet {
    /// What is assumed, but for costs and capacities.
    pub fn assumed(&self) -> Vec<Assumed> {
        let of = |what: &'static str| {
            let figures = self
                .figures
                .iter()
                .filter(|figure| about(figure) == Some(what));
            let assumed = |figure: &&Figure| figure.provenance.confidence == Confidence::Assumed;
            Assumed {
                what,
                assumed: figures.clone().filter(assumed).count(),
                of: figures.count(),
            }
        };
        let all = ABOUT.into_iter().map(of);
        all.filter(|group| group.assumed != 0).collect()
    }
}

/// What a figure is about; `None`: a name, a set of CPUs, a cost, a capacity, or what a run chooses.
fn about(figure: &Figure) -> Option<&'static str> {
    let [clocks, changes, smt, idle, powers, memory, tick] = ABOUT;
    let (section, key) = figure.section_and_key();
    Some(match key {
        "hz" => tick,
        "smt_percent" => smt,
        "l2_kib" => memory,
        _ if section == "memory" => memory,
        _ if key.contains("power") && !key.ends_with("gated") => powers,
        "khz" => clocks,
        "switch_us" | "fast_switch" | "rate_limit_us" => changes,
        _ if section.contains(".idle_state.") => idle,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
