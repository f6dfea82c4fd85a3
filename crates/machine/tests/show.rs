// SPDX-License-Identifier: GPL-2.0-only
//! What people and programs are shown of a machine.

mod common;

use alight_machine::{
    DataSheet, Machine, check, list, load, names, open_bare, parse, rows, show, to_json,
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
fn priorities_are_shown_where_there_are_some() {
    for (machine, expected) in [
        (
            "ultra7-258v",
            Some(
                "\nPriorities (ITMT)\n  by intel_pstate\n  priority  CPUs\n        55  0-3\n        37  4-7\n",
            ),
        ),
        ("gs101", None),
    ] {
        let text = show(&load(machine).unwrap());
        match expected {
            Some(table) => assert!(text.contains(table), "{text}"),
            None => assert!(!text.contains("Priorities"), "{text}"),
        }
    }
}

#[test]
fn what_answers_rest_on_is_shown() {
    let text = show(&load("gs101").unwrap());
    let rests = "\
What answers rest on
  costs       ASSUMED: gs101 has no calibration, its costs are those of its class of cores
  capacities  derived
  speeds      stated by core type
";
    assert!(text.contains(rests), "{text}");
    let json = to_json(&load("gs101").unwrap());
    assert_eq!(json["trust"]["costs"]["standing"], "assumed");
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

/// Of what is alike the first is shown, and the others are counted.
#[test]
fn a_large_machine_is_shown_in_short() {
    let text = show(&load("epyc-9654-2s").unwrap());
    let topology = "\
Topology
  NUMA 0-383
    PKG 0-95,192-287
      MC 0-7,192-199
        CPU 0-7,192-199: Zen 4, 8 cores of 2 threads (SMT), capacity 1024, cluster ccd0
      … and 11 more like it: CPUs 8-95,200-287
    … and 1 more like it: CPUs 96-191,288-383

Core types
  type   CPUs   cores  threads a core  capacity  L2 KiB  speed beside another thread
  Zen 4  0-383    192               2      1024    1024                         62 %
";
    assert!(text.contains(topology), "{text}");
    assert!(
        text.contains("CPUs 0,192 and 191 more like them, a change takes"),
        "{text}"
    );
    let clusters = "\
  cluster                CPUs           idle mW  off mW
  ccd0                   0-7,192-199       1000    1000
  … and 23 more like it  8-191,200-383     1000    1000
";
    assert!(text.contains(clusters), "{text}");
}

/// Threads are told by core type: a hybrid has big cores of two and small ones of one.
#[test]
fn threads_are_shown_by_core_type() {
    let text = spoiled(
        "core = [\"0\", \"1\", \"2\", \"3\"]",
        "core = [\"0\", \"1\", \"2-3\"]",
    );
    let text = show(&sheet(
        &text.replace("costs = \"big\"", "costs = \"big\"\nsmt_percent = 60"),
    ));
    for part in [
        "CPU 0-1: small, capacity 256, cluster small\n",
        "CPU 2-3: large, 1 core of 2 threads (SMT), capacity 1024, cluster large\n",
        "\
  type   CPUs  cores  threads a core  capacity  L2 KiB  speed beside another thread
  small  0-1       2               1       256     128
  large  2-3       1               2      1024     512                         60 %
",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn speeds_are_shown_where_they_are_stated() {
    let text = spoiled("costs = \"big\"", "costs = \"big\"\nspeed = 1024");
    let text = text.replace("costs = \"little\"", "costs = \"little\"\nspeed = 300");
    let text = show(&sheet(&text));
    for part in [
        "\
  type   CPUs  cores  threads a core  capacity  speed  L2 KiB  speed beside another thread
  small  0-1       2               1       256    300     128
  large  2-3       2               1      1024   1024     512
",
        "speeds      ASSUMED: stated apart from the capacities: 300 of CPUs 0-1 (small, ",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// Of 192 CPUs of one kind, each a cluster by itself, one is shown.
#[test]
fn equal_cpus_are_shown_once() {
    let each = "{ cpus = \"2-193\", size = 1 }";
    let text = GOOD
        .replace("cpus = \"0-3\"", "cpus = \"0-193\"")
        .replace("core = [\"0\", \"1\", \"2\", \"3\"]\n", "")
        .replace(
            "llc = [\"0-1\", \"2-3\"]",
            &format!("llc = [\"0-1\", {each}]"),
        )
        .replace("node = [\"0-1\", \"2-3\"]", "node = [\"0-1\", \"2-193\"]")
        .replace("cpus = \"2-3\"", &format!("cpus = {each}"));
    let text = show(&sheet(&text));
    let topology = "\
Topology
  NUMA 0-193
    PKG 0-1
      MC 0-1
        CPU 0-1: small, capacity 256, cluster small
    PKG 2-193
      MC 2
        CPU 2: large, capacity 1024, cluster large0
      … and 191 more like it: CPUs 3-193
";
    assert!(text.contains(topology), "{text}");
    assert!(
        text.contains("CPUs 2 and 191 more like them, a change"),
        "{text}"
    );
    assert!(
        text.contains("  … and 191 more like it  3-193        8       1\n"),
        "{text}"
    );
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

/// Of many findings by one rule the first are shown, and the others are counted.
#[test]
fn many_findings_are_shown_in_short() {
    let each = "{ cpus = \"2-21\", size = 1 }";
    let text = GOOD
        .replace("cpus = \"0-3\"", "cpus = \"0-21\"")
        .replace("core = [\"0\", \"1\", \"2\", \"3\"]\n", "")
        .replace(
            "llc = [\"0-1\", \"2-3\"]",
            &format!("llc = [\"0-1\", {each}, {each}]"),
        )
        .replace("node = [\"0-1\", \"2-3\"]", "node = [\"0-1\", \"2-21\"]")
        .replace("cpus = \"2-3\"", &format!("cpus = {each}"));
    let found = check(&parse("m.toml", &text).unwrap());
    assert_eq!(found.len(), 60);
    let shown = alight_machine::findings(&found);
    let counted: Vec<&str> = shown.lines().filter(|line| line.starts_with('…')).collect();
    let counts = [
        "… and 14 more by the rule [cpu-in-two]; --json lists all",
        "… and 34 more by the rule [spans-do-not-nest]; --json lists all",
    ];
    assert_eq!(counted, counts);
    assert_eq!(shown.lines().count(), 6 + 6 + 2, "{shown}");
    assert_eq!(alight_machine::findings(&found[..6]).lines().count(), 6);
}
