// SPDX-License-Identifier: GPL-2.0-only
//! `alight verify`

use std::path::{Path, PathBuf};

use alight_ask::load_machine;
use alight_behaviour::replayed::{self, Standing, Taken, Verdict};
use alight_behaviour::{KernelRun, predictions};
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_recording::Reader;
use alight_replay::Options;
use alight_verify::{decisions, fidelity, live, pelt};

use crate::args::{PageArg, VerifyArgs, VerifyVerb};
use crate::failure::Failure;
use crate::output::remark;
use crate::{interrupt, output};

pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    match &args.verb {
        VerifyVerb::Pelt { file, json } => run_pelt(file, *json),
        VerifyVerb::Decisions {
            file,
            explain: Some(number),
            scheduler,
            ..
        } => explain_decision(file, scheduler.as_deref(), *number),
        VerifyVerb::Decisions {
            file,
            scheduler,
            json,
            ..
        } => run_decisions(file, scheduler.as_deref(), *json),
        VerifyVerb::Behaviour {
            files,
            scheduler,
            json,
        } => run_behaviour(files, scheduler.as_deref(), *json),
        VerifyVerb::Workload {
            files,
            machine: machine_name,
            scheduler,
            predict,
            affinity,
            no_background,
            no_write,
            json,
            page,
        } => {
            page.check()?;
            let machine = machine_name
                .as_deref()
                .map(|name| load_machine(name, &remark))
                .transpose()?;
            let asked = Asked {
                machine: machine.as_ref().map(|(machine, _)| machine),
                machine_name: machine_name.as_deref(),
                scheduler: scheduler.as_deref(),
                predict: predict.as_deref(),
                affinity: affinity.as_deref(),
                options: Options {
                    background: !no_background,
                    resample: None,
                },
            };
            run_workload(files, &asked, *no_write, *json, page)
        }
        VerifyVerb::Live { file, json } => run_live(file, *json),
        VerifyVerb::Predictions { directory, of } => {
            let pairs = predictions::read(directory).map_err(Failure::bad_input)?;
            output::print(&predictions::page(&pairs, of.as_deref()))
        }
        VerifyVerb::Report {
            directory,
            quantities,
        } => {
            let page = match quantities {
                false => fidelity::page(directory),
                true => fidelity::quantities(directory),
            };
            output::print(&page.map_err(Failure::bad_input)?)
        }
    }
}

/// What could be read is reported even if the recording is not whole.
fn run_pelt(file: &Path, json: bool) -> Result<(), Failure> {
    let unusable =
        |error: &dyn std::error::Error| Failure::BadInput(format!("{}: {error}", file.display()));
    let mut reader = Reader::open(file).map_err(|error| unusable(&error))?;
    let (report, whole) = pelt::verify(&mut reader);
    if whole.is_ok() || report.records > 0 {
        output::print(&if json {
            report.json() + "\n"
        } else {
            report.text()
        })?;
    }
    whole.map_err(|error| unusable(&error))?;
    let name = file.display();
    if !report.is_equal() {
        return Err(Failure::Different(format!(
            "{name}: the core and the kernel differ"
        )));
    }
    if !report.is_complete() {
        let (lost, halves, allowed) = (report.lost, report.halves(), report.allowed);
        return Err(Failure::BadInput(format!(
            "{name}: the recorder lost {lost} events and saw {halves} calls by half; with {} \
             updates at most {allowed} of each are allowed: record again with a larger --ring or \
             a smaller load",
            report.updates
        )));
    }
    Ok(())
}

/// The scheduler that was named; without a base it is over that of the recorded kernel.
fn named(
    scheduler: Option<&str>,
    own: impl FnOnce() -> Option<Scheduler>,
) -> Result<Option<Scheduler>, Failure> {
    let choose = |name| {
        let own = own();
        let onto = own.as_ref().map_or(Onto::Newest, Onto::First);
        Scheduler::choose([name], onto).map_err(Failure::bad_input)
    };
    scheduler.map(choose).transpose()
}

