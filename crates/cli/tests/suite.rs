// SPDX-License-Identifier: GPL-2.0-only
//! `alight suite`: verdicts with their figures, exit code 1 for a failing scenario.

mod common;

use assert_cmd::cargo::CommandCargoExt;
use common::alight;
use predicates::str::contains;
use std::process::Stdio;

#[test]
fn scenarios_are_listed_with_their_thresholds() {
    let assert = alight(&["suite", "list"]).assert().code(0);
    assert
        .stdout(contains("OneSmallTask"))
        .stdout(contains("at most 5 %"))
        .stdout(contains("HotplugTorture"));
}

#[test]
fn a_scenario_shows_its_tasks_on_a_machine() {
    alight(&["suite", "show", "TwoBigTasks", "-m", "juno-r0"])
        .assert()
        .code(0)
        .stdout(contains("because few CPUs fit a big task"))
        .stdout(contains("first idle state only"))
        .stdout(contains("62 x 6.969 ms of work each 16 ms"));
}

#[test]
fn a_verdict_has_its_figures() {
    alight(&["suite", "run", "OneSmallTask"])
        .assert()
        .code(0)
        .stdout(contains("PASS      OneSmallTask"))
        .stdout(contains("task_placement 0 %, at most 5 %"));
    alight(&["suite", "run", "OneSmallTask", "--json"])
        .assert()
        .code(0)
        .stdout(contains(r#""scheduler": "linux-6.5""#))
        .stdout(contains(r#""verdict": "PASS""#))
        .stdout(contains(r#""test": "task_placement""#));
}

#[test]
fn more_than_one_machine_or_base_makes_a_table() {
    let bases = ["--base", "linux-6.5", "--base", "linux-7.2"];
    alight(&[&["suite", "run", "PELTTask", "UtilConvergence"], &bases[..]].concat())
        .assert()
        .code(0)
        .stdout(contains("UtilConvergence            PASS      PASS\n"));
}

#[test]
fn what_cannot_be_judged_says_why() {
    alight(&["suite", "run", "TwoBigTasks", "-m", "epyc-9654-2s"])
        .assert()
        .code(0)
        .stdout(contains("UNDECIDED TwoBigTasks"))
        .stdout(contains("all CPUs have one capacity"));
}

/// A placement that costs too much fails, now and when it is judged later.
#[test]
fn a_saved_run_is_judged_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let path = file.to_str().unwrap();
    alight(&["suite", "run", "OneSmallTask", "-o", path])
        .assert()
        .code(0);
    let judge = ["suite", "judge", path];
    alight(&judge).assert().code(0).stdout(contains("PASS"));
    let text = std::fs::read_to_string(&file).unwrap();
    // The same run with every activation late.
    let at = text.find("\"late\":").unwrap() + "\"late\":".len();
    let end = at + text[at..].find([',', '}']).unwrap();
    let late = format!("{}60{}", &text[..at], &text[end..]);
    std::fs::write(&file, late).unwrap();
    alight(&judge)
        .assert()
        .code(1)
        .stdout(contains("FAIL      OneSmallTask"))
        .stdout(contains("FAILS"))
        .stderr(contains("FAIL: 1 of "));
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    alight(&judge).assert().code(2).stderr(contains("run.json"));
    alight(&["suite", "judge", "/nowhere.json"])
        .assert()
        .code(2);
}

#[test]
fn unknown_scenarios_are_refused_with_the_nearest_names() {
    alight(&["suite", "run", "TwoBigTask"])
        .assert()
        .code(2)
        .stderr(contains(
            "no scenario 'TwoBigTask'; the nearest: TwoBigTasks",
        ));
}

#[test]
fn without_a_name_the_way_to_all_is_told() {
    alight(&["suite", "run"])
        .assert()
        .code(2)
        .stderr(contains("--all"))
        .stderr(contains("alight suite list"));
}

/// Ctrl-C ends with what is complete: its verdicts, how many of how many, and no file.
#[test]
fn ctrl_c_judges_what_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let mut child = std::process::Command::cargo_bin("alight")
        .unwrap()
        .args(["suite", "run", "--all", "-o"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(
        child.try_wait().unwrap().is_none(),
        "all of it takes longer"
    );
    let kill = ["-INT", &child.id().to_string()];
    let mut kill = std::process::Command::new("kill")
        .args(kill)
        .spawn()
        .unwrap();
    assert!(kill.wait().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let (table, messages) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(130), "{messages}");
    assert!(table.contains("OneSmallTask"), "{table}");
    let words = [
        "interrupted: ",
        " scenarios are complete",
        "no file is written",
    ];
    for word in words {
        assert!(messages.contains(word), "{messages}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
