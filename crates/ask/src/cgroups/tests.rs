// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_group_is_a_path_and_what_its_files_hold() {
    let plain = Cgroup::new("/a");
    for (text, group) in [
        ("/a", plain.clone()),
        (
            "/a:weight=200",
            Cgroup {
                weight: 200,
                ..plain.clone()
            },
        ),
        (
            "/a:cpu.weight=200,idle=1,uclamp.min=12.5,cpu.uclamp.max=80",
            Cgroup {
                weight: 200,
                idle: true,
                uclamp_min: 128,
                uclamp_max: 819,
                ..plain.clone()
            },
        ),
        (
            "/a:uclamp.min=0.05,uclamp.max=max",
            Cgroup {
                uclamp_min: 1,
                ..plain.clone()
            },
        ),
    ] {
        assert_eq!(super::group(text).map(|option| option.group), Ok(group));
    }
}

#[test]
fn what_a_group_cannot_be_is_refused() {
    for (text, words) in [
        ("a:weight=1", "'a' is no path"),
        ("/:weight=1", "'/' is no path"),
        ("/a/b", "only one level"),
        ("/a:weight=0", "1 to 10000"),
        ("/a:weight", "no value"),
        ("/a:shares=1024", "'shares=1024': a group has weight"),
        ("/a:idle=yes", "0 or 1"),
        ("/a:uclamp.max=101", "0 to 100"),
        ("/a:uclamp.max=-1", "0 to 100"),
        ("/a:uclamp.max=1.234", "0 to 100"),
        ("/a:uclamp.max=", "0 to 100"),
    ] {
        let message = group(text).unwrap_err();
        assert!(message.contains(words), "{text}: {message}");
        assert!(message.contains("like /background"), "{message}");
    }
}
