// SPDX-License-Identifier: GPL-2.0-only
//! One grammar for schedulers: what is typed means the same wherever a scheduler or a feature is
//! asked for, and the label keeps what was named.

mod common;

use common::alight;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;
use tempfile::tempdir;

const LOAD: [&str; 4] = ["-m", "juno-r0", "-w", "hackbench -g 1 -l 2"];

/// Every `scheduler` of a document, in its order.
fn schedulers(document: &Value) -> Vec<String> {
    match document {
        Value::Object(members) => (members.iter())
            .flat_map(|(name, value)| match value.as_str() {
                Some(text) if name == "scheduler" => vec![text.to_owned()],
                _ => schedulers(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(schedulers).collect(),
        _ => vec![],
    }
}

/// The JSON of a command of this verb with the usual load, or of a card.
fn json(words: &[&str]) -> Value {
    let load: &[&str] = match words[0] {
        "simulate" | "compare" | "explain" => &LOAD,
        _ => &[],
    };
    let output = alight(&[words, load, &["--json"]].concat())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{words:?}: {error}: {said}")
    })
}

#[test]
fn a_feature_without_a_base_is_over_the_stated_one_or_the_newest() {
    let explain = ["--task", "hackbench", "--limit", "1"];
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../verify/tests/data/decisions-amd64-6.1.alight"
    );
    for (before, after, base) in [
        (&["simulate"][..], &[][..], "linux-7.3"),
        (&["simulate", "--base", "linux-6.5"], &[], "linux-6.5"),
        (&["explain"], &explain, "linux-7.3"),
        (
            &["explain", "--base", "linux-latest"],
            &explain,
            "linux-7.3",
        ),
        (&["explain", "--base", "linux-6.5"], &explain, "linux-6.5"),
        (
            &["card", "-m", "juno-r0", "-w", "light", "--runs", "1"],
            &[],
            "linux-7.3",
        ),
        (
            &["card", "-m", "juno-r0", "-w", "light", "--runs", "1"],
            &["--base", "linux-6.5"],
            "linux-6.5",
        ),
        (
            &["suite", "run", "OneSmallTask", "-m", "juno-r0", "--base"],
            &[],
            "linux-7.3",
        ),
        // That of the recorded kernel.
        (
            &["verify", "decisions", recording, "--scheduler"],
            &[],
            "linux-6.1",
        ),
    ] {
        for word in ["bias-prev:spare=128", "+bias-prev:spare=128"] {
            let found = schedulers(&json(&[before, &[word], after].concat()));
            let expected = format!("{base}+bias-prev:spare=128");
            assert_eq!(found, [expected], "{before:?} {word}");
        }
        let whole = format!("{base}+bias-prev:spare=128");
        let found = schedulers(&json(&[before, &[&whole], after].concat()));
        assert_eq!(found, [whole], "{before:?}");
    }
}

#[test]
fn in_a_comparison_it_is_over_the_first() {
    for (words, expected) in [
        (
            &["linux-6.5", "bias-prev", "+pack"][..],
            &["linux-6.5", "linux-6.5+bias-prev", "linux-6.5+pack"][..],
        ),
        (
            &["--base", "linux-6.5", "bias-prev"],
            &["linux-6.5", "linux-6.5+bias-prev"],
        ),
        (
            &["bias-prev", "bias-prev:spare=128", "linux-6.5"],
            &[
                "linux-7.3+bias-prev",
                "linux-7.3+bias-prev:spare=128",
                "linux-6.5",
            ],
        ),
    ] {
        let found = json(&[&["compare", "--runs", "1"], words].concat());
        assert_eq!(schedulers(&found["variants"]), expected, "{words:?}");
    }
}

/// `spare=256` is the default. The label says what was named, the hash what was run.
#[test]
fn a_default_that_is_named_keeps_its_label_and_the_runs_their_hash() {
    let found = json(&[
        "compare",
        "--runs",
        "2",
        "linux-6.5",
        "bias-prev",
        "bias-prev:spare=256",
        "bias-prev:spare=0",
    ]);
    let variant = |place: usize| &found["variants"][place];
    assert_eq!(variant(2)["scheduler"], "linux-6.5+bias-prev:spare=256");
    assert_eq!(variant(2)["hash"], variant(1)["hash"]);
    assert_eq!(variant(2)["same_as"], "linux-6.5+bias-prev");
    for other in [0, 1, 3] {
        assert_eq!(variant(other)["same_as"], Value::Null, "{other}");
    }
    let command = found["command"].as_str().unwrap();
    assert!(
        command.contains("linux-6.5+bias-prev:spare=256"),
        "{command}"
    );

    let one = |name| json(&["simulate", name])["hash"].clone();
    assert_eq!(
        one("linux-6.5+bias-prev"),
        one("linux-6.5+bias-prev:spare=256")
    );

    let table = [&["compare", "--runs", "1"], &LOAD[..]].concat();
    alight(&[&table[..], &["linux-7.2", "asym-capacity"]].concat())
        .assert()
        .success()
        .stdout(
            contains("linux-7.2+asym-capacity (hash ")
                .and(contains("each run equals the base's: ")),
        );
}

