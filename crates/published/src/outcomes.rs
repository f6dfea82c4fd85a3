// SPDX-License-Identifier: GPL-2.0-only
//! What came out of the built-in studies when they last ran whole: how far each base is from what
//! was published, and the predictions. `alight study list` shows it. `make studies` writes it, with
//! the report of which it is the short form.

use std::collections::BTreeMap;

use alight_compare::report::number;
use alight_compare::stats::Delta;
use serde::{Deserialize, Serialize};

use super::{Answer, Off, Row, Which};

/// The built-in studies' outcomes, by study.
const TEXT: &str = include_str!("../../../studies/outcomes.toml");

/// What came out of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Hash of the machine on which it ran.
    pub machine_hash: String,
    /// The published figure that the base is furthest from; `None`: nothing was published of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Off>,
    /// The predictions, in the order of the rows.
    #[serde(rename = "prediction", default)]
    pub predictions: Vec<Predicted>,
}

/// A prediction: the difference from the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// What is predicted.
    #[serde(flatten)]
    pub which: Which,
    /// Percent of the base's mean.
    pub percent: f64,
    /// The same with other costs that are left open, at least and at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<(f64, f64)>,
    /// 95 % interval over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<(f64, f64)>,
    /// What was published of it, percent of the base's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
}

impl Predicted {
    /// `+28.1% [+15.0, +60.2] (costs), [+22.2, +34.1] (runs)`.
    pub fn in_words(&self) -> String {
        let of = |ends: Option<(f64, f64)>, what| match ends {
            Some(_) => format!("{} ({what})", number::interval(ends)),
            None => String::new(),
        };
        let ends = [of(self.costs, "costs"), of(self.runs, "runs")];
        let ends: Vec<String> = ends.into_iter().filter(|text| !text.is_empty()).collect();
        let percent = number::percent(Some(self.percent));
        let published = self.against_published().map(|text| format!("; {text}"));
        let published = published.unwrap_or_default();
        format!("{percent} {}{published}", ends.join(", "))
            .trim_end()
            .to_owned()
    }

    /// `published +20.0%: in the interval of the costs`.
    fn against_published(&self) -> Option<String> {
        let published = self.published?;
        let within = |ends: Option<(f64, f64)>| {
            ends.is_some_and(|(least, most)| (least..=most).contains(&published))
        };
        let verdict = if within(self.runs) {
            "in the interval of the runs"
        } else if within(self.costs) {
            "in the interval of the costs"
        } else if self.percent * published > 0.0 {
            "the same sign, outside the intervals"
        } else {
            "outside the intervals"
        };
        let published = number::percent(Some(published));
        Some(format!("published {published}: {verdict}"))
    }
}

impl Answer<'_> {
    /// Its short form.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            machine_hash: number::hash(self.machine),
            off: self.off().map(|off| Off {
                percent: rounded(off.percent),
                ..off
            }),
            predictions: self.predicted(),
        }
    }

    /// The predictions that have a number.
    pub fn predicted(&self) -> Vec<Predicted> {
        let predicted = |(which, delta): (Which, Option<Delta>)| {
            let delta = delta?;
            let ends = |(least, most)| (rounded(least), rounded(most));
            let costs = self.open.as_ref().and_then(|open| open.of(&which));
            Some(Predicted {
                percent: rounded(delta.delta_percent?),
                costs: costs.map(ends),
                runs: delta.ci_low.zip(delta.ci_high).map(ends),
                published: self.published(&which),
                which,
            })
        };
        self.predictions()
            .into_iter()
            .filter_map(predicted)
            .collect()
    }

    /// What was published of a prediction, percent of the base's.
    fn published(&self, which: &Which) -> Option<f64> {
        let of_it = |row: &&Row| {
            row.metric == which.metric && (row.case.is_empty() || row.case == which.case)
        };
        let row = self.study.rows.iter().find(of_it)?;
        let (before, after) = (row.before?.mean?, row.after.get(&which.scheduler)?.mean?);
        (before != 0.0).then(|| rounded(100.0 * (after / before - 1.0)))
    }
}

/// To a tenth, as reports have it.
fn rounded(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}

/// What came out of the built-in studies, by name. One that is not there did not run yet.
///
/// # Panics
/// The file that the program was built with is not what `make studies` writes, which a test excludes.
pub fn outcomes() -> BTreeMap<String, Outcome> {
    toml::from_str(TEXT).expect("studies/outcomes.toml is as `make studies` writes it")
}

impl Outcome {
    /// As a part of `studies/outcomes.toml`.
    ///
    /// # Panics
    /// Never: all of it can be written.
    pub fn to_toml(&self, study: &str) -> String {
        let one = BTreeMap::from([(study, self)]);
        toml::to_string(&one).expect("plain values")
    }
}
