// SPDX-License-Identifier: GPL-2.0-only
//! `alight record`: becomes alight-record, which has the kernel side built in.

use crate::args::RecordArgs;
use crate::failure::Failure;
use crate::sibling::become_program;

pub fn run(args: &RecordArgs) -> Result<(), Failure> {
    let help = ["--help".into()];
    let arguments = if args.arguments.is_empty() {
        &help[..]
    } else {
        &args.arguments
    };
    Err(become_program("alight-record", "alight-record", arguments))
}
