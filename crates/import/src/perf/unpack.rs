// SPDX-License-Identifier: GPL-2.0-only
//! Records that `perf record -z` packed: one zstd stream through all records of that kind, in which
//! a record may begin in one part and end in the next.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::Error;

/// Bytes that are unpacked at a time.
const STEP: usize = 1 << 17;

/// Unpacks, in the order of the file.
pub(super) struct Unpacker {
    decoder: Decoder<'static>,
    /// What was unpacked and not used.
    bytes: Vec<u8>,
    at: usize,
}

impl Unpacker {
    pub fn new() -> Result<Self, Error> {
        Ok(Unpacker {
            decoder: Decoder::new()?,
            bytes: Vec::new(),
            at: 0,
        })
    }

    /// Unpacks the content of a record, which is there in the file.
    pub fn unpack(&mut self, packed: &[u8], offset: u64) -> Result<(), Error> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let mut input = InBuffer::around(packed);
        loop {
            let length = self.bytes.len();
            self.bytes.resize(length + STEP, 0);
            let mut output = OutBuffer::around_pos(&mut self.bytes[..], length);
            let ended = self.decoder.run(&mut input, &mut output);
            let written = output.pos();
            self.bytes.truncate(written);
            let hint = ended.map_err(|error| {
                Error::at(
                    offset,
                    format!("a packed record cannot be unpacked: {error}"),
                )
            })?;
            let all = input.pos() == packed.len() && written < length + STEP;
            if all {
                return Ok(());
            }
            if hint == 0 {
                self.decoder.reinit()?;
            }
        }
    }

    /// The next whole record; `None` if the rest of it is in the next part.
    pub fn next(&mut self) -> Option<(u32, usize, &[u8])> {
        let rest = &self.bytes[self.at..];
        let kind = crate::bytes::le32(rest, 0);
        let size = usize::from(crate::bytes::le16(rest, 6));
        if rest.len() < 8 || rest.len() < size {
            return None;
        }
        self.at += size;
        Some((kind, size, rest.get(8..size).unwrap_or_default()))
    }
}
