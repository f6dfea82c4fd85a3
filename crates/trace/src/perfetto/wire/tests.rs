// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn numbers_are_encoded_as_protobuf_prescribes() {
    for (value, bytes) in [
        (0, &[0x00][..]),
        (1, &[0x01]),
        (127, &[0x7f]),
        (128, &[0x80, 0x01]),
        (150, &[0x96, 0x01]),
        (16_384, &[0x80, 0x80, 0x01]),
        (
            u64::MAX,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ),
    ] {
        let mut out = Vec::new();
        varint(&mut out, value);
        assert_eq!(out, bytes, "{value}");
        assert_eq!(varint_len(value), bytes.len(), "{value}");
    }
}

#[test]
fn a_message_has_its_length_in_one_or_four_bytes() {
    let mut short = Vec::new();
    short_message(&mut short, 1, |out| out.extend_from_slice(b"abc"));
    assert_eq!(short, b"\x0a\x03abc");
    let mut long = Vec::new();
    message(&mut long, 1, |out| out.extend_from_slice(&[b'x'; 300]));
    assert_eq!(
        long[..5],
        [
            0x0a,
            300u16.to_le_bytes()[0] & 0x7f | 0x80,
            0x82,
            0x80,
            0x00
        ]
    );
    assert_eq!(long.len(), 5 + 300);
}
