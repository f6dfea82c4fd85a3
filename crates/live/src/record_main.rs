// SPDX-License-Identifier: GPL-2.0-only
//! `alight-record`: records what this kernel's scheduler does. `alight verify` compares it with
//! the policy core.

use alight_arguments::record::{Arguments, What};
use alight_live::record_session::{NotRecorded, Recorded};
use alight_live::{record_behaviour, record_decisions, record_pelt, record_workload};
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    let handler = ctrlc::set_handler({
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    });
    let arguments = Arguments::parse();
    if let Err(error) = handler {
        eprintln!("alight-record: cannot catch interrupts: {error}");
        return ExitCode::FAILURE;
    }
    match record(arguments.what, &stop) {
        Ok(recorded) => {
            println!("{} records, {} lost", recorded.records, recorded.lost);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("alight-record: {error}");
            ExitCode::FAILURE
        }
    }
}

fn record(what: What, stop: &AtomicBool) -> Result<Recorded, NotRecorded> {
    match what {
        What::Decisions(recording) => record_decisions::run(&recording.into(), stop),
        What::Behaviour(recording) => record_behaviour::run(&recording.into(), stop),
        What::Pelt(recording) => record_pelt::run(&recording.into(), stop),
        What::Workload(workload) => record_workload::run(&workload.into(), stop),
    }
}
