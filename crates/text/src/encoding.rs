// SPDX-License-Identifier: GPL-2.0-only
//! Files are UTF-8. Some editors put a mark before the text that names its encoding (byte order mark),
//! or write UTF-16.

use std::fs;
use std::io;
use std::path::Path;

/// The mark of an encoding at the start of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// EF BB BF: UTF-8, of which the order of bytes is no question.
    Utf8,
    /// FF FE or FE FF: UTF-16. Or without a mark, a NUL where the first or second byte of text is.
    Utf16,
}

impl Mark {
    /// What is wrong, and what to do.
    pub fn advice(self) -> &'static str {
        match self {
            Mark::Utf8 => "begins with a byte order mark (EF BB BF); save it as UTF-8 without one",
            Mark::Utf16 => "is UTF-16; save it as UTF-8",
        }
    }
}

/// Reads a file as UTF-8. A byte order mark of UTF-8 is left out: TOML takes it, and JSON allows
/// readers to skip it.
///
/// # Errors
/// The file cannot be read; or `InvalidData`: it is not UTF-8. The message names the first wrong byte
/// and its line.
pub fn read(path: impl AsRef<Path>) -> io::Result<String> {
    decode(fs::read(path)?)
}

/// As [`read`], of the content of a file.
///
/// # Errors
/// `InvalidData`: it is not UTF-8. The message names the first wrong byte and its line.
pub fn decode(mut bytes: Vec<u8>) -> io::Result<String> {
    let fault = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    match mark(&bytes) {
        Some(Mark::Utf8) => drop(bytes.drain(..3)),
        Some(Mark::Utf16) => return Err(fault(format!("it {}", Mark::Utf16.advice()))),
        None => {}
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
        fault(format!(
            "it is not UTF-8: byte {:#04x} in line {line}; save it as UTF-8",
            bytes[at]
        ))
    })
}

/// The mark that `bytes` begin with.
pub fn mark(bytes: &[u8]) -> Option<Mark> {
    match bytes {
        [0xef, 0xbb, 0xbf, ..] => Some(Mark::Utf8),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Mark::Utf16),
        &[first, second, ..] if (first == 0) != (second == 0) => Some(Mark::Utf16),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
