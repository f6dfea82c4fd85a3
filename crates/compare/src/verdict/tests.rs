// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::metrics::MetricKind;

/// A verdict is certain, large enough and has a direction; of the base's and the other's value in
/// each run.
#[test]
fn a_difference_is_better_or_worse_if_it_is_certain_and_matters() {
    use Better::{Higher, Lower};
    type Pairs<'a> = &'a [(f64, f64)];
    let from_nothing: Pairs<'_> = &[(0.0, 5.0), (0.0, 6.0), (0.0, 5.0)];
    let to_nothing: Pairs<'_> = &[(5.0, 0.0), (6.0, 0.0), (5.0, 0.0)];
    let below_nothing: Pairs<'_> = &[(0.0, -5.0), (0.0, -6.0), (0.0, -5.0)];
    let crumbs: Pairs<'_> = &[(0.012, 0.160), (0.012, 0.161), (0.013, 0.160)];
    let one_crumb: Pairs<'_> = &[(0.012, 0.160); 3];
    let steady: Pairs<'_> = &[(5.0, 9.0); 10];
    for (pairs, better, word) in [
        (from_nothing, Some(Lower), "worse"),
        (from_nothing, Some(Higher), "better"),
        (from_nothing, None, "different"),
        (to_nothing, Some(Lower), "better"),
        (to_nothing, Some(Higher), "worse"),
        (below_nothing, Some(Lower), "better"),
        (below_nothing, Some(Higher), "worse"),
        (
            &[(0.0, 5.0), (0.0, -5.0)],
            Some(Lower),
            "within noise: the interval contains 0",
        ),
        (
            crumbs,
            Some(Lower),
            "too small to matter: 12.33 ns -> 160.3 ns",
        ),
        (
            one_crumb,
            Some(Lower),
            "too small to matter: 12 ns -> 160 ns",
        ),
        (
            steady,
            Some(Lower),
            "the same in every run: no spread to judge by",
        ),
        (
            &[(5.0, 9.0), (6.0, 10.0)],
            None,
            "the same difference in every run: no spread to judge by",
        ),
        (&[(5.0, 5.0), (6.0, 6.0)], None, "the same in each run"),
        (
            &[(5.0, 9.0)],
            Some(Lower),
            "one run cannot tell a difference from noise",
        ),
        (&[], None, "no run has both to compare"),
    ] {
        let key = Key {
            kind: MetricKind::Result,
            name: "wakeup_latency_us".to_owned(),
            unit: "us",
            better,
        };
        let delta = Delta::of(pairs);
        let verdict = Verdict::of(&key, delta.as_ref());
        assert_eq!(
            verdict.words(&key, delta.as_ref()),
            word,
            "{pairs:?}, {better:?}"
        );
    }
}
