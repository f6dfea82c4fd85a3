// SPDX-License-Identifier: GPL-2.0-only
//! `alight record`: becomes alight-record, which has the kernel side built in.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::args::RecordArgs;
use crate::failure::Failure;

const RECORDER: &str = "alight-record";

pub fn run(args: &RecordArgs) -> Result<(), Failure> {
    let beside = std::env::current_exe()
        .ok()
        .map(|path| path.with_file_name(RECORDER));
    let recorder = beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(RECORDER));
    let arguments = if args.arguments.is_empty() {
        vec![OsStr::new("--help")]
    } else {
        args.arguments.iter().map(AsRef::as_ref).collect()
    };
    // Comes back only if it fails.
    let error = Command::new(&recorder).args(arguments).exec();
    Err(Failure::Host(format!(
        "{}: {error}; it is built by: cargo build --release -p alight-live",
        recorder.display()
    )))
}
