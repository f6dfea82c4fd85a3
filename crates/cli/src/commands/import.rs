// SPDX-License-Identifier: GPL-2.0-only
//! `alight import`

use alight_import::{Error, Options, import, inspect};

use crate::args::ImportArgs;
use crate::failure::Failure;
use crate::output;

pub fn run(args: &ImportArgs) -> Result<(), Failure> {
    let options = Options {
        from: args.from,
        to: args.to,
        pids: args.pids.iter().map(|pid| pid.get()).collect(),
        cgroups: args.cgroups.clone(),
    };
    let out = (args.output.clone()).unwrap_or_else(|| args.file.with_extension("alight"));
    let failed = |error: Error| match error {
        Error::Write(error) => {
            Failure::Host(format!("{}: cannot be written: {error}", out.display()))
        }
        error => Failure::BadInput(format!("{}: {error}", args.file.display())),
    };
    if args.inspect {
        let report = inspect(&args.file, &options).map_err(failed)?;
        return output::print(&report.text());
    }
    let report = import(&args.file, &out, &options).map_err(failed)?;
    output::print(&report.summary(&out))
}
