// SPDX-License-Identifier: GPL-2.0-only
//! The protobuf wire format, as far as a trace needs it.

const WIRE_VARINT: u32 = 0;
const WIRE_LEN: u32 = 2;

/// Appends a number in groups of seven bits, lowest first.
#[inline]
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that [`varint`] appends.
pub(super) fn varint_len(value: u64) -> usize {
    // Seven bits a byte, and one byte for zero.
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// `uint32`, `uint64`, enums, and `int32`/`int64` that are not negative.
#[inline]
pub(super) fn uint_field(out: &mut Vec<u8>, field: u32, value: u64) {
    varint(out, u64::from(field << 3 | WIRE_VARINT));
    varint(out, value);
}

/// `int32` and `int64`: the two's complement of 64 bits.
#[inline]
pub(super) fn signed_field(out: &mut Vec<u8>, field: u32, value: i64) {
    uint_field(out, field, value as u64);
}

/// `string`, `bytes`, and messages encoded already.
pub(super) fn bytes_field(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    length_delimited(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

/// The start of a string or message of `len` bytes.
pub(super) fn length_delimited(out: &mut Vec<u8>, field: u32, len: usize) {
    varint(out, u64::from(field << 3 | WIRE_LEN));
    varint(out, len as u64);
}

/// A message of at most 127 bytes: its length takes one byte, filled in afterwards.
///
/// # Panics
/// If the body is longer.
#[inline]
pub(super) fn short_message(out: &mut Vec<u8>, field: u32, body: impl FnOnce(&mut Vec<u8>)) {
    varint(out, u64::from(field << 3 | WIRE_LEN));
    let length_at = out.len();
    out.push(0);
    body(out);
    let len = out.len() - length_at - 1;
    assert!(len < 0x80, "a short message of {len} bytes");
    out[length_at] = len as u8;
}

/// A message of any length: the length takes four bytes, the first three saying that more follows.
///
/// # Panics
/// If the body is longer than 2^28 - 1 bytes.
pub(super) fn message(out: &mut Vec<u8>, field: u32, body: impl FnOnce(&mut Vec<u8>)) {
    varint(out, u64::from(field << 3 | WIRE_LEN));
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let len = out.len() - length_at - 4;
    assert!(len < 1 << 28, "a message of {len} bytes");
    for (group, byte) in out[length_at..length_at + 4].iter_mut().enumerate() {
        let more = if group < 3 { 0x80 } else { 0 };
        *byte = (len >> (7 * group)) as u8 & 0x7f | more;
    }
}

#[cfg(test)]
mod tests;
