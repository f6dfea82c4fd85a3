// SPDX-License-Identifier: GPL-2.0-only
//! Each report of one comparison against the text that it must be, in `golden/`.
//! `ALIGHT_BLESS=1` writes those texts anew.

use super::*;
use crate::compare::Variant;
use crate::fake;
use crate::header::VERSION;
use crate::selection::Selection;
use crate::stats::{Delta, Summary};

/// All of it.
fn told(comparison: &Comparison, style: Style) -> String {
    render(comparison, form(style, Extent::Full))
}

fn form(style: Style, extent: Extent) -> Form {
    Form {
        style,
        extent,
        samples: false,
    }
}

fn check(name: &str, style: Style, expected: &str) {
    check_form(name, form(style, Extent::Full), expected);
}

fn check_form(name: &str, form: Form, expected: &str) {
    let comparison = fake::comparison(fake::better_outcome);
    let found = render(&comparison, form).replace(VERSION, "VERSION");
    if std::env::var_os("ALIGHT_BLESS").is_some() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/golden");
        std::fs::write(format!("{folder}/{name}"), &found).expect("the source tree is writable");
        return;
    }
    assert!(found == expected, "golden/{name} differs from\n{found}");
}

#[test]
fn short_table() {
    let form = form(Style::Table, Extent::Short);
    check_form("short.txt", form, include_str!("golden/short.txt"));
}

#[test]
fn short_markdown() {
    let form = form(Style::Markdown, Extent::Short);
    check_form("short.md", form, include_str!("golden/short.md"));
}

/// A row for each scheduler, number and seed.
#[test]
fn samples() {
    let form = Form {
        samples: true,
        ..form(Style::Csv, Extent::Short)
    };
    check_form("samples.csv", form, include_str!("golden/samples.csv"));
}

/// A result and a verdict a scheduler, then no more lines of the mechanism than a person reads, however
/// many schedulers, results and numbers there are.
#[test]
fn a_short_report_stays_short() {
    let mut comparison = fake::comparison(fake::better_outcome);
    let copies = |variant: &mut Variant, name: &str, count: usize| {
        let like = variant.series(name).expect(name).clone();
        for number in 0..count {
            let mut series = like.clone();
            series.key.name = format!("{number}_{number}_{name}");
            variant.series.push(series);
        }
    };
    for variant in &mut comparison.variants {
        copies(variant, "events", 20);
        copies(variant, "energy_j", 10);
        copies(variant, "cpu_migrations", 40);
    }
    let other = comparison.variants[1].clone();
    let spares = (2..=6).map(|number| Variant {
        scheduler: format!("linux-{number}.0"),
        ..other.clone()
    });
    comparison.variants.extend(spares);
    let text = render(&comparison, form(Style::Table, Extent::Short));
    let lines = text.lines().count();
    assert!(lines <= 185, "{lines} lines\n{text}");
    for says in ["differ by less  ", "--full", "--metric"] {
        assert!(text.contains(says), "{text}");
    }
    let full = told(&comparison, Style::Table).lines().count();
    assert!(full > 600, "{full} lines");
}

/// Whose runs are those of another, the head says; rows of the same numbers would say it again.
#[test]
fn a_scheduler_whose_runs_are_anothers_has_no_rows() {
    let mut comparison = fake::comparison(fake::better_outcome);
    let other = comparison.variants[1].clone();
    comparison.variants.push(Variant {
        scheduler: "linux-5.5+asym-capacity:hog=scan".to_owned(),
        same_as: Some(other.scheduler),
        ..comparison.variants[1].clone()
    });
    let text = render(&comparison, form(Style::Table, Extent::Short));
    assert!(
        text.contains("identical   each run equals that of linux-5.5+asym-capacity"),
        "{text}"
    );
    assert_eq!(text.matches("hog=scan").count(), 1, "{text}");
    // If none differs they are all there.
    let equal = fake::comparison(fake::outcome);
    let text = render(&equal, form(Style::Table, Extent::Short));
    assert!(text.contains("+asym-capacity"), "{text}");
    assert!(text.contains("the same in each run"), "{text}");
}

/// Each number that is asked for has all its statistics; nothing else is there.
#[test]
fn what_is_asked_for_by_name_is_told_alone() {
    let comparison = fake::comparison(fake::better_outcome);
    let chosen = comparison.only(&Selection::of(["cpu_*"]).unwrap());
    for style in STYLES {
        let text = render(&chosen, form(style, Extent::Chosen));
        assert!(text.contains("cpu_migrations"), "{style:?}: {text}");
        assert!(!text.contains("energy_j"), "{style:?}: {text}");
    }
    let table = render(&chosen, form(Style::Table, Extent::Chosen));
    assert!(table.contains("99%") && table.contains("43.97"), "{table}");
    assert!(!table.contains("selection steps"), "{table}");
}

#[test]
fn table() {
    check("table.txt", Style::Table, include_str!("golden/table.txt"));
}

#[test]
fn markdown() {
    check("page.md", Style::Markdown, include_str!("golden/page.md"));
}

#[test]
fn csv() {
    check("rows.csv", Style::Csv, include_str!("golden/rows.csv"));
}

#[test]
fn json() {
    check(
        "compare.json",
        Style::Json,
        include_str!("golden/compare.json"),
    );
}

#[test]
fn mmtests() {
    check(
        "mmtests.txt",
        Style::Mmtests,
        include_str!("golden/mmtests.txt"),
    );
}

