// SPDX-License-Identifier: GPL-2.0-only

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
