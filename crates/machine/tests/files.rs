// SPDX-License-Identifier: GPL-2.0-only
//! Machine files that are not well formed: each is refused with file, line and
//! column, what was found, and what was expected or is nearest.

mod common;

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;

use alight_machine::{DataSheet, Error, Figure, check, load, names, parse};
use common::{GOOD, spoiled};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What is spoiled, and the message without the file's name.
const CASES: &[(&str, &str, &str)] = &[
    ("schema = \"alight.machine/1\"", "schema = ", "1:10: "),
    (
        "alight.machine/1",
        "alight.machine/2",
        "1:10: schema is `alight.machine/2`, this program reads `alight.machine/1`",
    ),
    (
        "schema = \"alight.machine/1\"",
        "",
        "lacks the key `schema`",
    ),
    ("hz = 250", "", "the file lacks the key `hz`"),
    (
        "hz = 250",
        "governors = 250\nhz = 250",
        "5:1: unknown key `governors` at the top of the file, the nearest valid: `governor`",
    ),
    (
        "hz = 250",
        "hz = \"250\"",
        "5:6: `hz` is text \"250\", expected a whole number from 1 to 10000",
    ),
    (
        "hz = 250",
        "hz = -1",
        "5:6: `hz` is -1, expected a whole number from 1 to 10000",
    ),
    (
        "hz = 250",
        "hz = 1.5",
        "5:6: `hz` is 1.5, expected a whole number from 1 to 10000, in Hz",
    ),
    (
        "hz = 250",
        "hz = 99999999999999999999",
        "5:6: `hz` is 99999999999999999999, expected a whole number from 1 to 10000, in Hz",
    ),
    (
        "hz = 250",
        "hz = 250\nhz = 300",
        "6:1: the key `hz` occurs twice",
    ),
    (
        "hz = 250",
        "hz = nan",
        "5:6: `hz` is nan, expected a whole number from 1 to 10000, in Hz",
    ),
    (
        "hz = 250",
        "hz = -inf",
        "5:6: `hz` is -inf, expected a whole number from 1 to 10000, in Hz",
    ),
    (
        "hz = 250",
        "hz = 2026-01-01",
        "5:6: `hz` is a datetime, expected a whole number from 1 to 10000, in Hz",
    ),
    (
        "exit_us = 1\n",
        "exit_us = true\n",
        "`core_type.small.idle_state.WFI.exit_us` is true, expected a whole number from 0 to \
         10000000, in us",
    ),
    (
        "core_power_mw = [50, 120]",
        "core_power_mw = [50, -120]",
        "`freq_domain.small.core_power_mw` is -120, expected a whole number from 0 to 1000000000, \
         in mW",
    ),
    (
        "core_power_mw = [50, 120]",
        "core_power_mw = \"50\"",
        "`freq_domain.small.core_power_mw` is text \"50\", expected a list of numbers",
    ),
    (
        "governor = \"schedutil\"",
        "governor = \"scheduler\"",
        "6:12: `governor` is `scheduler`, the nearest valid: `schedutil`",
    ),
    (
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-1\", \"2-3\"]\npower_gated = [\"MCs\"]",
        "`topology.power_gated` names `MCs`, the nearest valid: `MC`",
    ),
    (
        "costs = \"big\"",
        "costs = \"big\"\nsmt_percent = 5",
        "`core_type.large.smt_percent` is 5, expected a whole number from 10 to 100",
    ),
    (
        "source = \"test\"",
        "source = \"tests\"",
        "`tests` is not in [sources], the nearest valid: `test`",
    ),
    (
        "source = \"test\"\n",
        "",
        "4:6: `hz`, `governor`, `topology.cpus`, `topology.core` and 50 more say not where they come \
         from: give them or their sections a `source` that is listed in [sources]",
    ),
    (
        "confidence = \"assumed\"",
        "confidence = \"asumed\"",
        "`asumed` is no confidence, the nearest valid: `assumed`",
    ),
    (
        "source = \"test\"",
        "confidence = \"assumed\"",
        "a `confidence` without a `source`, expected both",
    ),
    (
        "confidence = \"assumed\" }",
        "confidence = \"assumed\", url = \"x\" }",
        "unknown key `url` of a source",
    ),
    (
        "{ text = \"made for a test\", confidence = \"assumed\" }",
        "3",
        "in [sources]",
    ),
    (
        "exit_us = 1\n",
        "exit_u = 1\n",
        "27:1: [core_type.small.idle_state.WFI] lacks the key `exit_us`; `exit_u` is close to it",
    ),
    (
        "exit_us = 1\n",
        "exit_us = 1\nexit_u = 1\n",
        "unknown key `exit_u` in [core_type.small.idle_state.WFI], the nearest valid: `exit_us`",
    ),
    (
        "exit_us = 1\n",
        "exit_us = { value = 1, sauce = \"test\" }\n",
        "unknown key `sauce` of the figure `core_type.small.idle_state.WFI.exit_us`, the nearest \
         valid: `source`",
    ),
    (
        "name = \"WFI\"\nexit_us = 1\n",
        "exit_us = 1\n",
        "[core_type.small.idle_state] lacks the key `name`",
    ),
    (
        "llc = [\"0-1\", \"2-3\"]",
        "llc = [\"0-1\", \"3-2\"]",
        "14:15: `topology.llc`: range `3-2` in a CPU list runs backwards",
    ),
    (
        "llc = [\"0-1\", \"2-3\"]",
        "llc = 3",
        "14:7: `topology.llc` is 3, expected a CPU list",
    ),
    (
        "llc = [\"0-1\", \"2-3\"]",
        "llc = { cpus = \"0-3\", size = 0 }",
        "`topology.llc.size` is 0, expected a whole number from 1 to 1024",
    ),
    (
        "llc = [\"0-1\", \"2-3\"]",
        "llc = { cpus = \"0-3\", size = 2, sibling_offset = 1022 }",
        "`topology.llc` reaches beyond CPU 1023",
    ),
    (
        "cpus = \"0-3\"\ncore",
        "cpus = [\"0-1\", \"2-3\"]\ncore",
        "`topology.cpus` must be one list of CPUs",
    ),
    (
        "[[10, 20], [20, 10]]",
        "[[10, 20]]",
        "`topology.numa_distance` must have 2 rows of 2 numbers",
    ),
    (
        "[[10, 20], [20, 10]]",
        "[10]",
        "`topology.numa_distance` is 10, expected a list of rows",
    ),
    (
        "numa_distance = [[10, 20], [20, 10]]",
        "",
        "[topology] lacks the key `numa_distance`",
    ),
    (
        "capacity_dmips_mhz = 1000\n",
        "",
        "[core_type.large] has no `capacity`, and none can be derived",
    ),
    (
        "costs = \"big\"",
        "costs = \"litle\"",
        "unknown cost class `litle`, the nearest valid: `little`",
    ),
    (
        "[memory]",
        "[costs.big]\nlike = \"little\"\n[costs.little]\nlike = \"big\"\n[memory]",
        "part of a circle",
    ),
    (
        "core_power_mw = [50, 120]",
        "core_power_mw = [50]",
        "the core power column of [freq_domain.small] has 1 values, expected 2, one for each `khz`",
    ),
    (
        "core_power_mw = [50, 120]",
        "core_power_mw = [50, 120]\ncore_power_uw = [50, 120]",
        "both `core_power_mw` and `core_power_uw`, expected one of them",
    ),
    (
        "dynamic_power_coefficient = 400\n",
        "",
        "[freq_domain.large] has neither `core_power_mw` nor `dynamic_power_coefficient`",
    ),
    (
        "khz = [500_000, 1_000_000]",
        "khz = []",
        "`freq_domain.small.khz` is empty",
    ),
    (
        "fast_switch = true",
        "fast_switch = 1",
        "`freq_domain.large.fast_switch` is 1, expected `true` or `false`",
    ),
    (
        "scope = \"cluster\"",
        "scope = \"clutser\"",
        "`core_type.small.idle_state.cluster-sleep.scope` is `clutser`, the nearest valid: \
         `cluster`",
    ),
    (
        "[memory]",
        "memory = 1\n[other]",
        "unknown key `memory` in [cluster.large]",
    ),
    (
        "name = \"good\"",
        "inherits = \"juno-r1\"\nname = \"good\"",
        "2:12: unknown machine `juno-r1`, the nearest valid: `juno-r0`, `juno-r2`",
    ),
    (
        "name = \"good\"",
        "inherits = 3\nname = \"good\"",
        "2:12: `inherits` must be the name",
    ),
];

