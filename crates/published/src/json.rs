// SPDX-License-Identifier: GPL-2.0-only
//! Studies for programs: `alight.studies/1`, `alight.study-answer/1`. Members come in a fixed order.

use std::collections::BTreeMap;

use alight_compare::header::VERSION;
use alight_compare::report::{document, map, number, pretty};
use alight_compare::stats::{Delta, Summary};
use alight_machine::{IdleGovernor, Trust};
use serde::Serialize;

use super::outcomes::{Outcome, outcomes};
use super::sensitivity::{MOVES, Sensitivity};
use super::{
    Answer, CaseAnswer, Check, CheckOutcome, Length, Off, Open, Published, Row, Study, Which,
};

#[derive(Serialize)]
struct StudiesDocument<'a> {
    schema: &'static str,
    version: &'static str,
    studies: Vec<StudyOut<'a>>,
}

#[derive(Serialize)]
struct StudyOut<'a> {
    name: &'a str,
    title: &'a str,
    publication: &'a str,
    notes: &'a [String],
    machine: &'a str,
    schedulers: Vec<&'a str>,
    runs: u32,
    /// What came out when it last ran whole; of a built-in study only.
    outcome: Option<Outcome>,
    cases: Vec<CaseOut<'a>>,
}

#[derive(Serialize)]
struct CaseOut<'a> {
    name: &'a str,
    workloads: &'a [String],
    governor: Option<String>,
    idle_governor: Option<&'static str>,
    duration_ns: Option<u64>,
    count_from_ns: Option<u64>,
    instead: Vec<InsteadOut<'a>>,
}

#[derive(Serialize)]
struct InsteadOut<'a> {
    scheduler: &'a str,
    workloads: &'a [String],
}

#[derive(Serialize)]
struct AnswerDocument<'a, C: Serialize> {
    schema: &'static str,
    version: &'static str,
    command: &'a str,
    study: StudyOut<'a>,
    machine_hash: String,
    calibration: Option<CalibrationOut<'a>>,
    short: bool,
    runs: u32,
    seed: u64,
    interrupted: bool,
    base: Option<BaseOut>,
    rows: Vec<StudyRowOut<'a>>,
    checks: Vec<CheckOut<'a>>,
    costs: Option<OpenOut<'a>>,
    sensitivity: Option<SensitivityOut<'a>>,
    comparisons: Vec<ComparisonOut<'a, C>>,
}

#[derive(Serialize)]
struct CalibrationOut<'a> {
    machine: &'a str,
    matches: bool,
    rows: &'a [String],
}

/// How far the base is from what was published of it.
#[derive(Serialize)]
struct BaseOut {
    is_had: bool,
    furthest: Off,
}

/// The intervals over the costs that are left open.
#[derive(Serialize)]
struct OpenOut<'a> {
    over: &'static str,
    points: usize,
    runs: u32,
    shortened: &'a [String],
    intervals: Vec<IntervalOut<'a>>,
}

#[derive(Serialize)]
struct IntervalOut<'a> {
    #[serde(flatten)]
    which: &'a Which,
    low_percent: f64,
    high_percent: f64,
}

#[derive(Serialize)]
struct ComparisonOut<'a, C: Serialize> {
    case: &'a str,
    comparison: C,
}

#[derive(Serialize)]
struct StudyRowOut<'a> {
    case: &'a str,
    metric: &'a str,
    calibrates: bool,
    published_before: Option<Published>,
    published_after: &'a BTreeMap<String, Published>,
    #[serde(serialize_with = "map")]
    schedulers: Vec<(&'a str, ValueOut)>,
}

#[derive(Serialize)]
struct ValueOut {
    #[serde(flatten)]
    numbers: Summary,
    delta: Option<Delta>,
}

#[derive(Serialize)]
struct CheckOut<'a> {
    says: &'a str,
    case: &'a str,
    metric: &'a str,
    scheduler: &'a str,
    relative_to: Option<&'a str>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    outcome: &'static str,
    found: Option<f64>,
}

#[derive(Serialize)]
struct SensitivityOut<'a> {
    runs: u32,
    shortened: &'a [String],
    #[serde(serialize_with = "map")]
    fitted: Vec<(&'a str, Option<Delta>)>,
    moves_percent: [f64; MOVES.len()],
    parameters: Vec<ParameterOut<'a>>,
}

#[derive(Serialize)]
struct ParameterOut<'a> {
    name: &'static str,
    fitted: bool,
    meaning: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<[u32; MOVES.len()]>,
    #[serde(serialize_with = "map")]
    deltas: Vec<(&'a str, &'a [Option<Delta>; MOVES.len()])>,
}

/// All studies.
pub fn list_json(studies: &[Study]) -> String {
    let mut known = outcomes();
    pretty(&StudiesDocument {
        schema: "alight.studies/1",
        version: VERSION,
        studies: (studies.iter())
            .map(|one| study(one, known.remove(&one.name)))
            .collect(),
    })
}

/// What a study asks.
pub fn show_json(one: &Study) -> String {
    list_json(std::slice::from_ref(one))
}

