// SPDX-License-Identifier: GPL-2.0-only
//! `alight machine`

use std::path::Path;

use alight_compare::report::pretty;
use alight_machine::{ROOT_PREFIX, Severity};
use alight_machine_import::Format;
use alight_measure::{NotMeasured, Options};

use crate::args::{MachineArgs, MachineVerb};
use crate::failure::Failure;
use crate::progress::Steps;
use crate::{interrupt, output};

pub fn run(args: &MachineArgs) -> Result<(), Failure> {
    match &args.verb {
        MachineVerb::List { json: false } => output::print(&alight_machine::list()?),
        MachineVerb::List { json: true } => output::print(&pretty(&alight_machine::list_json()?)),
        MachineVerb::Show { machine, json } => show(machine, *json),
        MachineVerb::Check { machine, json } => check(machine, *json),
        MachineVerb::Measure { output, rounds } => measure(output.as_deref(), *rounds),
        MachineVerb::Import {
            file,
            format,
            output,
            json,
        } => import(file, *format, output.as_deref(), *json),
        MachineVerb::Export { machine, .. } => export(machine),
        MachineVerb::Capture { json } => capture(*json),
    }
}

fn show(name: &str, json: bool) -> Result<(), Failure> {
    let sheet = alight_machine::load(name)?;
    output::print(&if json {
        pretty(&alight_machine::to_json(&sheet))
    } else {
        alight_machine::show(&sheet)
    })
}

fn check(name: &str, json: bool) -> Result<(), Failure> {
    let findings = alight_machine::check(&alight_machine::open(name)?);
    output::print(&if json {
        pretty(&alight_machine::findings_json(name, &findings))
    } else {
        alight_machine::findings_of(name, &findings)
    })?;
    let errors = findings.iter().filter(|f| f.severity == Severity::Error);
    match errors.count() {
        0 => Ok(()),
        1 => Err(Failure::BadInput(format!("{name}: 1 error"))),
        n => Err(Failure::BadInput(format!("{name}: {n} errors"))),
    }
}

fn capture(json: bool) -> Result<(), Failure> {
    let captured = alight_machine::host()?;
    if json {
        return output::print(&pretty(&captured.to_json()));
    }
    for note in &captured.notes {
        output::remark(note);
    }
    output::print(&captured.toml)
}

fn import(
    file: &Path,
    format: Option<Format>,
    to: Option<&Path>,
    json: bool,
) -> Result<(), Failure> {
    let imported = alight_machine_import::import(file, format).map_err(Failure::bad_input)?;
    if json {
        return output::print(&pretty(&imported.to_json()));
    }
    for note in &imported.notes {
        output::remark(note);
    }
    match to {
        Some(to) => output::save(to, &imported.toml),
        None => output::print(&imported.toml),
    }
}

fn export(machine: &str) -> Result<(), Failure> {
    let sheet = alight_machine::load(machine)?;
    let exported = alight_machine_import::lisa(&sheet);
    for note in &exported.notes {
        output::remark(note);
    }
    output::print(&exported.yaml)
}

fn measure(file: Option<&Path>, rounds: u32) -> Result<(), Failure> {
    if std::env::var_os(ROOT_PREFIX).is_some() {
        let message = "ROOT_PREFIX is set: only the machine that this program runs on can be \
                       measured; use `alight machine capture` for a copied tree";
        return Err(Failure::bad_input(message));
    }
    file.map_or(Ok(()), output::try_place)?;
    let stop = interrupt::quiet_flag()?;
    let steps = Steps::default();
    let options = Options {
        root: "/".into(),
        rounds,
    };
    let measured = alight_measure::machine(&options, &stop, &mut |told| {
        steps.hear(told.done, told.of, told.what);
    });
    steps.finish();
    let measured = measured.map_err(|error| match error {
        NotMeasured::Interrupted => Failure::Interrupted(error.to_string()),
        _ => Failure::host(error),
    })?;
    let summary = measured.summary();
    match file {
        Some(file) => {
            output::save(file, &measured.toml)?;
            output::print(&summary)?;
        }
        None => {
            output::print_aside(&summary);
            output::print(&measured.toml)?;
        }
    }
    match measured.lost.as_slice() {
        [] => Ok(()),
        lost => Err(Failure::Host(format!(
            "these files could not be brought back: {}",
            lost.join("; ")
        ))),
    }
}