#[test]
fn wrong_files_are_refused_with_their_place() {
    for (old, new, says) in CASES {
        let error = match parse("bad.toml", &spoiled(old, new)) {
            Ok(_) => panic!("`{new}` was read"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with("bad.toml:"), "`{new}`: {error}");
        assert!(error.contains(says), "`{new}`: {error}");
    }
}

#[test]
fn files_of_other_forms_are_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["board.dts", "server.xml", "phone.txt", "board"] {
        let path = folder.path().join(name);
        fs::write(&path, "content").unwrap();
        let path = path.to_str().unwrap();
        let to = folder.path().join(name).with_extension("toml");
        let import = format!("`alight machine import {path} -o {}`", to.display());
        let message = load(path).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("{path}: is no machine file")),
            "{message}"
        );
        assert!(message.contains(&import), "{message}");
        // The same name without its file is an unknown machine.
        fs::remove_file(path).unwrap();
        assert!(matches!(load(path).unwrap_err(), Error::Unknown { .. }));
    }
}

#[test]
fn unknown_names_list_the_nearest() {
    for (name, says) in [
        ("juno", "`juno-r0`, `juno-r2`"),
        ("hos", "`host`"),
        ("zzz", "expected one of `juno-r0`"),
    ] {
        let error = load(name).unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }));
        assert!(error.to_string().contains(says), "{error}");
    }
    let error = load("no/such.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("no/such.toml: cannot be read: "),
        "{error}"
    );
}

