// SPDX-License-Identifier: GPL-2.0-only
//! `alight lint`

use crate::args::LintArgs;
use crate::failure::Failure;

pub fn run(_args: &LintArgs) -> Result<(), Failure> {
    Err(Failure::Host("lint: not built in".to_owned()))
}