#[test]
fn lkp() {
    check("lkp.txt", Style::Lkp, include_str!("golden/lkp.txt"));
}

#[test]
fn the_table_fits_a_terminal_up_to_numbers_of_seven_digits() {
    for scale in [1e-6, 1e-3, 1.0, 1e3] {
        let mut comparison = fake::comparison(fake::better_outcome);
        for series in comparison.variants.iter_mut().flat_map(|v| &mut v.series) {
            let samples: Vec<f64> = series.samples.iter().flatten().map(|x| x * scale).collect();
            series.summary = Summary::of(&samples).unwrap();
        }
        for line in told(&comparison, Style::Table).lines() {
            assert!(line.chars().count() <= 100, "too long: {line}");
        }
    }
}

#[test]
fn equal_schedulers_differ_in_nothing() {
    let comparison = fake::comparison(fake::outcome);
    for style in STYLES {
        let text = told(&comparison, style);
        let why = "it could act, but every choice was the base's";
        assert!(text.contains(why), "{style:?}: {text}");
    }
    let table = told(&comparison, Style::Table);
    assert!(table.contains("the same in each run"), "{table}");
    assert!(
        table.contains("the selection steps have the same shares"),
        "{table}"
    );
}

/// Of three runs the base has the number in one, the other in two; and of another number the
/// base has none.
fn with_gaps() -> crate::compare::Comparison {
    let mut comparison = fake::comparison(fake::better_outcome);
    let gaps = |series: &mut crate::compare::Series, has: &dyn Fn(usize) -> bool| {
        for (run, sample) in series.samples.iter_mut().enumerate() {
            *sample = sample.filter(|_| has(run));
        }
        let present: Vec<f64> = series.samples.iter().flatten().copied().collect();
        series.summary = Summary::of(&present).expect("some are left");
    };
    gaps(&mut comparison.variants[0].series[0], &|run| run == 0);
    gaps(&mut comparison.variants[1].series[0], &|run| run != 2);
    let pairs = crate::compare::pairs(
        &comparison.variants[0].series[0],
        &comparison.variants[1].series[0],
    );
    comparison.variants[1].series[0].delta = Delta::of(&pairs);
    let mut only_other = comparison.variants[1].series[0].clone();
    only_other.key.name = "late_s".to_owned();
    only_other.delta = None;
    comparison.variants[1].series.push(only_other);
    comparison
}

/// A number that some runs lack is shown, with how many have it and no verdict of a single pair.
#[test]
fn what_not_every_run_has_is_said_in_every_style() {
    let comparison = with_gaps();
    let runs = comparison.seeds.len();
    let said = |name: &str, base: usize, other: usize| {
        format!(
            "{name} is missing in some of the {runs} runs: linux-5.5 has it in {base}, +asym-capacity has it in {other};"
        )
    };
    for style in [Style::Table, Style::Markdown, Style::Mmtests, Style::Lkp] {
        let text = told(&comparison, style);
        for said in [said("events", 1, runs - 1), said("late_s", 0, runs - 1)] {
            assert!(text.contains(&said), "{said}\n{text}");
        }
    }
    let table = told(&comparison, Style::Table);
    for verdict in [
        "one run cannot tell a difference from noise",
        "no run has both to compare",
    ] {
        assert!(
            table.contains(&format!("+asym-capacity: {verdict}")),
            "{table}"
        );
    }
}

/// Where the base's mean is 0 the decimals are those that the other needs.
#[test]
fn a_number_that_is_nothing_under_the_base_keeps_its_decimals() {
    let mut comparison = fake::comparison(fake::better_outcome);
    let values = |of: fn(usize) -> f64, series: &mut crate::compare::Series| {
        let values: Vec<f64> = (0..series.samples.len()).map(of).collect();
        series.summary = Summary::of(&values).expect("some");
        series.samples = values.into_iter().map(Some).collect();
    };
    values(|_| 0.0, &mut comparison.variants[0].series[0]);
    values(
        |run| 0.187 + run as f64,
        &mut comparison.variants[1].series[0],
    );
    for style in [Style::Table, Style::Markdown] {
        let text = told(&comparison, style);
        assert!(text.contains("0.187"), "{text}");
    }
}

#[test]
fn an_interruption_is_said_in_every_head() {
    let mut comparison = fake::comparison(fake::outcome);
    comparison.header.runs = 20;
    for style in [Style::Table, Style::Markdown, Style::Mmtests, Style::Lkp] {
        let text = told(&comparison, style);
        assert!(text.contains("INTERRUPTED: 20 were asked for"), "{text}");
    }
    assert!(told(&comparison, Style::Json).contains("\"interrupted\": true"));
}

/// The last row says what stands above it: each result in the direction that it is good or bad in.
#[test]
fn the_answer_says_in_words_what_is_certain() {
    let answers = |other| answer::answers(&fake::comparison(other));
    let [better] = <[String; 1]>::try_from(answers(fake::better_outcome)).unwrap();
    assert!(
        better.starts_with("+asym-capacity: better in events (+"),
        "{better}"
    );
    assert_eq!(
        answers(fake::outcome),
        ["+asym-capacity changes nothing: each run equals the base's"]
    );
    let mut noise = fake::comparison(fake::outcome);
    noise.variants[1].inert = None;
    assert_eq!(
        answer::answers(&noise),
        ["+asym-capacity: no difference that is certain and large enough to matter"]
    );
}
