// SPDX-License-Identifier: GPL-2.0-only
//! Numbers and strings out of bytes whose place in the file is known, for errors.

use crate::Error;

/// Bytes that are read from the front. All numbers are little-endian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    /// Place of `rest` in the file.
    offset: u64,
}

impl<'a> Bytes<'a> {
    /// Bytes that begin there in the file.
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Bytes {
            rest: bytes,
            offset,
        }
    }

    /// Where in the file the next byte is.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What was not taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// So many bytes; `what` names them.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Error> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(Error::at(
                self.offset,
                format!(
                    "{what} should have {count} bytes here, and {} are left: the file is cut \
                     short or damaged",
                    self.rest.len()
                ),
            ));
        };
        self.rest = rest;
        self.offset += count as u64;
        Ok(taken)
    }

    /// A number of 8 bits.
    pub fn u8(&mut self, what: &str) -> Result<u8, Error> {
        Ok(self.take(1, what)?[0])
    }

    /// A number of 16 bits.
    pub fn u16(&mut self, what: &str) -> Result<u16, Error> {
        let bytes = self.take(2, what)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// A number of 32 bits.
    pub fn u32(&mut self, what: &str) -> Result<u32, Error> {
        Ok(le32(self.take(4, what)?, 0))
    }

    /// A number of 64 bits.
    pub fn u64(&mut self, what: &str) -> Result<u64, Error> {
        Ok(le64(self.take(8, what)?, 0))
    }

    /// A number of 64 bits that is a length of what is in memory from here on.
    pub fn length(&mut self, what: &str) -> Result<usize, Error> {
        let offset = self.offset;
        let length = self.u64(what)?;
        usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.rest.len())
            .ok_or_else(|| {
                Error::at(
                    offset,
                    format!(
                        "{what} should have {length} bytes, and {} are left: the file is cut \
                         short or damaged",
                        self.rest.len()
                    ),
                )
            })
    }

    /// A string up to a zero byte, which is taken too.
    pub fn string(&mut self, what: &str) -> Result<&'a [u8], Error> {
        let Some(end) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(Error::at(
                self.offset,
                format!("{what} has no end: the file is cut short or damaged"),
            ));
        };
        let taken = self.take(end + 1, what)?;
        Ok(&taken[..end])
    }
}

/// The number of 16 bits at `at`; 0 if it is not there.
pub(crate) fn le16(bytes: &[u8], at: usize) -> u16 {
    (bytes.get(at..).and_then(|rest| rest.first_chunk())).map_or(0, |b| u16::from_le_bytes(*b))
}

/// The number of 32 bits at `at`; 0 if it is not there.
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    (bytes.get(at..).and_then(|rest| rest.first_chunk())).map_or(0, |b| u32::from_le_bytes(*b))
}

/// The number of 64 bits at `at`; 0 if it is not there.
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    (bytes.get(at..).and_then(|rest| rest.first_chunk())).map_or(0, |b| u64::from_le_bytes(*b))
}

/// Text up to its first zero byte; what is not UTF-8 is replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}
