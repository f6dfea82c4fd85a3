// SPDX-License-Identifier: GPL-2.0-only
//! `alight record`: becomes alight-record, which has the kernel side built in. Its help is here too.

use alight_arguments::record::Arguments;

use crate::args::RecordArgs;
use crate::failure::Failure;
use crate::sibling::help_or_become;

pub fn run(args: &RecordArgs) -> Result<(), Failure> {
    const PROGRAM: &str = "alight-record";
    let help = ["--help".into()];
    let arguments = match args.arguments.as_slice() {
        [] => &help,
        given => given,
    };
    help_or_become::<Arguments>(PROGRAM, PROGRAM, arguments)
}
