// SPDX-License-Identifier: GPL-2.0-only
//! `alight suite`

use std::path::Path;

use alight_ask::{BadInput, load_machine, scheduler};
use alight_compare::Spread;
use alight_machine::{Machine, Trust};
use alight_policy::Scheduler;
use alight_suite::{Entry, Platform, TrialRecord, record, report};

use crate::args::{SuiteArgs, SuiteVerb};
use crate::failure::Failure;
use crate::output::remark;
use crate::progress::Bar;
use crate::{interrupt, output};

pub fn run(args: &SuiteArgs) -> Result<(), Failure> {
    match &args.verb {
        SuiteVerb::List { json: false } => output::print(&report::list(&alight_suite::entries())),
        SuiteVerb::List { json: true } => output::print(&format!(
            "{:#}\n",
            report::list_document(&alight_suite::entries())
        )),
        SuiteVerb::Show {
            name,
            machine,
            json,
        } => {
            let entry = find(name)?;
            let (machine, _) = load_machine(machine, &remark)?;
            let platform = Platform::of(&machine);
            output::print(&match json {
                false => report::show(entry, &machine.name, &platform),
                true => format!(
                    "{:#}\n",
                    report::show_document(entry, &machine.name, &platform)
                ),
            })
        }
        SuiteVerb::Run {
            names,
            all,
            bases,
            machines,
            seed,
            output,
            json,
        } => {
            if names.is_empty() && !all {
                return Err(Failure::BadInput(
                    "no scenario is named; name some of `alight suite list`, or run all with --all"
                        .to_owned(),
                ));
            }
            let entries: Vec<&Entry> = match all {
                true => alight_suite::entries(),
                false => (names.iter().map(|name| find(name))).collect::<Result<_, _>>()?,
            };
            let machines: Vec<(Machine, Trust)> =
                named(machines, &alight_suite::MACHINES, *all, |name| {
                    load_machine(name, &remark)
                })?;
            let bases: Vec<Scheduler> = named(bases, &alight_suite::BASES, *all, scheduler)?;
            let cases = alight_suite::cases(&entries, &machines, &bases, *seed);
            let cancel = interrupt::flag()?;
            let bar = Bar::of(cases.len());
            let how = Spread {
                threads: None,
                progress: &|told| bar.hear(told),
            };
            let records = alight_suite::record_all(&cases, how, cancel);
            bar.finish();
            let records = records?;
            let (done, asked) = (records.len(), cases.len());
            if done < asked {
                return interrupted(records, asked, output.is_some(), *json);
            }
            if let Some(file) = output {
                output::save(file, &record::to_json(&records))?;
            }
            judge(records, *json)
        }
        SuiteVerb::Judge { file, json } => judge(load(file)?, *json),
    }
}

/// What was named; else the defaults, of which without `all` only the first.
fn named<T>(
    given: &[String],
    defaults: &[&str],
    all: bool,
    load: impl Fn(&str) -> Result<T, BadInput>,
) -> Result<Vec<T>, BadInput> {
    if given.is_empty() {
        let count = if all { defaults.len() } else { 1 };
        return defaults[..count].iter().map(|name| load(name)).collect();
    }
    given.iter().map(|name| load(name)).collect()
}

fn find(name: &str) -> Result<&'static Entry, Failure> {
    alight_suite::named(name).map_err(Failure::BadInput)
}

/// Judges what is complete of `asked` scenarios.
fn interrupted(
    records: Vec<TrialRecord>,
    asked: usize,
    save: bool,
    json: bool,
) -> Result<(), Failure> {
    let done = records.len();
    if done != 0 {
        match judge(records, json) {
            Ok(()) | Err(Failure::Different(_)) => {}
            Err(other) => return Err(other),
        }
    }
    let unsaved = if save { "; no file is written" } else { "" };
    Err(Failure::Interrupted(format!(
        "interrupted: {done} of {asked} scenarios are complete and judged{unsaved}"
    )))
}

fn judge(records: Vec<TrialRecord>, json: bool) -> Result<(), Failure> {
    let judged = alight_suite::judge_all(records);
    output::print(&match json {
        true => format!("{:#}\n", report::document(&judged)),
        false => report::table(&judged),
    })?;
    match alight_suite::failed(&judged) {
        0 => Ok(()),
        count => Err(Failure::Different(format!(
            "FAIL: {count} of {}",
            judged.len()
        ))),
    }
}

fn load(file: &Path) -> Result<Vec<TrialRecord>, Failure> {
    let bad = |error: String| Failure::BadInput(format!("{}: {error}", file.display()));
    let text = alight_text::read(file).map_err(|error| bad(error.to_string()))?;
    record::from_json(&text).map_err(bad)
}
