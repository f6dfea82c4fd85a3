// SPDX-License-Identifier: GPL-2.0-only
//! Columns of whole numbers as text: what scripts draw. `js/common.js` unpacks them.
//!
//! A column is a byte that says how many bytes its largest number needs, then the lowest byte of each
//! number, then the next byte of each, and so on: high bytes are alike, and alike bytes pack well.
//! All columns together are deflated (RFC 1951), and told in base64.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::DeflateEncoder};

/// Columns, one behind the other.
#[derive(Default)]
pub(crate) struct Columns(Vec<u8>);

impl Columns {
    /// One more.
    pub(crate) fn push(&mut self, numbers: &[u64]) {
        let most = numbers.iter().copied().max().unwrap_or(0);
        let width = 8 - most.leading_zeros() / 8;
        self.0.push(width as u8);
        for byte in 0..width {
            self.0
                .extend(numbers.iter().map(|n| (n >> (8 * byte)) as u8));
        }
    }

    /// All of them.
    pub(crate) fn text(&self) -> String {
        let mut deflated = DeflateEncoder::new(vec![], Compression::best());
        // A Vec takes all that is written to it.
        let _ = deflated.write_all(&self.0);
        STANDARD.encode(deflated.finish().unwrap_or_default())
    }
}

#[cfg(test)]
pub(crate) mod tests;
