// SPDX-License-Identifier: GPL-2.0-only

use alight_sim::Scenario;

use super::*;
use crate::synthetic::{noise, run, spare, sweep};

fn answer(objectives: &str) -> Answer {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep(&format!(
        "base = \"linux-6.5\"\nschedulers = [\"bias-prev:spare=0..512 step 128\"]\nruns = 4\n\
         constraints = [\"y <= 1450\"]\nobjectives = {objectives}"
    ));
    let truth = |scenario: &Scenario<'_>| {
        1000.0 + f64::from(spare(scenario).unwrap_or(0)) + 9.0 * noise(scenario, 3)
    };
    let store = run(&sweep, &folder.path().join("s"), &truth).expect("a store");
    Answer::of(&store).expect("an answer")
}

#[test]
fn every_setting_is_drawn_for_each_pair_of_objectives() {
    let three = "{ y = \"minimise\", events = \"maximise\", energy_j = \"minimise\" }";
    let answer = answer(three);
    let svg = draw(&answer).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for label in ["base", "0", "128", "256", "384", "512"] {
        let found = svg.matches(&format!("\n{label}\n")).count();
        assert!(found >= 2, "{label}: {found}\n{svg}");
    }
    for axis in ["y, % from linux-6.5", "events, % from", "energy_j, % from"] {
        assert!(svg.contains(axis), "{axis}");
    }
    assert_eq!(
        svg,
        draw(&answer).expect("a picture"),
        "the same answer, the same bytes"
    );
}

#[test]
fn one_objective_has_no_front() {
    let error = draw(&answer("{ y = \"minimise\" }"))
        .expect_err("no front")
        .to_string();
    assert!(
        error.contains("needs two objectives or more, and the sweep has 1"),
        "{error}"
    );
}
