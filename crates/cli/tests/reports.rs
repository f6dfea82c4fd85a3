// SPDX-License-Identifier: GPL-2.0-only
//! How much a report tells: result and verdict and what explains them, all of it, or what was asked for by
//! name.

mod common;

use common::alight;
use predicates::str::contains;
use serde_json::Value;

const LOAD: [&str; 4] = ["-m", "juno-r0", "-w", "hackbench -g 1 -l 20"];
const BOTH: [&str; 4] = ["--runs", "4", "linux-5.5", "+asym-capacity"];

fn stdout(args: &[&[&str]]) -> String {
    let output = alight(&args.concat()).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

#[test]
fn a_comparison_tells_what_a_person_reads_and_all_if_asked() {
    let short = stdout(&[&["compare"], &LOAD, &BOTH]);
    let place = |what: &str| {
        short
            .find(what)
            .unwrap_or_else(|| panic!("no {what} in\n{short}"))
    };
    assert!(place("elapsed_s, lower is better") < place("why +asym-capacity"));
    assert!(place("why +asym-capacity") < place("--full"));
    assert!(short.lines().count() <= 40, "{short}");
    let full = stdout(&[&["compare"], &LOAD, &BOTH, &["--full"]]);
    for name in ["idle_residency_wfi_percent", "99%", "their meanings"] {
        assert!(full.contains(name), "no {name} in\n{full}");
        assert!(!short.contains(name), "{name} in\n{short}");
    }
    // What is told does not change what was measured.
    let json = |more: &[&str]| stdout(&[&["compare"], &LOAD, &BOTH, &["--json"], more]);
    assert_eq!(json(&[]), json(&["--full"]));
}

#[test]
fn six_schedulers_fit_some_screens() {
    let six = [
        "--runs",
        "2",
        "linux-6.5",
        "bias-prev",
        "bias-prev:spare=128",
        "bias-prev:spare=0",
        "pack",
        "linux-7.2",
    ];
    let short = stdout(&[&["compare"], &LOAD, &six]);
    assert!(short.lines().count() <= 100, "{short}");
}

#[test]
fn numbers_are_told_by_name_in_every_style() {
    let names = ["--metric", "run_delay*", "elapsed_s"];
    let compare = |more: &[&str]| stdout(&[&["compare"], &LOAD, &BOTH, &names, more]);
    for style in ["table", "markdown", "csv", "json", "mmtests", "lkp"] {
        let text = compare(&["--style", style]);
        for name in ["elapsed_s", "run_delay_mean_us", "run_delay_p99_us"] {
            assert!(text.contains(name), "{style}: no {name} in\n{text}");
        }
        assert!(!text.contains("energy_j"), "{style}: {text}");
    }
    let document: Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    let metrics = document["variants"][1]["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), 3);

    let simulate = stdout(&[&["simulate"], &LOAD, &["linux-6.5"], &names]);
    assert!(simulate.contains("run_delay_p99_us"), "{simulate}");
    assert!(!simulate.contains("energy_j"), "{simulate}");

    let quick = ["-m", "ca9x4", "-w", "spare-time", "--runs", "2"];
    let energy = ["--metric", "energy*"];
    let card = stdout(&[&["card", "bias-prev"], &quick, &["--style", "csv"], &energy]);
    assert_eq!(card.lines().count(), 2, "{card}");
}

#[test]
fn a_run_tells_what_says_most_and_all_if_asked() {
    let short = stdout(&[&["simulate"], &LOAD, &["linux-6.5"]]);
    let full = stdout(&[&["simulate"], &LOAD, &["linux-6.5", "--full"]]);
    for name in [
        "elapsed_s",
        "energy_j",
        "run_delay_p99_us",
        "context_switches",
    ] {
        assert!(short.contains(name), "no {name} in\n{short}");
    }
    assert!(short.lines().count() <= 36, "{short}");
    assert!(full.lines().count() > 45, "{full}");
    assert!(
        short.ends_with("--metric 'run_delay*' shows numbers by name.\n"),
        "{short}"
    );
}

/// A row for each scheduler, number and run.
#[test]
fn samples_are_rows() {
    let named = [
        "--style",
        "csv",
        "--samples",
        "--metric",
        "elapsed_s",
        "energy_j",
    ];
    let rows = stdout(&[&["compare"], &LOAD, &BOTH, &named]);
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).expect(name);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2 * 2 * 4);
    let json = stdout(&[&["compare"], &LOAD, &BOTH, &["--json"]]);
    let document: Value = serde_json::from_str(&json).unwrap();
    for row in &rows {
        let variants = document["variants"].as_array().unwrap();
        let mut variants = variants.iter();
        let variant = variants.find(|one| one["scheduler"] == row[at("scheduler")]);
        let seed: usize = row[at("seed")].parse().unwrap();
        let samples = &variant.unwrap()["metrics"][&row[at("metric")]]["samples"];
        let value: f64 = row[at("value")].parse().unwrap();
        let expected = samples[seed - 1].as_f64().unwrap();
        // `serde_json` reads all digits but the last.
        assert!((value / expected - 1.0).abs() < 1e-12, "{row:?}");
    }
}

#[test]
fn what_cannot_be_told_is_refused() {
    let small = [&["compare"], &LOAD[..], &BOTH].concat();
    let one = [&["simulate"], &LOAD[..]].concat();
    for (words, more, says) in [
        (
            &small,
            &["--metric", "run_dealy*"][..],
            "--metric 'run_dealy*': this run has no such number; the nearest: run_delay_",
        ),
        (&one, &["--metric", "elapsed"], "the nearest: elapsed_s"),
        (&one, &["--metric", "a[b"], "--metric 'a[b'"),
        (
            &one,
            &["--metric", "elapsed_s", "linux-6.5"],
            "this is a scheduler; name schedulers before --metric",
        ),
        (&small, &["--samples"], "--samples needs --style csv"),
        (
            &small,
            &["--full", "--metric", "elapsed_s"],
            "cannot be used with",
        ),
    ] {
        let assert = alight(&[words, more].concat()).assert();
        assert.code(2).stdout("").stderr(contains(says));
    }
    alight(&["card", "bias-prev", "--quick", "--metric", "enregy_j"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("the nearest: energy_j"));
}
