// SPDX-License-Identifier: GPL-2.0-only
//! `scx_alight`: schedules this machine by a placement policy.

use alight_arguments::Options;
use alight_arguments::run::Arguments;
use alight_live::exit;
use alight_live::live::{self, Summary};
use alight_live::say::say;
use alight_policy::STEPS;
use alight_stats::{describe, monitor};
use clap::Parser;
use std::io::{self, Write, stdout};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.help_stats {
        return ended(print(&describe::to_text()));
    }
    let stop = match stop_on_signals() {
        Ok(stop) => stop,
        Err(error) => {
            say(&format!("cannot catch interrupts: {error}"));
            return ExitCode::from(exit::FAILED);
        }
    };
    if let Some(interval) = arguments.monitor {
        let out = &mut stdout().lock();
        return ended(monitor::run(&arguments.socket, interval, &stop, out, say));
    }
    let options = arguments.options().unwrap_or_else(|error| error.exit());
    match live::run(&options, &stop) {
        Ok(summary) => report(&options, &summary),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

/// A flag that SIGINT, SIGTERM and SIGHUP raise. The second signal ends the program at once, and
/// with it the scheduler.
fn stop_on_signals() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(exit::FAILED));
        }
    })?;
    Ok(stop)
}

fn print(text: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn ended(result: io::Result<()>) -> ExitCode {
    match result {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(exit::DONE),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(exit::FAILED)
        }
        Ok(()) => ExitCode::from(exit::DONE),
    }
}

/// Reports what a run did.
fn report(options: &Options, summary: &Summary) -> ExitCode {
    let mut text = String::new();
    let mut code = exit::DONE;
    if let Some((path, log)) = options.log_decisions.as_ref().zip(summary.log.as_ref()) {
        let (path, lost) = (path.display(), summary.lost);
        match &log.stopped {
            None => {
                let decisions = log.decisions;
                text = format!("{path}: {decisions} decisions logged ({lost} lost)\n");
            }
            // A log that ended before the scheduler did is a failure of this machine.
            Some(why) => {
                say(&format!(
                    "{path}: the log does not cover the whole run: {why}"
                ));
                code = exit::FAILED;
            }
        }
    }
    text.push_str(&report_decisions(options, summary));
    match ended(print(&text)) {
        ExitCode::SUCCESS => ExitCode::from(code),
        failed => failed,
    }
}

fn report_decisions(options: &Options, summary: &Summary) -> String {
    if !options.verify {
        return format!("{} decisions\n", summary.decisions);
    }
    let counts = STEPS.iter().zip(summary.steps);
    let occurred = counts.filter(|(_, count)| *count > 0);
    let steps: String = occurred
        .map(|((name, _), count)| format!("{count:>10} {name}\n"))
        .collect();
    format!(
        "{steps}{} decisions replayed, all equal ({} lost)\n",
        summary.equal, summary.lost
    )
}
