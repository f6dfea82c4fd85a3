// SPDX-License-Identifier: GPL-2.0-only

use std::f64::consts::PI;

use super::*;
use crate::effects::known::{drawn, points, rate};
use crate::spec::Design;

const DESIGN: Design = Design::Sobol { samples: 4096 };

/// Ishigami and Homma (1990), with the usual a = 7 and b = 0.1.
fn ishigami(x: &[f64]) -> f64 {
    let at = |unit: f64| PI * (2.0 * unit - 1.0);
    let (one, two, three) = (at(x[0]), at(x[1]), at(x[2]));
    one.sin() + 7.0 * two.sin().powi(2) + 0.1 * three.powi(4) * one.sin()
}

/// Sobol's g-function with a = 0, 1, 4.5, 9.
fn g(x: &[f64]) -> f64 {
    let a = [0.0, 1.0, 4.5, 9.0];
    let factors = x
        .iter()
        .zip(a)
        .map(|(x, a)| ((4.0 * x - 2.0).abs() + a) / (1.0 + a));
    factors.product()
}

fn near(found: f64, truth: f64, what: &str) {
    assert!(
        (found - truth).abs() < 0.01,
        "{what}: {found}, published {truth}"
    );
}

#[test]
fn the_indices_of_ishigamis_function_are_the_published_ones() {
    // Saltelli et al. (2008), "Global sensitivity analysis", p. 182.
    let found = analyse(&points(DESIGN, 3, 2, 0.0, ishigami), 0.05, 1.0);
    let truth = [(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)];
    for (index, (first, total)) in found.factors.iter().zip(truth) {
        near(index.first, first, &index.factor);
        near(index.total, total, &index.factor);
        assert!(
            index.first_interval.0 <= first && first <= index.first_interval.1,
            "{index:?}"
        );
        assert!(
            index.total_interval.0 <= total && total <= index.total_interval.1,
            "{index:?}"
        );
        assert_eq!((index.verdict, index.noise), (Verdict::Matters, Some(0.0)));
    }
    let deviation = found.deviation_percent.expect("a mean");
    near(
        deviation / 100.0,
        3.720_8 / 3.5,
        "standard deviation by mean",
    );
}

#[test]
fn the_indices_of_the_g_function_are_those_of_its_formula() {
    let found = analyse(&points(DESIGN, 4, 2, 0.0, g), 0.05, 1.0);
    // V_i = 1/3 / (1 + a_i)^2, V = prod(1 + V_i) - 1, V_Ti = V_i * prod of the other (1 + V_j).
    let parts = [0.0, 1.0, 4.5, 9.0].map(|a: f64| 1.0 / 3.0 / ((1.0 + a) * (1.0 + a)));
    let all: f64 = parts.iter().map(|part| 1.0 + part).product();
    for (index, part) in found.factors.iter().zip(parts) {
        near(index.first, part / (all - 1.0), &index.factor);
        near(
            index.total,
            part * all / (1.0 + part) / (all - 1.0),
            &index.factor,
        );
    }
    let verdicts: Vec<Verdict> = found.factors.iter().map(|index| index.verdict).collect();
    // The last explains 1 % of the variance, and moves the number by a fifth of its mean.
    assert_eq!(verdicts, [Verdict::Matters; 4]);
}

#[test]
fn what_noise_adds_is_taken_off() {
    let design = Design::Sobol { samples: 512 };
    let line = |x: &[f64]| 100.0 + 10.0 * x[0];
    let found = analyse(&points(design, 2, 8, 4.0, line), 0.05, 1.0);
    let noise = found.factors[1].noise.expect("several runs");
    assert!((0.05..0.3).contains(&noise), "{noise}");
    near(found.factors[1].total, 0.0, "a factor that does nothing");
    assert_eq!(found.factors[1].verdict, Verdict::DoesNotMatter);
    assert_eq!(found.factors[0].verdict, Verdict::Matters);
}

#[test]
fn nothing_matters_where_all_points_are_the_same() {
    for function in [|_: &[f64]| 5.0, |x: &[f64]| 1000.0 + x[0]] {
        let design = Design::Sobol { samples: 16 };
        let found = analyse(&points(design, 2, 1, 0.0, function), 0.05, 1.0);
        assert!(
            found
                .factors
                .iter()
                .all(|index| index.verdict == Verdict::DoesNotMatter)
        );
    }
}

#[test]
fn noise_is_no_part_of_the_variance() {
    // A standard deviation of 15 beside one of 10 / sqrt(12).
    let design = Design::Sobol { samples: 8192 };
    let line = |x: &[f64]| 100.0 + 10.0 * x[0];
    let found = analyse(&points(design, 2, 3, 15.0 * 3.0f64.sqrt(), line), 0.05, 1.0);
    assert!((found.factors[0].total - 1.0).abs() < 0.3, "{found:?}");
    assert!(found.factors[1].total < 0.3, "{found:?}");
    let deviation = found.deviation_percent.expect("a mean");
    assert!((deviation - 2.75).abs() < 1.0, "{deviation}");
}

#[test]
fn factors_that_do_nothing_seldom_matter() {
    for (runs, samples) in [(1, 16), (2, 16), (2, 128), (5, 32)] {
        let design = Design::Sobol { samples };
        let found = rate(|draw| {
            let points = drawn(draw, design, 4, runs, 10.0, |_| 100.0);
            let all = analyse(&points, 0.05, 0.1).factors;
            all.iter().any(|index| index.verdict == Verdict::Matters)
        });
        assert!(found < 12, "{runs} runs, {samples} samples: {found} of 100");
    }
}

#[test]
fn how_far_a_factor_moves_the_number_decides() {
    let design = Design::Sobol { samples: 1024 };
    let (matters, not) = (Verdict::Matters, Verdict::DoesNotMatter);
    let weak: fn(&[f64]) -> f64 = |x| 100.0 + 1.7 * x[0];
    let both: fn(&[f64]) -> f64 = |x| 100.0 + 50.0 * x[0] + 3.0 * x[1];
    let little: fn(&[f64]) -> f64 = |x| 100.0 + 50.0 * x[0] + 0.9 * x[1];
    for (function, expected) in [
        (weak, [matters, not]),
        (both, [matters, matters]),
        (little, [matters, not]),
    ] {
        let found = analyse(&points(design, 2, 2, 0.0, function), 0.05, 1.0);
        let verdicts = [0, 1].map(|factor| found.factors[factor].verdict);
        assert_eq!(verdicts, expected, "{found:?}");
    }
    let found = analyse(&points(design, 2, 2, 0.0, both), 0.05, 1.0);
    let moves = found.factors[1].moves_percent.expect("a mean");
    assert!((moves - 100.0 * 3.0 / 126.5).abs() < 0.1, "{moves}");
}
