// SPDX-License-Identifier: GPL-2.0-only

use super::super::{Extra, Unmeasured};
use super::*;

#[test]
fn figures_stand_beside_those_of_a_capture() {
    let figure = |path: &str, value: &str, spread: &str, before: (&str, &str)| Row {
        path: path.to_owned(),
        value: value.to_owned(),
        spread: spread.to_owned(),
        captured: Some((before.0.to_owned(), before.1.to_owned())),
    };
    let measurement = Measurement {
        toml: String::new(),
        rows: vec![
            figure(
                "core_type.Some CPU.idle_state.C6.exit_us",
                "170",
                "160 to 200",
                ("133", "measured"),
            ),
            figure(
                "core_type.Some CPU.costs.switch_ns",
                "910",
                "880 to 1002",
                ("1000", "assumed"),
            ),
            figure("memory.llc_line_ns", "31", "30 to 40", ("14", "assumed")),
        ],
        extras: vec![Extra {
            what: "line of a thread of the same core, ns".to_owned(),
            value: 9,
            spread: [8, 11],
        }],
        unmeasured: vec![Unmeasured::new("hrtick", "only root may read it")],
        busy: Some("another task".to_owned()),
        lost: Vec::new(),
        rounds: 9,
    };
    assert_eq!(
        measurement.summary(),
        "Measured in 9 rounds: median, least to largest round

  figure               measured   rounds        before
  switch_ns                 910   880 to 1002     1000   assumed
  C6.exit_us                170   160 to 200       133   measured
  memory.llc_line_ns         31   30 to 40          14   assumed

Measured too; machine files have no place for it and no simulation reads it:

  line of a thread of the same core, ns   9   8 to 11

Not measured; the file has what was assumed or read:

- hrtick: only root may read it

This machine was busy: another task. Measure again when it is idle.
"
    );
}
