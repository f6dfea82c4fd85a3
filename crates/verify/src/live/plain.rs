// SPDX-License-Identifier: GPL-2.0-only
//! The structures of policy/abi.h as bytes, which are the same on every
//! machine that has a `scx_alight`: little-endian, 64 bits.

use super::record::Decision;
use alight_policy::abi::{Cpu, Domain, Group, Llc, PerfDomain, Place, Topology};

/// Structures of integers only, without padding: any bytes are a value.
///
/// # Safety
/// The implementor is `repr(C)`, has no padding and no invalid bit patterns.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty)*) => {$(
        // SAFETY: integers and arrays of them, laid out as in policy/abi.h.
        unsafe impl Plain for $type {}
    )*};
}

plain!(u32 Decision Cpu Llc Topology Domain Group Place PerfDomain);

/// The value in the first bytes.
///
/// # Panics
/// If there are too few.
pub fn read<T: Plain>(bytes: &[u8]) -> T {
    assert!(bytes.len() >= size_of::<T>());
    // SAFETY: enough bytes are there, and any bytes are a `T`.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// The first `nr` values and what comes after them.
///
/// # Panics
/// If there are too few bytes.
pub fn read_many<T: Plain>(bytes: &[u8], nr: usize) -> (Vec<T>, &[u8]) {
    let (these, rest) = bytes.split_at(nr * size_of::<T>());
    (these.chunks_exact(size_of::<T>()).map(read).collect(), rest)
}

/// The bytes of these values.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: a slice of integers without padding, read as bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
