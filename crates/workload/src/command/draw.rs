// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that a command line draws from its seed, in integers: the same everywhere.

/// A number for each seed, stream and index (the finalizer of splitmix64).
pub(super) fn draw(seed: u64, stream: u64, index: usize) -> u64 {
    let name = stream << 48 | index as u64;
    let mut z =
        (seed ^ name.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The same from `least` to `most`.
pub(super) fn between(seed: u64, stream: u64, index: usize, (least, most): (u64, u64)) -> u64 {
    least + draw(seed, stream, index) % (most - least + 1)
}
