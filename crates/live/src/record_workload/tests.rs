// SPDX-License-Identifier: GPL-2.0-only
//! Tests of names of groups, and of kernels that are too old.

use super::*;

#[test]
fn a_group_is_named_by_its_path_or_its_directory() {
    for (given, expected) in [
        ("/", "/"),
        ("app.slice", "/app.slice"),
        ("/app.slice/db/", "/app.slice/db"),
        ("/sys/fs/cgroup/app.slice", "/app.slice"),
        ("/sys/fs/cgroup", "/"),
    ] {
        assert_eq!(tidy(given), expected, "{given}");
    }
}

#[test]
fn kernels_without_the_addition_are_named() {
    for (release, refused) in [
        ("5.10.0-46-cloud-amd64\n", true),
        ("5.12.0", false),
        ("6.1.0-50-amd64", false),
        ("mainline", false),
    ] {
        let why = kernel::may_fetch(release).err();
        assert_eq!(why.is_some(), refused, "{release}: {why:?}");
    }
    assert_eq!(
        kernel::may_fetch("5.10.0-46-cloud-amd64\n").unwrap_err(),
        "it is 5.10.0-46-cloud-amd64, and the recorder needs an atomic addition of BPF that 5.12 has"
    );
}
