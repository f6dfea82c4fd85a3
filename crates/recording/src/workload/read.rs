// SPDX-License-Identifier: GPL-2.0-only
//! Reads a recording of a workload.

use std::io::BufRead;

use super::{Event, KINDS, Malformed, TaskFact};
use crate::delta::Unpacker;
use crate::{End, Header, Reader};

/// Why a file is not a recording of a workload, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum NotAWorkload {
    /// The file is not whole, or not a recording.
    #[error(transparent)]
    Recording(#[from] crate::Error),
    /// It holds something else.
    #[error("holds {0}, not a workload: make one with `alight record workload` or `alight import`")]
    Kind(String),
    /// A record that cannot be.
    #[error("record {number}: {what}")]
    Record {
        /// Which, from 1.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// What is read next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Something happened.
    Event(Event),
    /// Something is known of a task.
    Task(Box<TaskFact>),
}

/// Reads events and facts in the order of their times.
pub struct WorkloadReader<R> {
    reader: Reader<R>,
    unpacker: Unpacker,
    latest: u64,
}

impl<R: BufRead> WorkloadReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// It is not a recording of a workload.
    pub fn new(reader: Reader<R>) -> Result<Self, NotAWorkload> {
        if reader.header().kinds != KINDS {
            return Err(NotAWorkload::Kind(reader.header().kinds.join(", ")));
        }
        Ok(WorkloadReader {
            reader,
            unpacker: Unpacker::default(),
            latest: 0,
        })
    }

    /// Where the recording comes from.
    pub fn header(&self) -> &Header {
        self.reader.header()
    }

    /// How it ended; known once [`WorkloadReader::next_item`] has returned `None`.
    pub fn end(&self) -> Option<&End> {
        self.reader.end()
    }

    /// The next event or fact; `None` after the last.
    ///
    /// # Errors
    /// The file is cut short or damaged, or a record is not what its kind says.
    pub fn next_item(&mut self) -> Result<Option<Item>, NotAWorkload> {
        let number = self.reader.records() + 1;
        let broken = |what| NotAWorkload::Record { number, what };
        let Some(record) = self.reader.next_record()? else {
            return Ok(None);
        };
        let (time, item) = if record.kind == 0 {
            let words = (self.unpacker.unpack(record.bytes)).map_err(|e| broken(e.to_string()))?;
            let event = Event::decode(words).map_err(|e: Malformed| broken(e.to_string()))?;
            (event.time, Item::Event(event))
        } else {
            let fact: TaskFact =
                serde_json::from_slice(record.bytes).map_err(|e| broken(e.to_string()))?;
            (fact.time, Item::Task(Box::new(fact)))
        };
        if time < self.latest {
            return Err(broken(format!(
                "it is of {time} ns, the one before of {} ns",
                self.latest
            )));
        }
        self.latest = time;
        Ok(Some(item))
    }
}
