// SPDX-License-Identifier: GPL-2.0-only
//! What was fitted, for people and programs.

use std::path::Path;

use serde_json::{Value, json};

use super::{Fit, OPEN, PARAMETERS, millionths};

const SCHEMA: &str = "alight.calibrate/1";

/// For the terminal: the fit that was written to `place`.
pub fn table(place: &Path, fit: &Fit) -> String {
    let mut report = format!("{}: {} points\n", place.display(), fit.evaluations);
    for (parameter, (_, fitted, least, most)) in PARAMETERS.iter().zip(fit.factors().ranges()) {
        report += &format!(
            "  {:<10} times {}, left open from {} to {}  {}\n",
            parameter.name,
            times(fitted),
            times(least),
            times(most),
            parameter.meaning
        );
    }
    report += &format!(
        "  misfit {}, {} before; left open up to {}\n",
        millionths(fit.misfit),
        millionths(fit.unfitted),
        millionths(fit.misfit + OPEN)
    );
    for start in &fit.starts {
        let [from, to] = [start.from, start.to].map(|factors| factors.map(times).join(" "));
        let misfit = millionths(start.misfit);
        report += &format!("  from {from} to {to}, misfit {misfit}\n");
    }
    for row in &fit.rows {
        report += &format!("  {row}\n");
    }
    report
}

/// A factor of so many thousandths.
fn times(factor: u64) -> String {
    format!("{}.{:03}", factor / 1000, factor % 1000)
}

/// The same for programs, `alight.calibrate/1`.
pub fn json(place: &Path, fit: &Fit) -> String {
    format!("{:#}\n", document(place, fit))
}

fn document(place: &Path, fit: &Fit) -> Value {
    let thousandth = |factor: u64| factor as f64 / 1e3;
    let all = fit.factors();
    let factors = PARAMETERS.iter().zip(all.ranges());
    let factors = factors.map(|(parameter, (_, fitted, least, most))| {
        json!({
            "name": parameter.name,
            "meaning": parameter.meaning,
            "factor": thousandth(fitted),
            "open_from": thousandth(least),
            "open_to": thousandth(most),
        })
    });
    let starts = fit.starts.iter().map(|start| {
        json!({
            "from": start.from.map(thousandth),
            "to": start.to.map(thousandth),
            "misfit": start.misfit as f64 / 1e6,
        })
    });
    json!({
        "schema": SCHEMA,
        "file": place.display().to_string(),
        "points": fit.evaluations,
        "misfit": fit.misfit as f64 / 1e6,
        "misfit_unfitted": fit.unfitted as f64 / 1e6,
        "factors": factors.collect::<Vec<_>>(),
        "starts": starts.collect::<Vec<_>>(),
        "open": fit.open.iter().map(|point| point.map(thousandth)).collect::<Vec<_>>(),
        "rows": fit.rows,
    })
}

#[cfg(test)]
mod tests;
