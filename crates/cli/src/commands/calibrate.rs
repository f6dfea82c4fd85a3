// SPDX-License-Identifier: GPL-2.0-only
//! `alight calibrate`

use std::fs;
use std::path::{Path, PathBuf};

use alight_compare::{Spread, simulate};
use alight_published::calibrate::{Fit, PARAMETERS, calibrate, millionths};
use serde_json::{Value, json};

use crate::args::CalibrateArgs;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{interrupt, output};

pub fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let place = place(args)?;
    let studies = alight_published::names()
        .into_iter()
        .map(alight_published::load);
    let studies = studies.collect::<Result<Vec<_>, _>>()?;
    let cancel = interrupt::flag()?;
    let bar = Bar::of_search();
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|told| bar.hear(told),
    };
    let fit = calibrate(&args.machine, &studies, &simulate, how, cancel);
    bar.finish();
    let fit = fit?;
    let text = alight_machine::calibrated(&args.machine, &fit.also, &fit.rows, &fit.costs)?;
    output::save(&place, &text)?;
    output::print(&match args.json {
        true => format!("{:#}\n", document(&place, &fit)),
        false => report(&place, &fit),
    })
}

fn report(place: &Path, fit: &Fit) -> String {
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

/// The same as JSON, `alight.calibrate/1`.
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
        "schema": "alight.calibrate/1",
        "file": place.display().to_string(),
        "points": fit.evaluations,
        "misfit": fit.misfit as f64 / 1e6,
        "misfit_unfitted": fit.unfitted as f64 / 1e6,
        "factors": factors.collect::<Vec<_>>(),
        "rows": fit.rows,
    })
}

/// Where the result goes, found before the minutes that it takes.
fn place(args: &CalibrateArgs) -> Result<PathBuf, Failure> {
    let place = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("machines/{}.toml", args.machine)),
    };
    let folder = match place.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(Failure::BadInput(format!(
            "{}: there is no folder {}; run this in the source tree, or say where to write with -o",
            place.display(),
            folder.display()
        )));
    }
    if args.output.is_none() {
        let found = fs::read_to_string(&place);
        if found.is_ok_and(|found| alight_machine::is_edited(&args.machine, &found)) {
            return Err(Failure::BadInput(format!(
                "{}: is not the one that this program was built with, which would be written over \
                 it; build again, or say where to write with -o",
                place.display()
            )));
        }
    }
    output::try_place(&place)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_is_told_to_people_and_programs() {
        let fit = Fit {
            factors: [1125, 442, 2000, 1200],
            misfit: 20_125,
            unfitted: 250_000,
            evaluations: 135,
            also: vec![],
            rows: vec!["juno-hackbench elapsed_s: mean 0.63 published, 0.56 fitted".to_owned()],
            costs: vec![],
        };
        let place = Path::new("mine.toml");
        let text = report(place, &fit);
        for part in [
            "mine.toml: 135 points\n",
            "  switches  times 0.442  switching from a task to another\n",
            "  misfit 0.020125, 0.250000 before\n",
            "0.63 published, 0.56 fitted\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let document = document(place, &fit);
        assert_eq!(document["schema"], "alight.calibrate/1");
        assert_eq!(document["factors"][1]["name"], "switches");
        assert_eq!(document["factors"][1]["factor"], 0.442);
        assert_eq!(document["misfit"], 0.020125);
    }
}
