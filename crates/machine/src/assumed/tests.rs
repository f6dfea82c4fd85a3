// SPDX-License-Identifier: GPL-2.0-only

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
