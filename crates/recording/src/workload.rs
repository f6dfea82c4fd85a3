// SPDX-License-Identifier: GPL-2.0-only
//! Recordings of a workload, to be replayed: who ran where and when, who woke whom, and what is
//! known of each task.
//!
//! Two kinds of records stand in one file: [`EVENT`], an [`Event`] packed by [`crate::delta`], and
//! [`TASK`], a [`TaskFact`] as JSON. Both are in the order of their times. A task's fact stands
//! before the first event of the task.
//!
//! The end of the file lists what the source could tell ([`Capability`]), under the fact
//! [`CAPABILITIES`]. A reader that needs something else refuses the recording, or says what it does
//! without.

mod capability;
mod event;
mod layout;
mod read;
mod task;
mod write;

pub use capability::{Capability, UnknownCapability};
pub use event::{Call, Context, Event, Interrupt, Left, Malformed, What};
pub use read::{Item, NotAWorkload, WorkloadReader};
pub use task::{Policy, TaskFact, TaskState};
pub use write::WorkloadWriter;

/// The kind of an [`Event`].
pub const EVENT: &str = "workload.event/1";
/// The kind of a [`TaskFact`].
pub const TASK: &str = "workload.task/1";
/// The kinds of a recording of a workload, in the order in which a header lists them.
pub const KINDS: [&str; 2] = [EVENT, TASK];

/// Fact of the end: names of capabilities, with spaces between them.
pub const CAPABILITIES: &str = "capabilities";
/// Fact of the header: the program or the format that the events come from, such as `perf.data`.
pub const SOURCE: &str = "source";
/// The fact of a header that says which exit latency of idle states the workload allows, us
/// (`/dev/cpu_dma_latency`); without it any.
pub const DMA_LATENCY: &str = "cpu_dma_latency_us";
/// Fact of the header: how many CPUs the machine has, where nothing more is known of them.
pub const CPUS: &str = "cpus";
/// Fact of the header: the machine, as a machine file.
pub const MACHINE: &str = "machine";
/// Fact of the header: what the machine ran its tasks by, where it was not the kernel's own
/// scheduler: the name of the sched_ext scheduler.
pub const SCHED_EXT: &str = "sched_ext";
/// Fact of the end: what `alight verify workload` found, as JSON.
pub const VERDICT: &str = "verdict";

#[cfg(test)]
mod tests;
