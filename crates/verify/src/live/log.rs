// SPDX-License-Identifier: GPL-2.0-only
//! Writes decisions of a running scheduler into a file.
//!
//! A log is a recording (`alight-recording`) of two kinds of records:
//! `live.machine/1` each time the scheduler was loaded (`super::machine`),
//! and `live.decision/1`, a packed record (`alight_recording::delta`) of
//! `struct decision` and what follows it in crates/live/src/bpf/record.h. The scheduler, its rules and the layouts of
//! the structures are facts of the header. What the ring buffer could not
//! take is counted at the end as `lost: ring_full`. A log that ended before its
//! scheduler, because the disk was full, says why in the fact `stopped`.

use super::machine;
use alight_policy::{Core, Scheduler, abi};
use alight_recording::delta::Packer;
use alight_recording::{End, Header, Writer};
use std::io;
use std::mem;
use std::path::Path;

/// Kind of the records of machines.
pub const MACHINE: &str = "live.machine/1";
/// Kind of the records of decisions.
pub const DECISION: &str = "live.decision/1";
/// Index of [`MACHINE`] in a log that is written here.
const MACHINE_KIND: u32 = 0;
/// Index of [`DECISION`].
const DECISION_KIND: u32 = 1;

/// Name of the scheduler, in the header's facts.
pub(super) const SCHEDULER: &str = "scheduler";
/// Its rules.
pub(super) const PARAMS: &str = "params";
/// Layouts of the structures.
pub(super) const LAYOUTS: &str = "layouts";
/// Version of the program.
pub(super) const PROGRAM: &str = "program";
/// Why the log ended before its scheduler, in the facts of the end.
pub(super) const STOPPED: &str = "stopped";
/// Cause of losses: the ring buffer was full.
pub(super) const RING_FULL: &str = "ring_full";

/// Of zstd: the scheduler that is watched needs the CPU more than the disk its room.
const LEVEL: i32 = 1;

/// A log that is being written.
pub struct Log {
    /// `None` once the log has stopped.
    writer: Option<Writer>,
    packer: Packer,
    packed: Vec<u8>,
    lost: u64,
    /// In the file, once it is whole.
    decisions: u64,
    stopped: Option<String>,
}

/// What became of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Decisions in the file.
    pub decisions: u64,
    /// Why it ends before its scheduler did, if so.
    pub stopped: Option<String>,
}

impl Log {
    /// Begins a log of `scheduler` that will be `path`; `root`: where proc and sysfs are, `/`.
    ///
    /// # Errors
    /// The directory cannot be written to, `path` is no regular file, or the kernel does not say
    /// who it is.
    pub fn create(
        path: &Path,
        root: &Path,
        scheduler: &Scheduler,
        command: &str,
    ) -> io::Result<Self> {
        let clock = "scx_bpf_now(), ns";
        let mut header = Header::capture(root, &[MACHINE, DECISION], clock, command)?;
        let facts = [
            (SCHEDULER, scheduler.name.clone()),
            (PARAMS, machine::write_params(&scheduler.params)),
            (LAYOUTS, abi::layouts()),
            (PROGRAM, env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        header.facts.extend(facts);
        Ok(Log {
            writer: Some(Writer::create(path, &header, LEVEL)?),
            packer: Packer::default(),
            packed: Vec::new(),
            lost: 0,
            decisions: 0,
            stopped: None,
        })
    }

    /// The scheduler was loaded; decisions that follow are of this machine.
    ///
    /// Returns why the log stops here, if it does: once, and the file is whole then.
    pub fn machine(&mut self, core: &Core) -> Option<String> {
        let record = machine::write(core);
        self.write(MACHINE_KIND, &record)
    }

    /// Appends a decision, the bytes of the kernel side. Returns as [`Log::machine`].
    pub fn decision(&mut self, bytes: &[u8]) -> Option<String> {
        self.writer.as_ref()?;
        let mut packed = mem::take(&mut self.packed);
        self.packer.pack(bytes, &mut packed);
        let stopped = self.write(DECISION_KIND, &packed);
        self.packed = packed;
        stopped
    }

    /// `lost`: decisions so far that were not written down because the ring buffer was full.
    pub fn lost(&mut self, lost: u64) {
        self.lost = lost;
    }

    fn write(&mut self, kind: u32, record: &[u8]) -> Option<String> {
        let error = self.writer.as_mut()?.write(kind, record).err()?;
        Some(self.stop(&error))
    }

    /// Ends the file with what it has; says what that is.
    fn stop(&mut self, error: &io::Error) -> String {
        let end = self.end(Some(error));
        let kept = self.writer.take().map(|writer| writer.finish_early(end));
        let why = match kept {
            Some(Ok(counts)) => {
                self.decisions = counts[DECISION_KIND as usize];
                format!("{error}; it has the first {} decisions", self.decisions)
            }
            Some(Err(again)) => format!("{error}; none of it could be kept: {again}"),
            None => error.to_string(),
        };
        self.stopped = Some(why.clone());
        why
    }

    fn end(&self, error: Option<&io::Error>) -> End {
        let stopped = error.map(|error| (STOPPED.to_owned(), error.to_string()));
        End {
            lost: [(RING_FULL.to_owned(), self.lost)].into(),
            facts: stopped.into_iter().collect(),
            ..End::default()
        }
    }

    /// Ends the log and gives the file its name, unless it has stopped before.
    ///
    /// # Errors
    /// The file cannot have its name; then nothing is left behind.
    pub fn finish(mut self) -> io::Result<Written> {
        if let Some(Err(error)) = self.writer.as_mut().map(Writer::flush) {
            self.stop(&error);
        }
        let end = self.end(None);
        if let Some(writer) = self.writer.take() {
            self.decisions = writer.count(DECISION_KIND);
            writer.finish(end)?;
        }
        Ok(Written {
            decisions: self.decisions,
            stopped: self.stopped,
        })
    }
}

#[cfg(test)]
mod tests;