#[test]
fn files_inherit_from_each_other_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("base.toml", GOOD);
    write(
        "derived.toml",
        "schema = \"alight.machine/1\"\ninherits = \"base.toml\"\nname = \"derived\"\n\
         [sources]\nmine = { text = \"measured here\", confidence = \"measured\" }\n\
         [costs.big]\nsource = \"mine\"\nswitch_ns = 3000\n\
         [memory]\ndram_line_ns = { value = 99, source = \"test\" }\n",
    );
    let sheet = load(folder.path().join("derived.toml").to_str().unwrap()).unwrap();
    assert_eq!(sheet.machine.name, "derived");
    assert_eq!(sheet.machine.memory.dram_line_ns, 99);
    assert_eq!(sheet.machine.core_types[1].costs.switch_ns, 3000);
    let source = |path: &str| {
        let figure = sheet.figures.iter().find(|figure| figure.path == path);
        figure.unwrap().provenance.source.clone()
    };
    assert_eq!(source("core_type.large.costs.switch_ns"), "measured here");
    assert!(source("core_type.large.costs.wakeup_ns").starts_with("usual range"));
    assert_eq!(source("memory.dram_line_ns"), "made for a test");
}

/// What most files state in one with another: absent from the figures, and nothing by itself.
#[test]
fn costs_that_a_file_does_not_tell_apart_are_within_others() {
    let folder = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        let file = folder.path().join("machine.toml");
        fs::write(&file, text).unwrap();
        load(file.to_str().unwrap()).unwrap()
    };
    let stated = |sheet: &DataSheet| {
        let of_mm = |figure: &&Figure| figure.path.ends_with("large.costs.fork_mm_ns");
        sheet.figures.iter().filter(of_mm).count()
    };
    let without = load(GOOD);
    assert_eq!(without.machine.core_types[1].costs.fork_mm_ns, 0);
    assert_eq!(stated(&without), 0);
    let with = load(&GOOD.replacen(
        "[memory]",
        "[costs.big]\nsource = \"test\"\nfork_mm_ns = 1200\n[memory]",
        1,
    ));
    assert_eq!(with.machine.core_types[1].costs.fork_mm_ns, 1200);
    assert_eq!(stated(&with), 1);
    assert_ne!(with.machine.hash(), without.machine.hash());
}

