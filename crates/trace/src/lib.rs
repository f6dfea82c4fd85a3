// SPDX-License-Identifier: GPL-2.0-only
//! What happened: the event schema of a run and the trace files written from it.
//!
//! The simulator hands every [`Event`] to a [`Sink`]. [`TraceFile`] is the sink that writes a file: Perfetto protobuf
//! or ftrace text, chosen by the ending of the file's name ([`Format`]). Files appear under their name only when
//! complete.
//!
//! ```
//! use alight_trace::{CpuInfo, Event, Header, PrevState, Sink, TaskInfo, TaskRef, TraceFile};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.txt");
//! let header = Header {
//!     machine: "one-cpu".into(),
//!     cpus: vec![CpuInfo { model: "arm,cortex-a53".into(), capacity: 1024, frequencies_khz: vec![1_300_000] }],
//!     tasks: vec![TaskInfo { pid: 100, tgid: 100, comm: "mp3".into(), process: "mp3".into() }],
//!     ..Header::default()
//! };
//! let mut trace = TraceFile::create(&path, &header)?;
//! let (idle, mp3) = (TaskRef { pid: 0, prio: 120 }, TaskRef { pid: 100, prio: 120 });
//! trace.event(5_000, 0, Event::Switch { prev: idle, prev_state: PrevState::Running, next: mp3 })?;
//! trace.finish()?;
//! # let text = std::fs::read_to_string(&path)?;
//! # assert!(text.ends_with("prev_state=R ==> next_comm=mp3 next_pid=100 next_prio=120\n"));
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
pub use header::{CpuInfo, Header, HeaderError, PID_MAX_LIMIT, TaskInfo};
pub use output::is_stdout;
