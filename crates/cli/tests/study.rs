// SPDX-License-Identifier: GPL-2.0-only
//! `alight study` and `alight calibrate`: what is printed, and how they end.

mod common;
#[path = "common/interrupt.rs"]
mod interrupt;

use std::fs;
use std::thread;
use std::time::Duration;

use common::alight;
use interrupt::{interrupted, interrupted_after};
use predicates::str::contains;
use tempfile::tempdir;

#[test]
fn studies_are_listed_and_say_on_what_their_costs_stand() {
    alight(&["study", "list"])
        .assert()
        .code(0)
        .stdout(contains("juno-sysbench"))
        .stdout(contains("epyc-hackbench"));
    alight(&["study", "show", "juno-sysbench"])
        .assert()
        .code(0)
        .stdout(contains("before mean 10267.76, std 3110.44"))
        .stdout(contains("costs are fitted to it"));
}

#[test]
fn every_study_runs_in_short_with_the_tables_of_its_rows() {
    alight(&["study", "run", "--all", "--short"])
        .assert()
        .code(0)
        .stdout(contains("shortened loads and few runs"))
        .stdout(contains("applies to full runs only"));
}

#[test]
fn a_study_of_ones_own_is_run_by_its_file_and_fails_by_its_check() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = r#"schema = "alight.study/1"
name = "mine"
title = "a pipe"
publication = "nowhere"
machine = "juno-r0"
schedulers = ["linux-5.5", "linux-5.5+asym-capacity"]
runs = 2
short_runs = 1

[[case]]
workloads = ["perf bench sched pipe -l 20"]

[[row]]
metric = "elapsed_s"

[[check]]
says = "a pipe takes a year"
metric = "elapsed_s"
scheduler = "linux-5.5"
at_least = 31536000.0
"#;
    fs::write(&file, text).unwrap();
    alight(&["study", "run", file.to_str().unwrap()])
        .assert()
        .code(3)
        .stdout(contains("FAILED a pipe takes a year"))
        .stderr(contains("a required result did not come out: mine"));
    fs::write(&file, text.replace("elapsed_s", "elapsed")).unwrap();
    alight(&["study", "run", file.to_str().unwrap()])
        .assert()
        .code(3)
        .stdout(contains("no such number"));
    fs::write(&file, text.replace("juno-r0", "juno")).unwrap();
    alight(&["study", "run", file.to_str().unwrap()])
        .assert()
        .code(2)
        .stderr(contains("mine.toml:5:11: unknown machine `juno`"));
}

/// Base and variant are measured with loads of their own, and drawn above each other.
#[test]
fn a_picture_is_written_whole_and_the_same_each_time() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let text = r#"schema = "alight.study/1"
name = "mine"
title = "frames"
publication = "nowhere"
machine = "juno-r2"
schedulers = ["linux-6.5", "linux-6.5+uclamp-sum"]
runs = 2
short_runs = 1

[[case]]
workloads = ["frames --duration 1 --boost 512"]
governor = "schedutil"
picture_ms = [0, 500]

[[case.instead]]
scheduler = "linux-6.5+uclamp-sum"
workloads = ["frames --duration 1 --util-min 60 --background 0"]

[[row]]
metric = "power_big_mw"
"#;
    fs::write(&file, text).unwrap();
    let pictures = folder.path().join("pictures");
    let drawn = || {
        alight(&["study", "run", file.to_str().unwrap(), "--pictures"])
            .arg(&pictures)
            .assert()
            .code(0)
            .stdout(contains(
                "under linux-6.5+uclamp-sum: frames --duration 1 --util-min 60 --background 0",
            ))
            .stdout(contains("picture    "));
        let files = fs::read_dir(&pictures).unwrap();
        let files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["mine.svg"], "nothing half-written stays");
        fs::read(pictures.join("mine.svg")).unwrap()
    };
    let first = drawn();
    assert!(first.starts_with(b"<svg"));
    assert_eq!(first, drawn());
    for (from, to, says) in [
        (
            "[0, 500]",
            "[500, 500]",
            "the window from 500 to 500 ms is empty",
        ),
        (
            "scheduler = \"linux-6.5+uclamp-sum\"",
            "scheduler = \"linux-6.1\"",
            "`linux-6.1` is not among the study's schedulers",
        ),
    ] {
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        alight(&["study", "run", file.to_str().unwrap()])
            .assert()
            .code(2)
            .stderr(contains(says));
    }
}

