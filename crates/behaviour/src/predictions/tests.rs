// SPDX-License-Identifier: GPL-2.0-only

use std::fmt::Write;

use super::*;

/// A report with one quantity: what the kernels did, and what the replays did.
fn report([before, after]: [f64; 2], [model_before, model_after]: [f64; 2]) -> String {
    let check = |kernel: f64, model: f64| {
        format!(
            r#"{{"scheduler": "s", "groups": [], "quantities": [{{"name": "wakeups_per_s",
            "kernel": {kernel}, "model": {model}, "verdict": "disagree"}}]}}"#
        )
    };
    format!(
        r#"{{"self_check": {}, "predicted": [{}], "verdict":
        {{"standing": "not_usable", "reasons": ["why"], "cautions": [], "checked": []}}}}"#,
        check(before, model_before),
        check(after, model_after)
    )
}

fn of(before: &[f64], after: &[f64], model: [f64; 2]) -> Reports {
    let documents: Vec<Document> = (before.iter().zip(after))
        .map(|(&before, &after)| serde_json::from_str(&report([before, after], model)).unwrap())
        .collect();
    Reports::of(&documents, vec![])
}

const LOW: [f64; 5] = [9.0, 10.0, 10.0, 11.0, 12.0];
const HIGH: [f64; 5] = [19.0, 20.0, 20.0, 21.0, 22.0];

#[test]
fn a_difference_is_significant_if_the_recordings_do_not_meet() {
    for (what, before, after, significant) in [
        ("apart", &LOW[..], &HIGH[..], true),
        ("apart, the other way", &HIGH, &LOW, true),
        (
            "one among the others",
            &LOW,
            &[12.0, 20.0, 20.0, 21.0, 22.0],
            false,
        ),
        ("the same", &LOW, &LOW, false),
        ("too few", &LOW[..3], &HIGH[..3], false),
    ] {
        let found = of(before, after, [10.0, 20.0]).differences.len();
        assert_eq!(found == 1, significant, "{what}");
    }
}

#[test]
fn sign_and_size_are_those_of_the_replays_difference() {
    // Measured: +10. The replays may lie elsewhere: their difference counts.
    for (model, sign, size) in [
        ([10.0, 20.0], true, true),
        ([100.0, 110.0], true, true),
        ([10.0, 22.5], true, true),
        ([10.0, 22.6], true, false),
        ([10.0, 17.4], true, false),
        ([10.0, 10.0], false, false),
        ([10.0, 0.0], false, false),
    ] {
        let reports = of(&LOW, &HIGH, model);
        let difference = &reports.differences[0];
        assert_eq!(difference.measured(), 10.0);
        assert_eq!(difference.sign_right(), sign, "{model:?}");
        assert_eq!(difference.size_right(), size, "{model:?}");
    }
}

#[test]
fn a_difference_matters_beyond_the_tolerance_of_its_quantity() {
    for (quantity, before, after, matters) in [
        ("wakeups_per_s", 100.0, 109.0, false),
        ("wakeups_per_s", 100.0, 111.0, true),
        ("wakeup_latency_p50_us of small", 4.0, 6.9, false),
        ("wakeup_latency_p50_us of small", 4.0, 7.1, true),
        ("residency_percent_of_cpu_1", 90.0, 86.0, false),
        ("cpu_share_percent of hog", 50.0, 52.5, true),
        ("cpu_share_percent of hog", 50.0, 51.5, false),
    ] {
        let quantity = quantity.to_owned();
        let difference = Difference {
            quantity,
            before,
            after,
            predicted: 0.0,
        };
        assert_eq!(difference.matters(), matters, "{difference:?}");
    }
}

#[test]
fn the_figures_of_the_only_group_count_once() {
    let group = |name| {
        format!(
            r#"{{"name": "{name}", "quantities": [{{"name": "cpu_share_percent", "kernel": 1.0,
            "model": 1.0, "verdict": "agree"}}]}}"#
        )
    };
    for (groups, quantities) in [(vec![group("a")], 0), (vec![group("a"), group("b")], 2)] {
        let text = format!(r#"{{"quantities": [], "groups": [{}]}}"#, groups.join(", "));
        let check: CheckIn = serde_json::from_str(&text).unwrap();
        assert_eq!(check.count("agree"), quantities);
    }
}

#[test]
fn a_directory_of_reports_becomes_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let pair = directory.path().join("old..new");
    std::fs::create_dir(&pair).unwrap();
    for (run, (&before, &after)) in LOW.iter().zip(&HIGH).enumerate() {
        let text = report([before, after], [10.0, 20.0]);
        std::fs::write(pair.join(format!("pipes-{run}.json")), text).unwrap();
    }
    std::fs::write(pair.join("make-1.error"), "alight: no CPU\n").unwrap();
    let pairs = read(directory.path()).unwrap();
    assert_eq!(
        (pairs[0].from.as_str(), pairs[0].to.as_str()),
        ("old", "new")
    );
    let page = page(&pairs, Some("today"));
    for line in [
        "| significant | 1 | 1 (100 %) | 1 (100 %) |",
        "| old | new | 1 | 1 | 1 (100 %) | 1 (100 %) | 1 | 1 (100 %) | 1 (100 %) |",
        "| make | old | new | 0 | - | - |",
        "| old | pipes | 0 | 1 | 0 of 5 |",
        "- make, old to new: alight: no CPU",
    ] {
        assert!(page.contains(line), "{line} is missing in\n{page}");
    }
}

#[test]
fn what_is_no_report_is_an_error_with_its_name() {
    let mut errors = String::new();
    for (folder, file) in [
        ("a", "pipes-1.json"),
        ("a..b", "pipes.json"),
        ("a..b", "pipes-1.text"),
        ("a..b", "pipes-1.json"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(folder)).unwrap();
        std::fs::write(directory.path().join(folder).join(file), "{}").unwrap();
        let error = read(directory.path()).unwrap_err();
        writeln!(errors, "{folder}/{file}: {}", variant(&error)).unwrap();
    }
    let empty = tempfile::tempdir().unwrap();
    writeln!(errors, "{}", variant(&read(empty.path()).unwrap_err())).unwrap();
    assert_eq!(
        errors,
        "a/pipes-1.json: name\na..b/pipes.json: name\na..b/pipes-1.text: name\n\
         a..b/pipes-1.json: report\nempty\n"
    );
}

fn variant(error: &NoPredictions) -> &'static str {
    match error {
        NoPredictions::Read { .. } => "read",
        NoPredictions::NotAReport { .. } => "report",
        NoPredictions::Name(_) => "name",
        NoPredictions::Empty(_) => "empty",
    }
}
