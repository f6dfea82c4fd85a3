// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use proptest::prelude::*;

#[test]
fn buckets_leave_no_value_out() {
    for (bucket, expected) in [(0, 0..=1), (1, 2..=3), (2, 4..=7), (3, 8..=u64::MAX)] {
        assert_eq!(values(bucket, 4), expected);
    }
}

#[test]
fn quantiles_lie_in_the_bucket_of_their_rank() {
    /* Ten values: one of 0 or 1, eight of 4 to 7, one of 16 to 31. */
    let buckets = [1, 0, 8, 0, 1];
    for (per_mille, expected) in [(100, 1..=1), (500, 4..=7), (900, 7..=7), (1000, 20..=20)] {
        let found = quantile(&buckets, per_mille, 20).unwrap();
        assert!(expected.contains(&found), "{per_mille}: {found}");
    }
    assert_eq!(quantile(&[0, 0], 500, 0), None);
}

proptest! {
    #[test]
    fn quantiles_grow_and_stay_below_the_largest(
        buckets in prop::collection::vec(any::<u64>(), 1..64),
        max in any::<u64>(),
    ) {
        let found: Vec<_> = (0..=10).map(|n| quantile(&buckets, n * 100, max)).collect();
        prop_assert!(found.is_sorted(), "{:?}", found);
        prop_assert!(found.iter().flatten().all(|&value| value <= max));
    }
}
