// SPDX-License-Identifier: GPL-2.0-only
//! `scx_alight`: runs a placement policy in this kernel.

use alight_live::arguments::Arguments;
use alight_live::live::{self, Options, Summary};
use alight_policy::STEPS;
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code for what was typed wrongly, as of the command line.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let handler = ctrlc::set_handler({
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    });
    if let Err(error) = handler {
        eprintln!("scx_alight: cannot catch interrupts: {error}");
        return ExitCode::FAILURE;
    }
    let options = arguments.options();
    match live::run(&options, &stop) {
        Ok(summary) => report(&options, &summary),
        Err(error) => {
            eprintln!("scx_alight: {error}");
            ExitCode::from(if error.is_input() { BAD_INPUT } else { 1 })
        }
    }
}

fn report(options: &Options, summary: &Summary) -> ExitCode {
    let end = report_log(options, summary);
    if !options.verify {
        println!("{} decisions", summary.decisions);
        return end;
    }
    for ((name, _), count) in STEPS
        .iter()
        .zip(summary.steps)
        .filter(|(_, count)| *count > 0)
    {
        println!("{count:>10} {name}");
    }
    println!(
        "{} decisions replayed, all equal ({} lost)",
        summary.equal, summary.lost
    );
    end
}

/// A log that ended before the scheduler did is a failure of this machine.
fn report_log(options: &Options, summary: &Summary) -> ExitCode {
    let Some((path, log)) = options.log_decisions.as_ref().zip(summary.log.as_ref()) else {
        return ExitCode::SUCCESS;
    };
    let (path, lost) = (path.display(), summary.lost);
    match &log.stopped {
        None => {
            println!("{path}: {} decisions logged ({lost} lost)", log.decisions);
            ExitCode::SUCCESS
        }
        Some(why) => {
            eprintln!("scx_alight: {path}: the log is not of the whole run: {why}");
            ExitCode::FAILURE
        }
    }
}
