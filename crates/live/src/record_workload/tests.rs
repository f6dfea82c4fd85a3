// SPDX-License-Identifier: GPL-2.0-only
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
