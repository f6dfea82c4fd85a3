// SPDX-License-Identifier: GPL-2.0-only
//! The command line.

mod import;
mod inventory;
mod live;
mod run;
mod study;
mod sweep;
mod values;
mod verify;

use clap::{Parser, Subcommand};

pub use import::ImportArgs;
pub use inventory::{LintArgs, MachineArgs, MachineVerb, PolicyArgs, PolicyVerb};
pub use live::{RecordArgs, RunLiveArgs, TopArgs};
pub use run::{CompareArgs, ExplainArgs, SimulateArgs};
pub use study::{CalibrateArgs, CardArgs, StudyArgs, StudyRunArgs, StudyVerb};
pub use sweep::{SweepArgs, SweepTold, SweepVerb};
pub use values::PageArg;
pub use verify::{SuiteArgs, SuiteVerb, VerifyArgs, VerifyVerb};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    this machine failed (a full disk, a closed pipe), `suite` found a failure, or `verify`
       found a difference
  2    bad input: the message names the place, what was found and what was expected
  3    a check of a study failed; its report is complete
  130  interrupted; the results that were complete are printed";

/// Predicts what a placement policy does to a workload on a machine.
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
    /// Compares schedulers: the size, the certainty and the cause of each difference
    #[command(after_help = run::COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Makes a feature's report card: its harms and helps, over machines and standard workloads
    #[command(after_help = study::CARD_EXAMPLES)]
    Card(CardArgs),
    /// Runs many cells (machines, workloads, ranges of tunables) and says which setting is best and
    /// which factors matter
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(SweepArgs),
    /// Runs published experiments and compares the predictions with the published figures
    #[command(after_help = study::STUDY_EXAMPLES)]
    Study(StudyArgs),
    /// Fits a machine's costs to figures published without a policy, and to no others
    #[command(after_help = study::CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Explains why a task was placed on its CPU, and which CPU the base would have chosen
    #[command(after_help = run::EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Lists and shows schedulers: base kernels and features
    Policy(PolicyArgs),
    /// Lists, shows, checks, captures and imports machines
    Machine(MachineArgs),
    /// Reports mistakes and oddities in an rt-app file
    Lint(LintArgs),
    /// Records what this kernel's scheduler does, for `alight verify` (root)
    #[command(after_help = live::RECORD_EXAMPLES, disable_help_flag = true)]
    Record(RecordArgs),
    /// Turns a trace of perf, trace-cmd or Perfetto into a recording of a workload
    #[command(after_help = import::EXAMPLES)]
    Import(ImportArgs),
    /// Schedules the tasks of this machine by a policy, in its running kernel (root)
    #[command(after_help = live::RUN_EXAMPLES, disable_help_flag = true)]
    Run(RunLiveArgs),
    /// Shows live in a terminal what the scheduler of `alight run` decides, and why
    #[command(after_help = live::TOP_KEYS)]
    Top(TopArgs),
    /// Runs the tests of Arm's LISA, which were written for Linux, on the model
    Suite(SuiteArgs),
    /// Compares the model with recordings of kernels
    #[command(after_help = verify::VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

#[cfg(test)]
mod tests;
