// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn looks_double_up_to_the_last() {
    for (most, expected) in [
        (1, vec![1]),
        (5, vec![5]),
        (6, vec![5, 6]),
        (10, vec![5, 10]),
        (80, vec![5, 10, 20, 40, 80]),
        (100, vec![5, 10, 20, 40, 80, 100]),
    ] {
        assert_eq!(looks(most), expected, "{most}");
    }
    assert_eq!(next_look(0, 80), Some(5));
    assert_eq!(next_look(5, 80), Some(10));
    assert_eq!(next_look(7, 80), Some(10));
    assert_eq!(next_look(80, 80), None);
    assert!(looks(u32::MAX).len() < 33);
}

#[test]
fn a_target_is_a_percentage_of_a_metric() {
    let target = |metric: Option<&str>, half_width_percent| Target {
        metric: metric.map(str::to_owned),
        half_width_percent,
    };
    for (text, expected) in [
        ("1%", target(None, 1.0)),
        (" 0.5 % ", target(None, 0.5)),
        ("elapsed_s=2%", target(Some("elapsed_s"), 2.0)),
    ] {
        assert_eq!(text.parse(), Ok(expected), "{text}");
    }
    for text in [
        "",
        "1",
        "0%",
        "-1%",
        "nan%",
        "inf%",
        "101%",
        "=1%",
        "elapsed_s=",
        "x=1",
    ] {
        let error = text.parse::<Target>().expect_err(text);
        assert!(error.contains("like 1%"), "{text}: {error}");
    }
}

#[test]
fn an_early_look_needs_runs_that_scatter_less() {
    let scattered: Vec<f64> = (0..5).map(|run| 100.0 + f64::from(run % 2)).collect();
    let narrow = look_at_values(&scattered, 2.0, 5);
    let early = look_at_values(&scattered, 2.0, 80);
    assert_eq!(narrow.half_width_percent, early.half_width_percent);
    assert!(narrow.half_width_percent.is_some_and(|half| half < 1.0));
    assert!(narrow.known && !early.known);
    // Runs that do not differ at all are known at once.
    assert!(look_at_values(&[7.0; 5], 0.1, 80).known);
    assert!(look_at_pairs(&[(7.0, 8.0); 5], 0.1, 80).known);
}

#[test]
fn what_has_no_interval_is_not_known() {
    for look in [
        look_at_values(&[1.0], 100.0, 1),
        look_at_values(&[-1.0, 1.0], 100.0, 2),
        look_at_pairs(&[(1.0, 2.0)], 100.0, 1),
        look_at_pairs(&[(0.0, 2.0), (0.0, 1.0)], 100.0, 2),
        look_at_pairs(&[], 100.0, 2),
    ] {
        assert_eq!((look.half_width_percent, look.known), (None, false));
    }
}

/// Numbers of a normal distribution, the same on every machine: sums of twelve uniform ones would
/// have no tails, so Box and Muller's.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        // splitmix64 (Steele, Lea and Flood 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const TRUTH: f64 = 3.0;
/// Five times as many as it takes to see a coverage within half a percent.
const REPEATS: u32 = 10_000;

/// Runs a comparison whose true difference is [`TRUTH`] percent until it is known. Whether the
/// interval covers the truth, and the runs that it took.
fn repeat(noise: &mut Normal, scatter: f64, most: u32) -> (bool, u32) {
    let mut pairs: Vec<(f64, f64)> = vec![];
    for look in looks(most) {
        while pairs.len() < look as usize {
            // A pair shares most of its noise.
            let shared = 5.0 * noise.next();
            let own = scatter * noise.next();
            pairs.push((1000.0 + shared, 1000.0 + shared + 10.0 * (TRUTH + own)));
        }
        if look_at_pairs(&pairs, 1.0, most).known {
            break;
        }
    }
    let delta = Delta::at(ERROR, &pairs).expect("pairs");
    let (low, high) = (delta.ci_low.expect("low"), delta.ci_high.expect("high"));
    (low <= TRUTH && TRUTH <= high, pairs.len() as u32)
}

#[test]
fn the_intervals_cover_the_truth_whatever_the_scatter() {
    let mut noise = Normal(37);
    let mut ends = vec![];
    for most in [10, 20, 80, 320] {
        for scatter in [0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 6.0] {
            let repeats: Vec<_> = (0..REPEATS)
                .map(|_| repeat(&mut noise, scatter, most))
                .collect();
            let covered = repeats.iter().filter(|(covered, _)| *covered).count();
            let percent = 100.0 * covered as f64 / f64::from(REPEATS);
            assert!(
                (93.0..=97.0).contains(&percent),
                "scatter {scatter}, at most {most} runs: {percent} %"
            );
            ends.extend(repeats.iter().map(|(_, runs)| (most, *runs)));
        }
    }
    // The rule ends at every look, so the test is of all of them.
    for look in [5, 10, 20, 40, 80] {
        assert!(ends.contains(&(80, look)), "no end at {look} of 80");
    }
}
