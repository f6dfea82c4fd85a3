// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn fields_are_read_by_their_wire_types() {
    let bytes = [
        0x08, 0x96, 0x01, // 1: 150
        0x12, 0x02, b'o', b'k', // 2: "ok"
        0x19, 1, 0, 0, 0, 0, 0, 0, 0, // 3: fixed 64
        0x25, 2, 0, 0, 0, // 4: fixed 32
    ];
    let fields: Vec<_> = Fields::of(&bytes).collect();
    assert_eq!(
        fields,
        [
            Ok((1, Value::Number(150))),
            Ok((2, Value::Bytes(b"ok"))),
            Ok((3, Value::Number(1))),
            Ok((4, Value::Number(2))),
        ]
    );
}

#[test]
fn nothing_follows_what_is_malformed() {
    for bytes in [
        &[0x12, 0x05, b'x'][..],
        &[0x08],
        &[0x0b, 0x00],
        &[0x00, 0x01],
        &[0x80; 12],
        &[0x19, 0, 0],
    ] {
        let fields: Vec<_> = Fields::of(bytes).collect();
        assert_eq!(fields, [Err(Malformed)], "{bytes:?}");
    }
}

#[test]
fn packed_numbers_end_with_the_bytes() {
    let mut numbers = vec![];
    packed(&[1, 0xac, 0x02], &mut numbers).unwrap();
    assert_eq!(numbers, [1, 300]);
    assert_eq!(packed(&[0x80], &mut numbers), Err(Malformed));
}
