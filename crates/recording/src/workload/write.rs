// SPDX-License-Identifier: GPL-2.0-only
//! Writes a recording of a workload.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::{CAPABILITIES, Capability, Event, KINDS, TaskFact};
use crate::delta::Packer;
use crate::{End, Header, Writer};

/// Writes events and facts of tasks, which must come in the order of their times.
pub struct WorkloadWriter {
    writer: Writer,
    packer: Packer,
    packed: Vec<u8>,
    latest: u64,
}

impl WorkloadWriter {
    /// Begins a recording. The kinds of `header` are set; `level` is zstd's, 1 to 19.
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn create(path: &Path, mut header: Header, level: i32) -> io::Result<Self> {
        header.kinds = KINDS.map(str::to_owned).to_vec();
        Ok(WorkloadWriter {
            writer: Writer::create(path, &header, level)?,
            packer: Packer::default(),
            packed: Vec::new(),
            latest: 0,
        })
    }

    /// Appends an event.
    ///
    /// # Errors
    /// It is older than the one before; the disk is full.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.in_order(event.time)?;
        let mut bytes = [0; 32];
        for (place, word) in bytes.chunks_exact_mut(8).zip(event.encode()) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.packer.pack(&bytes, &mut self.packed);
        self.writer.write(0, &self.packed)
    }

    /// Appends what is known of a task from now on.
    ///
    /// # Errors
    /// It is older than what was appended before; the disk is full.
    pub fn task(&mut self, fact: &TaskFact) -> io::Result<()> {
        self.in_order(fact.time)?;
        self.writer.write(1, &serde_json::to_vec(fact)?)
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.writer.count(0)
    }

    /// Ends the recording. `capabilities` become a fact of `end`.
    ///
    /// # Errors
    /// As [`Writer::finish`].
    pub fn finish(self, mut end: End, capabilities: &BTreeSet<Capability>) -> io::Result<()> {
        (end.facts).insert(CAPABILITIES.to_owned(), Capability::list(capabilities));
        self.writer.finish(end)
    }

    fn in_order(&mut self, time: u64) -> io::Result<()> {
        if time < self.latest {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "an event at {time} ns came behind one at {} ns",
                    self.latest
                ),
            ));
        }
        self.latest = time;
        Ok(())
    }
}
