// SPDX-License-Identifier: GPL-2.0-only
//! A phone's dump, as the how-to page makes one.

mod common;

use alight_machine_import::Format;
use common::{import, level, sheet, spans};

const PHONE: &str = include_str!("data/phone.txt");

#[test]
fn a_dump_of_a_phone_is_a_machine() {
    let imported = import("phone.txt", PHONE);
    assert_eq!(imported.format, Format::Sysfs);
    let sheet = sheet(&imported);
    let machine = &sheet.machine;
    assert_eq!(machine.name, "phone");
    let names: Vec<_> = machine
        .core_types
        .iter()
        .map(|core| core.name.as_str())
        .collect();
    assert_eq!(names, ["Cortex-A55", "Cortex-A76"]);
    let capacities: Vec<_> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [400, 400, 1024, 1024]);
    assert_eq!(level(machine, "MC"), "0-3");
    // `cpuN/cpufreq` is a link, and `grep -r` does not follow it.
    assert_eq!(
        spans(machine.freq_domains.iter().map(|domain| &domain.cpus)),
        "0-1 2-3"
    );
    assert_eq!(machine.freq_domains[0].opps.len(), 3);
    let states: Vec<_> = machine
        .core_types
        .iter()
        .map(|core| core.idle_states.len())
        .collect();
    assert_eq!(states, [2, 2]);
}

#[test]
fn offline_cpus_of_a_dump_are_named() {
    let offline = PHONE.replace("/online:0-3", "/online:0,2-3");
    let imported = import("phone.txt", offline);
    assert_eq!(sheet(&imported).machine.cpus.len(), 3);
    let notes = imported.notes.join("\n");
    assert!(notes.contains("only the CPUs 0,2-3 are online"), "{notes}");
}
