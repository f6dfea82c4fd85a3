// SPDX-License-Identifier: GPL-2.0-only
//! `alight verify`: exit code 0 for equal, 2 for what is no recording or not a whole one.

mod common;

use std::fs;

use common::alight;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tempfile::tempdir;

const RECORDING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../verify/tests/data/pelt-amd64-6.1.alight"
);

#[test]
fn an_equal_recording_is_exit_code_0() {
    let assert = alight(&["verify", "pelt", RECORDING]).assert().code(0);
    assert.stdout(contains("kernel 6.1.0-")).stderr("");
    let json = alight(&["verify", "pelt", RECORDING, "--json"])
        .assert()
        .code(0);
    json.stdout(contains(r#""schema": "alight.verify-pelt/1""#));
}

#[test]
fn a_recording_cut_short_is_reported_and_refused() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("short.alight");
    let whole = fs::read(RECORDING).unwrap();
    fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    alight(&["verify", "pelt", file.to_str().unwrap()])
        .assert()
        .code(2)
        .stdout(contains("__update_load_avg_se"))
        .stderr(contains("short.alight: is cut short after"));
}

#[test]
fn other_files_are_refused() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, "text\n").unwrap();
    alight(&["verify", "pelt", file.to_str().unwrap()])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("is not a recording: its first line is"));
    alight(&["verify", "pelt", "nowhere"])
        .assert()
        .code(2)
        .stderr(contains("nowhere: cannot be read"));
}

#[test]
fn reports_become_a_page() {
    let folder = tempdir().unwrap();
    let json = alight(&["verify", "pelt", RECORDING, "--json"]).assert();
    fs::write(folder.path().join("a.json"), &json.get_output().stdout).unwrap();
    alight(&["verify", "report", folder.path().to_str().unwrap()])
        .assert()
        .code(0)
        .stdout(contains("| 6.1.0-"))
        .stdout(contains("The model is that of").not())
        .stdout(contains("## Decisions\n\nNot run."));
    let of = ["--of", "commit 123 of 2026-01-01"];
    alight(
        &[
            &["verify", "report", folder.path().to_str().unwrap()],
            &of[..],
        ]
        .concat(),
    )
    .assert()
    .code(0)
    .stdout(contains(
        "\nThe model is that of commit 123 of 2026-01-01. ",
    ));
    alight(&["verify", "report", "nowhere"])
        .assert()
        .code(2)
        .stderr(contains("nowhere: "));
}
