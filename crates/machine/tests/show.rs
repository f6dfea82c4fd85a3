// SPDX-License-Identifier: GPL-2.0-only
//! What people and programs are shown of a machine.

mod common;

use alight_machine::{
    DataSheet, Machine, list, load, names, open_bare, parse, rows, show, to_json,
};
use common::{GOOD, spoiled};

fn sheet(text: &str) -> DataSheet {
    parse("test.toml", text)
        .and_then(|draft| draft.resolve())
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_list_has_a_row_for_each_machine() {
    let rows = rows().unwrap();
    let listed: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(listed, names());
    assert_eq!(rows[0].classes, "4 Cortex-A53 (446), 2 Cortex-A57 (1024)");
    let text = list().unwrap();
    assert_eq!(text.lines().count(), names().len() + 1);
    assert!(
        text.contains("  juno-r0            6  4 Cortex-A53 (446)"),
        "{text}"
    );
}

#[test]
fn a_machine_is_shown_with_its_tables() {
    // What was fitted changes with each calibration.
    let text = show(&open_bare("juno-r0").unwrap().resolve().unwrap());
    for part in [
        "Topology\n  PKG 0-5\n    MC 0,3-5\n      CPU 0,3-5: Cortex-A53, capacity 446,",
        "\n   MHz  capacity  core mW  cluster mW\n   450       418      168          24\n",
        "\n  cluster-sleep       400     1200        1600          2500   0  whole cluster,",
        "\n  little   0,3-5       56      17\n",
        "\n    switch_ns          5647 ",
        "context switch with pick (4000 at 1200 MHz)\n",
        "[1] Arm LISA, platform files of Juno r0",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn every_figure_of_every_machine_is_shown_with_a_source() {
    for name in names() {
        let sheet = load(name).unwrap();
        let text = show(&sheet);
        for figure in &sheet.figures {
            let (section, key) = figure.section_and_key();
            assert!(
                text.contains(&format!("  [{section}]\n")),
                "{name}: [{section}]"
            );
            assert!(text.contains(&format!("    {key} ")), "{name}: {key}");
            assert!(
                text.contains(&figure.provenance.source),
                "{name}: {}",
                figure.path
            );
        }
        assert!(!text.contains("[0]"), "{name}");
    }
}

#[test]
fn a_large_machine_is_shown_in_short() {
    let text = show(&load("epyc-9654-2s").unwrap());
    assert!(text.lines().count() < 200, "{}", text.lines().count());
    assert!(text.contains("SMT 8 cores, 2 threads each"));
    assert!(text.contains("… 8 more of MC"));
    assert!(text.contains("CPUs 0,192 and 191 alike"));
}

#[test]
fn json_names_its_schema_and_is_the_same_twice() {
    let json = to_json(&load("sdm845").unwrap());
    assert_eq!(json["schema"], "alight.machine/1");
    assert_eq!(json["machine"]["freq_domains"][0]["cpus"], "0-3");
    assert_eq!(json["machine"]["cpus"][7]["capacity_orig"], 1024);
    assert_eq!(json["figures"][0]["confidence"], "published");
    assert_eq!(
        json.to_string(),
        to_json(&load("sdm845").unwrap()).to_string()
    );
}

#[test]
fn the_hash_is_of_the_figures_alone() {
    let hash = |text: &str| sheet(text).machine.hash();
    let good = hash(GOOD);
    assert_eq!(hash(&spoiled("name = \"good\"", "name = \"other\"")), good);
    assert_eq!(hash(&spoiled("made for a test", "made up")), good);
    for (old, new) in [
        ("hz = 250", "hz = 300"),
        ("exit_us = 200", "exit_us = 199"),
        ("llc = [\"0-1\", \"2-3\"]", "llc = [\"0\", \"1\", \"2-3\"]"),
        ("dram_line_ns = 150", "dram_line_ns = 151"),
    ] {
        assert_ne!(hash(&spoiled(old, new)), good, "{new}");
    }
    let mut all: Vec<u64> = names()
        .into_iter()
        .map(|n| Machine::load(n).unwrap().hash())
        .collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), names().len());
}

/// The order of sections and keys in a file means nothing.
#[test]
fn the_hash_does_not_depend_on_the_order_of_the_file() {
    let (head, sections) = GOOD.split_once("[topology]").unwrap();
    let (sections, memory) = sections.split_once("[memory]").unwrap();
    let turned = format!("{head}[memory]{memory}\n[topology]{sections}");
    assert_eq!(sheet(&turned).machine.hash(), sheet(GOOD).machine.hash());
}
