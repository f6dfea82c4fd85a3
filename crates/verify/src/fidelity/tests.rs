// SPDX-License-Identifier: GPL-2.0-only

use super::*;

const PELT: &str = r#"{"schema": "alight.verify-pelt/1", "kernel": "7.2.13", "arch": "x86_64",
        "base": "linux-7.2", "updates": 12, "averages": 5, "lost": 1, "allowed": 1,
        "seen_by_half": {"pelt_se_tp": 2, "remove_entity_load_avg": 1},
        "checks": {"update_rq_clock": {"equal": 3, "different": 0},
                   "attach_entity_load_avg": {"equal": 4, "different": 2}},
        "gaps": {"unseen": {"nobody": 7}}}"#;
const DECISIONS: &str = r#"{"schema": "alight.verify-decisions/1", "kernel": "6.1.0",
        "arch": "x86_64", "scheduler": "linux-6.1", "decisions": 1000, "equal": 999, "equal_at_either": 1000,
        "calm": 992, "calm_equal": 992, "lost": 0, "steps": {"prev_idle": {"decisions": 1000, "equal": 999}},
        "causes": {"race_exit": 1}, "missing_rules": {}, "agrees": true}"#;
const SHORT: &str =
    r#"{"schema": "alight.verify-decisions/1", "agrees": false, "whole": false, "exits": false}"#;
const BEHAVIOUR: &str = r#"{"schema": "alight.verify-behaviour/1", "kernel": "7.2.13", "arch": "x86_64", "base": "linux-7.2",
        "workloads": [{"workload": "hackbench -g 1", "quantities": [
            {"name": "switches", "unit": "", "kernel": 100.0, "model": 150.0, "tolerance": "10 %", "verdict": "disagree"},
            {"name": "run_delay_p50", "unit": "us", "kernel": 3.25, "model": null, "tolerance": "20 %", "verdict": "not_measured"}]}]}"#;

/// A directory with these files in it, of the kernel `k-7.2`.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let kernel = directory.path().join("k-7.2");
    std::fs::create_dir(&kernel).unwrap();
    for (name, content) in files {
        std::fs::write(kernel.join(name), content).unwrap();
    }
    directory
}

#[test]
fn disagreements_come_first_with_their_figures() {
    let directory = directory(&[
        ("a.json", PELT),
        ("b-flat.json", DECISIONS),
        ("d-behaviour.json", BEHAVIOUR),
        ("e.json", SHORT),
        ("f.json", ""),
        ("c.alight", ""),
        ("model", "commit 1ff1833 of 2026-11-21\n"),
    ]);
    let page = page(directory.path()).unwrap();
    for line in [
        "| k-7.2 | 7.2.13 x86_64 | linux-7.2 | 2 of 9 | 100.000 % | 0 | 1 | 0 | commit 1ff1833 of 2026-11-21 |",
        "- a, load tracking: 2 results of `attach_entity_load_avg` differ",
        "- a, load tracking: 7 states were changed unseen (nobody)",
        "- a: the recorder lost 1 events",
        "- a: the recorder saw one end only of 3 calls; they are not compared",
        "- **a: the recorder missed too many events: at most 1 are allowed**",
        "- b-flat, decisions: 1 of 1000 differ from the state at the entry: 1 `race_exit`",
        "- e was recorded without the states at the exit: nearly all its causes are `race`",
        "- d-behaviour, hackbench -g 1: switches: the kernel 100, the model 150 (agree within 10 %)",
        "- **f: no report; the output of the run says what failed**",
        "- e: the recording is not whole; the report covers its beginning",
        "- **e, decisions: fewer than 99.9 % equal the kernel's**",
        "| 7.2.13 x86_64 | linux-7.2 | 12 | 5 | 7 | 2 | 1 |",
        "| b-flat | 6.1.0 x86_64 | linux-6.1 | 1000 | 999 | 99.900 % | 1000 | 100.000 % | 992 | 992 | 100.000 % | 0 |",
        "| b-flat | prev_idle 1000 (**1**) |",
    ] {
        assert!(page.lines().any(|l| l == line), "no '{line}' in\n{page}");
    }
    assert!(page.find("## Disagreements") < page.find("## Load tracking"));
}

#[test]
fn a_page_has_each_quantity_that_was_measured() {
    let directory = directory(&[("k-7.2-one-behaviour.json", BEHAVIOUR)]);
    let page = quantities(directory.path()).unwrap();
    for line in [
        "## k-7.2-one",
        "7.2.13 x86_64, held against `linux-7.2`.",
        "### `hackbench -g 1`",
        "| switches | 100 | 150 | 10 % | disagree |",
    ] {
        assert!(page.lines().any(|l| l == line), "no '{line}' in\n{page}");
    }
    assert!(!page.contains("run_delay_p50"), "{page}");
}

#[test]
fn each_kernel_has_what_was_found_of_it_alone() {
    let both = directory(&[("a.json", PELT)]);
    let other = both.path().join("k-6.1");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("b-flat.json"), DECISIONS).unwrap();
    let page = page(both.path()).unwrap();
    for line in [
        "| k-6.1 | 6.1.0 x86_64 | linux-6.1 | - | 100.000 % | - | - | - | not said |",
        "| k-7.2 | 7.2.13 x86_64 | linux-7.2 | 2 of 9 | - | - | - | - | not said |",
    ] {
        assert!(page.lines().any(|l| l == line), "no '{line}' in\n{page}");
    }
}

#[test]
fn what_is_left_out_is_what_the_page_on_the_model_says() {
    let table = "text\n| mechanism | modelled | left out |\n|---|---|---|\n\
                     | idle | menu | teo |\n| energy | cores | heat |\n\n| a | b | c |";
    let found: Vec<_> = rows(table).collect();
    assert_eq!(found, [("idle", "teo"), ("energy", "heat")]);
    assert!(
        rows(MODEL).count() > 5,
        "the table of docs/explanation/model.md"
    );
    assert!(left_out().contains("| placement | "));
}

#[test]
fn what_is_no_report_is_refused_by_name() {
    for (content, expected) in [
        ("{", "EOF while parsing"),
        (
            r#"{"schema": "alight.compare/1"}"#,
            "its schema is 'alight.compare/1'",
        ),
        ("{}", "it names no schema"),
    ] {
        let directory = directory(&[("x.json", content)]);
        let error = page(directory.path()).unwrap_err().to_string();
        assert!(
            error.contains("x.json") && error.contains(expected),
            "{error}"
        );
    }
    let empty = directory(&[]);
    assert!(matches!(page(empty.path()), Err(NoFidelityPage::Empty(_))));
    assert!(matches!(
        page(Path::new("/nonexistent")),
        Err(NoFidelityPage::Read { .. })
    ));
}
