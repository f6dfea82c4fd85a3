// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn an_older_kernel_does_not_say_that_a_machine_cannot_end_slices_by_timers() {
    for (kernel, arch, expected) in [
        ("6.1.0-50-cloud-amd64", "x86_64", true),
        ("7.1.3", "x86_64", true),
        ("7.2.13+deb14-cloud-amd64", "x86_64", false),
        ("6.1.0-50-arm64", "aarch64", false),
        ("", "x86_64", false),
    ] {
        let header = Header {
            kinds: vec![],
            kernel: kernel.to_owned(),
            build: String::new(),
            arch: arch.to_owned(),
            hz: None,
            clock: String::new(),
            command: String::new(),
            cpus: vec![],
            facts: Default::default(),
        };
        assert_eq!(hrtick_under_newer(&header), expected, "{kernel} {arch}");
    }
}
