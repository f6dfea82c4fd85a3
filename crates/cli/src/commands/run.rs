// SPDX-License-Identifier: GPL-2.0-only
//! `alight run`: becomes scx_alight, which has the kernel side built in. Its help is here too.

use alight_arguments::run::Arguments;

use crate::args::RunLiveArgs;
use crate::failure::Failure;
use crate::sibling::help_or_become;

pub fn run(args: &RunLiveArgs) -> Result<(), Failure> {
    help_or_become::<Arguments>("scx_alight", "alight run", &args.arguments)
}
