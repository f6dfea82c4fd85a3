// SPDX-License-Identifier: GPL-2.0-only
//! Traces: the events of a run, and the trace files made of them.
//!
//! The simulator hands each [`Event`] to a [`Sink`]. [`TraceFile`] is the sink that writes a file.
//!
//! # What it owns
//!
//! - The event schema ([`Event`]), with the names and units of the kernel's tracepoints.
//! - [`TraceHeader`]: machine, CPUs and tasks of a trace.
//! - Two file formats ([`Format`]), chosen by the ending of the file's name: Perfetto protobuf and
//!   ftrace text. A file appears under its name when it is complete.
//!
//! # Who may use it
//!
//! The simulator and the crates above it. It uses `alight-text`.
//!
//! # Example
//!
//! ```
//! use alight_trace::{CpuInfo, Event, TraceHeader, PrevState, Sink, TaskInfo, TaskRef, TraceFile};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.txt");
//! let header = TraceHeader {
//!     machine: "one-cpu".into(),
//!     cpus: vec![CpuInfo { model: "arm,cortex-a53".into(), capacity: 1024, frequencies_khz: vec![1_300_000] }],
//!     tasks: vec![TaskInfo { pid: 100, tgid: 100, comm: "mp3".into(), process: "mp3".into() }],
//!     ..TraceHeader::default()
//! };
//! let mut trace = TraceFile::create(&path, &header)?;
//! let (idle, mp3) = (TaskRef { pid: 0, prio: 120 }, TaskRef { pid: 100, prio: 120 });
//! // At 5 us, on CPU 0.
//! trace.event(5_000, 0, Event::Switch { prev: idle, prev_state: PrevState::Running, next: mp3 })?;
//! trace.finish()?;
//! # let text = std::fs::read_to_string(&path)?;
//! assert!(text.ends_with("prev_state=R ==> next_comm=mp3 next_pid=100 next_prio=120\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event;
mod file;
mod format;
mod ftrace;
mod header;
mod inline_bytes;
mod order;
mod output;
mod perfetto;
mod tasks;

pub use event::*;
pub use file::{CreateError, TraceFile};
pub use format::{Format, UnknownFormat};
pub use header::{CpuInfo, HeaderError, PID_MAX_LIMIT, TaskInfo, TraceHeader};
pub use output::is_stdout;
