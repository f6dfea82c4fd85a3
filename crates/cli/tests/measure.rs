// SPDX-License-Identifier: GPL-2.0-only
//! `alight machine measure` from outside, in its shortest form: what it writes and says, not what the
//! figures are, since the machine that tests run on is busy.

mod common;
#[path = "common/interrupt.rs"]
mod interrupt;

use std::fs;
use std::path::Path;

use common::alight;
use predicates::str::contains;

#[test]
fn a_measured_machine_passes_its_check_and_names_what_was_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let file = file.to_str().unwrap();
    alight(&["machine", "measure", "--rounds", "1", "-o", file])
        .assert()
        .success()
        .stdout(contains(
            "Measured in 1 round: median, least to largest round",
        ))
        .stdout(contains("switch_ns"))
        .stdout(contains(
            "Not measured; the file has what was assumed or read:",
        ))
        .stdout(contains("newidle_cpu_ns"));
    alight(&["machine", "check", file]).assert().success();
    let shown = alight(&["machine", "show", file]).assert().success();
    shown.stdout(contains(
        "`alight machine measure` on this machine: median of 1 round;",
    ));
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("spread = ["), "{text}");
}

#[test]
fn without_a_file_the_machine_is_on_standard_output_and_the_rest_aside() {
    let output = alight(&["machine", "measure", "--rounds", "1"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("schema = \"alight.machine/1\""), "{text}");
    let aside = String::from_utf8(output.stderr).unwrap();
    assert!(aside.contains("Measured in 1 round"), "{aside}");
}

#[test]
fn an_interrupted_measurement_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let arguments = [
        "machine",
        "measure",
        "--rounds",
        "99",
        "-o",
        file.to_str().unwrap(),
    ];
    let output = interrupt::interrupted(&arguments, 2000);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("what was changed for the measurement is as before"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_copied_tree_cannot_be_measured() {
    alight(&["machine", "measure"])
        .env("ROOT_PREFIX", "/tmp")
        .assert()
        .code(2)
        .stderr(contains(
            "only the machine that this program runs on can be measured",
        ));
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_the_measurement() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["/nowhere/mine.toml", folder.path().to_str().unwrap()] {
        alight(&["machine", "measure", "-o", file])
            .assert()
            .code(1)
            .stdout("")
            .stderr(contains(format!("writing {file}: ")));
    }
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn rounds_are_one_or_more() {
    alight(&["machine", "measure", "--rounds", "0"])
        .assert()
        .code(2)
        .stderr(contains("1..=99"));
}
