// SPDX-License-Identifier: GPL-2.0-only
//! `alight sweep`

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use alight_compare::{Spread, simulate};
use alight_sweep::answer::Answer;
use alight_sweep::store::Store;
use alight_sweep::sweep::Sweep;
use alight_sweep::work::{Standing, Trial, Work};
use alight_sweep::{page, picture, report};

use crate::args::{SweepArgs, SweepTold, SweepVerb};
use crate::failure::Failure;
use crate::output::remark;
use crate::page::check_ending;
use crate::progress::Cells;
use crate::{interrupt, output};

pub fn run(args: &SweepArgs) -> Result<(), Failure> {
    match (&args.verb, &args.file) {
        (Some(SweepVerb::Show { store, told }), _) => {
            try_files(told)?;
            show(&Store::read(store)?, told)
        }
        (Some(SweepVerb::Export { store, csv }), _) => {
            let store = Store::read(store)?;
            let (table, refused) = (store.csv()?, store.refused()?.len());
            if refused > 0 {
                remark(&format!(
                    "cells without rows: {refused}, which cannot run; `alight sweep show` says why"
                ));
            }
            match csv.as_os_str() == "-" {
                true => output::print(&table),
                false => output::save(csv, &table),
            }
        }
        (None, Some(file)) => run_file(args, file),
        (None, None) => Err(Failure::BadInput("no file of a sweep is named".to_owned())),
    }
}

fn run_file(args: &SweepArgs, file: &Path) -> Result<(), Failure> {
    try_files(&args.told)?;
    let sweep = Sweep::open(file, &remark)?;
    let cancel = interrupt::flag()?;
    check_size(args, &sweep, cancel)?;
    let path = args.store.clone();
    let path = path.unwrap_or_else(|| file.with_extension("sqlite"));
    let store = Store::open(&path, &sweep, &command(args, file))?;
    let work = Work::new(&sweep, store)?;
    let bar = Cells::of(work.standing());
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|_| (),
    };
    let done = work.run(&simulate, how, cancel, &|standing| bar.hear(standing));
    bar.finish();
    let store = done.map_err(|error| goes_on(error.into()))?;
    let standing = Work::new(&sweep, store)?;
    let Standing {
        cells,
        complete,
        refused,
        ..
    } = standing.standing();
    show(standing.store(), &args.told)?;
    if complete + refused < cells {
        return Err(goes_on(Failure::Interrupted(format!(
            "interrupted: {complete} of {cells} cells are complete, stored in {}",
            path.display()
        ))));
    }
    match refused {
        0 => Ok(()),
        refused => Err(Failure::CellsRefused(format!(
            "{refused} of {cells} cells cannot run; the others are complete"
        ))),
    }
}

/// Says how to continue: nothing that was stored is lost.
fn goes_on(failure: Failure) -> Failure {
    let also = |text: String| format!("{text}; the same command goes on from there");
    match failure {
        Failure::Interrupted(text) => Failure::Interrupted(also(text)),
        Failure::Host(text) => Failure::Host(also(text)),
        other => other,
    }
}

/// Refuses a sweep that takes more simulations than were allowed, with the time that it would take.
fn check_size(args: &SweepArgs, sweep: &Sweep, cancel: &AtomicBool) -> Result<(), Failure> {
    if sweep.most_runs() <= u128::from(args.allow_runs) {
        return Ok(());
    }
    let trial = Trial::run(sweep, &simulate, args.threads.jobs, cancel)?;
    Err(Failure::BadInput(trial.in_words(sweep, "--allow-runs")))
}

fn show(store: &Store, told: &SweepTold) -> Result<(), Failure> {
    let answer = Answer::of(store)?;
    output::print(&match told.json {
        true => report::json(&answer),
        false => report::text(&answer),
    })?;
    let aloud = !told.json;
    told.page.write(aloud, || page::page(&answer))?;
    if let Some(file) = &told.picture {
        output::save(file, &picture::draw(&answer)?)?;
        if aloud {
            output::print(&format!("picture  {}\n", file.display()))?;
        }
    }
    Ok(())
}

/// Whether the files that are asked for can be written, before anything runs.
fn try_files(told: &SweepTold) -> Result<(), Failure> {
    told.page.check()?;
    if let Some(file) = &told.picture {
        check_ending(file, "--picture", "a picture is SVG", "svg")?;
        output::try_place(file)?;
    }
    Ok(())
}

/// The command that makes the store again, or continues it.
fn command(args: &SweepArgs, file: &Path) -> String {
    let text = |path: &PathBuf| path.display().to_string();
    let mut words = vec!["alight".to_owned(), "sweep".to_owned()];
    words.push(file.display().to_string());
    if let Some(store) = &args.store {
        words.extend(["--store".to_owned(), text(store)]);
    }
    shell_words::join(words)
}
