// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::{Machine, load};

fn text(machine: &str) -> String {
    load(machine).expect("a built-in machine").text
}

fn varied(machine: &str, settings: &[(&str, Setting)]) -> Machine {
    let sheet = vary(machine, &text(machine), settings);
    sheet.expect("a machine").machine
}

#[test]
fn a_path_names_figures_and_their_values() {
    let epyc = text("epyc-9654-2s");
    for (path, expected) in [
        ("memory.llc_line_ns", vec![("memory.llc_line_ns", 14)]),
        (
            "core_type.Zen 4.smt_percent",
            vec![("core_type.Zen 4.smt_percent", 62)],
        ),
        (
            "core_type.\"Zen 4\".smt_percent",
            vec![("core_type.Zen 4.smt_percent", 62)],
        ),
        ("core_type.*.l2_kib", vec![("core_type.Zen 4.l2_kib", 1024)]),
        (
            "core_type.*.idle_state.C2.exit_us",
            vec![("core_type.Zen 4.idle_state.C2.exit_us", 100)],
        ),
        ("costs.x86.switch_ns", vec![("costs.x86.switch_ns", 1000)]),
    ] {
        let found = figures_at("epyc-9654-2s", &epyc, path).expect("figures");
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(p, v)| (p.to_owned(), v))
            .collect();
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn a_machine_has_the_figures_that_were_set() {
    let machine = varied(
        "epyc-9654-2s",
        &[("memory.llc_line_ns", Setting::Value(20))],
    );
    assert_eq!(machine.memory.llc_line_ns, 20);
    let machine = varied(
        "epyc-9654-2s",
        &[("core_type.*.smt_percent", Setting::Permille(1250))],
    );
    assert_eq!(machine.core_types[0].smt_percent, 78);
    let usual = load("epyc-9654-2s").expect("a built-in machine").machine;
    let machine = varied(
        "epyc-9654-2s",
        &[("costs.x86.switch_ns", Setting::Permille(2000))],
    );
    let [was, is] = [&usual, &machine].map(|machine| machine.core_types[0].costs.switch_ns);
    // Costs are scaled to the clock of the core, and rounded.
    assert!(is.abs_diff(2 * was) <= 1, "{was} ns, doubled: {is} ns");
}

#[test]
fn what_is_set_to_its_own_value_leaves_the_machine_as_it_is() {
    for name in crate::names() {
        let usual = load(name).expect("a built-in machine").machine;
        let same = varied(name, &[("memory.llc_line_ns", Setting::Permille(1000))]);
        assert_eq!(same.hash(), usual.hash(), "{name}");
    }
}

#[test]
fn a_path_that_leads_nowhere_is_named_with_its_neighbours() {
    let epyc = text("epyc-9654-2s");
    let error = figures_at("epyc-9654-2s", &epyc, "memory.llc_lin_ns").expect_err("no figure");
    let error = error.to_string();
    assert!(
        error.contains("epyc-9654-2s has no figure `memory.llc_lin_ns`"),
        "{error}"
    );
    assert!(error.contains("`memory.llc_line_ns`"), "{error}");
    let error = vary("epyc-9654-2s", &epyc, &[("memory", Setting::Value(1))]);
    assert!(error.is_err());
}

#[test]
fn a_machine_that_cannot_be_is_refused() {
    let text = text("epyc-9654-2s");
    let error = vary(
        "epyc-9654-2s",
        &text,
        &[("core_type.*.smt_percent", Setting::Value(900))],
    );
    let error = error.expect_err("more than a whole").to_string();
    assert!(error.contains("smt_percent"), "{error}");
}

#[test]
fn a_varied_machine_can_be_written_and_read() {
    let sheet = vary(
        "juno-r0",
        &text("juno-r0"),
        &[("memory.llc_line_ns", Setting::Value(77))],
    );
    let sheet = sheet.expect("a machine");
    let again = crate::parse("juno-r0", &sheet.text)
        .expect("a file")
        .resolve();
    assert_eq!(again.expect("a machine").machine, sheet.machine);
}
