// SPDX-License-Identifier: GPL-2.0-only
//! A set of CPU numbers up to [`CpuSet::MAX`], with the kernel's list notation (`0-3,8`).

/// A set of CPU numbers, 0 to 1023.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    words: [u64; Self::MAX / 64],
}

impl CpuSet {
    /// Most CPUs a machine may have.
    pub const MAX: usize = 1024;

    /// The set as 64-bit words, CPU 0 in bit 0 of word 0.
    pub fn words(&self) -> &[u64; Self::MAX / 64] {
        &self.words
    }
}
