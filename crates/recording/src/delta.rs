// SPDX-License-Identifier: GPL-2.0-only
//! Records that resemble the one before, such as the state of all CPUs at each
//! wakeup: only the words that changed are kept.
//!
//! A packed record is a u32 with the number of its words of 64 bits, one bit for
//! each word that is not as in the record before (a word beyond the longest
//! record so far counts as having been 0), in bytes from bit 0 up, and each of
//! those words, XORed with what it was. All little-endian.

use crate::MAX_RECORD;

const WORD: usize = 8;

/// Packs the records of one kind, in order.
#[derive(Debug, Default)]
pub struct Packer {
    before: Vec<u64>,
    words: Vec<u8>,
}

impl Packer {
    /// Packs a record into `packed`, whose content is replaced.
    ///
    /// # Panics
    /// If the record is not of whole words.
    pub fn pack(&mut self, record: &[u8], packed: &mut Vec<u8>) {
        assert!(
            record.len().is_multiple_of(WORD),
            "a record has {} bytes, expected whole words",
            record.len()
        );
        let nr = record.len() / WORD;
        if self.before.len() < nr {
            self.before.resize(nr, 0);
        }
        packed.clear();
        packed.extend_from_slice(&(nr as u32).to_le_bytes());
        packed.resize(4 + nr.div_ceil(8), 0);
        self.words.clear();
        for (i, (bytes, before)) in record.chunks_exact(WORD).zip(&mut self.before).enumerate() {
            let word = u64::from_le_bytes(bytes.try_into().expect("a whole word"));
            let change = word ^ *before;
            if change != 0 {
                *before = word;
                packed[4 + i / 8] |= 1 << (i % 8);
                self.words.extend_from_slice(&change.to_le_bytes());
            }
        }
        packed.extend_from_slice(&self.words);
    }
}

/// Why bytes are not a packed record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The length does not follow from the bytes.
    #[error("a packed record has {found} bytes; its first bytes announce {expected}")]
    Length {
        /// Bytes there.
        found: usize,
        /// Bytes that should be.
        expected: usize,
    },
    /// Unpacked it would be longer than [`MAX_RECORD`].
    #[error("a packed record has {words} words of 8 bytes, expected at most {}", MAX_RECORD / WORD)]
    Words {
        /// Words of 64 bits.
        words: usize,
    },
}

/// Unpacks what a [`Packer`] packed, in the same order.
#[derive(Debug, Default)]
pub struct Unpacker {
    before: Vec<u64>,
}

impl Unpacker {
    /// The words of the next record.
    ///
    /// # Errors
    /// The length does not follow from the bytes, or is more than a record may have.
    pub fn unpack(&mut self, packed: &[u8]) -> Result<&[u64], Malformed> {
        let malformed = |expected| Malformed::Length {
            found: packed.len(),
            expected,
        };
        let (head, rest) = packed.split_at_checked(4).ok_or(malformed(4))?;
        let nr = u32::from_le_bytes(head.try_into().expect("four bytes")) as usize;
        if nr > MAX_RECORD / WORD {
            return Err(Malformed::Words { words: nr });
        }
        let (bits, words) =
            (rest.split_at_checked(nr.div_ceil(8))).ok_or(malformed(4 + nr.div_ceil(8)))?;
        let changed = |i: usize| bits[i / 8] >> (i % 8) & 1 != 0;
        let expected = (0..nr).filter(|&i| changed(i)).count() * WORD;
        if words.len() != expected {
            return Err(malformed(4 + bits.len() + expected));
        }
        if self.before.len() < nr {
            self.before.resize(nr, 0);
        }
        let mut words = words.chunks_exact(WORD);
        for (i, word) in self.before.iter_mut().enumerate().take(nr) {
            if changed(i) {
                let bytes = words.next().expect("as many words as bits");
                *word ^= u64::from_le_bytes(bytes.try_into().expect("a whole word"));
            }
        }
        Ok(&self.before[..nr])
    }
}

#[cfg(test)]
mod tests;
