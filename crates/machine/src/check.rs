// SPDX-License-Identifier: GPL-2.0-only
//! Finds what cannot be in a machine: one rule a function, grouped by what
//! they look at. Every finding names the place, what was found and what was
//! expected.

mod clocks;
mod figures;
mod host;
mod topology;

use std::fmt;

use serde::Serialize;

use crate::draft::Draft;
use crate::error::Place;

pub use host::contradictions;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The machine cannot be; it is not loaded.
    Error,
    /// The machine is odd or incomplete; results may be off.
    Warning,
}

/// One thing that is wrong with a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Name of the rule, stable.
    pub rule: &'static str,
    /// Where in the file.
    #[serde(serialize_with = "as_text")]
    pub place: Place,
    /// The figure or section.
    pub path: String,
    /// What is there.
    pub found: String,
    /// What would be right.
    pub expected: String,
}

fn as_text<S: serde::Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(place)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(
            f,
            "{}: {severity} [{}]: `{}`: found {}, expected {}",
            self.place, self.rule, self.path, self.found, self.expected
        )
    }
}

/// Findings being collected.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn error(
        &mut self,
        rule: &'static str,
        place: &Place,
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.push(
            Severity::Error,
            rule,
            place,
            path.into(),
            found.into(),
            expected.into(),
        );
    }

    fn warning(
        &mut self,
        rule: &'static str,
        place: &Place,
        path: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.push(
            Severity::Warning,
            rule,
            place,
            path.into(),
            found.into(),
            expected.into(),
        );
    }

    fn push(
        &mut self,
        severity: Severity,
        rule: &'static str,
        place: &Place,
        path: String,
        found: String,
        expected: String,
    ) {
        self.0.push(Finding {
            severity,
            rule,
            place: place.clone(),
            path,
            found,
            expected,
        });
    }
}

/// All findings about a machine, errors first, in the order of the file.
pub fn check(draft: &Draft) -> Vec<Finding> {
    let mut findings = Findings::default();
    topology::check(draft, &mut findings);
    clocks::check(draft, &mut findings);
    figures::check(draft, &mut findings);
    let mut findings = findings.0;
    findings.sort_by(|a, b| (a.severity, &a.place, a.rule).cmp(&(b.severity, &b.place, b.rule)));
    findings
}
