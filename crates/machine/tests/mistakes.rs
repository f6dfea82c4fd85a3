// SPDX-License-Identifier: GPL-2.0-only
//! All mistakes of a machine file are told together, one a line, in the order of the
//! file: who writes one by hand does not run the program once a key.

mod common;

use alight_machine::{Error, parse};
use common::GOOD;

/// What is replaced, and by what.
type Edit = (&'static str, &'static str);

struct Case {
    what: &'static str,
    edits: &'static [Edit],
    /// The whole message, without the name of the file.
    says: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        what: "keys of one section",
        edits: &[("llc_line_ns = 20\n", ""), ("dram_line_ns = 150\n", "")],
        says: &["81:1: [memory] lacks the keys `llc_line_ns`, `dram_line_ns`"],
    },
    Case {
        what: "keys of several sections",
        edits: &[
            ("hz = 250\n", ""),
            ("description = \"a machine without fault\"\n", ""),
            ("l2_kib = 128\n", ""),
            ("exit_us = 1\nresidency_us = 1\npower_mw = 5\n", ""),
            ("switch_us = 100\nfast", "fast"),
            ("off_power_mw = 1\n", ""),
        ],
        says: &[
            "1:1: the file lacks the keys `description`, `hz`",
            "16:1: [core_type.small] lacks the key `l2_kib`",
            "22:1: [core_type.small.idle_state.WFI] lacks the keys `exit_us`, `residency_us`, \
             `power_mw`",
            "55:1: [freq_domain.large] lacks the key `switch_us`",
            "64:1: [cluster.small] lacks the key `off_power_mw`",
        ],
    },
    Case {
        what: "keys that nobody knows",
        edits: &[
            ("hz = 250", "hz = 250\ngovernors = 3"),
            ("refill_mlp = 3", "refill_mlp = 3\nrefil = 3"),
            (
                "fast_switch = true",
                "fast_switch = true\nslow_switch = true",
            ),
        ],
        says: &[
            "6:1: unknown key `governors` at the top of the file, the nearest valid: `governor`, \
             `idle_governor`",
            "70:1: unknown key `slow_switch` in [freq_domain.large], the nearest valid: \
             `fast_switch`",
            "89:1: unknown key `refil` in [memory], the nearest valid: `refill_mlp`",
        ],
    },
    Case {
        what: "misspelt, missing, mistyped and out of range",
        edits: &[
            ("hz = 250", "hz = \"250\""),
            ("exit_us = 1\n", "exit_u = 1\n"),
            ("costs = \"big\"\n", ""),
            ("rate_limit_us = 2000", "rate_limit_us = 99999999999"),
        ],
        says: &[
            "5:6: `hz` is text \"250\", expected a whole number from 1 to 10000, in Hz",
            "27:1: [core_type.small.idle_state.WFI] lacks the key `exit_us`; `exit_u` is close to it",
            "41:1: [core_type.large] lacks the key `costs`",
            "68:17: `freq_domain.large.rate_limit_us` is 99999999999, expected a whole number from 0 \
             to 10000000, in us",
        ],
    },
    Case {
        what: "no source at all",
        edits: &[("source = \"test\"\n", "")],
        says: &[
            "4:6: `hz`, `governor`, `topology.cpus`, `topology.core` and 50 more say not where they \
             come from: give them or their sections a `source` that is listed in [sources]",
        ],
    },
    Case {
        what: "whole sections",
        edits: &[("[memory]", "[memories]"), ("[topology]", "[topologies]")],
        says: &[
            "11:2: the file lacks the key `topology`; `topologies` is close to it",
            "81:2: the file lacks the key `memory`; `memories` is close to it",
        ],
    },
    Case {
        what: "a class of costs, once for all cores that have it",
        edits: &[
            ("costs = \"little\"", "costs = \"own\""),
            ("costs = \"big\"", "costs = \"own\""),
            (
                "[memory]",
                "[costs.own]\nreference_khz = 1\nswitch_ns = true\n[memory]",
            ),
        ],
        says: &[
            "81:1: [costs.own] lacks the keys `yield_ns`, `futex_ns`, `mutex_ns`, `pipe_ns`, \
             `socket_ns`, `wakeup_ns`, `select_ns`, `scan_local_ns`, `scan_remote_ns`, \
             `slow_scan_ns`, `ipi_send_ns`, `ipi_receive_ns`, `wakelist_ns`, `lock_ns`, \
             `lock_hold_ns`, `newidle_ns`, `newidle_cpu_ns`, `tick_ns`, `timer_ns`, `idle_exit_ns`, \
             `fork_ns`",
            "83:13: `costs.own.switch_ns` is true, expected a whole number from 0 to 1000000000, in \
             ns",
        ],
    },
];

#[test]
fn mistakes_are_told_together() {
    for case in CASES {
        let edit = |text: String, (old, new): &Edit| {
            assert!(text.contains(old), "the machine lacks `{old}`");
            text.replacen(old, new, 1)
        };
        let text = case.edits.iter().fold(GOOD.to_owned(), edit);
        let error = parse("m.toml", &text).err();
        let error = error.unwrap_or_else(|| panic!("{}: accepted", case.what));
        let lines: Vec<String> = case
            .says
            .iter()
            .map(|line| format!("m.toml:{line}"))
            .collect();
        assert_eq!(error.to_string(), lines.join("\n"), "{}", case.what);
        assert_eq!(matches!(error, Error::Several(_)), lines.len() > 1);
    }
}

/// Every key of a good file in turn is left out, or is a value of another type: the file
/// is good nonetheless, or the key is named with what was expected. Never a panic.
#[test]
fn a_key_without_or_with_another_value_is_named() {
    const VALUES: [&str; 9] = [
        "\"text\"",
        "-1",
        "1.5",
        "nan",
        "99999999999999999999",
        "[]",
        "[[1]]",
        "{ a = 1 }",
        "1979-05-27T07:32:00Z",
    ];
    let lines: Vec<&str> = GOOD.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let Some((key, _)) = line.split_once(" = ") else {
            continue;
        };
        let with = |own: Option<String>| {
            let before = lines[..number].iter().map(|line| (*line).to_owned());
            let after = lines[number + 1..].iter().map(|line| (*line).to_owned());
            before
                .chain(own)
                .chain(after)
                .collect::<Vec<_>>()
                .join("\n")
        };
        if let Err(error) = parse("m.toml", &with(None)) {
            let error = error.to_string();
            let own = error.starts_with("m.toml:") && !error.contains("missing field");
            assert!(own, "without {key}: {error}");
        }
        for value in VALUES {
            let text = with(Some(format!("{key} = {value}")));
            if let Err(error) = parse("m.toml", &text) {
                let error = error.to_string();
                assert!(
                    error.contains(&format!("m.toml:{}:", number + 1)),
                    "{key} = {value}: {error}"
                );
                assert!(!error.contains("invalid type"), "{key} = {value}: {error}");
            }
        }
    }
}
