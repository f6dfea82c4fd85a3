// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn cgroups_meet_rules_by_their_path() {
    let rules = [
        "cgroup=/system.slice/* uclamp_max=50",
        "comm=a uclamp_min=1",
        "cgroup=*/app-?.scope uclamp_min=10",
        "cgroup=/ uclamp_min=10",
    ]
    .map(|text| Rule::parse(text).unwrap());
    for (path, met) in [
        ("/", 0b1010),
        ("/system.slice", 0b0010),
        ("/system.slice/cron.service", 0b0011),
        ("/system.slice/a/b/c", 0b0011),
        ("/user.slice/app-1.scope", 0b0110),
        ("/user.slice/app-12.scope", 0b0010),
    ] {
        assert_eq!(met_by_cgroup(&rules, path.as_bytes()), met, "{path}");
    }
}
