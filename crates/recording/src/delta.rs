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
            "a record of whole words, not of {} bytes",
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
    #[error("a packed record of {found} bytes: by its first bytes it should have {expected}")]
    Length {
        /// Bytes there.
        found: usize,
        /// Bytes that should be.
        expected: usize,
    },
    /// Unpacked it would be longer than [`MAX_RECORD`].
    #[error("a packed record of {words} words of 8 bytes; {} are the most", MAX_RECORD / WORD)]
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
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let records: [&[u64]; 6] = [
            &[1, 2, 3],
            &[1, 2, 3],
            &[u64::MAX],
            &[1, 0, 3, 4, 5, 6, 7, 8, 9, 10],
            &[],
            &[9, 0, 3, 4, 5, 6, 7, 8, 9, 11],
        ];
        let (mut packer, mut unpacker, mut packed) =
            (Packer::default(), Unpacker::default(), Vec::new());
        for record in records {
            packer.pack(&bytes(record), &mut packed);
            assert_eq!(unpacker.unpack(&packed), Ok(record));
        }
    }

    #[test]
    fn only_words_that_changed_take_room() {
        let (mut packer, mut packed) = (Packer::default(), Vec::new());
        packer.pack(&bytes(&[7; 100]), &mut packed);
        assert_eq!(packed.len(), 4 + 13 + 100 * 8);
        let mut next = [7; 100];
        next[50] = 8;
        packer.pack(&bytes(&next), &mut packed);
        assert_eq!(packed.len(), 4 + 13 + 8);
    }

    #[test]
    fn a_length_that_does_not_follow_from_the_bytes_is_refused() {
        let mut packed = Vec::new();
        Packer::default().pack(&bytes(&[1, 2, 3]), &mut packed);
        for length in 0..packed.len() {
            let error = Unpacker::default().unpack(&packed[..length]).unwrap_err();
            assert!(matches!(error, Malformed::Length { found, .. } if found == length));
        }
        packed.push(0);
        assert!(Unpacker::default().unpack(&packed).is_err());
    }

    #[test]
    fn a_count_beyond_any_record_is_refused_before_room_is_made_for_it() {
        let mut unpacker = Unpacker::default();
        let error = unpacker.unpack(&[0xff; 200]).unwrap_err();
        let words = u32::MAX as usize;
        assert_eq!(error, Malformed::Words { words });
        assert_eq!(unpacker.before.capacity(), 0);
    }
}
