// SPDX-License-Identifier: GPL-2.0-only
//! Events of a run or of a recording as tables for data frames, under the names that LISA gives them
//! (`df_tasks_states`, `df_latency_wakeup`, …).
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Trace`] | the events in the order of their times, with names of tasks and the time span |
//! | [`Gather`] | the sink that makes a trace of a run |
//! | [`Trace::open`] | makes a trace of a recording of a workload |
//! | [`tasks`], [`latency`], [`idle`], [`frequency`], [`load`] | the tables of LISA's analysis modules of these names |
//! | [`slices()`] | what ran on each CPU, for pictures |
//! | [`Table`] | columns of equal length, times in ns |
//!
//! Three things differ from LISA. The idle task (pid 0) is in no table of tasks. A task that left its
//! CPU in the middle of a call (`R+`, 256) counts as preempted, as one that left it in state 0 does.
//! A task has one name: the last that is known.
//!
//! # Who may use it
//!
//! `alight-python`. It uses `alight-recording` and `alight-trace`.
//!
//! # Example
//!
//! ```
//! use alight_frames::{Gather, Known, TaskId, Values, latency};
//! use alight_trace::{Event, PrevState, Sink, TaskRef};
//!
//! let known = Known { comms: [(100, "mp3".into())].into(), capacities: vec![1024] };
//! let (idle, mp3) = (TaskRef { pid: 0, prio: 120 }, TaskRef { pid: 100, prio: 120 });
//! let mut gather = Gather::new(known);
//! gather.event(1_000, 0, Event::Wakeup { task: mp3, target_cpu: 0 })?;
//! gather.event(4_000, 0, Event::Switch { prev: idle, prev_state: PrevState::Running, next: mp3 })?;
//! let trace = gather.finish(9_000);
//!
//! let table = latency::wakeup(&trace, &TaskId::parse("mp3"))?;
//! assert_eq!(table.column("wakeup_latency").unwrap().values, Values::Float(vec![3e-6]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod events;
pub mod frequency;
mod gather;
pub mod idle;
pub mod latency;
pub mod load;
mod recorded;
mod slices;
#[cfg(test)]
mod small;
mod table;
mod task;
pub mod tasks;

pub use events::{EVENTS, Happened, Known, Trace, What, Woken};
pub use gather::Gather;
pub use recorded::NoTrace;
pub use slices::slices;
pub use table::{Column, NO_WORD, Table, Values};
pub use task::TaskId;

/// Why there is no such table. The text says what is there instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoTable(pub String);
