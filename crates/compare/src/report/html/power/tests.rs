// SPDX-License-Identifier: GPL-2.0-only
//! Which clusters have a part of their own.

use super::*;
use crate::fake;
use crate::report::html::tests::rows;
use alight_sim::Outcome;

/// Clusters c0, c1 ... that take so many joule.
fn outcome(joule: &[f64], seed: u64) -> Outcome {
    let mut outcome = fake::better_outcome(seed);
    outcome.energy = (joule.iter().enumerate())
        .map(|(at, value)| fake::metric(&format!("energy_c{at}_j"), "j", None, *value))
        .collect();
    outcome
}

/// The heads of the parts, and the figures of the second scheduler.
fn heads_and_figures(comparison: &Comparison) -> [String; 2] {
    let html = add(Page::new("power"), comparison, Extent::Full).render();
    let rows = rows(&html, ENERGY);
    [0, 2].map(|row| rows[row][2..].join("|"))
}

#[test]
fn the_largest_clusters_stand_alone_and_the_others_are_one_sum() {
    let few = |seed| outcome(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], seed);
    let many = |seed| outcome(&[9.0, 1.0, 8.0, 2.0, 7.0, 6.0, 5.0, 0.5], seed);
    for (comparison, names, figures) in [
        (
            fake::comparison(few),
            "a c0, J|b c1, J|c c2, J|d c3, J|e c4, J|f c5, J",
            "1|2|3|4|5|6",
        ),
        (
            fake::comparison(many),
            "a c0, J|b c2, J|c c4, J|d c5, J|e c6, J|f 3 others, J",
            "9|8|7|6|5|3.50000",
        ),
    ] {
        assert_eq!(heads_and_figures(&comparison), [names, figures]);
    }
}
