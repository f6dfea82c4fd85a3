// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn set(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn list_notation_reads_and_prints() {
    for (text, members, printed) in [
        ("", vec![], ""),
        ("0", vec![0], "0"),
        ("0-3,8", vec![0, 1, 2, 3, 8], "0-3,8"),
        ("8,0-3\n", vec![0, 1, 2, 3, 8], "0-3,8"),
        ("1, 2 ,3", vec![1, 2, 3], "1-3"),
        ("62-65", vec![62, 63, 64, 65], "62-65"),
        ("1023", vec![1023], "1023"),
        ("4-4", vec![4], "4"),
    ] {
        let set = set(text);
        assert_eq!(set.iter().collect::<Vec<_>>(), members, "`{text}`");
        assert_eq!(set.to_string(), printed, "`{text}`");
    }
}

#[test]
fn wrong_lists_say_what_is_wrong() {
    for (text, expected) in [
        ("0,,1", "empty item"),
        ("0,", "empty item"),
        ("a", "`a` in a CPU list is no CPU"),
        ("1-2-3", "`1-2-3` in a CPU list is no CPU"),
        ("-1", "`-1` in a CPU list is no CPU"),
        ("+1", "`+1` in a CPU list is no CPU"),
        (
            "5-2",
            "range `5-2` in a CPU list runs backwards, expected `2-5`",
        ),
        (
            "1024",
            "CPU 1024 in a CPU list is out of range, expected 0 to 1023",
        ),
        (
            "0-99999999999999999999",
            "CPU 99999999999999999999 in a CPU list is out of range",
        ),
    ] {
        let error = text.parse::<CpuSet>().unwrap_err().to_string();
        assert!(error.contains(expected), "`{text}`: {error}");
    }
}

#[test]
fn numbers_out_of_range_are_no_members() {
    let mut all = CpuSet::first_n(CpuSet::MAX);
    assert!(!all.contains(CpuSet::MAX));
    assert!(!all.contains(usize::MAX));
    assert!(!all.remove(CpuSet::MAX));
    assert_eq!(all.len(), CpuSet::MAX);
}

#[test]
fn first_and_last() {
    assert_eq!(CpuSet::new().first(), None);
    assert_eq!(CpuSet::new().last(), None);
    assert_eq!(set("64-70,900").first(), Some(64));
    assert_eq!(set("64-70,900").last(), Some(900));
}

#[test]
fn json_is_the_list() {
    let set = set("0-3,8");
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(json, "\"0-3,8\"");
    assert_eq!(serde_json::from_str::<CpuSet>(&json).unwrap(), set);
}

fn members() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..CpuSet::MAX, 0..80)
}

proptest! {
    #[test]
    fn agrees_with_a_tree_set(a in members(), b in members(), cpu in 0..CpuSet::MAX) {
        let (mut x, y): (CpuSet, CpuSet) =
            (a.iter().copied().collect(), b.iter().copied().collect());
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.first(), a.first().copied());
        prop_assert_eq!(x.last(), a.last().copied());
        prop_assert!(x.iter().eq(a.iter().copied()));
        prop_assert!(x.union(&y).iter().eq(a.union(&b).copied()));
        prop_assert!(x.intersection(&y).iter().eq(a.intersection(&b).copied()));
        prop_assert!(x.difference(&y).iter().eq(a.difference(&b).copied()));
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x.contains(cpu), a.contains(&cpu));
        let mut c = a.clone();
        prop_assert_eq!(x.insert(cpu), c.insert(cpu));
        prop_assert!(x.iter().eq(c.iter().copied()));
        prop_assert_eq!(x.remove(cpu), c.remove(&cpu));
        prop_assert!(x.iter().eq(c.iter().copied()));
    }

    #[test]
    fn printing_then_reading_is_identity(a in members()) {
        let set: CpuSet = a.into_iter().collect();
        prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
    }

    #[test]
    fn any_text_reads_or_is_refused(text in "[-0-9, a]{0,20}") {
        if let Ok(set) = text.parse::<CpuSet>() {
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
        }
    }
}