/// Everything that came out.
pub fn render(answer: &Answer<'_>, trust: &Trust, sensitivity: Option<&Sensitivity>) -> String {
    let rows = answer.cases.iter().flat_map(|case| {
        let of_it = answer.study.rows.iter().filter(|row| case.is(&row.case));
        of_it.map(move |one| row(answer, one, case))
    });
    pretty(&AnswerDocument {
        schema: "alight.study-answer/1",
        version: answer.version,
        command: &answer.command,
        study: study(answer.study, None),
        machine_hash: number::hash(answer.machine),
        calibration: trust
            .costs
            .calibration
            .as_ref()
            .map(|calibration| CalibrationOut {
                machine: &calibration.machine,
                matches: calibration.matches,
                rows: &calibration.rows,
            }),
        short: answer.length == Length::Short,
        runs: answer.runs,
        seed: answer.seed,
        interrupted: answer.interrupted(),
        base: answer.off().map(|off| BaseOut {
            is_had: off.is_had(),
            furthest: off,
        }),
        rows: rows.collect(),
        checks: answer
            .checks
            .iter()
            .map(|(one, outcome)| check(one, *outcome))
            .collect(),
        costs: answer.open.as_ref().map(open),
        sensitivity: sensitivity.map(moved),
        comparisons: answer
            .cases
            .iter()
            .map(|case| ComparisonOut {
                case: &case.case.name,
                comparison: document(case.comparison()),
            })
            .collect(),
    })
}

fn study(study: &Study, outcome: Option<Outcome>) -> StudyOut<'_> {
    let cases = study.cases.iter().map(|case| CaseOut {
        name: &case.name,
        workloads: &case.full.commands,
        governor: case.governor.map(|governor| governor.to_string()),
        idle_governor: case.idle_governor.map(IdleGovernor::name),
        duration_ns: case.full.duration_ns,
        count_from_ns: case.changes.first().map(|change| change.at_ns),
        instead: (case.instead.iter())
            .map(|own| InsteadOut {
                scheduler: &own.scheduler,
                workloads: &own.full.commands,
            })
            .collect(),
    });
    StudyOut {
        name: &study.name,
        title: &study.title,
        publication: &study.publication,
        notes: &study.notes,
        machine: &study.machine,
        schedulers: study
            .schedulers
            .iter()
            .map(|one| one.name.as_str())
            .collect(),
        runs: study.runs.get(),
        outcome,
        cases: cases.collect(),
    }
}

fn row<'a>(answer: &'a Answer<'_>, row: &'a Row, case: &'a CaseAnswer<'_>) -> StudyRowOut<'a> {
    let values = answer.values(row, case).into_iter().map(|value| {
        let delta = value
            .variant
            .series(&row.metric)
            .and_then(|series| series.delta);
        let numbers = value.summary;
        (
            value.variant.scheduler.as_str(),
            ValueOut { numbers, delta },
        )
    });
    StudyRowOut {
        case: &case.case.name,
        metric: &row.metric,
        calibrates: row.calibrates,
        published_before: row.before,
        published_after: &row.after,
        schedulers: values.collect(),
    }
}

fn check(check: &Check, outcome: CheckOutcome) -> CheckOut<'_> {
    let (outcome, found) = match outcome {
        CheckOutcome::Held(found) => ("held", Some(found)),
        CheckOutcome::Failed(found) => ("failed", Some(found)),
        CheckOutcome::NoNumber => ("failed", None),
        CheckOutcome::NotInShort => ("not_in_short", None),
    };
    CheckOut {
        says: &check.says,
        case: &check.case,
        metric: &check.metric,
        scheduler: &check.scheduler,
        relative_to: check.relative_to.as_deref(),
        at_least: check.at_least,
        at_most: check.at_most,
        outcome,
        found,
    }
}

fn open(open: &Open) -> OpenOut<'_> {
    let intervals = (open.intervals.iter()).map(|(which, (low, high))| IntervalOut {
        which,
        low_percent: *low,
        high_percent: *high,
    });
    OpenOut {
        over: open.over,
        points: open.points,
        runs: open.runs,
        shortened: &open.shortened,
        intervals: intervals.collect(),
    }
}

fn moved(sensitivity: &Sensitivity) -> SensitivityOut<'_> {
    let parameters = sensitivity.parameters.iter().map(|parameter| ParameterOut {
        name: parameter.name,
        fitted: parameter.fitted,
        meaning: parameter.meaning,
        values: parameter.values,
        deltas: parameter
            .deltas
            .iter()
            .map(|(label, deltas)| (label.as_str(), deltas))
            .collect(),
    });
    SensitivityOut {
        runs: sensitivity.runs,
        shortened: &sensitivity.shortened,
        fitted: (sensitivity.unmoved.iter())
            .map(|(label, delta)| (label.as_str(), *delta))
            .collect(),
        moves_percent: MOVES.map(|permille| (permille as f64 - 1000.0) / 10.0),
        parameters: parameters.collect(),
    }
}
