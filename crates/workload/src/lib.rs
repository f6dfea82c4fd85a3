// SPDX-License-Identifier: GPL-2.0-only
//! Workloads: command lines of benchmarks and rt-app files, compiled to small programs.
//!
//! A [`Workload`] has one program ([`program`]) for each task, and the measures that it reports. The
//! simulator interprets the programs; this crate knows no machine and no time.
//!
//! # What it owns
//!
//! - The readers of command lines: `hackbench`, `sysbench`, `cyclictest`, `schbench`,
//!   `perf bench sched`, `adrestia`, `frames` and `housekeeping`.
//! - The reader of rt-app files. [`Mode`] chooses the meaning of duplicate keys.
//! - The instruction set ([`program::Op`]) and the [`Assembler`] that builds programs.
//! - The notes, warnings and errors of the readers ([`diagnostic`]), and [`lint`].
//!
//! # Who may use it
//!
//! The simulator and the crates above it. It uses `alight-text`.
//!
//! # Example
//!
//! ```
//! use alight_workload::Workload;
//!
//! let loaded = Workload::from_command_line("hackbench -g 1 -f 2 -l 10")?;
//! // One group of two senders and two receivers, and the task that starts them.
//! assert_eq!(loaded.workload.tasks.len(), 5);
//! assert!(loaded.diagnostics.is_empty());
//!
//! let refused = Workload::from_command_line("hackbench -g none").unwrap_err();
//! assert!(refused.to_string().contains("none"));
//! # Ok::<(), alight_workload::Error>(())
//! ```

mod assembler;
pub mod blocks;
mod check;
mod command;
pub mod diagnostic;
pub mod lint;
mod load;
mod measures;
mod names;
pub mod program;
pub mod report;
mod rtapp;
mod site;

pub use assembler::Assembler;
pub use diagnostic::{Diagnostic, Error, Severity};
pub use load::{Loaded, Mode};
pub use program::Workload;
pub use site::Site;
