// SPDX-License-Identifier: GPL-2.0-only
//! What a measurement ends with: the machine file, its measured figures beside those that were
//! assumed, and what could not be measured.

mod summary;

use alight_machine::{DataSheet, Figure};

/// A measured machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The machine file.
    pub toml: String,
    /// Its measured figures, in the order of the file.
    pub rows: Vec<Row>,
    /// What was measured and has no place in a machine file.
    pub extras: Vec<Extra>,
    /// What could not be measured.
    pub unmeasured: Vec<Unmeasured>,
    /// Others wanted the CPUs, a sentence; `None`: the machine was idle.
    pub busy: Option<String>,
    /// Files of sysfs that could not be brought back, each with what it was.
    pub lost: Vec<String>,
    /// Rounds that were made.
    pub rounds: u32,
}

impl Measurement {
    /// The figures as a table, and the list of what could not be measured.
    pub fn summary(&self) -> String {
        summary::of(self)
    }
}

/// A measured figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Keys that lead to it in the file.
    pub path: String,
    /// The median of the rounds, in the unit of its key.
    pub value: String,
    /// Least and largest round in words.
    pub spread: String,
    /// What a capture has in its place, and whether that is assumed or read; `None`: nothing.
    pub captured: Option<(String, String)>,
}

/// A figure that no simulation reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extra {
    /// What it is, with its unit.
    pub what: String,
    /// The median of the rounds.
    pub value: u64,
    /// Least and largest round.
    pub spread: [u64; 2],
}

/// A figure that keeps what was assumed or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmeasured {
    /// Keys or a thing.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Unmeasured {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
        }
    }
}

/// For instance `9 rounds`.
pub(crate) fn rounds(number: u32) -> String {
    match number {
        1 => "1 round".to_owned(),
        _ => format!("{number} rounds"),
    }
}

/// The measured figures of `sheet` beside those of the captured one.
pub(crate) fn rows(sheet: &DataSheet, captured: &DataSheet) -> Vec<Row> {
    let row = |figure: &Figure| {
        let before = captured
            .figures
            .iter()
            .find(|known| known.path == figure.path);
        Row {
            path: figure.path.clone(),
            value: figure.value.clone(),
            spread: figure.provenance.spread_in_words(),
            captured: before.map(|known| {
                let confidence = known.provenance.confidence.to_string();
                (known.value.clone(), confidence)
            }),
        }
    };
    let measured = (sheet.figures.iter()).filter(|figure| !figure.provenance.spread.is_empty());
    measured.map(row).collect()
}
