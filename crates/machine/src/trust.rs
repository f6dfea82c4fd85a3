// SPDX-License-Identifier: GPL-2.0-only
//! What an answer about a machine rests on: how far its costs, capacities and
//! speeds can be trusted. Reports say it beside the answer.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::assumed::Assumed;
use crate::calibration::Calibration;
use crate::figure::{Confidence, Figure};
use crate::resolve::DataSheet;
use crate::speed::{self, Speeds};

/// What an answer about a machine rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trust {
    /// Name of the machine.
    pub machine: String,
    /// [`Machine::hash`](crate::Machine::hash); sixteen hexadecimal digits in JSON.
    #[serde(serialize_with = "hexadecimal")]
    pub hash: u64,
    /// The costs of kernel paths.
    pub costs: CostTrust,
    /// The least confidence among the capacities of the core types and the speeds per MHz that they
    /// follow from.
    pub capacities: Confidence,
    /// The speeds at which CPUs do work.
    pub speeds: Speeds,
    /// What else nobody measured.
    pub assumed: Vec<Assumed>,
    /// What a capture did not find, and what stands for it.
    pub notes: Vec<String>,
}

/// Where the costs of kernel paths come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostTrust {
    /// Name of the machine.
    machine: String,
    /// How far they can be trusted, in a word.
    pub standing: CostStanding,
    /// To which rows of measurements they were fitted, if they were.
    pub calibration: Option<Calibration>,
    /// The keys of costs by their confidence, both in order. A key that core types have from several
    /// sources is under the least.
    pub keys: BTreeMap<Confidence, Vec<String>>,
}

/// How far the costs of kernel paths can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostStanding {
    /// Each was measured, published or derived from such figures.
    Stated,
    /// Some were measured or published, the others are assumed.
    PartlyAssumed,
    /// They were fitted to rows of measurements.
    Fitted,
    /// They were fitted, but the file was edited since.
    NoLongerFitted,
    /// Nobody measured them: they are those of a class of cores.
    Assumed,
}

impl DataSheet {
    /// What an answer about this machine rests on.
    pub fn trust(&self) -> Trust {
        Trust {
            machine: self.machine.name.clone(),
            hash: self.machine.hash(),
            costs: CostTrust::of(self),
            capacities: speed::confidence(&self.figures),
            speeds: self.speeds.clone(),
            assumed: self.assumed(),
            notes: self.notes.clone(),
        }
    }
}

impl CostTrust {
    fn of(sheet: &DataSheet) -> Self {
        let keys = keys_by_confidence(&sheet.figures);
        let assumed = keys.contains_key(&Confidence::Assumed);
        let standing = match &sheet.calibration {
            Some(calibration) if calibration.matches => CostStanding::Fitted,
            Some(_) => CostStanding::NoLongerFitted,
            None if !assumed => CostStanding::Stated,
            None if keys.len() > 1 => CostStanding::PartlyAssumed,
            None => CostStanding::Assumed,
        };
        Self {
            machine: sheet.machine.name.clone(),
            standing,
            calibration: sheet.calibration.clone(),
            keys,
        }
    }

    /// The keys that nobody measured, in order.
    pub fn assumed(&self) -> &[String] {
        self.keys
            .get(&Confidence::Assumed)
            .map_or(&[], Vec::as_slice)
    }

    /// For instance `12 measured, 18 ASSUMED (mutex_ns, …)`.
    fn counts(&self) -> String {
        let words = self.keys.iter().map(|(confidence, keys)| match confidence {
            Confidence::Assumed => format!("{} ASSUMED ({})", keys.len(), keys.join(", ")),
            _ => format!("{} {confidence}", keys.len()),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

impl CostTrust {
    /// The same as [`Display`](fmt::Display) in less words: rows are counted, and assumed keys.
    pub fn in_short(&self) -> String {
        let Some(calibration) = &self.calibration else {
            return match self.standing {
                CostStanding::Assumed => {
                    "costs ASSUMED: nobody measured them on this machine".to_owned()
                }
                _ => {
                    let counted = |(confidence, keys): (&Confidence, &Vec<String>)| {
                        let count = keys.len();
                        match confidence {
                            Confidence::Assumed => format!("{count} ASSUMED"),
                            _ => format!("{count} {confidence}"),
                        }
                    };
                    let words: Vec<String> = self.keys.iter().map(counted).collect();
                    format!("costs: {}", words.join(", "))
                }
            };
        };
        let (rows, machine) = (calibration.rows.len(), &calibration.machine);
        let figures = if rows == 1 { "figure" } else { "figures" };
        let mut text = match self.standing {
            CostStanding::NoLongerFitted => {
                format!(
                    "costs NO LONGER FITTED to the {rows} published {figures} of {machine}: the file was edited since"
                )
            }
            _ => format!("costs fitted to {rows} published {figures} of {machine}"),
        };
        let assumed = self.assumed().len();
        if assumed != 0 {
            text += &format!(", {assumed} of them ASSUMED");
        }
        text
    }
}

/// Every cost under the least confidence that a core type has in it.
fn keys_by_confidence(figures: &[Figure]) -> BTreeMap<Confidence, Vec<String>> {
    let mut least: BTreeMap<&str, Confidence> = BTreeMap::new();
    for figure in figures {
        let (section, key) = figure.section_and_key();
        if section.starts_with("core_type.") && section.ends_with(".costs") {
            let confidence = figure.provenance.confidence;
            let known = least.entry(key).or_insert(confidence);
            *known = confidence.max(*known);
        }
    }
    let mut keys: BTreeMap<Confidence, Vec<String>> = BTreeMap::new();
    for (key, confidence) in least {
        keys.entry(confidence).or_default().push(key.to_owned());
    }
    keys
}

/// One sentence for reports, without a full stop.
impl fmt::Display for CostTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.machine;
        let Some(calibration) = &self.calibration else {
            return match self.standing {
                CostStanding::Assumed => write!(
                    f,
                    "ASSUMED: {machine} has no calibration, its costs are those of its class of cores"
                ),
                _ => f.write_str(&self.counts()),
            };
        };
        if self.standing == CostStanding::NoLongerFitted {
            write!(
                f,
                "NO LONGER FITTED: the file was edited since `alight calibrate {}`; ",
                calibration.machine
            )?;
        }
        if calibration.machine != *machine {
            write!(f, "those of {}, ", calibration.machine)?;
        }
        write!(f, "fitted to {}", calibration.rows.join("; "))?;
        match &calibration.factors {
            Some(factors) => write!(
                f,
                "; by factors, and what the rows leave them: {}",
                factors.in_words()
            ),
            None => Ok(()),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn hexadecimal<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{hash:016x}"))
}
