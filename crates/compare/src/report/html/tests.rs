// SPDX-License-Identifier: GPL-2.0-only
//! The page says what JSON says.

use super::*;
use crate::fake;
use crate::report::{Extent, Form, Style, render};

fn json(comparison: &Comparison) -> serde_json::Value {
    let form = Form {
        style: Style::Json,
        extent: Extent::Full,
        samples: false,
    };
    serde_json::from_str(&render(comparison, form)).unwrap()
}

#[test]
fn its_numbers_are_those_of_json() {
    let comparison = fake::comparison(fake::better_outcome);
    let html = page(&comparison, Extent::Short);
    for variant in json(&comparison)["variants"].as_array().unwrap() {
        for (name, metric) in variant["metrics"].as_object().unwrap() {
            let mean = number::plain(metric["mean"].as_f64().unwrap());
            let row = html.split("<tr>").find(|row| {
                row.starts_with(&format!("<th scope=\"row\">{name}</th>"))
                    && row.contains(&format!(">{mean}<"))
            });
            assert!(row.is_some(), "{name} {mean}");
        }
    }
}

#[test]
fn question_answer_and_trust_come_before_the_differences() {
    let comparison = fake::comparison(fake::better_outcome);
    let html = page(&comparison, Extent::Short);
    let heads: Vec<&str> = html
        .split("<h2>")
        .skip(1)
        .map(|text| text.split(['<', ':', ',']).next().unwrap())
        .collect();
    let order = ["Question", "Answer", "How far to trust it", "Differences"];
    assert_eq!(heads[..4], order, "{heads:?}");
    assert_eq!(heads.last(), Some(&"Again"));
    for answer in answers(&comparison) {
        let text = answer
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        assert!(html.contains(&text), "{answer}");
    }
    assert!(
        html.contains("class=\"better\""),
        "marked by more than colour"
    );
}
