// SPDX-License-Identifier: GPL-2.0-only
//! Figures and where they come from. A machine file may state no number
//! without saying who says so and how far to trust it.

use std::fmt;

use serde::Serialize;

/// How far a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Measured by this project, or read from the running machine.
    Measured,
    /// Read in a publication: device tree, driver, vendor's document, paper.
    Published,
    /// Computed from other figures by a stated rule.
    Derived,
    /// Chosen so that the model reproduces stated rows of a measurement.
    Calibrated,
    /// Nobody measured it: a guess with a reason.
    Assumed,
}

impl Confidence {
    /// Every confidence with its name in files.
    pub(crate) const NAMES: [(&'static str, Self); 5] = [
        ("measured", Self::Measured),
        ("published", Self::Published),
        ("derived", Self::Derived),
        ("calibrated", Self::Calibrated),
        ("assumed", Self::Assumed),
    ];
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = Self::NAMES
            .iter()
            .find(|(_, confidence)| confidence == self)
            .unwrap_or(&Self::NAMES[0]);
        f.pad(name)
    }
}

/// Who says so, and how far to trust it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The source in words.
    pub source: String,
    /// Its weight.
    pub confidence: Confidence,
    /// Of a measured figure, the least and the largest of the rounds, in its unit; of a column a
    /// pair for each of its values. Empty: not stated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<[u64; 2]>,
}

impl Provenance {
    /// Without a spread.
    pub(crate) fn new(source: String, confidence: Confidence) -> Self {
        Self {
            source,
            confidence,
            spread: Vec::new(),
        }
    }

    /// The spread in words: `812 to 840`; empty without one.
    pub fn spread_in_words(&self) -> String {
        let words: Vec<String> = (self.spread.iter())
            .map(|[least, largest]| format!("{least} to {largest}"))
            .collect();
        words.join(", ")
    }
}

/// One figure of a machine as its file states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Keys that lead to it, for instance `core_type.Cortex-A53.idle_state.WFI.exit_us`.
    pub path: String,
    /// Its value, a list's items separated by blanks.
    pub value: String,
    /// How it follows from a figure stated elsewhere, for instance `4000 at 1200 MHz`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<String>,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
}

impl Figure {
    /// The section it stands in and its key there.
    pub fn section_and_key(&self) -> (&str, &str) {
        self.path
            .rsplit_once('.')
            .unwrap_or(("machine", &self.path))
    }
}
