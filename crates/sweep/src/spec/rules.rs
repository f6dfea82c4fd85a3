// SPDX-License-Identifier: GPL-2.0-only
//! Objectives and constraints: which numbers are to be small or large, and which must hold.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Less is better.
    Minimise,
    /// More is better.
    Maximise,
}

impl Direction {
    /// As in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Minimise => "minimise",
            Direction::Maximise => "maximise",
        }
    }

    /// The value, turned so that less is better.
    pub fn cost(self, value: f64) -> f64 {
        match self {
            Direction::Minimise => value,
            Direction::Maximise => -value,
        }
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "minimise" | "minimize" => Ok(Direction::Minimise),
            "maximise" | "maximize" => Ok(Direction::Maximise),
            _ => Err(format!(
                "`{text}` is no direction, expected `minimise` or `maximise`"
            )),
        }
    }
}

/// A number that is to be small or large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    /// Name of the number.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
}

/// Side of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

/// What a number is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// A value, in the metric's unit.
    Value(f64),
    /// So many percent of the base's mean in the same cell.
    PercentOfBase(f64),
}

/// Something that must hold: `run_delay_p99_us <= 500`, `energy_j <= 102 % of base`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// Name of the number.
    pub metric: String,
    /// Side of the bound.
    pub bound: Bound,
    /// The bound.
    pub limit: Limit,
}

impl Constraint {
    /// Whether it holds for a mean, beside the base's. `None`: there is no number to compare with.
    pub fn holds(&self, mean: f64, base: Option<f64>) -> Option<bool> {
        let limit = match self.limit {
            Limit::Value(value) => value,
            Limit::PercentOfBase(percent) => base? * percent / 100.0,
        };
        Some(match self.bound {
            Bound::AtMost => mean <= limit,
            Bound::AtLeast => mean >= limit,
        })
    }
}

impl Constraint {
    /// By how much a value is above the bound, beside the base's at the same seed. `None`: there is
    /// no number to compare with.
    pub fn above(&self, value: f64, base: Option<f64>) -> Option<f64> {
        Some(match self.limit {
            Limit::Value(limit) => value - limit,
            Limit::PercentOfBase(percent) => value - base? * percent / 100.0,
        })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.bound {
            Bound::AtMost => "<=",
            Bound::AtLeast => ">=",
        };
        write!(f, "{} {sign} ", self.metric)?;
        match self.limit {
            Limit::Value(value) => write!(f, "{value}"),
            Limit::PercentOfBase(percent) => write!(f, "{percent} % of base"),
        }
    }
}

impl FromStr for Constraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no constraint, expected like `run_delay_p99_us <= 500` or \
                 `energy_j <= 102 % of base`"
            )
        };
        let split = |sign: &'static str| text.split_once(sign);
        let (metric, bound, limit) = split("<=")
            .map(|(metric, limit)| (metric, Bound::AtMost, limit))
            .or_else(|| split(">=").map(|(metric, limit)| (metric, Bound::AtLeast, limit)))
            .ok_or_else(wrong)?;
        let (metric, limit) = (metric.trim(), limit.trim());
        let percent = limit.strip_suffix("of base").map(str::trim_end);
        let percent = percent.map(|text| text.strip_suffix('%').ok_or_else(wrong));
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok();
            number.filter(|number| number.is_finite()).ok_or_else(wrong)
        };
        if metric.is_empty() || metric.contains(char::is_whitespace) {
            return Err(wrong());
        }
        Ok(Constraint {
            metric: metric.to_owned(),
            bound,
            limit: match percent.transpose()? {
                Some(percent) => Limit::PercentOfBase(number(percent)?),
                None => Limit::Value(number(limit)?),
            },
        })
    }
}
