// SPDX-License-Identifier: GPL-2.0-only
//! `alight verify`

use std::path::Path;

use alight_recording::Reader;
use alight_verify::pelt;

use crate::args::{VerifyArgs, VerifyVerb};
use crate::failure::Failure;
use crate::output;

pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    match &args.verb {
        VerifyVerb::Pelt { file, json } => run_pelt(file, *json),
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
    if report.is_equal() {
        Ok(())
    } else {
        let file = file.display();
        Err(Failure::Different(format!(
            "{file}: the core and the kernel differ"
        )))
    }
}