/// A base may stand before the feature; another one beside it is a contradiction.
#[test]
fn a_card_takes_its_base_from_either_place() {
    let card = |words: &[&str]| {
        let few = ["-m", "juno-r0", "-w", "light", "--runs", "1"];
        let found = json(&[&["card"], words, &few].concat());
        ["base", "scheduler"].map(|name| found[name].as_str().unwrap().to_owned())
    };
    for (words, base, with) in [
        (
            &["linux-6.5+bias-prev"][..],
            "linux-6.5",
            "linux-6.5+bias-prev",
        ),
        (
            &["+bias-prev", "--base", "linux-6.5"],
            "linux-6.5",
            "linux-6.5+bias-prev",
        ),
        // The newest that lacks it.
        (&["+asym-capacity"], "linux-5.5", "linux-5.5+asym-capacity"),
        // Told anew, against what it was told before.
        (
            &["bias-prev:spare=0", "--base", "linux-6.5+bias-prev"],
            "linux-6.5+bias-prev",
            "linux-6.5+bias-prev:spare=0",
        ),
    ] {
        assert_eq!(card(words), [base, with], "{words:?}");
    }
}

#[test]
fn a_study_names_schedulers_as_the_command_line_does() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = r#"schema = "alight.study/1"
name = "mine"
title = "a pipe"
publication = "nowhere"
machine = "juno-r0"
schedulers = ["linux-6.5", "+bias-prev", "bias-prev:spare=256"]
runs = 1
short_runs = 1

[[case]]
workloads = ["perf bench sched pipe -l 20"]

[[row]]
metric = "elapsed_s"

[[check]]
says = "a pipe ends"
metric = "elapsed_s"
scheduler = "bias-prev:spare=256"
relative_to = "+bias-prev"
at_most = 100.0
"#;
    std::fs::write(&file, text).unwrap();
    let found = json(&["study", "run", file.to_str().unwrap()]);
    let labels = [
        "linux-6.5",
        "linux-6.5+bias-prev",
        "linux-6.5+bias-prev:spare=256",
    ];
    assert_eq!(
        schedulers(&found["comparisons"][0]["comparison"]["variants"]),
        labels
    );
    let check = &found["checks"][0];
    assert_eq!(check["scheduler"], labels[2]);
    assert_eq!(check["relative_to"], labels[1]);
}

#[test]
fn what_a_feature_is_told_is_shown_over_the_newest_base() {
    for (name, expected) in [
        ("bias-prev", "bias-prev"),
        ("+bias-prev", "bias-prev"),
        ("bias-prev:spare=128", "linux-7.3+bias-prev:spare=128"),
        ("+bias-prev:spare=128", "linux-7.3+bias-prev:spare=128"),
        ("linux-6.5", "linux-6.5"),
    ] {
        assert_eq!(json(&["policy", "show", name])["name"], expected);
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_would_do() {
    for (words, says) in [
        (
            &["simulate", "linux-6.13"][..],
            "unknown base 'linux-6.13'; the nearest below it is 'linux-6.12'; bases: linux-3.9, \
             linux-5.4, linux-5.5, linux-5.10, linux-5.15, linux-6.1, linux-6.5, linux-6.6, \
             linux-6.8, linux-6.12, linux-6.18, linux-7.0, linux-7.1, linux-7.2, \
             linux-7.3, linux-latest",
        ),
        (
            &["simulate", "--base", "linux-6.5", "linux-7.2+bias-prev"],
            "'linux-7.2+bias-prev' has the base linux-7.2, and --base says linux-6.5",
        ),
        (
            &["compare", "bias-prev"],
            "a comparison needs two schedulers or more, found linux-7.3+bias-prev; name another, \
             or its base by --base linux-7.3",
        ),
        (
            &["card", "linux-7.2+bias-prev", "--base", "linux-6.5"],
            "has the base linux-7.2, and --base says linux-6.5",
        ),
        (&["card", "linux-6.5"], "'linux-6.5' names no feature"),
        (
            &["suite", "run", "OneSmallTask", "--base", "linux-6.7"],
            "the nearest below it is 'linux-6.6'",
        ),
    ] {
        let load: &[&str] = match words[0] {
            "simulate" | "compare" => &LOAD,
            _ => &[],
        };
        let assert = alight(&[words, load].concat()).assert();
        assert.code(2).stdout("").stderr(contains(says));
    }
}
