// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use std::sync::atomic::AtomicBool;

use alight_machine::{DataSheet, Governor};

use crate::compare::Comparison;
use crate::fake;
use crate::header::Conditions;
use crate::report::{Extent, Form, STYLES, Style, render};
use crate::spread::Spread;
use crate::{card, single};

/// Two CPUs of one capacity and unlike clocks, the costs of one of them measured in part; and two
/// machines whose costs were fitted, one of which was edited since.
fn sheets() -> [(DataSheet, &'static [&'static str]); 4] {
    const HYBRID: &str = r#"schema = "alight.machine/1"
name = "hybrid"
description = "P and E"
hz = { value = 250, source = "guess" }
governor = { value = "performance", source = "guess" }
[sources]
guess = { text = "guessed", confidence = "assumed" }
bench = { text = "measured", confidence = "measured" }
[topology]
source = "bench"
cpus = "0-1"
llc = ["0-1"]
[costs.mine]
like = "x86"
source = "bench"
reference_khz = 3000000
switch_ns = 900
[core_type.P]
source = "bench"
cpus = "0"
capacity = 1024
l2_kib = 1280
costs = "mine"
[[core_type.P.idle_state]]
name = "C1"
source = "bench"
exit_us = 1
residency_us = 1
power_mw = 0
[core_type.E]
source = "bench"
cpus = "1"
capacity = 1024
l2_kib = 512
costs = "mine"
[[core_type.E.idle_state]]
name = "C1"
source = "bench"
exit_us = 1
residency_us = 1
power_mw = 0
[freq_domain.P]
source = "bench"
cpus = "0"
khz = [5200000]
core_power_mw = [1000]
cluster_power_mw = [100]
switch_us = 10
[freq_domain.E]
source = "bench"
cpus = "1"
khz = [3900000]
core_power_mw = [500]
cluster_power_mw = [100]
switch_us = 10
[cluster.all]
source = "bench"
cpus = "0-1"
idle_power_mw = 1
off_power_mw = 0
[memory]
source = "bench"
llc_line_ns = 20
cross_llc_line_ns = 120
cross_node_line_ns = 200
dram_line_ns = 150
refill_mlp = 3
channel_lines = 4
working_set_kib = 32
"#;
    const EDITED: &str = r#"schema = "alight.machine/1"
name = "edited"
description = "Juno r0 with another switch"
inherits = "juno-r0"
[sources]
mine = { text = "mine", confidence = "measured" }
[costs.little]
switch_ns = { value = 4000, source = "mine" }
"#;
    let parse = |text| {
        let draft = alight_machine::parse("mine.toml", text).expect("well formed");
        draft.resolve().expect("possible")
    };
    let load = |name| alight_machine::load(name).expect("built in");
    [
        (
            parse(HYBRID),
            &[
                "costs: 1 measured, 2",
                " ASSUMED; speeds ASSUMED EQUAL: CPU 0 (P, 5200 MHz) and CPU 1 (E, 3900 MHz) do \
                     the same work in the same time; ASSUMED too: the tick's rate",
            ],
        ),
        (
            load("juno-r0"),
            &[
                "costs fitted to 6 published figures of juno-r0; ASSUMED too: times of clock changes",
            ],
        ),
        (
            load("tc2"),
            &["costs ASSUMED: nobody measured them on this machine; ASSUMED too: "],
        ),
        (
            parse(EDITED),
            &[
                "costs NO LONGER FITTED to the 6 published figures of juno-r0: the file was edited since",
            ],
        ),
    ]
}

fn squeezed(text: &str) -> String {
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "#")
        .collect();
    words.join(" ")
}

fn told(comparison: &Comparison, style: Style, samples: bool) -> String {
    let extent = Extent::Short;
    let form = Form {
        style,
        extent,
        samples,
    };
    render(comparison, form)
}

/// The same words in every style of every report, and one structure in every JSON.
#[test]
fn what_an_answer_rests_on_stands_on_it_in_every_style() {
    for (sheet, says) in sheets() {
        let trust = sheet.trust();
        let hash = format!("machine hash {:016x}", sheet.machine.hash());
        let mut comparison = fake::comparison(fake::better_outcome);
        comparison.header.rests.trust = trust.clone();
        comparison.header.rests.left_out = vec!["the moon".to_owned()];
        let mut texts: Vec<(String, String)> = STYLES
            .into_iter()
            .filter(|style| *style != Style::Json)
            .map(|style| (style.name().to_owned(), told(&comparison, style, false)))
            .collect();
        let samples = told(&comparison, Style::Csv, true);
        texts.push(("samples".to_owned(), samples));
        let scheduler = &fake::schedulers()[0];
        let scenario = Scenario::new(&sheet.machine, &[], scheduler);
        let conditions = Conditions {
            rests: comparison.header.rests.clone(),
            ..Conditions::of(&scenario, &trust, String::new())
        };
        let outcome = fake::outcome(1);
        texts.push(("simulate".to_owned(), single::table(&conditions, &outcome)));
        texts.push((
            "explain".to_owned(),
            crate::decisions::table(&conditions, scheduler, "task", &[]),
        ));
        for (name, text) in texts {
            let text = squeezed(&text);
            for part in says.iter().copied().chain([hash.as_str(), "the moon"]) {
                assert!(text.contains(part), "{name} lacks '{part}': {text}");
            }
        }
        for document in [
            told(&comparison, Style::Json, false),
            single::json(&conditions, &outcome),
            crate::decisions::json(&conditions, scheduler, "task", &[]),
        ] {
            let json: serde_json::Value = serde_json::from_str(&document).unwrap();
            assert_eq!(json["rests_on"], serde_json::json!(trust), "{document}");
            assert_eq!(json["left_out"], serde_json::json!(["the moon"]));
        }
    }
}

/// Of a card each machine has a line, and each cell what it needs beyond the model.
#[test]
fn a_card_says_what_each_machine_and_cell_rests_on() {
    let [base, variant] =
        ["linux-3.9", "linux-3.9+pack"].map(|name| alight_policy::Scheduler::parse(name).unwrap());
    let sheet = alight_machine::load("tc2").unwrap();
    let mut machine = sheet.machine.clone();
    machine.governor = Governor::Schedutil;
    let ask = card::CardQuestion {
        base: &base,
        variant: &variant,
        machines: &[card::Place {
            name: "tc2".to_owned(),
            trust: sheet.trust(),
            machine,
        }],
        workloads: &[&card::WORKLOADS[0]],
        runs: std::num::NonZeroU32::MIN,
        seed: 1,
        command: String::new(),
    };
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| Ok(fake::better(scenario));
    let card = card::card(&ask, &run, Spread::QUIET, &AtomicBool::new(false)).unwrap();
    for style in card::STYLES {
        let name = style.name();
        let text = squeezed(&card::render(&card, style, Extent::Short));
        for part in [
            &number::hash(sheet.machine.hash()),
            "schedutil came with Linux 4.7: linux-3.9 had ondemand",
        ] {
            assert!(text.contains(part), "{name} lacks '{part}': {text}");
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&card::render(&card, Style::Json, Extent::Short)).unwrap();
    let rests_on = serde_json::json!(sheet.trust());
    assert_eq!(json["machines"][0]["rests_on"], rests_on);
    assert_eq!(
        json["cells"][0]["left_out"].as_array().map(Vec::len),
        Some(1)
    );
}
