// SPDX-License-Identifier: GPL-2.0-only
//! `alight-record`: writes down what this kernel's scheduler does, to be held
//! against the policy core by `alight verify`.

use alight_live::arguments::seconds;
use alight_live::record_session::{Error, Recorded, Session};
use alight_live::{record_behaviour, record_decisions, record_pelt};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Writes down what this kernel's scheduler does, for `alight verify`.
///
/// Needs root, and a kernel with type information (BTF).
#[derive(Debug, Parser)]
#[command(name = "alight-record", version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Every change of a load-tracking signal
    Pelt(Recording),
    /// Every choice of a CPU by the fair class, with what it could see
    Decisions(Recording),
    /// Who runs where and when while a command runs, and what kernel paths cost here
    Behaviour(Recording),
}

#[derive(Debug, Args)]
struct Recording {
    /// The recording
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Seconds to record; without it until the command ends or an interrupt
    #[arg(long, value_name = "S", value_parser = seconds)]
    duration: Option<Duration>,
    /// Size of the buffer between kernel and file, a power of two
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    ring: u32,
    /// zstd's level: 1 is fast, 19 is small
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=19))]
    level: i32,
    /// Print what libbpf and the kernel's verifier say
    #[arg(short, long)]
    verbose: bool,
    /// What to run meanwhile
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Recording {
    fn session(self) -> Session {
        Session {
            file: self.output,
            duration: self.duration,
            command: self.command,
            ring_bytes: self.ring.next_power_of_two() << 20,
            level: self.level,
            verbose: self.verbose,
        }
    }
}

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

fn record(what: What, stop: &AtomicBool) -> Result<Recorded, Error> {
    match what {
        What::Decisions(recording) => record_decisions::run(&recording.session(), stop),
        What::Behaviour(recording) => record_behaviour::run(&recording.session(), stop),
        What::Pelt(recording) => record_pelt::run(&recording.session(), stop),
    }
}
