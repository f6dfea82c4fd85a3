// SPDX-License-Identifier: GPL-2.0-only
//! Where differences lie, and how they are marked.

use super::*;

fn row(delta: Option<f64>, interval: Option<(f64, f64)>, mark: Mark) -> Row {
    Row {
        label: "events".into(),
        delta,
        interval,
        mark,
        words: "words".into(),
    }
}

#[test]
fn the_scale_reaches_beyond_the_farthest_difference() {
    for (farthest, reach) in [
        (0.0, 1.0),
        (0.5, 1.0),
        (3.0, 5.0),
        (44.2, 100.0),
        (6922.1, 20000.0),
    ] {
        let rows = vec![
            row(Some(-farthest), None, Mark::None),
            row(None, None, Mark::None),
        ];
        assert_eq!(Forest::new(rows).reach, reach, "{farthest}");
    }
}

#[test]
fn zero_is_in_the_middle_and_the_ends_are_inside() {
    assert_eq!(place(0.0, 10.0), "200.0");
    assert_eq!([place(-10.0, 10.0), place(99.0, 10.0)], ["10.0", "390.0"]);
}

#[test]
fn an_interval_that_is_cut_has_an_arrow() {
    let arrows = |interval| {
        let forest = Forest::new(vec![row(Some(1.0), Some(interval), Mark::Worse)]);
        forest
            .markup()
            .into_string()
            .matches("class=\"arrow\"")
            .count()
    };
    assert_eq!(
        [arrows((0.5, 1.5)), arrows((-9.0, 1.5)), arrows((-9.0, 9.0))],
        [0, 1, 2]
    );
}

#[test]
fn marks_differ_by_form_and_word() {
    let marks = [Mark::Better, Mark::Worse, Mark::Different, Mark::None];
    let outlines: std::collections::BTreeSet<_> = marks.map(Mark::outline).into();
    let classes: std::collections::BTreeSet<_> = marks.map(Mark::class).into();
    assert_eq!((outlines.len(), classes.len()), (4, 4));
}

#[test]
fn what_is_not_finite_is_not_drawn() {
    let forest = Forest::new(vec![row(Some(f64::INFINITY), None, Mark::None)]);
    let html = forest.markup().into_string();
    assert!(
        !html.contains("inf") && !html.contains("class=\"mark\""),
        "{html}"
    );
}

/// An outlier that is noise does not flatten what is certain; schedulers are compared on one scale.
#[test]
fn certain_differences_of_all_set_the_scale() {
    let row = |delta: f64, mark| Row {
        label: String::new(),
        delta: Some(delta),
        interval: None,
        mark,
        words: String::new(),
    };
    let first = vec![row(2.0, Mark::Better), row(50_000.0, Mark::None)];
    let second = vec![row(-12.0, Mark::Worse)];
    let forests = Forest::on_one_scale(vec![first, second]);
    assert_eq!([forests[0].reach, forests[1].reach], [20.0, 20.0]);
    let noise = vec![row(3.0, Mark::None)];
    assert_eq!(Forest::new(noise).reach, 5.0);
}
