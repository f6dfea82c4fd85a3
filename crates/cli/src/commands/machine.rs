// SPDX-License-Identifier: GPL-2.0-only
//! `alight machine`

use alight_compare::report::pretty;
use alight_machine::Severity;

use crate::args::{MachineArgs, MachineVerb};
use crate::failure::Failure;
use crate::output;

pub fn run(args: &MachineArgs) -> Result<(), Failure> {
    match &args.verb {
        MachineVerb::List { json: false } => output::print(&alight_machine::list()?),
        MachineVerb::List { json: true } => output::print(&pretty(&alight_machine::list_json()?)),
        MachineVerb::Show { machine, json } => show(machine, *json),
        MachineVerb::Check { machine, json } => check(machine, *json),
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
