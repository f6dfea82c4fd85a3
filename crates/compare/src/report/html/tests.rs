// SPDX-License-Identifier: GPL-2.0-only
//! The page says what JSON says.

use super::*;
use crate::course::Course;
use crate::fake;
use crate::observe::Observed;
use crate::report::{Extent, Form, Style, render};
use crate::selection::Selection;
use alight_html::timeline::Lane;
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_sim::{Outcome, Scenario};

fn json(comparison: &Comparison) -> serde_json::Value {
    let form = Form {
        style: Style::Json,
        extent: Extent::Full,
        samples: false,
    };
    serde_json::from_str(&render(comparison, form)).unwrap()
}

/// The cells of the rows of a section's tables.
pub(super) fn rows(html: &str, section: &str) -> Vec<Vec<String>> {
    let title = format!("<h2>{section}</h2>");
    let (_, after) = html.split_once(&title).expect("the section is there");
    let (content, _) = after.split_once("</section>").unwrap();
    let text = |cell: &str| {
        let mut text = String::new();
        let mut inside = false;
        for letter in cell.chars() {
            match letter {
                '<' => inside = true,
                '>' => inside = false,
                letter if !inside => text.push(letter),
                _ => {}
            }
        }
        text
    };
    let cells = |row: &str| {
        let starts = row.replace("<td", "\u{1}<td").replace("<th", "\u{1}<th");
        starts.split('\u{1}').skip(1).map(text).collect()
    };
    let starts = content.split("<tr>").skip(1);
    let rows = starts.map(|row| row.split("</tr>").next().unwrap_or(row));
    rows.map(cells).collect()
}

/// A run of 250 ms in which nothing happened.
pub(super) fn observed(machine: &Machine, scheduler: &str) -> Observed {
    let (end_ns, cpus) = (250_000_000, machine.cpus.len());
    let rules = Scheduler::parse("linux-6.5").expect("a scheduler");
    let scenario = Scenario::new(machine, &[], &rules);
    Observed {
        scheduler: scheduler.to_owned(),
        base: String::new(),
        end_ns,
        shown: 0..end_ns,
        is_cut: false,
        tasks: vec![],
        idle_states: vec![],
        lanes: vec![Lane::default(); cpus],
        marks: vec![],
        wakeup_latency_ns: vec![],
        waits_ns: vec![],
        placements: vec![0; cpus * cpus],
        unasked: 0,
        counted_from_ns: 0,
        course: Course::new(&scenario, &[], 0..end_ns),
    }
}

#[test]
fn its_numbers_are_those_of_json() {
    let comparison = fake::comparison(fake::better_outcome);
    let html = page(&comparison, None, Extent::Short);
    let json = json(&comparison);
    let variants = json["variants"].as_array().unwrap();
    let all = rows(&html, "All numbers, means of the runs");
    for (name, first) in variants[0]["metrics"].as_object().unwrap() {
        let means = variants
            .iter()
            .map(|variant| &variant["metrics"][name]["mean"]);
        let means = means.map(|mean| number::plain(mean.as_f64().unwrap()));
        let unit = alight_html::unit(first["unit"].as_str().unwrap()).to_owned();
        let expected: Vec<String> = [name.clone(), unit].into_iter().chain(means).collect();
        assert!(all.contains(&expected), "{expected:?} in {all:?}");
    }
}

#[test]
fn its_differences_and_steps_are_those_of_json() {
    let comparison = fake::comparison(fake::better_outcome);
    let html = page(&comparison, None, Extent::Short);
    let json = json(&comparison);
    let delta = &json["deltas"][0];
    let label = words::short_name(
        delta["scheduler"].as_str().unwrap(),
        delta["base"].as_str().unwrap(),
    );
    let drawn = rows(&html, &format!("Differences: {label}"));
    for row in &drawn[1..] {
        let name = row[0].split(',').next().unwrap();
        let metric = &delta["metrics"][name];
        let number = |key: &str| metric[key].as_f64();
        let interval = number("ci_low").zip(number("ci_high"));
        let expected = format!(
            "{} {}",
            number::percent(number("delta_percent")),
            number::interval(interval)
        );
        assert!(row[2].starts_with(&expected), "{row:?}: {expected}");
    }
    assert!(drawn.len() > 1);
    let steps = rows(&html, "Steps that answered, % of all decisions");
    for variant in 0..json["variants"].as_array().unwrap().len() {
        let of = json["variants"][variant]["steps"].as_object().unwrap();
        let all: f64 = of.values().filter_map(|count| count.as_f64()).sum();
        for row in &steps[1..] {
            let share = 100.0 * of[&row[0]].as_f64().unwrap() / all;
            assert_eq!(row[1 + variant], number::fixed(share, 1), "{row:?}");
        }
    }
}

/// Two idle states, 12.5 % of the time each.
fn idle_outcome(seed: u64) -> Outcome {
    let mut outcome = fake::better_outcome(seed);
    for name in ["idle_residency_wfi_percent", "idle_residency_off_percent"] {
        outcome
            .mechanism
            .push(fake::metric(name, "percent", None, 12.5));
    }
    outcome
}

/// Bars have the means; where some numbers were chosen nothing is made up of the rest.
#[test]
fn bars_have_the_means_and_no_rest_of_chosen_numbers() {
    let title = "Idle states of all CPUs, means of the runs";
    let whole = fake::comparison(idle_outcome);
    let bars = rows(&page(&whole, None, Extent::Full), title);
    assert!(
        bars[2].ends_with(&["12.5000", "12.5000", "75"].map(str::to_owned)),
        "{bars:?}"
    );
    let chosen = Selection::of(["idle_residency_wfi*"]).unwrap();
    let bars = rows(&page(&whole.only(&chosen), None, Extent::Chosen), title);
    assert!(bars[2].ends_with(&["12.5000".to_owned()]), "{bars:?}");
}

#[test]
fn question_answer_and_trust_come_before_the_differences() {
    let comparison = fake::comparison(fake::better_outcome);
    let html = page(&comparison, None, Extent::Short);
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
