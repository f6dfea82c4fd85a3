// SPDX-License-Identifier: GPL-2.0-only

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use alight_compare::fake;
use alight_compare::report::number;
use alight_machine::{CostStanding, Factors, Machine};
use alight_sim::Scenario;

use super::*;

pub(super) const PLAIN: &str = r#"schema = "alight.study/1"
name = "mine"
title = "mine"
publication = "nowhere"
machine = "juno-r0"
schedulers = ["linux-5.5", "linux-5.5+asym-capacity"]
runs = 4
short_runs = 2

[[case]]
name = "one"
workloads = ["hackbench -g 1 -l 1"]

[[case]]
name = "other"
workloads = ["hackbench -g 1 -l 1"]

[[row]]
metric = "events"
before = { mean = 100.0 }
unit = { of = ["events"], case = "one", is = 50.0 }

[[check]]
says = "half as much again"
case = "one"
metric = "events"
scheduler = "linux-5.5+asym-capacity"
relative_to = "linux-5.5"
at_least = 140.0
at_most = 160.0
in_short = true

[[check]]
says = "ten times as much"
case = "other"
metric = "events"
scheduler = "linux-5.5+asym-capacity"
relative_to = "linux-5.5"
at_least = 1000.0

[[check]]
says = "of what there is not"
case = "one"
metric = "nothing"
scheduler = "linux-5.5"
at_least = 1.0
in_short = true
"#;

fn plain() -> Study {
    parse("mine.toml", PLAIN).expect("valid")
}

/// The costs of a machine as its file has them, if they were fitted.
fn calibration(machine: &str) -> Option<Calibration> {
    let draft = alight_machine::open(machine).expect("built in");
    draft.calibration().cloned()
}

/// A machine whose costs were fitted like this.
fn trusting(calibration: Option<Calibration>) -> Trust {
    let mut trust = fake::trust().clone();
    trust.costs.standing = match &calibration {
        None => CostStanding::Assumed,
        Some(calibration) if calibration.matches => CostStanding::Fitted,
        Some(_) => CostStanding::NoLongerFitted,
    };
    trust.costs.calibration = calibration;
    trust
}

fn answered<'s>(study: &'s Study, machine: &Machine, length: Length) -> Answer<'s> {
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| Ok(fake::better(scenario));
    let ask = StudyQuestion {
        scenario: Scenario::new(machine, &[], &study.schedulers[0]),
        trust: fake::trust(),
        length,
        runs: None,
        command: "alight study run mine.toml".to_owned(),
    };
    let how = Spread {
        threads: NonZeroUsize::new(1),
        ..Spread::QUIET
    };
    study
        .run(&ask, &run, how, &AtomicBool::new(false))
        .expect("runs")
}

#[test]
fn every_built_in_study_is_well_formed_and_can_be_wrong() {
    for name in names() {
        let study = load(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(study.name, name, "a study is called as its file");
        assert!(!study.rows.is_empty(), "{name} measures nothing");
        assert!(study.short_runs <= study.runs, "{name}");
        let machine = alight_machine::load(&study.machine).unwrap().machine;
        let energy = machine.freq_domains.iter().flat_map(|domain| &domain.opps);
        let powered = energy.into_iter().any(|opp| opp.core_power_uw > 0);
        for row in &study.rows {
            assert!(
                powered || !row.metric.starts_with("energy"),
                "{name}: {}",
                row.metric
            );
            assert!(
                !row.calibrates || row.before.is_some(),
                "{name}: {}",
                row.metric
            );
        }
    }
}

#[test]
fn every_base_is_a_plain_kernel_whose_figures_are_those_from_before() {
    for name in names() {
        let study = load(name).unwrap();
        let base = &study.schedulers[0];
        assert_eq!(
            base.params.features
                & !alight_policy::Scheduler::parse(base.parts().0.name)
                    .unwrap()
                    .params
                    .features,
            0,
            "{name}"
        );
    }
}

#[test]
fn costs_are_fitted_to_the_rows_that_calibrate_and_to_no_others() {
    let studies: Vec<Study> = names()
        .into_iter()
        .map(|name| load(name).unwrap())
        .collect();
    let stated = |study: &Study| {
        let rows = study.rows.iter().filter(|row| row.calibrates);
        rows.map(|row| row.stated(&study.name)).collect::<Vec<_>>()
    };
    let known: Vec<String> = studies.iter().flat_map(stated).collect();
    for study in &studies {
        let Some(calibration) = calibration(&study.machine) else {
            assert!(stated(study).is_empty(), "{}: never fitted", study.machine);
            continue;
        };
        assert!(calibration.matches, "{}: edited", study.machine);
        for row in &calibration.rows {
            let by = known
                .iter()
                .filter(|stated| row.starts_with(*stated))
                .count();
            assert_eq!(by, 1, "{}: {row}", study.machine);
        }
        let unfitted = study.unfitted(Some(&calibration));
        assert!(unfitted.is_empty(), "{}: {unfitted:?}", study.name);
    }
}

#[test]
fn a_row_that_the_costs_were_not_fitted_to_is_named() {
    let text = PLAIN.replacen(
        "before = { mean = 100.0 }",
        "before = { mean = 100.0 }\ncalibrates = true",
        1,
    );
    let study = parse("mine.toml", &text).expect("a study");
    let fitted_to = |row: &str| Calibration {
        machine: "juno-r0".to_owned(),
        rows: vec![row.to_owned()],
        factors: None,
        matches: true,
    };
    for (calibration, fitted) in [
        (None, false),
        (
            Some(fitted_to("mine events: mean 100 published, 90 fitted")),
            true,
        ),
        (
            Some(fitted_to("mine events: mean 101 published, 90 fitted")),
            false,
        ),
        (
            Some(fitted_to("yours events: mean 100 published, 90 fitted")),
            false,
        ),
    ] {
        let text = show(&study, &trusting(calibration));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.contains("costs are fitted to it"), fitted, "{text}");
        assert_eq!(
            text.contains("NOT FITTED to this study's events"),
            !fitted,
            "{text}"
        );
    }
}