#[test]
fn a_circle_of_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, base) in [("a.toml", "b.toml"), ("b.toml", "a.toml")] {
        let text = format!("schema = \"alight.machine/1\"\ninherits = \"{base}\"\n");
        fs::write(folder.path().join(name), text).unwrap();
    }
    let error = load(folder.path().join("a.toml").to_str().unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("part of a circle"), "{error}");
}

/// Reads, checks and resolves whatever comes: answers or errors, never a panic.
fn digest(text: &str) -> bool {
    let Ok(draft) = parse("mutated.toml", text) else {
        return false;
    };
    check(&draft);
    draft.resolve().is_ok_and(|sheet| {
        alight_machine::show(&sheet);
        sheet.machine.hash() != 0
    })
}

/// Numbers at the ends of ranges, and pieces of syntax.
const SPLICES: [&str; 18] = [
    "0",
    "1",
    "1023",
    "1024",
    "65535",
    "4294967295",
    "9223372036854775807",
    "-1",
    "1e9",
    "\"\"",
    "[]",
    "{}",
    "{ value = 1 }",
    "\"0-1023\"",
    "true",
    "\n[",
    "=",
    "é",
];

/// A text with pieces cut out, doubled and replaced; positions are parts of
/// 65536 of its length.
fn mutate(text: &str, edits: &[(u16, u16, usize)]) -> String {
    let mut text = text.to_owned();
    for &(at, length, splice) in edits {
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(text.len() * usize::from(at) / 65536);
        let end = boundary((start + usize::from(length) % 24).min(text.len())).max(start);
        let piece = match SPLICES.get(splice) {
            Some(piece) => (*piece).to_owned(),
            None => text[start..end].repeat(splice - SPLICES.len()),
        };
        text.replace_range(start..end, &piece);
    }
    text
}

#[test]
fn mutated_files_never_panic() {
    let mut runner = TestRunner::new_with_rng(
        Config::with_cases(3000),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let edits = prop::collection::vec((any::<u16>(), any::<u16>(), 0..SPLICES.len() + 3), 1..4);
    let read = Cell::new(0);
    runner
        .run(&edits, |edits| {
            read.set(read.get() + usize::from(digest(&mutate(GOOD, &edits))));
            Ok(())
        })
        .unwrap();
    let read = read.get();
    assert!(
        read > 30,
        "only {read} mutations left a machine: too coarse to test much"
    );
}

/// Single numbers of the built-in machines put to the ends of their ranges: one of each line that
/// differs from others in more than its numbers.
#[test]
fn extreme_numbers_never_panic() {
    let mut seen = HashSet::new();
    for name in names() {
        let path = format!("{}/../../machines/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let numbers: Vec<(usize, usize)> = number_positions(&text);
        let inherits = text.contains("\ninherits = ");
        assert!(inherits || numbers.len() > 15, "{name}");
        for (start, end) in numbers {
            let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let form: String = (text[line..start].chars())
                .filter(|c| !c.is_ascii_digit())
                .collect();
            if !seen.insert(form) {
                continue;
            }
            for extreme in ["0", "1", "1024", "100000000", "9223372036854775807"] {
                digest(&format!("{}{extreme}{}", &text[..start], &text[end..]));
            }
        }
    }
}

/// Where the digits of each number that follows a blank or `[` begin and end.
fn number_positions(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let digit = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_digit() || *b == b'_')
    };
    (1..bytes.len())
        .filter(|&at| digit(at) && b" [".contains(&bytes[at - 1]))
        .map(|start| (start, (start..).find(|&at| !digit(at)).unwrap_or(start)))
        .collect()
}
