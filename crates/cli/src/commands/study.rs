// SPDX-License-Identifier: GPL-2.0-only
//! `alight study`

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_compare::compare::{NoComparison, Runner};
use alight_compare::{Spread, Style, simulate};
use alight_machine::DataSheet;
use alight_published::{
    Again, Answer, CutRuns, Length, Sensitivity, Study, StudyQuestion, Unanswered,
};
use alight_sim::Scenario;

use crate::args::{StudyArgs, StudyRunArgs, StudyVerb};
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{interrupt, output, traced};

pub fn run(args: &StudyArgs) -> Result<(), Failure> {
    match &args.verb {
        StudyVerb::List { json } => {
            let studies = all()?;
            output::print(&match json {
                false => alight_published::list(&studies)?,
                true => alight_published::list_json(&studies),
            })
        }
        StudyVerb::Show { name, json } => {
            let study = alight_published::load(name)?;
            let sheet = alight_machine::load(&study.machine)?;
            output::print(&match json {
                false => alight_published::show(&study, &sheet.trust()),
                true => alight_published::show_json(&study),
            })
        }
        StudyVerb::Run(args) => run_studies(args),
    }
}

fn all() -> Result<Vec<Study>, Failure> {
    let studies = alight_published::names()
        .into_iter()
        .map(alight_published::load);
    Ok(studies.collect::<Result<_, _>>()?)
}

fn run_studies(args: &StudyRunArgs) -> Result<(), Failure> {
    let names = match args.all {
        true => alight_published::names()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        false => args.names.clone(),
    };
    let studies = names.iter().map(|name| alight_published::load(name));
    let studies = studies.collect::<Result<Vec<_>, _>>()?;
    args.page.check()?;
    let of_one = [
        ("--html writes the page", args.page.is_wanted()),
        ("--outcome writes the outcome", args.outcome.is_some()),
    ];
    if let Some((writes, _)) = of_one
        .iter()
        .find(|(_, wanted)| *wanted && studies.len() > 1)
    {
        return Err(Failure::BadInput(format!(
            "{writes} of one study, found {}; name one",
            studies.len()
        )));
    }
    if let Some(file) = &args.outcome {
        output::try_place(file)?;
    }
    let cancel = interrupt::flag()?;
    let mut failed = vec![];
    for (index, (study, typed)) in studies.iter().zip(&names).enumerate() {
        if index > 0 && !args.json {
            output::print("\n")?;
        }
        let sheet = alight_machine::load(&study.machine)?;
        if !run_study(study, typed, &sheet, args, cancel)? {
            failed.push(study.name.as_str());
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(Failure::NotHeld(format!(
            "a required result did not come out: {}",
            names.join(", ")
        ))),
    }
}

/// Prints what came out of one study, `typed` on the command line; whether its checks held.
fn run_study(
    study: &Study,
    typed: &str,
    sheet: &DataSheet,
    args: &StudyRunArgs,
    cancel: &AtomicBool,
) -> Result<bool, Failure> {
    let trust = sheet.trust();
    let ask = StudyQuestion {
        scenario: Scenario {
            seed: args.seed,
            wakee_flips: args.wakee_flips,
            ..Scenario::new(&sheet.machine, &[], &study.schedulers[0])
        },
        trust: &trust,
        length: match args.short {
            true => Length::Short,
            false => Length::Full,
        },
        runs: args.runs,
        command: command(typed, args),
    };
    let again = Again::jobs(study, &ask, args.sensitivity);
    let jobs = study.jobs(&ask);
    let bar = Bar::of(jobs + again);
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|told| bar.hear(told),
    };
    let style = if args.json { Style::Json } else { args.style };
    let parts = CutRuns::default();
    let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, tell: &dyn Fn(u32)| {
        let outcome = simulate(scenario, cancel, tell)?;
        parts.keep(scenario, &ask, &outcome);
        Ok(outcome)
    };
    let mut answer = match study.run(&ask, &run, how, cancel) {
        Err(NoComparison::Interrupted) => {
            bar.finish();
            output::print(&parts.render(style))?;
            return Err(Failure::Interrupted(format!(
                "interrupted in {} before every scheduler had finished a run: the numbers are \
                 those of the parts that ran",
                study.name
            )));
        }
        answer => answer?,
    };
    let (sensitivity, cut) = match again > 0 && !answer.interrupted() {
        true => match hangs(&mut answer, &ask, args.sensitivity, &run, how, cancel) {
            // What is complete is worth more than what it hangs on.
            Err(Unanswered::Run(NoComparison::Interrupted)) => (None, true),
            other => (other?, false),
        },
        false => (None, false),
    };
    bar.finish();
    let text = alight_published::render(&answer, &trust, sensitivity.as_ref(), style);
    output::print(&text)?;
    args.page.write(style == Style::Table, || {
        alight_published::page(&answer, &trust, sensitivity.as_ref())
    })?;
    if let Some(folder) = &args.pictures {
        draw(study, &ask, folder, style, cancel)?;
    }
    if let Some(folder) = &args.traces {
        trace(study, &ask, folder, style, cancel)?;
    }
    if answer.interrupted() {
        let (done, asked) = (answer.cases.len(), study.cases.len());
        return Err(Failure::Interrupted(format!(
            "interrupted in {}: the report has the complete runs of {done} of {asked} cases",
            study.name
        )));
    }
    if cut {
        return Err(Failure::Interrupted(format!(
            "interrupted in {}: the report is complete except for the results with other \
             parameters",
            study.name
        )));
    }
    if let Some(file) = &args.outcome {
        output::save(file, &answer.outcome().to_toml(&study.name))?;
    }
    Ok(answer.failed() == 0)
}

