// SPDX-License-Identifier: GPL-2.0-only
//! Short byte strings kept in place: what an encoder has rendered once per task and copies at every event.

/// At most `N` bytes, without a pointer; `N` at most 255.
#[derive(Clone, Copy)]
pub(crate) struct InlineBytes<const N: usize> {
    len: u8,
    bytes: [u8; N],
}

impl<const N: usize> InlineBytes<N> {
    /// Keeps `source`.
    ///
    /// # Panics
    /// If it is longer than `N`: callers derive `N` from the longest comm and pid.
    pub(crate) fn new(source: &[u8]) -> Self {
        let mut bytes = [0; N];
        bytes[..source.len()].copy_from_slice(source);
        Self {
            len: u8::try_from(source.len()).expect("N is at most 255"),
            bytes,
        }
    }

    /// The bytes kept.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}
