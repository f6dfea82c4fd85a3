// SPDX-License-Identifier: GPL-2.0-only
//! How far the base of a study is from what was published of it: whether there is a "before" that
//! an "after" can be predicted from.

use alight_compare::report::{STATISTICS, number};
use alight_compare::stats::Summary;
use serde::{Deserialize, Serialize};

use super::{Answer, CaseAnswer, Length, Published};

/// A base that is further from a published figure, in percent of it, is not had.
pub const HAD_WITHIN: f64 = 25.0;

/// The published figure of a base that the model is furthest from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Off {
    /// The case; empty in a study of one.
    pub case: String,
    /// The metric.
    pub metric: String,
    /// Which statistic of it, as in a table's head.
    pub statistic: String,
    /// How far, in percent of what was published.
    pub percent: f64,
}

impl Off {
    /// No published figure is further than [`HAD_WITHIN`].
    pub fn is_had(&self) -> bool {
        self.percent.abs() <= HAD_WITHIN
    }

    /// `off by +33.4% (std of elapsed_s): base not had`.
    pub fn in_words(&self) -> String {
        let percent = number::percent(Some(self.percent));
        let case = match self.case.as_str() {
            "" => String::new(),
            case => format!(", {case}"),
        };
        let (statistic, metric) = (&self.statistic, &self.metric);
        let not_had = if self.is_had() { "" } else { ": base not had" };
        format!("off by {percent} ({statistic} of {metric}{case}){not_had}")
    }
}

impl Answer<'_> {
    /// The published figure of the base that the model is furthest from; `None` if nothing was
    /// published of what ran.
    pub fn off(&self) -> Option<Off> {
        // Of a shortened load nothing was published.
        if self.length == Length::Short {
            return None;
        }
        let all = self.cases.iter().flat_map(|case| self.all_off(case));
        all.reduce(
            |furthest, off| match off.percent.abs() > furthest.percent.abs() {
                true => off,
                false => furthest,
            },
        )
    }

    /// How far the base of a case is from each published figure.
    fn all_off(&self, case: &CaseAnswer<'_>) -> Vec<Off> {
        let base = &case.comparison().base().scheduler;
        let mut all = vec![];
        for row in self.study.rows.iter().filter(|row| case.is(&row.case)) {
            let values = self.values(row, case);
            let value = values.iter().find(|value| value.variant.scheduler == *base);
            let Some((value, before)) = value.zip(row.before.as_ref()) else {
                continue;
            };
            for (statistic, percent) in STATISTICS.iter().zip(off(&value.summary, before)) {
                all.extend(percent.map(|percent| Off {
                    case: case.case.name.clone(),
                    metric: row.metric.clone(),
                    statistic: (*statistic).to_owned(),
                    percent,
                }));
            }
        }
        all
    }
}

/// How far each statistic of the model is from what was published, in percent of the latter.
pub(super) fn off(model: &Summary, published: &Published) -> [Option<f64>; 7] {
    let (model, published) = (model.statistics(), published.statistics());
    std::array::from_fn(|index| {
        let (model, published) = model[index].zip(published[index])?;
        (published != 0.0).then(|| 100.0 * (model / published - 1.0))
    })
}
