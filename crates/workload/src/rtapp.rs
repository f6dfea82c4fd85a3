// SPDX-License-Identifier: GPL-2.0-only
//! rt-app files: parsing ([`json`]), what duplicate keys mean ([`duplicates`]), reading the grammar
//! ([`read`]) into the [`model`], looking for what cannot work ([`review`]), and compiling
//! ([`compile`]).
//!
//! The grammar is that of rt-app at its commit 55cb0c0 (May 2026).

mod compile;
mod duplicates;
mod json;
mod model;
mod read;
mod review;

use crate::diagnostic::{Refusal, Remarks};
use crate::load::Mode;
use crate::program::Workload;

/// Compiles the text of a file. `name` becomes the workload's name.
pub(crate) fn compile(
    name: &str,
    text: &str,
    mode: Mode,
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let json::Document {
        mut root,
        ignored_from,
    } = json::parse(text, mode)?;
    if let Some(place) = ignored_from {
        remarks.warn(
            place,
            "the file has text after its closing brace; rt-app ignores that text",
        );
    }
    duplicates::resolve(&mut root, mode, remarks);
    let config = read::read(&root, mode, remarks)?;
    review::review(&config, remarks);
    compile::compile(name, &config, remarks)
}
