// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::effects::known::{drawn, points, rate};
use crate::spec::Design;

const DESIGN: Design = Design::Morris { trajectories: 20 };

fn found<'t>(all: &'t Trajectories, name: &str) -> &'t Elementary {
    all.factors
        .iter()
        .find(|factor| factor.factor == name)
        .expect(name)
}

#[test]
fn a_planted_factor_is_ranked_first() {
    // Noise of ±4 %, one factor of 20 %, one of 5 %, ten that do nothing.
    let planted = |x: &[f64]| 100.0 + 20.0 * x[7] - 5.0 * x[3];
    let all = analyse(&points(DESIGN, 12, 20, 4.0, planted), 0.05, 2.0);
    let first: Vec<&str> = all
        .factors
        .iter()
        .map(|factor| factor.factor.as_str())
        .collect();
    assert_eq!(first[..2], ["x8", "x4"]);
    assert_eq!(
        (all.factors[0].verdict, all.factors[1].verdict),
        (Verdict::Matters, Verdict::Matters)
    );
    for other in &all.factors[2..] {
        assert_eq!(other.verdict, Verdict::DoesNotMatter, "{other:?}");
    }
    let signs = [&all.factors[0], &all.factors[1]].map(|factor| factor.mean_percent > Some(0.0));
    assert_eq!(signs, [true, false]);
}

#[test]
fn a_straight_line_has_its_slopes_and_no_scatter() {
    let all = analyse(
        &points(DESIGN, 2, 1, 0.0, |x| 90.0 + 20.0 * x[0]),
        0.05,
        1.0,
    );
    let (one, other) = (found(&all, "x1"), found(&all, "x2"));
    let centre = one.size_percent.expect("a size") / 20.0;
    assert!((centre - 1.0).abs() < 0.05, "{one:?}");
    assert!(
        one.deviation_percent
            .is_some_and(|deviation| deviation < 1e-4),
        "{one:?}"
    );
    assert_eq!(
        (other.size_percent, other.verdict),
        (Some(0.0), Verdict::DoesNotMatter)
    );
    assert_eq!(one.noise_percent, None);
}

#[test]
fn a_factor_that_acts_with_another_scatters() {
    let all = analyse(
        &points(DESIGN, 2, 1, 0.0, |x| 100.0 + 20.0 * x[0] * x[1]),
        0.05,
        1.0,
    );
    let one = found(&all, "x1");
    assert!(one.deviation_percent > Some(4.0), "{one:?}");
}

#[test]
fn noise_is_not_taken_for_an_effect() {
    let all = analyse(&points(DESIGN, 3, 3, 40.0, |_| 100.0), 0.05, 1.0);
    for factor in &all.factors {
        assert_eq!(factor.verdict, Verdict::CannotTell, "{factor:?}");
        let (size, noise) = (factor.size_percent, factor.noise_percent);
        let ratio = size
            .zip(noise)
            .map(|(size, noise)| size / noise)
            .expect("both");
        assert!((0.6..1.6).contains(&ratio), "{factor:?}");
    }
}

#[test]
fn factors_that_do_nothing_seldom_matter() {
    // Five of 100 are to be expected of families of five factors, twelve are 0.2 % likely.
    for (runs, trajectories) in [(1, 10), (2, 10), (2, 100), (3, 100), (5, 30)] {
        let design = Design::Morris { trajectories };
        let found = rate(|draw| {
            let points = drawn(draw, design, 5, runs, 10.0, |_| 100.0);
            let all = analyse(&points, 0.05, 0.1).factors;
            all.iter().any(|factor| factor.verdict == Verdict::Matters)
        });
        assert!(
            found < 12,
            "{runs} runs, {trajectories} trajectories: {found} of 100"
        );
    }
}

#[test]
fn one_run_cannot_tell_an_effect_from_noise() {
    let all = analyse(
        &points(DESIGN, 2, 1, 0.0, |x| 100.0 + 20.0 * x[0]),
        0.05,
        1.0,
    );
    assert_eq!(found(&all, "x1").verdict, Verdict::CannotTell);
    let all = analyse(
        &points(DESIGN, 2, 2, 0.0, |x| 100.0 + 20.0 * x[0]),
        0.05,
        1.0,
    );
    assert_eq!(found(&all, "x1").verdict, Verdict::Matters);
    // A number that is always 0 is moved by nothing.
    let all = analyse(&points(DESIGN, 2, 2, 0.0, |_| 0.0), 0.05, 1.0);
    assert_eq!(found(&all, "x1").verdict, Verdict::DoesNotMatter);
}
