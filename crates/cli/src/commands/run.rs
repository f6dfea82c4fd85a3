// SPDX-License-Identifier: GPL-2.0-only
//! `alight run`: becomes scx_alight, which has the kernel side built in.

use crate::args::RunLiveArgs;
use crate::failure::Failure;
use crate::sibling::become_program;

pub fn run(args: &RunLiveArgs) -> Result<(), Failure> {
    Err(become_program("scx_alight", "alight run", &args.arguments))
}
