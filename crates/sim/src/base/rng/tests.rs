// SPDX-License-Identifier: GPL-2.0-only
//! Random numbers: even spread, and independence by key.

use super::*;

#[test]
fn numbers_are_spread_and_named() {
    let counts = (0..4000).fold([0u32; 4], |mut counts, seed| {
        counts[below(seed, 0, Purpose::FirstCpu, 4) as usize] += 1;
        counts
    });
    assert!(
        counts.iter().all(|&n| (900..1100).contains(&n)),
        "{counts:?}"
    );
    let a: Vec<_> = (0..9)
        .map(|who| below(1, who, Purpose::FirstCpu, 1 << 40))
        .collect();
    let b: Vec<_> = (0..9)
        .map(|who| below(1, who, Purpose::StartDelay, 1 << 40))
        .collect();
    assert!(a.iter().zip(&b).all(|(a, b)| a != b));
}
