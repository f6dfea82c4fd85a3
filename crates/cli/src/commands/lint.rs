// SPDX-License-Identifier: GPL-2.0-only
//! `alight lint`

use alight_workload::{Severity, lint};

use crate::args::LintArgs;
use crate::failure::Failure;
use crate::output;

pub fn run(args: &LintArgs) -> Result<(), Failure> {
    let file = args.file.display().to_string();
    let bytes = std::fs::read(&args.file)
        .map_err(|error| Failure::BadInput(format!("{file}: cannot be read: {error}")))?;
    let found = lint::lint_file(&bytes, args.mode);
    output::print(&if args.json {
        lint::render_json(&file, args.mode, &found) + "\n"
    } else {
        lint::render_text(&file, &found)
    })?;
    if found.iter().any(|d| d.severity == Severity::Error) {
        return Err(Failure::BadInput(format!("{file}: cannot be run")));
    }
    Ok(())
}
