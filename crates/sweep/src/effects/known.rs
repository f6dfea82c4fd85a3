// SPDX-License-Identifier: GPL-2.0-only
//! Functions whose sensitivity is known, at the points of a design.

use crate::design::random;
use crate::effects::Points;
use crate::spec::Design;

/// Values of a factor: so many that a level is a number of the unit interval.
pub const LEVELS: u64 = 1 << 20;

/// The points of `design` over `factors` factors, each from 0 to 1, where `function` says what
/// comes out. Noise of `noise` on both sides is added to each of `seeds` runs.
pub fn points(
    design: Design,
    factors: usize,
    seeds: usize,
    noise: f64,
    function: impl Fn(&[f64]) -> f64,
) -> Points {
    drawn(1, design, factors, seeds, noise, function)
}

/// The same with the noise number `draw`.
pub fn drawn(
    draw: u64,
    design: Design,
    factors: usize,
    seeds: usize,
    noise: f64,
    function: impl Fn(&[f64]) -> f64,
) -> Points {
    let sizes = vec![LEVELS; factors];
    let count = design.points(&sizes) as u64;
    let levels: Vec<Vec<u64>> = (0..count)
        .map(|index| design.point(&sizes, 7, index))
        .collect();
    let mut state = draw.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut values = vec![];
    for levels in &levels {
        let at: Vec<f64> = levels
            .iter()
            .map(|level| *level as f64 / (LEVELS - 1) as f64)
            .collect();
        let truth = function(&at);
        let mut run = || {
            let unit = random(&mut state) as f64 / u64::MAX as f64;
            truth + noise * (2.0 * unit - 1.0)
        };
        values.push((0..seeds).map(|_| run()).collect());
    }
    Points {
        factors: (1..=factors).map(|factor| format!("x{factor}")).collect(),
        texts: vec![],
        sizes,
        levels,
        values,
    }
}

/// In how many of 100 draws of noise something is found.
pub fn rate(found: impl Fn(u64) -> bool) -> usize {
    (1..=100).filter(|draw| found(*draw)).count()
}