/// What could be read is reported even if the recording is not whole.
fn run_decisions(file: &Path, scheduler: Option<&str>, json: bool) -> Result<(), Failure> {
    let unusable =
        |error: &dyn std::error::Error| Failure::BadInput(format!("{}: {error}", file.display()));
    let mut reader = Reader::open(file).map_err(|error| unusable(&error))?;
    let own = || decisions::scheduler_of(reader.header()).ok();
    let scheduler = named(scheduler, own)?;
    let (report, whole) = decisions::verify(&mut reader, scheduler.as_ref());
    if whole.is_ok() || report.wakeups > 0 {
        output::print(&if json {
            report.json() + "\n"
        } else {
            report.text()
        })?;
    }
    whole.map_err(|error| unusable(&error))?;
    if report.agrees() {
        return Ok(());
    }
    let (file, wanted) = (file.display(), decisions::WANTED_PER_MILLE);
    Err(Failure::Different(format!(
        "{file}: fewer than {wanted} of 1000 decisions equal those of the core, among all or \
         among those under which no CPU changed"
    )))
}

/// What could be read is reported even if the log is not whole.
fn run_live(file: &Path, json: bool) -> Result<(), Failure> {
    let unusable =
        |error: &dyn std::error::Error| Failure::BadInput(format!("{}: {error}", file.display()));
    let mut reader = Reader::open(file).map_err(|error| unusable(&error))?;
    let (report, whole) = live::verify(&mut reader);
    if whole.is_ok() || report.equal > 0 {
        output::print(&if json {
            report.json() + "\n"
        } else {
            report.text()
        })?;
    }
    whole.map_err(|error| unusable(&error))?;
    if report.is_equal() {
        return Ok(());
    }
    Err(Failure::Different(format!(
        "{}: the kernel side and the host differ",
        file.display()
    )))
}

fn run_behaviour(files: &[PathBuf], scheduler: Option<&str>, json: bool) -> Result<(), Failure> {
    let cancel = interrupt::flag()?;
    let unusable = |file: &Path, error: &dyn std::error::Error| {
        Failure::BadInput(format!("{}: {error}", file.display()))
    };
    // What was recorded several times, with its first file.
    let mut repeated: Vec<(&Path, Vec<KernelRun>)> = Vec::new();
    for file in files {
        let mut reader = Reader::open(file).map_err(|error| unusable(file, &error))?;
        let run = KernelRun::read(&mut reader).map_err(|error| unusable(file, &error))?;
        alight_behaviour::add(&mut repeated, file, run);
    }
    let mut reports = Vec::new();
    for (file, runs) in &repeated {
        let scheduler = named(scheduler, || runs[0].own_base().ok())?;
        let report = alight_behaviour::compare(runs, scheduler.as_ref(), cancel)
            .map_err(|error| unusable(file, &error))?;
        if !json {
            output::print(&report.text())?;
        }
        reports.push(report);
    }
    if json {
        output::print(&alight_behaviour::report::json(&reports).map_err(Failure::bad_input)?)?;
    }
    let different = repeated
        .iter()
        .zip(&reports)
        .find(|(_, report)| !report.agrees());
    different.map_or(Ok(()), |((file, _), _)| {
        Err(Failure::Different(format!(
            "{}: the model does not behave as the kernel did",
            file.display()
        )))
    })
}

/// What is asked about recordings of a workload.
struct Asked<'a> {
    machine: Option<&'a Machine>,
    /// As it was typed.
    machine_name: Option<&'a str>,
    scheduler: Option<&'a str>,
    /// Of the other recordings.
    predict: Option<&'a str>,
    affinity: Option<&'a str>,
    options: Options,
}

