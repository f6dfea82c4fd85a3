// SPDX-License-Identifier: GPL-2.0-only
//! The file that is imported: read by place, a window at a time, so that no file is too large.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::Error;

/// Bytes of a window.
const WINDOW: usize = 1 << 20;

/// What a file's content is read from.
#[derive(Debug)]
pub(crate) struct Input {
    source: Source,
    size: u64,
}

#[derive(Debug)]
enum Source {
    File(File),
    /// A pipe was read to its end, or a test made the bytes.
    Memory(Vec<u8>),
}

impl Input {
    /// Opens a file. What is no regular file is read to its end, and kept in memory.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(Error::Open)?;
        let found = file.metadata().map_err(Error::Open)?;
        if found.is_file() {
            return Ok(Input {
                size: found.len(),
                source: Source::File(file),
            });
        }
        if found.is_dir() {
            return Err(Error::Foreign(
                "is a directory; `perf record --threads` makes such: record without it".into(),
            ));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::Open)?;
        Ok(Input::of(bytes))
    }

    /// These bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Input {
            size: bytes.len() as u64,
            source: Source::Memory(bytes),
        }
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads as many bytes as there are from `offset`, at most `into.len()`.
    pub fn read_some(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        match &self.source {
            Source::Memory(bytes) => {
                let start = usize::try_from(offset).map_or(bytes.len(), |at| at.min(bytes.len()));
                let count = into.len().min(bytes.len() - start);
                into[..count].copy_from_slice(&bytes[start..start + count]);
                Ok(count)
            }
            Source::File(file) => {
                let mut count = 0;
                while count < into.len() {
                    match file.read_at(&mut into[count..], offset + count as u64) {
                        Ok(0) => break,
                        Ok(more) => count += more,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(Error::Read { offset, error }),
                    }
                }
                Ok(count)
            }
        }
    }

    /// Exactly `length` bytes at `offset`; `what` names them, `most` is how many there may be.
    pub fn section(
        &self,
        offset: u64,
        length: u64,
        most: u64,
        what: &str,
    ) -> Result<Vec<u8>, Error> {
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > self.size) {
            return Err(Error::at(
                offset,
                format!(
                    "{what} should have {length} bytes here, and the file ends at byte {}: it is \
                     cut short or damaged",
                    self.size
                ),
            ));
        }
        if length > most {
            return Err(Error::at(
                offset,
                format!("{what} has {length} bytes, expected at most {most}"),
            ));
        }
        let mut bytes = vec![0; length as usize];
        if self.read_some(offset, &mut bytes)? < bytes.len() {
            return Err(Error::at(
                offset,
                "the file became shorter while it was read",
            ));
        }
        Ok(bytes)
    }

    /// A window that begins at `start` and will not go beyond `end`.
    pub fn stream(&self, start: u64, end: u64) -> Stream<'_> {
        Stream {
            input: self,
            window: Vec::new(),
            at: 0,
            next: start.min(self.size),
            end: end.min(self.size),
        }
    }
}

/// A part of the file, read from its front.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    input: &'a Input,
    window: Vec<u8>,
    /// Bytes of the window that were taken.
    at: usize,
    /// Place in the file behind the window.
    next: u64,
    end: u64,
}

impl Stream<'_> {
    /// Where in the file the next byte is.
    pub fn offset(&self) -> u64 {
        self.next - (self.window.len() - self.at) as u64
    }

    /// Bytes up to the end.
    pub fn left(&self) -> u64 {
        self.end - self.offset()
    }

    /// At least `count` bytes if there are so many, without taking them.
    pub fn peek(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.window.len() - self.at < count {
            self.fill(count)?;
        }
        Ok(&self.window[self.at..])
    }

    /// Takes bytes that [`Stream::peek`] has shown.
    pub fn advance(&mut self, count: usize) {
        self.at = (self.at + count).min(self.window.len());
    }

    /// Goes on behind so many bytes, whatever they are.
    pub fn skip(&mut self, count: u64) {
        let there = (self.window.len() - self.at) as u64;
        if count <= there {
            self.at += count as usize;
        } else {
            self.next = (self.next.saturating_add(count - there)).min(self.end);
            self.window.clear();
            self.at = 0;
        }
    }

    fn fill(&mut self, count: usize) -> Result<(), Error> {
        self.window.drain(..self.at);
        self.at = 0;
        let kept = self.window.len();
        let wanted = count.max(WINDOW) - kept;
        let wanted = wanted.min(usize::try_from(self.end - self.next).unwrap_or(wanted));
        self.window.resize(kept + wanted, 0);
        let read = self.input.read_some(self.next, &mut self.window[kept..])?;
        self.window.truncate(kept + read);
        self.next += read as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
