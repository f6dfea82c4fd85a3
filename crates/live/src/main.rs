// SPDX-License-Identifier: GPL-2.0-only
//! `scx_alight`: runs a placement policy in this kernel.

use alight_live::live::{self, Gated, Options, Summary};
use alight_policy::{STEPS, Scheduler};
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs a placement policy in this kernel, as a sched_ext scheduler.
///
/// Ends on an interrupt (ctrl-C); the kernel's own scheduler then goes on.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Base kernel and features, as for `alight simulate`.
    #[arg(default_value = "linux-5.5+asym-capacity", value_parser = Scheduler::parse)]
    scheduler: Scheduler,

    /// Make every decision again on the host and demand the same result.
    ///
    /// Costs time and memory (350 KiB a CPU). Ends at the first difference.
    #[arg(long)]
    verify: bool,

    /// Levels whose groups can be power gated each for itself; without any, `pack` never acts.
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_enum)]
    power_gated: Vec<Gated>,

    /// Seconds to run; without it until interrupted.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    duration: Option<u64>,

    /// Print what libbpf and the kernel's verifier say.
    #[arg(short, long)]
    verbose: bool,
}

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
    let options = Options {
        scheduler: arguments.scheduler,
        verify: arguments.verify,
        power_gated: arguments.power_gated,
        duration: arguments.duration.map(Duration::from_secs),
        verbose: arguments.verbose,
    };
    match live::run(&options, &stop) {
        Ok(summary) => report(&options, &summary),
        Err(error) => {
            eprintln!("scx_alight: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(options: &Options, summary: &Summary) -> ExitCode {
    if !options.verify {
        println!("{} decisions", summary.decisions);
        return ExitCode::SUCCESS;
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
    ExitCode::SUCCESS
}
