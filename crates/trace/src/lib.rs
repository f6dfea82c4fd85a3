// SPDX-License-Identifier: GPL-2.0-only
//! What happened: the event schema of a run and the trace files written from it.
//!
//! The simulator hands every [`Event`] to a [`Sink`]. [`TraceFile`] is the sink that writes a file: Perfetto protobuf
//! or ftrace text, chosen by the ending of the file's name ([`Format`]). Files appear under their name only when
//! complete.

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
