// SPDX-License-Identifier: GPL-2.0-only
//! A line of memory, as one chain of loads finds it.

use super::ns;
use std::hint::black_box;
use std::time::Instant;

/// Memory that no cache holds, in links of a chain; one to a line.
const CHAIN: usize = 1 << 20;
/// A chain that every cache holds.
const SHORT_CHAIN: usize = 64;

/// A line of memory beyond what it takes from the nearest cache.
pub(super) fn line() -> u64 {
    let far = chase(CHAIN);
    far.saturating_sub(chase(SHORT_CHAIN))
}

/// A step along a chain of lines, ns.
fn chase(links: usize) -> u64 {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Line(usize);

    // A step that shares no factor with the length visits all; far enough to fool prefetchers.
    let stride = (links * 5 / 8) | 1;
    let chain: Vec<Line> = (0..links).map(|at| Line((at + stride) % links)).collect();
    let steps = CHAIN / 4;
    let mut at = 0;
    let start = Instant::now();
    for _ in 0..steps {
        at = black_box(&chain)[at].0;
    }
    black_box(at);
    ns(start.elapsed()) / steps as u64
}
