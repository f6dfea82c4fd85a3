// SPDX-License-Identifier: GPL-2.0-only
//! Traces that other tools made, written down as recordings of a workload.
//!
//! # What it owns
//!
//! - [`import`] turns a trace into a recording; [`inspect`] says what a trace holds.
//! - Readers of perf.data, trace.dat, Perfetto traces, and the texts of ftrace, `trace-cmd report` and
//!   `perf script`. Layouts of events are read from the file.
//! - [`Report`] says what was found: events, losses, tasks, and what a replay will lack.
//!
//! A file is read a part at a time: memory does not grow with its size.
//!
//! # Who may use it
//!
//! The command `alight`. It uses `alight-recording` and `alight-text`.
//!
//! # Example
//!
//! ```
//! use alight_import::{Options, import};
//! use alight_recording::Reader;
//! use alight_recording::workload::{Item, WorkloadReader};
//!
//! # let directory = tempfile::tempdir()?;
//! # let (trace, out) = (directory.path().join("trace.txt"), directory.path().join("out.alight"));
//! let text = "\
//! # tracer: nop
//! #
//! #   TASK-PID CPU#  |||||  TIMESTAMP  FUNCTION
//!   <idle>-0 [001] d.h3. 2.000100: sched_waking: comm=app pid=7 prio=120 target_cpu=001
//!   <idle>-0 [001] d..2. 2.000120: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
//! prev_state=R ==> next_comm=app next_pid=7 next_prio=120
//! ";
//! std::fs::write(&trace, text)?;
//! let report = import(&trace, &out, &Options::default())?;
//! assert_eq!(report.events(), 2);
//!
//! let mut reader = WorkloadReader::new(Reader::open(&out)?)?;
//! // The fact of a task stands before its first event.
//! let Some(Item::Task(fact)) = reader.next_item()? else { panic!("a fact comes first") };
//! assert_eq!((fact.pid, fact.comm.as_deref()), (7, Some("app")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod decode;
mod error;
mod format;
mod input;
mod item;
mod names;
mod options;
mod origin;
mod perf;
mod perfetto;
mod pids;
mod pipeline;
mod report;
mod sorter;
mod source;
mod states;
mod tally;
mod tasks;
mod text;
mod tracedat;
mod tracepoints;
mod tracing;

pub use error::Error;
pub use options::{Moment, Options, seconds};
pub use report::Report;
pub use source::{import, import_bytes, inspect};
