// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use alight_policy::mirror::check;
use alight_policy::samples::{self, judge};
use std::path::{Path, PathBuf};

const HEADERS: [&str; 2] = ["policy/abi.h", "crates/live/src/bpf/record_behaviour.h"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn each_field_is_read_from_where_c_has_it() {
    let written = samples::Written {
        includes: &HEADERS,
        c_name: "struct behaviour_event",
        fields: &[
            "time",
            "pid",
            "other",
            "cpu",
            "kind",
            "state",
            "prio",
            "other_prio",
        ],
        fixed: &[],
        unread: &[],
        value: u64::MAX,
    };
    for sample in written.samples(&root()).unwrap() {
        let word = |at: usize| {
            let bytes = sample.bytes[8 * at..][..8].try_into();
            u64::from_le_bytes(bytes.expect("eight bytes"))
        };
        assert_eq!(sample.bytes.len(), 8 * WORDS);
        // Each is named: there is no `..`.
        let Written {
            time,
            pid,
            other,
            cpu,
            kind,
            state,
            prio,
            other_prio,
        } = Written::of([word(0), word(1), word(2)]);
        let read = [
            ("time", time),
            ("pid", pid.into()),
            ("other", other.into()),
            ("cpu", cpu.into()),
            ("kind", kind.into()),
            ("state", state.into()),
            ("prio", prio.into()),
            ("other_prio", other_prio.into()),
        ];
        judge(&sample, &read.map(|(name, value)| (name.to_owned(), value))).unwrap();
    }
}

#[test]
fn kinds_and_states_have_the_numbers_of_c() {
    let kinds = [
        "SWITCH",
        "WAKING",
        "WAKEUP",
        "WAKEUP_NEW",
        "MIGRATE",
        "FORK",
        "EXIT",
    ];
    let states = ["RUNNABLE", "PREEMPTED", "ASLEEP", "BLOCKED", "DEAD"];
    let named = |name: &str| format!("BEHAVIOUR_{name}");
    let constants: Vec<_> = (kinds.map(named).into_iter().zip(0..))
        .chain(states.map(named).into_iter().zip(0..))
        .collect();
    check(&root(), &HEADERS, &[], &constants).unwrap();
}
