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
mod tests {
    use crate::library::{load, parse};

    #[test]
    fn what_nobody_measured_is_told_by_what_it_is_about() {
        for (machine, expected) in [
            (
                "juno-r0",
                &[
                    "times of clock changes",
                    "some memory times and sizes",
                    "the tick's rate",
                ][..],
            ),
            (
                "epyc-9654-2s",
                &[
                    "clocks",
                    "times of clock changes",
                    "speed of threads beside each other (smt_percent)",
                    "times of idle states",
                    "powers",
                    "some memory times and sizes",
                    "the tick's rate",
                ],
            ),
        ] {
            let sheet = load(machine).expect("built in");
            let words: Vec<String> = sheet.assumed().iter().map(ToString::to_string).collect();
            assert_eq!(words, expected, "{machine}");
        }
    }

    /// Who states where all comes from assumes nothing.
    #[test]
    fn a_machine_whose_figures_were_all_measured_has_no_line() {
        let text = r#"
schema = "alight.machine/1"
name = "board"
description = "Juno r0 with its assumptions measured"
inherits = "juno-r0"
hz = { value = 250, source = "mine" }
[sources]
mine = { text = "measured by the test", confidence = "measured" }
[freq_domain.little]
switch_us = { value = 500, source = "mine" }
[freq_domain.big]
switch_us = { value = 500, source = "mine" }
[memory]
source = "mine"
llc_line_ns = 20
cross_llc_line_ns = 120
cross_node_line_ns = 200
dram_line_ns = 150
refill_mlp = 3
channel_lines = 4
working_set_kib = 32
"#;
        let sheet = parse("board.toml", text).and_then(crate::Draft::resolve);
        assert_eq!(sheet.expect("a machine").assumed(), []);
    }
}
