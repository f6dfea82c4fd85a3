// SPDX-License-Identifier: GPL-2.0-only
//! Operating points that only some chips have: `opp-supported-hw`.
//!
//! A cpufreq driver reads fuses of the chip and gives Linux one mask a level, such as the speed grade and
//! the market. Linux uses a point if each of its masks has a bit of the chip's (_opp_is_supported() of
//! drivers/opp/of.c). The tree does not say which chip it is, so one is assumed.

/// Masks of a point, a version after the other. Empty: every chip has the point.
pub(super) type Masks = Vec<u32>;

/// A chip that has the fastest point.
pub(super) struct Chip {
    /// Which points it has, in the order that they were given in.
    pub has: Vec<bool>,
    /// Bits that the masks of all its points share, by level. All chips with one of them at each level
    /// have the same points.
    pub masks: Masks,
}

/// The chip of which `points`, the fastest first, are. `None`: all chips have them all.
pub(super) fn fastest(points: &[&Masks]) -> Option<Chip> {
    let stated = points.iter().filter(|masks| !masks.is_empty());
    // A point may state several versions of the masks, each with all levels.
    let levels = stated.map(|masks| masks.len()).min()?;
    let mut chip = vec![u32::MAX; levels];
    let mut has = Vec::new();
    for masks in points {
        let shared = shared_with(&chip, masks);
        has.push(masks.is_empty() || shared.is_some());
        chip = shared.unwrap_or(chip);
    }
    Some(Chip { has, masks: chip })
}

/// What the first version that the chip may be of leaves of its masks.
fn shared_with(chip: &[u32], masks: &[u32]) -> Option<Masks> {
    masks.chunks_exact(chip.len()).find_map(|version| {
        let both = chip.iter().zip(version).map(|(chip, own)| chip & own);
        let both: Masks = both.collect();
        both.iter().all(|mask| *mask != 0).then_some(both)
    })
}

/// Masks as a source writes them: `<0x8 0x3>`.
pub(super) fn written(masks: &[u32]) -> String {
    let masks: Vec<String> = masks.iter().map(|mask| format!("{mask:#x}")).collect();
    format!("<{}>", masks.join(" "))
}
