// SPDX-License-Identifier: GPL-2.0-only
//! Columns can be read again; the reader serves other tests, too.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::*;

/// Reads columns.
pub(crate) struct Reader {
    bytes: std::vec::IntoIter<u8>,
}

impl Reader {
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = vec![];
        let deflated = STANDARD.decode(text).unwrap();
        let mut inflated = DeflateDecoder::new(&deflated[..]);
        inflated.read_to_end(&mut bytes).unwrap();
        Reader {
            bytes: bytes.into_iter(),
        }
    }

    /// The next column, of so many numbers.
    pub(crate) fn column(&mut self, count: usize) -> std::vec::IntoIter<u64> {
        let mut numbers = vec![0; count];
        for byte in 0..self.bytes.next().unwrap() {
            for number in &mut numbers {
                *number |= u64::from(self.bytes.next().unwrap()) << (8 * byte);
            }
        }
        numbers.into_iter()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.len() == 0
    }
}

#[test]
fn columns_can_be_read_again() {
    let columns: [&[u64]; 4] = [&[], &[0, 0], &[1, 255, 256], &[u64::MAX, 0]];
    let mut written = Columns::default();
    for column in columns {
        written.push(column);
    }
    let mut reader = Reader::new(&written.text());
    for column in columns {
        assert_eq!(reader.column(column.len()).as_slice(), column);
    }
    assert!(reader.is_at_end());
}

#[test]
fn a_column_is_as_wide_as_its_largest_number() {
    let length = |numbers: &[u64]| {
        let mut columns = Columns::default();
        columns.push(numbers);
        columns.0.len()
    };
    assert_eq!(
        [length(&[0, 0]), length(&[0, 255]), length(&[256, 0])],
        [1, 3, 5]
    );
}
