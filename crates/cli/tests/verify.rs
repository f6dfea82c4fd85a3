// SPDX-License-Identifier: GPL-2.0-only
//! `alight verify`: exit code 0 for equal, 2 for what is no recording or not a whole one.

mod common;

use std::fs;
use std::path::Path;

use common::alight;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, is_match};
use tempfile::tempdir;

const RECORDING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../verify/tests/data/pelt-amd64-6.1.alight"
);

const WORKLOAD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../behaviour/tests/recordings/workload-cyclictest-four-7.2.alight"
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

/// A recording of a workload whose header was changed.
fn with_header(file: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let bytes = fs::read(WORKLOAD).unwrap();
    let lines: Vec<&[u8]> = bytes.splitn(3, |&byte| byte == b'\n').collect();
    let mut header = serde_json::from_slice(lines[1]).unwrap();
    change(&mut header);
    let header = serde_json::to_vec(&header).unwrap();
    fs::write(file, [lines[0], &header, lines[2]].join(&b'\n')).unwrap();
}

#[test]
fn what_is_no_recording_of_a_workload_is_refused_with_what_to_do() {
    let folder = tempdir().unwrap();
    let whole = fs::read(WORKLOAD).unwrap();
    let makes = "not 'alight.recording/1'; `alight record` makes one, `alight import` makes one \
                 of a trace";
    let again = "record or copy it again";
    let foreign: [(&str, &[u8], &str); 7] = [
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", makes),
        ("a.gz", b"\x1f\x8b\x08\0\0\0\0", makes),
        ("a.elf", b"\x7fELF\x02\x01", makes),
        ("a.json", b"{\"a\": 1}\n", makes),
        ("a.txt", b"some text\n", makes),
        ("empty", b"", again),
        ("short", &whole[..whole.len() / 2], again),
    ];
    for (name, content, _) in foreign {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let header = |name: &str, key: &str, value: serde_json::Value| {
        with_header(&folder.path().join(name), |header| header[key] = value);
    };
    header("unknown", "kernel", "custom".into());
    header("old", "kernel", "2.6.32".into());
    header("alone", "facts", serde_json::json!({}));
    fs::create_dir(folder.path().join("folder")).unwrap();
    fs::copy(RECORDING, folder.path().join("pelt")).unwrap();
    let others = [
        (
            "unknown",
            "is of the kernel custom; no base models its fair class: name a base with --scheduler",
        ),
        (
            "old",
            "is of the kernel 2.6.32; no base models its fair class: name a base with --scheduler",
        ),
        (
            "alone",
            "does not hold the machine that was recorded: name it with -m",
        ),
        ("folder", "cannot be read: Is a directory"),
        ("nowhere", "cannot be read: No such file"),
        (
            "pelt",
            "holds pelt.event/1, not a workload: make one with `alight record workload`",
        ),
    ];
    let foreign = foreign.iter().map(|(name, _, says)| (*name, *says));
    for (name, says) in foreign.chain(others) {
        let file = folder.path().join(name);
        alight(&["verify", "workload", file.to_str().unwrap()])
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(format!("{}: ", file.display())).and(contains(says)))
            .stderr(is_match("^[^\n]*\n$").unwrap());
    }
}

#[test]
fn another_machine_than_the_recorded_one_is_refused() {
    for (machine, says) in [
        (
            "juno-r0",
            "was recorded on 4 CPUs; the machine 'juno-r0' has 6: name the recorded one",
        ),
        ("mine", "unknown machine `mine`"),
        ("mine", "a recording's ends in `.alight`"),
        ("nowhere.toml", "nowhere.toml"),
        ("nowhere.alight", "nowhere.alight: cannot be read"),
    ] {
        alight(&["verify", "workload", "--no-write", WORKLOAD, "-m", machine])
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(says));
    }
}

/// What a run of the model recorded is replayed without a word of its machine.
#[test]
fn a_recording_of_the_model_holds_its_machine() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let head = "schema = \"alight.machine/1\"\n";
    fs::write(path("base.toml"), format!("{head}inherits = \"ca9x4\"\n")).unwrap();
    let mine = format!("{head}inherits = \"base.toml\"\nname = \"mine\"\n");
    fs::write(path("mine.toml"), mine).unwrap();
    let (machine, file) = (path("mine.toml"), path("run.alight"));
    let workload = "cyclictest -a -t 2 -q -D 1";
    alight(&[
        "simulate",
        "-m",
        &machine,
        "-w",
        workload,
        "linux-6.1",
        "--trace",
        &file,
    ])
    .assert()
    .success();
    // The file needs no other one.
    fs::remove_file(path("base.toml")).unwrap();
    fs::remove_file(&machine).unwrap();
    let run = alight(&["simulate", "-w", &file, "linux-6.1"])
        .assert()
        .success();
    run.stdout(contains("machine    mine"));
    alight(&["verify", "workload", &file]).assert().success();
    alight(&["simulate", "-w", "hackbench -g 1 -l 1"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(
            "no machine: add -m with a name of `alight machine list`",
        ));
}

#[test]
fn reports_become_a_page() {
    let folder = tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let kernel = folder.path().join("amd64-6.1-cloud");
    fs::create_dir(&kernel).unwrap();
    let json = alight(&["verify", "pelt", RECORDING, "--json"]).assert();
    fs::write(kernel.join("a.json"), &json.get_output().stdout).unwrap();
    fs::write(kernel.join("model"), "commit 123 of 2026-01-01\n").unwrap();
    alight(&["verify", "report", path])
        .assert()
        .code(0)
        .stdout(contains("| amd64-6.1-cloud | 6.1.0-"))
        .stdout(contains("| commit 123 of 2026-01-01 |"))
        .stdout(contains("## Decisions\n\nNot run."));
    alight(&["verify", "report", path, "--quantities"])
        .assert()
        .code(0)
        .stdout(contains("# Behaviour, each quantity"));
    alight(&["verify", "report", "nowhere"])
        .assert()
        .code(2)
        .stderr(contains("nowhere: "));
}

/// A recording without a machine is first of all no workload.
#[test]
fn a_recording_of_load_tracking_is_no_workload() {
    let says = "holds pelt.event/1, not a workload: make one with `alight record workload`";
    alight(&["simulate", "-w", RECORDING, "linux-6.1"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains(says));
}
