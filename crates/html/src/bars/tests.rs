// SPDX-License-Identifier: GPL-2.0-only
//! How long the parts of bars are.

use super::*;

fn bar(values: &[f64]) -> Bar {
    let segment = |value: &f64| Segment {
        value: *value,
        text: format!("{value:.1}"),
    };
    Bar {
        label: "CPU 0".into(),
        segments: values.iter().map(segment).collect(),
    }
}

fn bars(whole: Option<f64>, bars: &[&[f64]]) -> Bars {
    Bars {
        parts: vec!["busy".into(), "idle".into()],
        whole,
        bars: bars.iter().map(|values| bar(values)).collect(),
    }
}

fn widths(bars: &Bars) -> Vec<String> {
    let html = bars.markup().into_string();
    let ends = html.split("width:").skip(1);
    ends.map(|rest| rest.split('%').next().unwrap().to_owned())
        .collect()
}

#[test]
fn a_part_is_as_long_as_its_share_of_the_whole_or_of_the_longest_bar() {
    for (whole, values, expected) in [
        (Some(100.0), vec![&[62.5, 37.5][..]], vec!["62.50", "37.50"]),
        (
            None,
            vec![&[1.0, 1.0][..], &[3.0, 5.0]],
            vec!["12.50", "12.50", "37.50", "62.50"],
        ),
        (None, vec![&[0.0, 0.0][..]], vec![]),
        (Some(0.0), vec![&[0.5][..]], vec!["50.00"]),
    ] {
        assert_eq!(widths(&bars(whole, &values)), expected);
    }
}

#[test]
fn what_has_no_length_is_not_drawn_and_its_figure_stands() {
    let bars = bars(Some(100.0), &[&[f64::NAN, -3.0, f64::INFINITY]]);
    assert!(widths(&bars).is_empty());
    assert!(bars.markup().into_string().contains(">NaN<"));
}

#[test]
fn parts_have_letters_where_there_is_room() {
    let html = bars(Some(100.0), &[&[97.5, 2.5]]).markup().into_string();
    // Each once in the key; on the bar only the long one.
    assert_eq!(
        [html.matches(">a<").count(), html.matches(">b<").count()],
        [2, 1]
    );
}
