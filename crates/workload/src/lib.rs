// SPDX-License-Identifier: GPL-2.0-only
//! What runs on a machine: workloads, compiled to the small programs of [`program`].
//!
//! A workload is the command line of a real tool (`hackbench`, `sysbench`, `cyclictest`, `schbench`,
//! `perf bench sched`, `adrestia`, `frames`) or an rt-app file. [`Workload::load`](program::Workload::load) reads either; what it has to say about the text
//! comes as [`diagnostic::Diagnostic`]s.

mod assembler;
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
