// SPDX-License-Identifier: GPL-2.0-only
//! Reads a recording, and says what is wrong with one that is not whole.

use crate::{End, Header, MAX_BLOCK, RECORD_HEAD, SCHEMA, TAG_END, TAG_RECORDS};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// No line of the head is longer, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Why a recording cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system says no.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// What was to be added to it cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// Nothing was written, or copied.
    #[error(
        "is empty: the recording did not begin, or the file was not copied; record or copy it again"
    )]
    Empty,
    /// Some other file.
    #[error(
        "is not a recording: {0}, not '{SCHEMA}'; `alight record` makes one, `alight import` makes \
         one of a trace"
    )]
    NotARecording(String),
    /// A recording of a later version of this program.
    #[error("is a recording of another version: found '{0}', this program reads '{SCHEMA}'")]
    Version(String),
    /// The second line is not the header.
    #[error("line 2 is not the header of a recording: {0}")]
    Header(String),
    /// Recorded where numbers may be laid out otherwise.
    #[error("was recorded on '{0}'; recordings of x86_64 and aarch64 can be read")]
    Arch(String),
    /// The file stops before the end of the recording.
    #[error(
        "is cut short after {records} records, {bytes} bytes: the recording did not end, or the \
         file was not copied whole; record or copy it again"
    )]
    CutShort {
        /// Records that were read.
        records: u64,
        /// Length of the file.
        bytes: u64,
    },
    /// The bytes are not those that were written.
    #[error("is damaged at byte {at}, after {records} records: {what}")]
    Damaged {
        /// Where.
        at: u64,
        /// Records that were read.
        records: u64,
        /// What was found there.
        what: String,
    },
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Index of its kind in [`Header::kinds`].
    pub kind: u32,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Reads a recording record by record.
pub struct Reader<R> {
    input: R,
    header: Header,
    end: Option<End>,
    /// The block being read, and where in it the next record is.
    block: Vec<u8>,
    next: usize,
    records: u64,
    /// Bytes of the file read so far.
    at: u64,
    /// Where in the file the block begins, and where in the block the last record does.
    place: Place,
}

/// Where a record is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte of the file at which its block begins.
    pub block: u64,
    /// Byte of the block, decompressed, at which it begins.
    pub within: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "byte {} of the block at byte {}",
            self.within, self.block
        )
    }
}

impl Reader<BufReader<File>> {
    /// Opens a recording.
    ///
    /// # Errors
    /// Any [`Error`]. [`Error::CutShort`] and [`Error::Damaged`] may also come later, as the records are
    /// read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Reader::new(BufReader::new(File::open(path)?))
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the head of a recording.
    ///
    /// # Errors
    /// As for [`Reader::open`].
    pub fn new(mut input: R) -> Result<Self, Error> {
        let mut at = 0;
        let (first, whole) = line(&mut input, &mut at)?;
        if first.is_empty() && !whole {
            return Err(Error::Empty);
        }
        if first != SCHEMA.as_bytes() {
            return Err(match first.starts_with(b"alight.recording/") {
                true => Error::Version(start_of(&String::from_utf8_lossy(&first))),
                false => Error::NotARecording(beginning(&first)),
            });
        }
        let (second, whole) = line(&mut input, &mut at)?;
        if !whole {
            return Err(Error::CutShort {
                records: 0,
                bytes: at,
            });
        }
        let header: Header =
            serde_json::from_slice(&second).map_err(|error| Error::Header(error.to_string()))?;
        // Records of a workload are the same of every architecture, and of one that is unknown.
        if header.arch().is_none() && header.kinds != crate::workload::KINDS {
            return Err(Error::Arch(header.arch));
        }
        Ok(Reader {
            input,
            header,
            end: None,
            block: Vec::new(),
            next: 0,
            records: 0,
            at,
            place: Place::default(),
        })
    }

    /// Where the recording comes from.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; known once [`Reader::next_record`] has returned `None`.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Records read so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Where the record that was read last begins.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The next record, `None` after the last.
    ///
    /// # Errors
    /// The recording is cut short or damaged here; what was read before is as it was written.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        while self.next == self.block.len() {
            if self.end.is_some() {
                return Ok(None);
            }
            self.next_block()?;
        }
        let head = self.block.get(self.next..self.next + RECORD_HEAD);
        let record = head.and_then(|head| {
            let (kind, length) = (number(&head[..4]), number(&head[4..]));
            let start = self.next + RECORD_HEAD;
            let end = start.checked_add(length as usize)?;
            (end <= self.block.len()).then_some((kind, start, end))
        });
        let Some((kind, start, end)) = record else {
            return Err(self.damaged("a record reaches beyond its block".into()));
        };
        if kind as usize >= self.header.kinds.len() {
            return Err(self.damaged(format!("a record has the kind {kind}, which has no name")));
        }
        self.place.within = self.next;
        self.next = end;
        self.records += 1;
        Ok(Some(Record {
            kind,
            bytes: &self.block[start..end],
        }))
    }

    fn next_block(&mut self) -> Result<(), Error> {
        let mut head = [0; 5];
        self.place.block = self.at;
        self.fill(&mut head)?;
        let (tag, length) = (head[0], number(&head[1..]) as usize);
        if !matches!(tag, TAG_RECORDS | TAG_END) || length > MAX_BLOCK {
            return Err(self.damaged("no block begins here".into()));
        }
        let mut packed = vec![0; length];
        self.fill(&mut packed)?;
        if tag == TAG_RECORDS {
            self.block = zstd::bulk::decompress(&packed, MAX_BLOCK)
                .map_err(|error| self.damaged(error.to_string()))?;
            self.next = 0;
            return Ok(());
        }
        let end = serde_json::from_slice(&packed).map_err(|error| {
            self.damaged(format!("this is not the end of a recording: {error}"))
        })?;
        self.end = Some(end);
        if !self.input.fill_buf()?.is_empty() {
            return Err(self.damaged("data follows the end".into()));
        }
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < bytes.len() {
            match self.input.read(&mut bytes[done..]) {
                Ok(0) => {
                    let bytes = self.at + done as u64;
                    return Err(Error::CutShort {
                        records: self.records,
                        bytes,
                    });
                }
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.at += done as u64;
        Ok(())
    }

    fn damaged(&self, what: String) -> Error {
        Error::Damaged {
            at: self.at,
            records: self.records,
            what,
        }
    }
}

/// The next line without its newline, and whether the file goes on to there.
fn line(input: &mut impl BufRead, at: &mut u64) -> Result<(Vec<u8>, bool), Error> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_LINE).read_until(b'\n', &mut bytes)? as u64;
    *at += read;
    let whole = bytes.pop_if(|&mut last| last == b'\n').is_some() || read == MAX_LINE;
    Ok((bytes, whole))
}

/// How a file begins whose first line is this: text as text, else its bytes.
fn beginning(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).ok();
    match text.filter(|text| !text.chars().any(char::is_control)) {
        Some(text) => format!("its first line is '{}'", start_of(text)),
        None => {
            let bytes = line.iter().take(8).map(|byte| format!(" {byte:02x}"));
            format!("it begins with the bytes{}", bytes.collect::<String>())
        }
    }
}

fn start_of(text: &str) -> String {
    text.chars()
        .take(40)
        .flat_map(char::escape_default)
        .collect()
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}
