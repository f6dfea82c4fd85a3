// SPDX-License-Identifier: GPL-2.0-only
//! Protobuf on the wire: fields with their numbers, out of bytes.

use crate::Error;
use crate::input::Stream;

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A number (varint), or one of fixed length.
    Number(u64),
    /// A string, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The number; 0 if it is none.
    pub fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        }
    }

    /// The bytes; none if it is a number.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }
}

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// The fields of a message. After something malformed nothing follows.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Fields { rest: bytes }
    }

    #[inline]
    fn field(&mut self) -> Result<(u32, Value<'a>), Malformed> {
        let tag = varint(&mut self.rest).ok_or(Malformed)?;
        let number = u32::try_from(tag >> 3).map_err(|_| Malformed)?;
        if number == 0 {
            return Err(Malformed);
        }
        let mut take = |count: usize| {
            let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
            self.rest = rest;
            Ok(taken)
        };
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.rest).ok_or(Malformed)?),
            1 => Value::Number(crate::bytes::le64(take(8)?, 0)),
            5 => Value::Number(crate::bytes::le32(take(4)?, 0).into()),
            2 => {
                let length = varint(&mut self.rest).ok_or(Malformed)?;
                let length = usize::try_from(length).map_err(|_| Malformed)?;
                let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
                self.rest = rest;
                Value::Bytes(taken)
            }
            _ => return Err(Malformed),
        };
        Ok((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// A number of seven bits a byte. Most have one.
#[inline]
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    match bytes {
        [byte @ 0..0x80, rest @ ..] => {
            let value = u64::from(*byte);
            *bytes = rest;
            Some(value)
        }
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

/// Packed numbers.
pub(super) fn packed(mut bytes: &[u8], into: &mut Vec<u64>) -> Result<(), Malformed> {
    while !bytes.is_empty() {
        into.push(varint(&mut bytes).ok_or(Malformed)?);
    }
    Ok(())
}

/// The next field's number and, of bytes, their length; of a number, its value. What follows the
/// length is not taken. `None` at the end.
pub(super) fn head(stream: &mut Stream) -> Result<Option<(u32, bool, u64)>, Error> {
    let offset = stream.offset();
    if stream.left() == 0 {
        return Ok(None);
    }
    let window = stream.peek(20)?;
    let mut rest = &window[..window.len().min(20)];
    let before = rest.len();
    let broken = || {
        Error::at(
            offset,
            "expected a field of a message here: the trace is cut short or damaged",
        )
    };
    let tag = varint(&mut rest).ok_or_else(broken)?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0);
    let number = number.ok_or_else(broken)?;
    let (is_bytes, value) = match tag & 7 {
        0 => (false, varint(&mut rest).ok_or_else(broken)?),
        1 => {
            rest = rest.get(8..).ok_or_else(broken)?;
            (false, 0)
        }
        5 => {
            rest = rest.get(4..).ok_or_else(broken)?;
            (false, 0)
        }
        2 => (true, varint(&mut rest).ok_or_else(broken)?),
        _ => return Err(broken()),
    };
    let taken = before - rest.len();
    stream.advance(taken);
    if is_bytes && value > stream.left() {
        return Err(Error::at(
            offset,
            format!(
                "a message should have {value} bytes here, and {} are left: the trace is cut short \
                 or damaged",
                stream.left()
            ),
        ));
    }
    Ok(Some((number, is_bytes, value)))
}

#[cfg(test)]
mod tests;
