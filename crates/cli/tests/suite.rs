// SPDX-License-Identifier: GPL-2.0-only
//! `alight suite`: verdicts with their figures, exit code 1 for a failing scenario.

mod common;

use common::alight;
use predicates::str::contains;

#[test]
fn scenarios_are_listed_with_their_thresholds() {
    let assert = alight(&["suite", "list"]).assert().code(0);
    assert
        .stdout(contains("OneSmallTask"))
        .stdout(contains("energy within 5 %"));
}

#[test]
fn a_verdict_has_its_figures() {
    alight(&["suite", "run", "OneSmallTask"])
        .assert()
        .code(0)
        .stdout(contains(
            "juno-r0, linux-6.5, seed 1\nPASS      OneSmallTask",
        ))
        .stdout(contains("of the optimum (allowed 1.05)"));
    alight(&["suite", "run", "OneSmallTask", "--json"])
        .assert()
        .code(0)
        .stdout(contains(r#""scheduler": "linux-6.5""#))
        .stdout(contains(r#""verdict": "PASS""#));
}

#[test]
fn what_cannot_be_judged_says_why() {
    alight(&["suite", "run", "TwoBigTasks", "-m", "epyc-9654-2s"])
        .assert()
        .code(0)
        .stdout(contains("UNDECIDED TwoBigTasks"));
}

#[test]
fn unknown_scenarios_are_refused_with_the_nearest_names() {
    alight(&["suite", "run", "TwoBigTask"])
        .assert()
        .code(2)
        .stderr(contains(
            "no scenario 'TwoBigTask'; the nearest first: TwoBigTasks",
        ));
    alight(&["suite", "run"]).assert().code(2);
}
