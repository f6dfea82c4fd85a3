// SPDX-License-Identifier: GPL-2.0-only
//! Options are typed again as they were typed, and wrong ones are named.

use super::*;

#[test]
fn what_is_set_is_typed_again() {
    let table = [
        ("machine", "juno-r0", "-m juno-r0 --seed 1"),
        ("workload", "mp3.json", "-w mp3.json --seed 1"),
        ("seed", "7", "--seed 7"),
        ("duration", "1500ms", "--seed 1 --duration 1500ms"),
        ("governor", "schedutil", "--seed 1 --governor schedutil"),
        ("idle-governor", "teo", "--seed 1 --idle-governor teo"),
        ("hotplug", "1s:off:2", "--seed 1 --hotplug 1s:off:2"),
        ("cap", "1s:0:max", "--seed 1 --cap 1s:0:max"),
        ("thermal", "1s:0:max", "--seed 1 --thermal 1s:0:max"),
        ("count-from", "1s", "--seed 1 --count-from 1s"),
        ("group", "/a:weight=5", "--seed 1 --group '/a:weight=5'"),
        (
            "sysctl",
            "sched_rt_runtime_us=-1",
            "--seed 1 --sysctl 'sched_rt_runtime_us=-1'",
        ),
        ("wakee-flips", "3", "--seed 1 --wakee-flips 3"),
    ];
    assert_eq!(table.map(|(name, ..)| name), NAMES);
    for (name, text, typed) in table {
        let mut options = Options::default();
        options.set(name, text).unwrap();
        let command = options.command("simulate", &[], &[]);
        assert_eq!(command, format!("alight simulate {typed}"));
    }
}

#[test]
fn what_can_be_several_adds_up() {
    let mut options = Options::default();
    for text in ["a.json", "b.json"] {
        options.set("workload", text).unwrap();
    }
    assert_eq!(options.workloads, ["a.json", "b.json"]);
}

#[test]
fn wrong_ones_are_named() {
    for (name, text, message) in [
        (
            "seed",
            "-1",
            "seed '-1': expected a whole number, 0 to 18446744073709551615",
        ),
        (
            "duration",
            "5",
            "duration '5': '5' has no unit; expected a number and a unit (ns, us, ms, s, min), like \
             5s or 200ms",
        ),
        ("lenght", "5s", "no option `lenght`; expected machine, "),
    ] {
        let error = Options::default().set(name, text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