fn run_workload(
    files: &[PathBuf],
    asked: &Asked<'_>,
    no_write: bool,
    json: bool,
    page: &PageArg,
) -> Result<(), Failure> {
    let cancel = interrupt::flag()?;
    let unusable = |file: &Path, error: &dyn std::error::Error| {
        Failure::BadInput(format!("{}: {error}", file.display()))
    };
    let read = |file: &PathBuf| {
        Taken::read(file, asked.machine, &asked.options).map_err(|error| unusable(file, &error))
    };
    let (first, others) = files.split_first().expect("at least one is required");
    let taken = read(first)?;
    let base = |taken: &Taken, file: &Path, name| match named(name, || taken.own_base().ok())? {
        Some(scheduler) => Ok(scheduler),
        None => taken.own_base().map_err(|error| unusable(file, &error)),
    };
    let check = |from: &Taken, to: &Taken, file: &Path, scheduler: &Scheduler| {
        replayed::check(from, to, scheduler, cancel).map_err(|error| unusable(file, &error))
    };
    let own_rules = base(&taken, first, asked.scheduler)?;
    let own = check(&taken, &taken, first, &own_rules)?;
    let confined = match asked.affinity {
        None => None,
        Some(cpus) => Some(taken.confined(cpus).map_err(Failure::bad_input)?),
    };
    let mut crosses = Vec::new();
    for file in others {
        let to = read(file)?;
        let scheduler = base(&to, file, asked.predict)?;
        let name = file.display().to_string();
        if !to.differs_from(&taken) && confined.is_none() {
            remark(&format!(
                "{name} was made under the same kernel as {}: to predict it shows less than a \
                 recording under another one",
                first.display()
            ));
        }
        let from = confined.as_ref().unwrap_or(&taken);
        crosses.push((name, check(from, &to, file, &scheduler)?));
    }
    let checks: Vec<_> = crosses.iter().map(|(_, check)| check.clone()).collect();
    let verdict = Verdict::of(&taken.replay.health, &own, &checks);
    output::print(&match json {
        true => replayed::json(&taken, &own, &crosses, &verdict),
        false => replayed::text(&taken, &own, &crosses, &verdict),
    })?;
    page.write(!json, || {
        let again = workload_command(files, asked, no_write);
        replayed::page(&taken, &own, &crosses, &verdict, &again)
    })?;
    if !no_write {
        verdict.write(first).map_err(|error| {
            let first = first.display();
            Failure::Host(format!(
                "{first}: the verdict {error}; --no-write leaves the recording as it is"
            ))
        })?;
    }
    match verdict.standing {
        Standing::NotUsable => Err(Failure::Different(format!(
            "{}: a replay of it is not usable",
            first.display()
        ))),
        _ => Ok(()),
    }
}

/// The command that checks the same recordings again.
fn workload_command(files: &[PathBuf], asked: &Asked<'_>, no_write: bool) -> String {
    let mut words = ["alight", "verify", "workload"].map(str::to_owned).to_vec();
    words.extend(files.iter().map(|file| file.display().to_string()));
    for (option, value) in [
        ("--machine", asked.machine_name),
        ("--scheduler", asked.scheduler),
        ("--predict", asked.predict),
        ("--affinity", asked.affinity),
    ] {
        words.extend(
            value
                .into_iter()
                .flat_map(|value| [option, value])
                .map(str::to_owned),
        );
    }
    for (option, is_given) in [
        ("--no-background", !asked.options.background),
        ("--no-write", no_write),
    ] {
        words.extend(is_given.then(|| option.to_owned()));
    }
    shell_words::join(words)
}

fn explain_decision(file: &Path, scheduler: Option<&str>, number: u64) -> Result<(), Failure> {
    let unusable =
        |error: &dyn std::error::Error| Failure::BadInput(format!("{}: {error}", file.display()));
    let mut reader = Reader::open(file).map_err(|error| unusable(&error))?;
    let own = || decisions::scheduler_of(reader.header()).ok();
    let scheduler = named(scheduler, own)?;
    let explanation = decisions::explain(&mut reader, scheduler.as_ref(), number)
        .map_err(|error| unusable(&error))?;
    output::print(&explanation.text())
}
