// SPDX-License-Identifier: GPL-2.0-only

use alight_recording::workload::SOURCE;

use super::*;

const SILENT: &str = "schema = \"alight.machine/1\"\ninherits = \"ca9x4\"\n";
const SAYS_OFF: &str = "schema = \"alight.machine/1\"\ninherits = \"ca9x4\"\n\
     hrtick = { value = false, source = \"here\" }\n\
     [sources]\nhere = { text = \"seen\", confidence = \"measured\" }\n";

#[test]
fn an_older_kernel_does_not_say_that_a_machine_cannot_end_slices_by_timers() {
    let kernel = "alight record workload";
    for (release, arch, source, machine, expected) in [
        ("6.1.0-50-cloud-amd64", "x86_64", kernel, SILENT, true),
        ("7.0.14", "x86_64", kernel, SILENT, true),
        ("7.1.3", "x86_64", kernel, SILENT, false),
        ("6.1.0-50-cloud-amd64", "x86_64", kernel, SAYS_OFF, false),
        ("7.2.13+deb14-cloud-amd64", "x86_64", kernel, SILENT, false),
        ("6.1.0-50-arm64", "aarch64", kernel, SILENT, false),
        ("", "x86_64", kernel, SILENT, false),
        (
            "6.1.0-model",
            "x86_64",
            "alight simulate, linux-6.1",
            SILENT,
            false,
        ),
    ] {
        let fact = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let header = Header {
            kinds: vec![],
            kernel: release.to_owned(),
            build: String::new(),
            arch: arch.to_owned(),
            hz: None,
            clock: String::new(),
            command: String::new(),
            cpus: vec![],
            facts: [fact(SOURCE, source), fact(MACHINE, machine)].into(),
        };
        let sheet = sheet(&header).unwrap().unwrap();
        // What a run on it writes down is the machine that it ran on.
        let again = alight_machine::parse("again", &sheet.text).unwrap();
        let again = again.resolve().unwrap().machine.hrtick;
        assert_eq!(
            (sheet.machine.hrtick, again),
            (expected, expected),
            "{release} {arch}"
        );
    }
}
