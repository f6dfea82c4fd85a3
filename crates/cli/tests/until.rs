// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare --until`: runs end when the difference is known.

mod common;

use common::alight;
use predicates::prelude::*;
use serde_json::Value;

const QUESTION: [&str; 7] = [
    "compare",
    "-m",
    "juno-r0",
    "-w",
    "hackbench -g 1 -l 20",
    "linux-5.5",
    "+asym-capacity",
];

/// What is printed with these options behind the question.
fn printed(options: &[&str]) -> String {
    let output = alight(&[&QUESTION, options].concat()).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

fn document(options: &[&str]) -> Value {
    serde_json::from_str(&printed(&[options, &["--json"]].concat())).unwrap()
}

/// The row `until` of the report.
fn row(report: &str) -> &str {
    let found = report.lines().find_map(|line| line.strip_prefix("until "));
    found.expect("a row of --until").trim()
}

#[test]
fn it_stops_when_it_knows_and_says_how_many_runs_that_spared() {
    let ended = document(&["--until", "100%"]);
    let until = &ended["until"];
    let runs = until["runs"].as_u64().unwrap();
    assert_eq!(until["known"], true);
    // The looks are at 5, 10, 20, 40 and 80 runs.
    assert!([5, 10, 20, 40].contains(&runs), "{until}");
    assert_eq!(until["most_runs"], 80);
    assert!(until["half_width_percent"].as_f64().unwrap() <= 100.0);
    let report = printed(&["--until", "100%"]);
    let says = format!("stopped at {runs} of at most 80 runs: half-width ");
    assert!(row(&report).starts_with(&says), "{report}");
    let command = ended["command"].as_str().unwrap();
    assert!(command.contains(" --runs 80 --until '100%' "), "{command}");
    // Runs that were made are those of a comparison without it.
    let whole = document(&["--runs", &runs.to_string()]);
    for at in 0..2 {
        let hash = |document: &Value| document["variants"][at]["hash"].clone();
        assert_eq!(hash(&whole), hash(&ended));
    }
}

#[test]
fn with_runs_these_are_the_most() {
    // Nothing is known so well after six runs of this load.
    let options = ["--until", "energy_j=0.000001%", "--runs", "6"];
    let until = &document(&options)["until"];
    assert_eq!(
        (&until["known"], &until["runs"]),
        (&false.into(), &6.into())
    );
    assert_eq!(until["metric"], "energy_j");
    let report = printed(&options);
    let found = row(&report);
    assert!(
        found.starts_with("6 of at most 6 runs: half-width "),
        "{found}"
    );
    assert!(found.ends_with(" % was asked for"), "{found}");
}

#[test]
fn what_is_no_half_width_is_refused() {
    for (until, says) in [
        ("0%", "expected a half-width like 1%"),
        ("-1%", "expected a half-width like 1%"),
        ("101%", "expected a half-width like 1%"),
        ("NaN%", "expected a half-width like 1%"),
        ("1", "expected a half-width like 1%"),
        ("soon", "expected a half-width like 1%"),
        ("=1%", "expected a half-width like 1%"),
        ("", "expected a half-width like 1%"),
        ("elapsd_s=1%", "elapsed_s"),
    ] {
        let until = format!("--until={until}");
        alight(&[&QUESTION[..], &[&until, "--runs", "5"]].concat())
            .assert()
            .code(2)
            .stdout("")
            .stderr(predicate::str::contains(says));
    }
}