#[test]
fn bad_input_is_refused() {
    alight(&["study", "run", "juno-sysbrench"])
        .assert()
        .code(2)
        .stderr(contains("did you mean `juno-sysbench`?"));
    alight(&["calibrate", "rk3588", "-o", "/dev/null"])
        .assert()
        .code(2)
        .stderr(contains("no row of a study calibrates rk3588"));
    alight(&["calibrate", "hikey620", "-o", "/dev/null"])
        .assert()
        .code(2)
        .stderr(contains("run `alight calibrate juno-r0`"));
    let folder = tempdir().unwrap();
    alight(&["calibrate", "juno-r0"])
        .current_dir(folder.path())
        .assert()
        .code(2)
        .stderr(contains(
            "run this in the source tree, or name the output file with -o",
        ));
}

#[test]
fn a_calibration_finds_before_it_begins_that_it_cannot_be_written() {
    let folder = tempdir().unwrap();
    let machines = folder.path().join("machines");
    fs::create_dir(&machines).unwrap();
    let edited = machines.join("juno-r0.toml");
    fs::write(&edited, "name = \"juno-r0\"\n").unwrap();
    alight(&["calibrate", "juno-r0"])
        .current_dir(folder.path())
        .assert()
        .code(2)
        .stderr(contains(
            "this file differs from the one that this program was built with",
        ));
    assert_eq!(fs::read_to_string(&edited).unwrap(), "name = \"juno-r0\"\n");
    alight(&["calibrate", "juno-r0", "-o", "/proc/juno-r0.toml"])
        .assert()
        .code(1)
        .stderr(contains("writing /proc/juno-r0.toml"));
}

#[test]
fn ctrl_c_leaves_no_half_of_a_calibration() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    interrupted(
        &["calibrate", "juno-r0", "-o", file.to_str().unwrap()],
        1000,
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The second one is told what the first one evaluated, and adds to it.
#[test]
fn an_interrupted_calibration_keeps_what_it_evaluated() {
    let folder = tempdir().unwrap();
    let [file, points] = ["mine.toml", "points"].map(|name| folder.path().join(name));
    let command = [
        "calibrate",
        "ca9x4",
        "-o",
        file.to_str().unwrap(),
        "--keep",
        points.to_str().unwrap(),
    ];
    let kept = || fs::read_to_string(&points).unwrap_or_default();
    let mut before = "alight.points/1 ca9x4 ".to_owned();
    for evaluated in [1, 2] {
        let output = interrupted_after(&command, || {
            while kept().lines().count() <= evaluated {
                thread::sleep(Duration::from_millis(50));
            }
        });
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("the same command goes on"), "{told}");
        let kept = kept();
        assert!(kept.starts_with(&before), "{kept} after {before}");
        before = kept;
    }
    assert!(!file.exists());
}

#[test]
fn the_first_run_of_each_scheduler_leaves_a_trace() {
    let folder = tempdir().unwrap();
    let traces = folder.path().join("traces");
    alight(&["study", "run", "hikey-preempt-idle", "--short", "--traces"])
        .arg(&traces)
        .assert()
        .code(0)
        .stdout(contains("trace      "));
    let mut files: Vec<_> = fs::read_dir(&traces)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "hikey-preempt-idle-linux-5-4-sched-idle.pftrace",
            "hikey-preempt-idle-linux-5-4.pftrace"
        ]
    );
}

/// What `alight study run` prints of a study of this text when ctrl-C comes a while after it began.
fn cut(text: &str, more: &[&str]) -> (String, String) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    fs::write(&file, text).unwrap();
    let run = ["study", "run", file.to_str().unwrap()];
    let output = interrupted(&[&run[..], more].concat(), 3000);
    let words = |bytes| String::from_utf8(bytes).unwrap();
    (words(output.stdout), words(output.stderr))
}

const LONG: &str = r#"schema = "alight.study/1"
name = "mine"
title = "messages"
publication = "nowhere"
machine = "juno-r0"
schedulers = ["linux-5.5", "linux-5.5+asym-capacity"]
runs = 1
short_runs = 1

[[case]]
workloads = ["hackbench -p -l 100000000"]

[[row]]
metric = "elapsed_s"
"#;

#[test]
fn ctrl_c_prints_what_the_one_run_of_a_study_did() {
    let (report, end) = cut(LONG, &["--jobs", "1"]);
    assert!(report.contains("context_switches"), "{report}");
    assert!(end.contains("those of the parts that ran"), "{end}");
}

#[test]
fn ctrl_c_in_the_sensitivity_prints_the_study() {
    let text = LONG.replace(
        "[\"hackbench -p -l 100000000\"]",
        "[\"hackbench -p -g 1 -l 1\"]\nsensitivity = [\"hackbench -p -l 100000000\"]",
    );
    let (report, end) = cut(&text, &["--sensitivity", "--jobs", "1"]);
    assert!(report.contains("elapsed_s"), "{report}");
    assert!(
        end.contains("except for the results with other parameters"),
        "{end}"
    );
}
