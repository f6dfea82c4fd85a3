// SPDX-License-Identifier: GPL-2.0-only
//! What was fitted, for people and programs.

use std::path::Path;

use serde_json::{Value, json};

use super::{Fit, PARAMETERS, millionths};

const SCHEMA: &str = "alight.calibrate/1";

/// For the terminal: the fit that was written to `place`.
pub fn table(place: &Path, fit: &Fit) -> String {
    let mut report = format!("{}: {} points\n", place.display(), fit.evaluations);
    for (parameter, factor) in PARAMETERS.iter().zip(fit.factors) {
        let times = format!("{}.{:03}", factor / 1000, factor % 1000);
        report += &format!(
            "  {:<9} times {times}  {}\n",
            parameter.name, parameter.meaning
        );
    }
    report += &format!(
        "  misfit {}, {} before\n",
        millionths(fit.misfit),
        millionths(fit.unfitted)
    );
    for row in &fit.rows {
        report += &format!("  {row}\n");
    }
    report
}

/// The same for programs, `alight.calibrate/1`.
pub fn json(place: &Path, fit: &Fit) -> String {
    format!("{:#}\n", document(place, fit))
}

fn document(place: &Path, fit: &Fit) -> Value {
    let factors = PARAMETERS
        .iter()
        .zip(fit.factors)
        .map(|(parameter, factor)| {
            json!({
                "name": parameter.name,
                "meaning": parameter.meaning,
                "factor": factor as f64 / 1e3,
            })
        });
    json!({
        "schema": SCHEMA,
        "file": place.display().to_string(),
        "points": fit.evaluations,
        "misfit": fit.misfit as f64 / 1e6,
        "misfit_unfitted": fit.unfitted as f64 / 1e6,
        "factors": factors.collect::<Vec<_>>(),
        "rows": fit.rows,
    })
}

#[cfg(test)]
mod tests;
