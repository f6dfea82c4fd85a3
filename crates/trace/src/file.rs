// SPDX-License-Identifier: GPL-2.0-only
//! A trace being written: the sink that a run is given when asked for a trace file.

use std::io;
use std::path::Path;

use crate::event::{Event, Sink};
use crate::format::{Format, UnknownFormat};
use crate::ftrace::{FtraceEncoder, Style};
use crate::header::{HeaderError, TraceHeader};
use crate::order::OrderCheck;
use crate::output::{Output, is_stream};
use crate::perfetto::PerfettoEncoder;

/// Bytes gathered before a write: enough that the system call costs nothing beside the encoding.
const WRITE_BYTES: usize = 256 * 1024;

/// Room beyond `WRITE_BYTES` for what the last event before a write may add.
const SLACK_BYTES: usize = 64 * 1024;

/// Why a trace was not begun.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The name tells no format: bad input.
    #[error(transparent)]
    Format(#[from] UnknownFormat),
    /// The header cannot be: bad input.
    #[error("trace header: {0}")]
    Header(#[from] HeaderError),
    /// The file could not be created: a failure of the machine that runs this.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A trace file in the making.
///
/// A regular file appears under its name, replacing what was there, at [`TraceFile::finish`] and not before; dropped
/// unfinished or after a failed write it leaves nothing. Pipes, devices and standard output (`-`) get the bytes as
/// they come.
pub struct TraceFile {
    encoder: Encoder,
    buffer: Vec<u8>,
    output: Output,
    order: OrderCheck,
    cpus: usize,
}

enum Encoder {
    Perfetto(PerfettoEncoder),
    Ftrace(FtraceEncoder),
}

impl TraceFile {
    /// Begins a trace in the format that the ending of `path` names; `-`, pipes and devices whose name tells no format
    /// get [`Format::Ftrace`].
    ///
    /// # Errors
    /// An ending that names no format, a header that cannot be, or what opening the file said.
    pub fn create(path: &Path, header: &TraceHeader) -> Result<Self, CreateError> {
        let format = match Format::of_path(path) {
            Err(_) if is_stream(path) => Format::Ftrace,
            chosen => chosen?,
        };
        Self::create_as(path, format, header)
    }

    /// Begins a trace in `format`, whatever the name.
    ///
    /// # Errors
    /// A header that cannot be, or what opening the file said.
    pub fn create_as(
        path: &Path,
        format: Format,
        header: &TraceHeader,
    ) -> Result<Self, CreateError> {
        header.check()?;
        let output = Output::create(path)?;
        let mut buffer = Vec::with_capacity(WRITE_BYTES + SLACK_BYTES);
        let encoder = match format {
            Format::Perfetto => Encoder::Perfetto(PerfettoEncoder::new(header, &mut buffer)),
            Format::Ftrace => {
                Encoder::Ftrace(FtraceEncoder::new(header, Style::Formatted, &mut buffer))
            }
            Format::FtraceRaw => {
                Encoder::Ftrace(FtraceEncoder::new(header, Style::Raw, &mut buffer))
            }
        };
        let cpus = header.cpus.len();
        Ok(Self {
            encoder,
            buffer,
            output,
            order: OrderCheck::new(header.start_ns, cpus),
            cpus,
        })
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// What the file said, with its name; nothing is left under the name then, or what was there before.
    pub fn finish(mut self) -> io::Result<()> {
        if let Encoder::Perfetto(encoder) = &mut self.encoder {
            encoder.write_bundles(&mut self.buffer);
        }
        self.output.write(&self.buffer)?;
        self.output.finish()
    }
}

impl Sink for TraceFile {
    /// Takes one event; times never go back and begin at [`TraceHeader::start_ns`].
    ///
    /// # Errors
    /// What the file said, with its name; `InvalidInput` for a CPU or pid that the header does not list. The unfinished
    /// file is gone then and every further call fails.
    ///
    /// # Panics
    /// In debug builds, if the event cannot follow what came before.
    #[inline]
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> io::Result<()> {
        if cpu as usize >= self.cpus {
            self.output.abandon();
            return Err(unknown_cpu(cpu, self.cpus));
        }
        if cfg!(debug_assertions) {
            self.order.assert_follows(time_ns, cpu, &event);
        }
        let encoded = match &mut self.encoder {
            Encoder::Perfetto(encoder) => encoder.event(time_ns, cpu, event, &mut self.buffer),
            Encoder::Ftrace(encoder) => encoder.event(time_ns, cpu, event, &mut self.buffer),
        };
        if encoded.is_err() {
            self.output.abandon();
            return encoded;
        }
        if self.buffer.len() >= WRITE_BYTES {
            self.output.write(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

#[cold]
fn unknown_cpu(cpu: u32, cpus: usize) -> io::Error {
    let message = format!(
        "an event names CPU {cpu}; the header's machine has CPUs 0 to {}",
        cpus - 1
    );
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
