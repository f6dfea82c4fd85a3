// SPDX-License-Identifier: GPL-2.0-only
//! `alight calibrate`

mod points;

use std::fs;
use std::path::{Path, PathBuf};

use alight_compare::{Spread, simulate};
use alight_published::calibrate::{NoFit, Points, calibrate, report};

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
    let fit = match &args.keep {
        None => calibrate(
            &args.machine,
            &studies,
            &simulate,
            how,
            &Points::NONE,
            cancel,
        ),
        Some(file) => {
            let (answered, kept) = points::open(file, &args.machine)?;
            let points = Points {
                answered,
                keep: &|point, misfit| kept.keep(point, misfit),
            };
            calibrate(&args.machine, &studies, &simulate, how, &points, cancel)
        }
    };
    bar.finish();
    let fit = fit.map_err(|error| stopped(args, error))?;
    let text = alight_machine::calibrated(
        &args.machine,
        &fit.also,
        &fit.rows,
        &fit.factors(),
        &fit.costs,
    )?;
    output::save(&place, &text)?;
    output::print(&match args.json {
        true => report::json(&place, &fit),
        false => report::table(&place, &fit),
    })
}

/// Why there is no fit. Of an interruption: what is left of it.
fn stopped(args: &CalibrateArgs, error: NoFit) -> Failure {
    match (Failure::from(error), &args.keep) {
        (Failure::Interrupted(_), Some(file)) => Failure::Interrupted(format!(
            "interrupted, nothing is fitted; what was evaluated is in {}, and the same command goes on",
            file.display()
        )),
        (Failure::Interrupted(_), None) => Failure::Interrupted(
            "interrupted, nothing is fitted; --keep FILE keeps what is evaluated".to_owned(),
        ),
        (failure, _) => failure,
    }
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
            "{}: there is no folder {}; run this in the source tree, or name the output file with \
             -o",
            place.display(),
            folder.display()
        )));
    }
    if args.output.is_none() {
        let found = fs::read_to_string(&place);
        if found.is_ok_and(|found| alight_machine::is_edited(&args.machine, &found)) {
            return Err(Failure::BadInput(format!(
                "{}: this file differs from the one that this program was built with, and would \
                 be overwritten; build again, or name another output file with -o",
                place.display()
            )));
        }
    }
    output::try_place(&place)?;
    Ok(place)
}
