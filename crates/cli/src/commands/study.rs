// SPDX-License-Identifier: GPL-2.0-only
//! `alight study`

use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_machine::DataSheet;
use alight_sim::Scenario;
use alight_study::Spread;
use alight_study::published::{self, Ask, Length, Study, Style};

use crate::args::{StudyArgs, StudyRunArgs, StudyVerb};
use crate::failure::Failure;
use crate::{interrupt, output, progress};

pub fn run(args: &StudyArgs) -> Result<(), Failure> {
    match &args.verb {
        StudyVerb::List { json } => {
            let studies = all()?;
            output::print(&match json {
                false => published::list(&studies),
                true => published::list_json(&studies),
            })
        }
        StudyVerb::Show { name, json } => {
            let study = published::load(name)?;
            let sheet = alight_machine::load(&study.machine)?;
            output::print(&match json {
                false => published::show(&study, sheet.calibration.as_ref()),
                true => published::show_json(&study),
            })
        }
        StudyVerb::Run(args) => run_studies(args),
    }
}

fn all() -> Result<Vec<Study>, Failure> {
    let studies = published::names().into_iter().map(published::load);
    Ok(studies.collect::<Result<_, _>>()?)
}

fn run_studies(args: &StudyRunArgs) -> Result<(), Failure> {
    let studies = match args.all {
        true => all()?,
        false => (args.names.iter().map(|name| published::load(name))).collect::<Result<_, _>>()?,
    };
    let cancel = interrupt::flag()?;
    let mut failed = vec![];
    for (index, study) in studies.iter().enumerate() {
        if index > 0 && !args.json {
            output::print("\n")?;
        }
        let sheet = alight_machine::load(&study.machine)?;
        if !run_study(study, &sheet, args, cancel)? {
            failed.push(study.name.as_str());
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(Failure::NotHeld(format!(
            "what must come out did not: {}",
            names.join(", ")
        ))),
    }
}

/// Prints what came out of one study; whether its checks held.
fn run_study(
    study: &Study,
    sheet: &DataSheet,
    args: &StudyRunArgs,
    cancel: &AtomicBool,
) -> Result<bool, Failure> {
    let ask = Ask {
        machine: &sheet.machine,
        length: match args.short {
            true => Length::Short,
            false => Length::Full,
        },
        runs: args.runs,
        seed: args.seed,
        command: command(study, args),
    };
    let moves = match args.sensitivity {
        true => published::sensitivity_jobs(study, &ask),
        false => 0,
    };
    let jobs = study.jobs(&ask);
    let runs = progress::Runs::of((jobs + moves) as u64);
    let how = Spread {
        threads: args.jobs,
        progress: &|_| (),
    };
    let simulate = |scenario: &Scenario<'_>, cancel: &AtomicBool| {
        runs.one(|tell| alight_sim::run_telling(scenario, None, cancel, tell))
    };
    let answer = study.run(&ask, &simulate, how, cancel)?;
    let sensitivity = match args.sensitivity && !answer.interrupted() {
        true => {
            let open = || alight_machine::open(&study.machine);
            Some(published::sensitivity(
                study, &ask, &open, &simulate, how, cancel,
            )?)
        }
        false => None,
    };
    runs.finish();
    let style = if args.json { Style::Json } else { args.style };
    let text = published::render(
        &answer,
        sheet.calibration.as_ref(),
        sensitivity.as_ref(),
        style,
    );
    output::print(&text)?;
    if let Some(folder) = &args.pictures {
        draw(study, &ask, folder, style, cancel)?;
    }
    if answer.interrupted() {
        let (done, asked) = (answer.cases.len(), study.cases.len());
        return Err(Failure::Interrupted(format!(
            "interrupted in {}: what is complete of {done} of {asked} cases is in the report",
            study.name
        )));
    }
    Ok(answer.failed() == 0)
}

/// Writes the pictures of a study; a page shows them, a terminal is told where they are.
fn draw(
    study: &Study,
    ask: &Ask<'_>,
    folder: &Path,
    style: Style,
    cancel: &AtomicBool,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Host(format!("making {}: {error}", folder.display())))?;
    for picture in published::pictures(study, ask, cancel)? {
        let file = folder.join(&picture.file);
        output::save(&file, &picture.text)?;
        match style {
            Style::Markdown => {
                output::print(&format!("\n![{}]({})\n", picture.title, file.display()))?;
            }
            Style::Table => output::print(&format!("picture    {}\n", file.display()))?,
            Style::Json => {}
        }
    }
    Ok(())
}

/// The command that gives the same answer again.
fn command(study: &Study, args: &StudyRunArgs) -> String {
    let typed = args.names.iter().find(|name| name.ends_with(".toml"));
    let name = match published::names().contains(&study.name.as_str()) {
        true => &study.name,
        false => typed.unwrap_or(&study.name),
    };
    let mut words = vec![
        "alight".to_owned(),
        "study".into(),
        "run".into(),
        name.clone(),
    ];
    if args.short {
        words.push("--short".into());
    }
    if let Some(runs) = args.runs {
        words.extend(["--runs".into(), runs.to_string()]);
    }
    if args.seed != 1 {
        words.extend(["--seed".into(), args.seed.to_string()]);
    }
    if args.sensitivity {
        words.push("--sensitivity".into());
    }
    shell_words::join(words)
}
