// SPDX-License-Identifier: GPL-2.0-only
//! How far the base of a study is from what was published of it: whether there is a "before" that
//! an "after" can be predicted from.

use alight_compare::report::{STATISTICS, number};
use alight_compare::stats::Summary;
use serde::{Deserialize, Serialize};

use super::{Answer, Length, Published};

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
        let mut furthest: Option<Off> = None;
        for case in &self.cases {
            for row in self.study.rows.iter().filter(|row| case.is(&row.case)) {
                let base = self.values(row, case).into_iter().next();
                let Some((base, before)) = base.zip(row.before.as_ref()) else {
                    continue;
                };
                for (statistic, percent) in STATISTICS.iter().zip(off(&base.summary, before)) {
                    let least = furthest.as_ref().map_or(-1.0, |off| off.percent.abs());
                    let Some(percent) = percent.filter(|percent| percent.abs() > least) else {
                        continue;
                    };
                    furthest = Some(Off {
                        case: case.case.name.clone(),
                        metric: row.metric.clone(),
                        statistic: (*statistic).to_owned(),
                        percent,
                    });
                }
            }
        }
        furthest
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