/// Finds how far the predictions move with the costs that are left open, and what else they hang on if
/// that is wanted.
fn hangs(
    answer: &mut Answer<'_>,
    ask: &StudyQuestion<'_>,
    sensitivity: bool,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Option<Sensitivity>, Unanswered> {
    let open = || alight_machine::open(&answer.study.machine);
    let again = Again::of(answer.study, ask, &open, run, how, cancel)?;
    answer.open = again.open(answer)?;
    sensitivity.then(|| again.sensitivity()).transpose()
}

/// Writes the pictures of a study; a page shows them, a terminal is told where they are.
fn draw(
    study: &Study,
    ask: &StudyQuestion<'_>,
    folder: &Path,
    style: Style,
    cancel: &AtomicBool,
) -> Result<(), Failure> {
    make(folder)?;
    for picture in alight_published::pictures(study, ask, cancel)? {
        let file = folder.join(&picture.file);
        output::save(&file, &picture.text)?;
        match style {
            Style::Markdown => {
                output::print(&format!("\n![{}]({})\n", picture.title, file.display()))?;
            }
            Style::Table => output::print(&format!("picture    {}\n", file.display()))?,
            _ => {}
        }
    }
    Ok(())
}

/// Writes the traces of a study.
fn trace(
    study: &Study,
    ask: &StudyQuestion<'_>,
    folder: &Path,
    style: Style,
    cancel: &AtomicBool,
) -> Result<(), Failure> {
    make(folder)?;
    for (name, scenario) in study.traces(ask) {
        let file = folder.join(name);
        traced::run(&scenario, None, &file, &ask.command, cancel, &|_| ())?;
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        if style == Style::Table {
            output::print(&format!("trace      {}\n", file.display()))?;
        }
    }
    Ok(())
}

fn make(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Host(format!("making {}: {error}", folder.display())))
}

/// The command that gives the same answer again.
fn command(typed: &str, args: &StudyRunArgs) -> String {
    let mut words = ["alight", "study", "run", typed]
        .map(str::to_owned)
        .to_vec();
    if args.short {
        words.push("--short".into());
    }
    if let Some(runs) = args.runs {
        words.extend(["--runs".into(), runs.to_string()]);
    }
    if args.seed != 1 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    if let Some(flips) = args.wakee_flips {
        words.extend(["--wakee-flips".into(), flips.to_string()]);
    }
    if args.sensitivity {
        words.push("--sensitivity".into());
    }
    shell_words::join(words)
}
