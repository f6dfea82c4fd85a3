// SPDX-License-Identifier: GPL-2.0-only
//! The command line.

mod inventory;
mod live;
mod run;
mod study;
mod values;
mod verify;

use clap::{Parser, Subcommand};

pub use inventory::{LintArgs, MachineArgs, MachineVerb, PolicyArgs, PolicyVerb};
pub use live::{RecordArgs, RunLiveArgs, TopArgs};
pub use run::{CompareArgs, ExplainArgs, RunArgs, SimulateArgs};
pub use study::{CalibrateArgs, CardArgs, StudyArgs, StudyRunArgs, StudyVerb};
pub use verify::{SuiteArgs, SuiteVerb, VerifyArgs, VerifyVerb};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the machine that this runs on failed: a full disk, a closed pipe; or `suite` found
       a failure, `verify` a difference
  2    bad input: the message says where, what was found and what was expected
  3    a check of a study does not hold; its report is complete
  130  interrupted; what was complete is printed";

/// Finds out what a placement policy would do to a machine and a workload.
#[derive(Parser)]
#[command(name = "alight", version, max_term_width = 100, after_help = EXIT_CODES,
    after_long_help = format!("{EXIT_CODES}\n\n{EXAMPLES}"))]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  alight machine list
  alight policy list
  alight simulate -m juno-r0 -w 'hackbench -g 2 -l 100'
  alight compare -m juno-r0 -w 'sysbench threads --threads=6 --time=1 run' \\
                 linux-5.5 linux-5.5+asym-capacity
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 10' --task hackbench --at 1ms";

#[derive(Subcommand)]
pub enum Verb {
    /// Runs a workload on a machine under a scheduler
    #[command(after_help = run::SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
    /// Compares schedulers: by how much, with which certainty, and why
    #[command(after_help = run::COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// A feature's report card: what it harms and helps, over machines and a standard set of workloads
    #[command(after_help = study::CARD_EXAMPLES)]
    Card(CardArgs),
    /// The published experiments: runs them, and holds what comes out against what was measured
    #[command(after_help = study::STUDY_EXAMPLES)]
    Study(StudyArgs),
    /// Fits the costs of a machine to what was published before a policy, and to nothing else
    #[command(after_help = study::CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Says why a task was placed where it was, and where the base would have placed it
    #[command(after_help = run::EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Lists and shows schedulers: base kernels and features
    Policy(PolicyArgs),
    /// Lists, shows, checks and captures machines
    Machine(MachineArgs),
    /// Says what is wrong or odd in an rt-app file
    Lint(LintArgs),
    /// Writes down what this kernel's scheduler does, for `alight verify` (root)
    #[command(after_help = live::RECORD_EXAMPLES, disable_help_flag = true)]
    Record(RecordArgs),
    /// Schedules this machine by a policy, in its running kernel (root)
    #[command(after_help = live::RUN_EXAMPLES, disable_help_flag = true)]
    Run(RunLiveArgs),
    /// Shows what the scheduler of `alight run` decides and why, live in a terminal
    #[command(after_help = live::TOP_KEYS)]
    Top(TopArgs),
    /// Asks of the model what LISA's tests ask of Linux
    Suite(SuiteArgs),
    /// Holds the model against recordings of kernels
    #[command(after_help = verify::VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

#[cfg(test)]
mod tests;
