// SPDX-License-Identifier: GPL-2.0-only
//! How far a prediction can be off because the machine's costs are not known better: its interval
//! over other costs that what is known of the machine leaves open.
//!
//! - **Fitted costs**: for each factor the furthest points at which the rows are met about as well
//!   ([`calibrate::OPEN`](crate::calibrate::OPEN)).
//! - **Assumed costs**: each group of costs halved and doubled, those keys that nobody measured. The
//!   same of all keys, if the fit is of an earlier version.
//! - **Measured costs**: nothing is left open.
//!
//! At each point the study runs again ([`Again`]). How far the prediction moves there, as a ratio of
//! ratios, is applied to the prediction of the whole study: the same seeds run at all points, so that
//! chance moves none.

use alight_compare::stats::Delta;
use alight_machine::{CostStanding, Machine, Trust};

use super::again::{Again, Unanswered, Which};
use super::calibrate::{Factors, PARAMETERS};
use super::{Answer, CaseAnswer, Length};

/// The intervals of all predictions of a study over the costs that are left open.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// What was moved, in words.
    pub over: &'static str,
    /// Other costs that were tried.
    pub points: usize,
    /// Runs of each scheduler at each.
    pub runs: u32,
    /// What ran, case by case, where that was less than is published.
    pub shortened: Vec<String>,
    /// The difference from the base, in percent, at least and at most.
    pub intervals: Vec<(Which, (f64, f64))>,
}

impl Open {
    /// The interval of a prediction, if it has one.
    pub fn of(&self, which: &Which) -> Option<(f64, f64)> {
        let same = |(other, _): &&(Which, _)| other == which;
        self.intervals.iter().find(same).map(|(_, ends)| *ends)
    }
}

impl Answer<'_> {
    /// The interval of a prediction over the costs that are left open.
    pub(super) fn left_open(
        &self,
        case: &CaseAnswer<'_>,
        metric: &str,
        scheduler: &str,
    ) -> Option<(f64, f64)> {
        self.open.as_ref()?.of(&Which {
            case: case.case.name.clone(),
            metric: metric.to_owned(),
            scheduler: scheduler.to_owned(),
        })
    }
}

impl Again<'_> {
    /// The intervals of what `answer` predicts; `None` of a shortened study.
    ///
    /// # Errors
    /// Those of the study; machines that cannot be.
    pub fn open(&self, answer: &Answer<'_>) -> Result<Option<Open>, Unanswered> {
        if self.ask().length == Length::Short {
            return Ok(None);
        }
        let left = Left::of(self.ask().trust);
        let mut moved = vec![];
        for point in &left.points {
            let machine = self.at(point, &left)?;
            moved.push(self.predicted(&machine, self.ask().scenario.wakee_flips)?);
        }
        let intervals = answer
            .predictions()
            .into_iter()
            .filter_map(|(which, delta)| {
                let of_it = |all: &[(Which, Option<Delta>)]| {
                    let found = all.iter().find(|(other, _)| *other == which);
                    ratio(found?.1)
                };
                let whole = ratio(delta)?;
                let unmoved = of_it(&self.unmoved)?;
                let mut ends = (whole, whole);
                for moved in &moved {
                    let moved = of_it(moved)?;
                    // Of what comes to nothing there is no quotient: what is predicted there stands.
                    let there = match unmoved > 0.0 {
                        true => whole * moved / unmoved,
                        false => moved,
                    };
                    ends = (ends.0.min(there), ends.1.max(there));
                }
                let percent = |ratio: f64| 100.0 * (ratio - 1.0);
                Some((which, (percent(ends.0), percent(ends.1))))
            });
        Ok(Some(Open {
            over: left.over,
            points: left.points.len(),
            runs: self.runs(),
            shortened: self.shortened(),
            intervals: intervals.collect(),
        }))
    }

    /// The machine with its costs times these thousandths.
    fn at(&self, point: &Factors, left: &Left<'_>) -> Result<Machine, alight_machine::Error> {
        let mut draft = self.draft()?;
        draft.scale_costs(|key| {
            let of = PARAMETERS
                .iter()
                .position(|group| group.keys.contains(&key));
            of.filter(|_| left.may_move(key))
                .map_or(1000, |group| point[group])
        });
        Ok(draft.resolve()?.machine)
    }
}

/// The other as a part of the base.
fn ratio(delta: Option<Delta>) -> Option<f64> {
    Some(1.0 + delta?.delta_percent? / 100.0)
}

/// How many other costs are tried.
pub(super) fn moves(trust: &Trust) -> usize {
    Left::of(trust).points.len()
}

/// What is not known of the costs of a machine.
struct Left<'a> {
    over: &'static str,
    /// In thousandths of the costs that it has.
    points: Vec<Factors>,
    /// The keys that move; `None`: all.
    keys: Option<&'a [String]>,
}

impl<'a> Left<'a> {
    fn of(trust: &'a Trust) -> Self {
        let costs = &trust.costs;
        if let Some(points) = fitted(trust) {
            return Left {
                over: "costs that the fit leaves open",
                points,
                keys: None,
            };
        }
        if costs.standing == CostStanding::Stated {
            return Left {
                over: "nothing: all costs are stated",
                points: vec![],
                keys: None,
            };
        }
        let one: Factors = [1000; _];
        let each = |index: usize| {
            [500, 2000].map(|times| {
                let mut point = one;
                point[index] = times;
                point
            })
        };
        Left {
            over: match costs.calibration {
                None => "each group of assumed costs halved and doubled",
                Some(_) => {
                    "each group of costs halved and doubled: the fit does not say what it leaves open"
                }
            },
            points: (0..PARAMETERS.len()).flat_map(each).collect(),
            // Of costs that were fitted by an earlier version all may be wrong.
            keys: costs.calibration.is_none().then(|| costs.assumed()),
        }
    }

    fn may_move(&self, key: &str) -> bool {
        self.keys
            .is_none_or(|keys| keys.iter().any(|other| other == key))
    }
}

/// The points that a fit by today's factors left open.
fn fitted(trust: &Trust) -> Option<Vec<Factors>> {
    let factors = trust.costs.calibration.as_ref()?.factors.as_ref()?;
    let today = PARAMETERS.iter().map(|parameter| parameter.name);
    if !today.eq(factors.names.iter().map(String::as_str)) {
        return None;
    }
    let of_those = |point: &Vec<u64>| {
        std::array::from_fn(|index| point[index] * 1000 / factors.fitted[index].max(1))
    };
    Some(factors.open.iter().map(of_those).collect())
}
