// SPDX-License-Identifier: GPL-2.0-only
//! Tests of samples of a C structure.

use super::*;

const NUMBERS: Written<'_> = Written {
    includes: &["policy/abi.h"],
    c_name: "struct policy_root",
    fields: &["overutilized", "uclamp_used"],
    fixed: &[],
    unread: &[],
    value: u64::MAX,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn each_field_is_set_alone() {
    let samples = NUMBERS.samples(&root()).unwrap();
    let told: Vec<_> = (samples
        .iter()
        .map(|s| (&s.field[..], s.value, &s.bytes[..])))
    .collect();
    let ones = u64::from(u32::MAX);
    assert_eq!(
        told,
        [
            ("overutilized", ones, &[255, 255, 255, 255, 0, 0, 0, 0][..]),
            ("uclamp_used", ones, &[0, 0, 0, 0, 255, 255, 255, 255][..]),
        ]
    );
}

#[test]
fn a_field_more_or_less_is_refused() {
    for (fields, expected) in [
        (&["overutilized"][..], "other fields"),
        (&["overutilized", "uclamp_used", "more"], "no member named"),
    ] {
        let error = Written { fields, ..NUMBERS }.samples(&root()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_is_read_wrongly_is_told() {
    let sample = NUMBERS.samples(&root()).unwrap().remove(0);
    let read = |a, b| {
        [
            ("overutilized".to_owned(), a),
            ("uclamp_used".to_owned(), b),
        ]
    };
    let ones = u64::from(u32::MAX);
    assert_eq!(judge(&sample, &read(ones, 0)), Ok(()));
    for wrong in [read(0, ones), read(0xffff, 0), read(ones, 1), read(0, 0)] {
        judge(&sample, &wrong).unwrap_err();
    }
}
