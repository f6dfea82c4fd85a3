// SPDX-License-Identifier: GPL-2.0-only

use alight_compare::fake;
use alight_sim::Scenario;

use super::super::Length;
use super::*;
use crate::parse;

/// A hog on a big CPU, and a small task on a little one; the second variant makes a second picture.
const STUDY: &str = r#"schema = "alight.study/1"
name = "mine"
title = "a hog and a small task"
publication = "nowhere"
machine = "juno-r2"
schedulers = ["linux-6.5", "linux-6.5+uclamp-sum", "linux-6.5+uclamp-sum=bias"]
runs = 1
short_runs = 1

[[case]]
workloads = ['{ "tasks": { "hog": { "cpus": [4], "run": 5000 }, "small": { "cpus": [0], "run": 100, "timer": { "ref": "tick", "period": 10000 } } }, "global": { "duration": 1 } }']
governor = "schedutil"
picture_ms = [100, 600]

[[row]]
metric = "hog_loops"
"#;

fn drawn() -> Vec<Picture> {
    let study = parse("mine.toml", STUDY).expect("valid");
    let machine = alight_machine::load("juno-r2").expect("built in").machine;
    let ask = StudyQuestion {
        scenario: Scenario::new(&machine, &[], &study.schedulers[0]),
        trust: fake::trust(),
        length: Length::Full,
        runs: None,
        command: String::new(),
    };
    pictures(&study, &ask, &AtomicBool::new(false)).expect("drawn")
}

#[test]
fn a_picture_shows_both_schedulers_with_units_and_keys() {
    let all = drawn();
    let files: Vec<&str> = all.iter().map(|picture| picture.file.as_str()).collect();
    assert_eq!(
        files,
        ["mine-uclamp-sum.svg", "mine-uclamp-sum-form-bias.svg"]
    );
    assert_eq!(drawn(), all, "the same bytes each time");
    let text = &all[0].text;
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
    let times = |what: &str| text.lines().filter(|line| line.trim() == what).count();
    for (what, expected) in [
        ("a hog and a small task", 1),
        ("juno-r2, seed 1", 1),
        ("linux-6.5", 1),
        ("linux-6.5+uclamp-sum", 1),
        ("frequency, MHz", 2),
        ("util_avg, of 1024", 2),
        ("simulated time, s", 2),
        ("CPU 5", 2),
        ("hog", 2),
        ("small", 2),
        ("idle", 2),
        ("WFI", 2),
    ] {
        assert_eq!(times(what), expected, "{what}");
    }
}
