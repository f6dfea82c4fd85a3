// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare --picture`: the first run of each scheduler, drawn over simulated time.

mod common;
#[path = "common/question.rs"]
mod question;

use std::fs;

use common::alight;
use predicates::str::contains;
use question::QUESTION;
use tempfile::tempdir;

#[test]
fn a_picture_shows_all_schedulers_and_is_the_same_each_time() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("two.svg");
    let drawn = |more: &[&str]| {
        let output = alight(&QUESTION)
            .arg("bias-prev")
            .arg("--picture")
            .arg(&file)
            .args(more)
            .assert()
            .success();
        let printed = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(
            printed.ends_with(&format!("picture  {}\n", file.display())),
            "{printed}"
        );
        let answer = printed
            .lines()
            .find_map(|line| line.strip_prefix("answer  "))
            .unwrap()
            .to_owned();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("<svg"));
        assert!(text.contains(&answer), "the picture says '{answer}'");
        for name in [
            "linux-5.5",
            "linux-5.5+asym-capacity",
            "linux-5.5+bias-prev",
        ] {
            assert!(text.lines().any(|line| line == name), "{name}");
        }
        text
    };
    let whole = drawn(&[]);
    assert_eq!(whole, drawn(&["--jobs", "1"]));
    assert_ne!(whole, drawn(&["--picture-time", "1ms:2ms"]));
}

/// Nothing is simulated for what cannot be drawn, and no file is left.
#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = tempdir().unwrap();
    let svg = folder.path().join("two.svg");
    let png = folder.path().join("two.png");
    for (file, time, says) in [
        (&png, "0s:1ms", "name a file that ends in .svg"),
        (&svg, "1h:2h", "'h' is no unit"),
        (&svg, "1ms", "expected two times, like 1s:1.2s"),
        (
            &svg,
            "2ms:1ms",
            "the second time must be later than the first",
        ),
        (&svg, "1min:2min", "begin earlier"),
    ] {
        alight(&QUESTION)
            .arg("--picture")
            .arg(file)
            .args(["--picture-time", time])
            .assert()
            .code(2)
            .stderr(contains(says));
        assert!(!file.exists(), "{time}");
    }
}