#[test]
fn rows_come_in_the_unit_of_the_publication() {
    let (study, machine) = (plain(), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    for case in &answer.cases {
        let values = answer.values(&study.rows[0], case);
        assert_eq!(
            values[0].summary.mean, 50.0,
            "the base has the value that is stated"
        );
        let times = values[1].summary.mean / values[0].summary.mean;
        assert!((times - 1.5).abs() < 0.01, "{times}");
    }
}

#[test]
fn checks_hold_fail_and_miss_their_number() {
    let (study, machine) = (plain(), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    let outcomes: Vec<CheckOutcome> = answer.checks.iter().map(|(_, outcome)| *outcome).collect();
    assert!(matches!(outcomes[0], CheckOutcome::Held(found) if (found - 150.0).abs() < 1.0));
    assert!(matches!(outcomes[1], CheckOutcome::Failed(found) if (found - 150.0).abs() < 1.0));
    assert_eq!(outcomes[2], CheckOutcome::NoNumber);
    assert_eq!(answer.failed(), 2);
    let short = answered(&study, &machine, Length::Short);
    assert!(!render(&short, &trusting(None), None, Style::Table).contains("published before"));
    assert_eq!(short.checks[1].1, CheckOutcome::NotInShort);
    assert_eq!((short.runs, short.failed()), (2, 1));
    let text = PLAIN.replace("in_short = true\n", "");
    let study = parse("mine.toml", &text).expect("a study");
    let short = answered(&study, &machine, Length::Short);
    assert_eq!(short.checks[0].1, CheckOutcome::NotInShort);
    assert_eq!(
        short.checks[2].1,
        CheckOutcome::NoNumber,
        "no number is none in short either"
    );
}

/// A check may want equal figures.
#[test]
fn equal_figures_are_a_hundred_percent_of_each_other() {
    // 100 times this, divided by it, is not 100.
    let figure = 724.8355844081808;
    assert_eq!(answer::percent_of(figure, figure), 100.0);
}

#[test]
fn a_row_without_a_number_fails() {
    let machine = fake::machine();
    let (from, to) = ("[[row]]\nmetric = \"", "[[row]]\nmetric = \"un");
    let study = parse("mine.toml", &PLAIN.replacen(from, to, 1)).expect("a study");
    let answer = answered(&study, &machine, Length::Full);
    assert_eq!(answer.failed(), 2 + 1);
}

/// More cases than have tables of their own, of one load.
#[test]
fn of_many_cases_a_table_has_a_line_each() {
    let case =
        |k: u32| format!("[[case]]\nname = \"case {k}\"\nworkloads = [\"hackbench -l 1\"]\n");
    let cases: Vec<String> = (1..=9).map(case).collect();
    let (head, _) = PLAIN.split_once("[[case]]").expect("cases");
    let rows = r#"
[[row]]
metric = "events"

[[row]]
case = "case 3"
metric = "cpu_migrations"

[[row]]
metric = "missing"
"#;
    let text = [head, &cases.concat(), rows].concat();
    let (study, machine) = (parse("mine.toml", &text).expect("a study"), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    let text = render(&answer, &trusting(None), None, Style::Table);
    let squeezed: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let count = |start: &str| {
        squeezed
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    };
    assert_eq!(count("workload 9 cases like case 1: hackbench -l 1"), 1);
    assert_eq!(
        count("case linux-5.5 +asym-capacity delta costs runs, 95%"),
        2
    );
    assert_eq!(count("case number linux-5.5 +asym-capacity delta"), 1);
    assert_eq!(count("case 9 cpu_migrations"), 1, "what changes");
    assert_eq!(count("case 9 energy"), 0, "what does not");
    assert_eq!((count("case 9 "), count("case 3 ")), (2, 3), "{text}");
    assert_eq!(
        count("FAILED missing: the model has no such number here"),
        1
    );
    assert_eq!(answer.failed(), 1);
}

/// PLAIN with what was published of the variant.
fn with_after() -> Study {
    let after = "before = { mean = 100.0, max = 55.0 }\n\
                 after = { \"linux-5.5+asym-capacity\" = { mean = 151.0 } }";
    let text = PLAIN.replacen("before = { mean = 100.0 }", after, 1);
    parse("mine.toml", &text).expect("a study")
}

#[test]
fn the_base_is_as_far_off_as_the_figure_that_it_is_furthest_from() {
    let (study, machine) = (with_after(), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    let off = answer.off().expect("something was published");
    assert_eq!((off.case.as_str(), off.statistic.as_str()), ("one", "mean"));
    assert_eq!((off.percent, off.is_had()), (-50.0, false));
    assert_eq!(
        off.in_words(),
        "off by -50.0% (mean of events, one): base not had"
    );
    assert!(answered(&study, &machine, Length::Short).off().is_none());

    let met = PLAIN.replacen("mean = 100.0", "mean = 50.0, max = 60.0", 1);
    let study = parse("mine.toml", &met).expect("a study");
    let off = answered(&study, &machine, Length::Full)
        .off()
        .expect("published");
    assert_eq!((off.statistic.as_str(), off.is_had()), ("max", true));
}

#[test]
fn a_prediction_is_held_against_what_was_published_after() {
    let (study, machine) = (with_after(), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    let text = render(&answer, &trusting(None), None, Style::Table);
    for part in [
        "one, events, linux-5.5+asym-capacity: +50.1% [+49.1, +51.1] (runs); \
         published +51.0%: in the interval of the runs\n",
        "  published after              151 ",
        "before: off by -50.0% (mean of events, one): base not had\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (from, to, problem) in [
        (
            "before = { mean = 100.0, max = 55.0 }\n",
            "",
            "beside `before`",
        ),
        (
            "linux-5.5+asym-capacity\" = { mean",
            "linux-5.5\" = { mean",
            "than the base",
        ),
        (
            "linux-5.5+asym-capacity\" = { mean",
            "linux-5.4\" = { mean",
            "not among",
        ),
    ] {
        let after = PLAIN.replacen(
            "before = { mean = 100.0 }",
            "before = { mean = 100.0, max = 55.0 }\n\
             after = { \"linux-5.5+asym-capacity\" = { mean = 151.0 } }",
            1,
        );
        let error = parse("mine.toml", &after.replacen(from, to, 1)).expect_err(problem);
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// What the variant gains is what a switch costs, and the fit knows that cost by half.
#[test]
fn a_prediction_has_the_interval_of_the_costs_that_are_left_open() {
    let study = plain();
    let switch = |machine: &Machine| f64::from(machine.core_types[0].costs.switch_ns);
    let sheet = alight_machine::load("juno-r0").expect("built in");
    let now = switch(&sheet.machine);
    let gains = |of_costs: f64| 1.0 + of_costs;
    let comes_to_nothing = |_| 0.0;
    let names = calibrate::PARAMETERS.map(|parameter| parameter.name.to_owned());
    let fitted = |open: Vec<Vec<u64>>| Calibration {
        machine: "juno-r0".to_owned(),
        rows: vec![],
        factors: Some(Factors {
            names: names.to_vec(),
            fitted: vec![1000, 2000, 1000, 1000, 1000],
            open,
        }),
        matches: true,
    };
    let half_and_double = vec![
        vec![1000, 1000, 1000, 1000, 1000],
        vec![1000, 4000, 1000, 1000, 1000],
    ];
    let mut measured = trusting(None);
    measured.costs.standing = CostStanding::Stated;
    let fit = trusting(Some(fitted(half_and_double)));
    type Variant<'a> = &'a (dyn Fn(f64) -> f64 + Sync);
    let cases: [(&Trust, Variant<'_>, usize, (f64, f64)); 4] = [
        (&fit, &gains, 2, (50.0, 200.0)),
        (&fit, &comes_to_nothing, 2, (-100.0, -100.0)),
        (&trusting(Some(fitted(vec![]))), &gains, 0, (100.0, 100.0)),
        (&measured, &gains, 0, (100.0, 100.0)),
    ];
    for (trust, variant, points, expected) in cases {
        let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
            let mut outcome = fake::better(scenario);
            let ratio = match scenario.scheduler.params.features {
                0 => 1.0,
                _ => variant(switch(scenario.machine) / now),
            };
            outcome.results[0].value = 100.0 * ratio;
            Ok(outcome)
        };
        let ask = StudyQuestion {
            scenario: Scenario::new(&sheet.machine, &[], &study.schedulers[0]),
            trust,
            length: Length::Full,
            runs: None,
            command: String::new(),
        };
        let never = AtomicBool::new(false);
        let answer = study.run(&ask, &run, Spread::QUIET, &never).expect("runs");
        let open = || alight_machine::open("juno-r0");
        let again = Again::of(&study, &ask, &open, &run, Spread::QUIET, &never).expect("runs");
        let open = again.open(&answer).expect("runs").expect("not short");
        assert_eq!(open.points, points);
        let events = Which {
            case: "one".to_owned(),
            metric: "events".to_owned(),
            scheduler: "linux-5.5+asym-capacity".to_owned(),
        };
        let (low, high) = open.of(&events).expect("a prediction");
        assert!((low - expected.0).abs() < 0.1, "{low} for {expected:?}");
        assert!((high - expected.1).abs() < 0.1, "{high} for {expected:?}");
        let jobs = study.jobs(&ask);
        assert_eq!(Again::jobs(&study, &ask, false), jobs * (1 + points));
    }
    let nobody = trusting(None);
    let ten = StudyQuestion {
        scenario: Scenario::new(&sheet.machine, &[], &study.schedulers[0]),
        trust: &nobody,
        length: Length::Full,
        runs: None,
        command: String::new(),
    };
    assert_eq!(Again::jobs(&study, &ten, false), study.jobs(&ten) * 11);
}

#[test]
fn a_prediction_without_an_interval_of_costs_says_why() {
    let (study, machine) = (plain(), fake::machine());
    let mut answer = answered(&study, &machine, Length::Full);
    answer.open = Some(Open {
        over: "costs that the fit leaves open",
        points: 2,
        runs: 5,
        shortened: vec![],
        intervals: vec![],
    });
    let text = render(&answer, &trusting(None), None, Style::Table);
    let why = "one, events, linux-5.5+asym-capacity has no interval of costs: \
               with some of them its base is 0 or has no figure\n";
    assert!(text.contains(why), "{text}");
}

/// What `alight study list` shows is of studies that are built in, and can be read.
#[test]
fn the_outcomes_are_of_built_in_studies() {
    for (name, outcome) in outcomes() {
        let study = load(&name).unwrap_or_else(|error| panic!("{error}"));
        for Predicted { which, .. } in &outcome.predictions {
            assert!(study.case(&which.case).is_some(), "{name}: {}", which.case);
            let has = |row: &Row| row.metric == which.metric;
            assert!(study.rows.iter().any(has), "{name}: {}", which.metric);
        }
    }
}

#[test]
fn an_outcome_is_written_read_and_listed() {
    let (study, machine) = (with_after(), fake::machine());
    let outcome = answered(&study, &machine, Length::Full).outcome();
    let text = outcome.to_toml("mine");
    let read: BTreeMap<String, Outcome> = toml::from_str(&text).expect("as written");
    assert_eq!(read["mine"], outcome, "{text}");
    let listed = |outcomes| list::list_of(std::slice::from_ref(&study), &outcomes).unwrap();
    let squeezed = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let heads = "study machine before: off by prediction costs runs, 95% published";
    assert_eq!(
        squeezed(listed(read.clone())),
        format!(
            "{heads} mine juno-r0 -50.0%, not had events, +asym-capacity: +50.1% [+49.1, +51.1] \
             +51.0% mine"
        )
    );
    let mut earlier = read;
    earlier.get_mut("mine").expect("it is there").machine_hash = number::hash(0);
    assert!(listed(earlier).contains("-50.0%, not had; of an earlier machine "));
    let none = squeezed(listed(BTreeMap::new()));
    assert_eq!(none, format!("{heads} mine juno-r0 not run mine"));
}

#[test]
fn a_report_says_what_was_published_what_came_out_and_on_which_costs() {
    let (study, machine) = (plain(), fake::machine());
    let answer = answered(&study, &machine, Length::Full);
    let text = render(&answer, &trusting(None), None, Style::Table);
    for part in [
        "published  nowhere",
        "ASSUMED: juno-r0 has no calibration",
        "  published before             100 ",
        "  off by                    -50.0%  ",
        "held   half as much again",
        "FAILED ten times as much",
        "FAILED of what there is not",
        "again      alight study run mine.toml",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let edited = Calibration {
        machine: "juno-r0".to_owned(),
        rows: vec!["a row".to_owned()],
        factors: None,
        matches: false,
    };
    let text = render(
        &answer,
        &trusting(Some(edited.clone())),
        None,
        Style::Markdown,
    );
    assert!(text.contains("NO LONGER FITTED"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&render(
        &answer,
        &trusting(Some(edited.clone())),
        None,
        Style::Json,
    ))
    .unwrap();
    assert_eq!(json["schema"], "alight.study-answer/1");
    assert_eq!(json["calibration"]["matches"], false);
    assert_eq!(json["checks"][1]["outcome"], "failed");
    assert_eq!(
        json["comparisons"][1]["comparison"]["schema"],
        "alight.compare/1"
    );
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (from, to, message) in [
        (
            "alight.study/1",
            "alight.study/2",
            "mine.toml:1:10: schema is `alight.study/2`",
        ),
        (
            "\"juno-r0\"",
            "\"juno\"",
            "mine.toml:5:11: unknown machine `juno`",
        ),
        ("asym-capacity\"]", "asym\"]", "mine.toml:6:28: "),
        (
            "[\"linux-5.5\", \"linux-5.5+asym-capacity\"]",
            "[\"linux-5.5\"]",
            "two schedulers or more",
        ),
        (
            "hackbench -g 1 -l 1\"]\n\n[[case]]",
            "hackbenk\"]\n\n[[case]]",
            "mine.toml:12:14: command line:1:1: `hackbenk` is no workload",
        ),
        (
            "name = \"other\"",
            "name = \"one\"",
            "two cases are called `one`",
        ),
        (
            "case = \"other\"",
            "case = \"third\"",
            "no case `third`; there are one, other",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\npicture_ms = [7, 7]",
            "mine.toml:12:14: the window from 7 to 7 ms is empty",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\ninstead = [{ scheduler = \"linux-6.1\", workloads = [\"hackbench\"] }]",
            "mine.toml:12:26: `linux-6.1` is not among the study's schedulers",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\nduration_ms = 18446744073710",
            "mine.toml:12:15: `case.duration_ms` is 18446744073710, expected a whole number from 0 to \
             1000000000000, in ms",
        ),
        (
            "before = { mean = 100.0 }",
            "calibrates = true",
            "a row without `before` has no number to calibrate to",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\ncalibration = { window_ms = [7, 7], runs = 1 }",
            "mine.toml:12:29: the window from 7 to 7 ms is empty",
        ),
        ("at_least = 1000.0", "", "cannot fail"),
        (
            "relative_to = \"linux-5.5\"",
            "relative_to = \"linux-5.5+asym-capacity\"",
            "mine.toml:28:15: `linux-5.5+asym-capacity` relative to itself",
        ),
        (
            "runs = 4",
            "runs = 0",
            "mine.toml:7:8: `runs` is 0, expected a whole number from 1 to 4294967295, in runs",
        ),
        (
            "runs = 4",
            "runs = 4\nrnus = 3",
            "mine.toml:8:1: unknown key `rnus` in the file, the nearest valid: `runs`",
        ),
        (
            "scheduler = \"linux-5.5\"\n",
            "scheduler = \"linux-6.1\"\n",
            "is not among the study's schedulers",
        ),
    ] {
        let text = PLAIN.replacen(from, to, 1);
        assert_ne!(text, PLAIN, "{from}");
        let error = parse("mine.toml", &text).expect_err(to).to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
}
