// SPDX-License-Identifier: GPL-2.0-only
//! Measured figures with their spreads: as files state them, and as a capture writes them.

mod common;
#[path = "common/host.rs"]
mod host;

use alight_machine::{
    Captured, Confidence, DataSheet, Figure, Measured, MeasuredCore, Reading, capture_measured,
    parse, show,
};
use common::GOOD;
use host::Tree;

fn reading(least: u32, value: u32, largest: u32) -> Reading {
    Reading {
        value,
        spread: [least, largest],
    }
}

fn sheet(toml: &str) -> Result<DataSheet, String> {
    let draft = parse("test.toml", toml).map_err(|error| error.to_string())?;
    draft.resolve().map_err(|error| error.to_string())
}

fn figure<'s>(sheet: &'s DataSheet, path: &str) -> &'s Figure {
    let found = sheet.figures.iter().find(|figure| figure.path == path);
    found.unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn a_figure_may_state_its_spread() {
    let spread = |stated: &str| -> Result<String, String> {
        let stated = format!("exit_us = {{ value = 170, spread = {stated}, source = \"test\" }}");
        let sheet = sheet(&GOOD.replace("exit_us = 200", &stated))?;
        let figure = figure(&sheet, "core_type.small.idle_state.cluster-sleep.exit_us");
        assert_eq!(sheet.machine.core_types[0].idle_states[1].exit_ns, 170_000);
        Ok(figure.provenance.spread_in_words())
    };
    assert_eq!(spread("[160, 200]"), Ok("160 to 200".to_owned()));
    assert_eq!(spread("[170, 170]"), Ok("170 to 170".to_owned()));
    for (stated, says) in [
        (
            "[180, 200]",
            "is not within its `spread`, 180 to 200: correct it, or remove the spread",
        ),
        ("[[160, 200], [1, 2]]", "is not within its `spread`"),
        ("[200, 160]", "a `spread` that is not [least, largest]"),
        ("[160]", "a `spread` that is not [least, largest]"),
        ("[160, 170, 200]", "a `spread` that is not [least, largest]"),
        ("[-1, 200]", "a `spread` that is not [least, largest]"),
        ("[]", "a `spread` that is not [least, largest]"),
        ("\"160 to 200\"", "a `spread` that is not [least, largest]"),
    ] {
        let error = spread(stated).unwrap_err();
        assert!(error.contains(says), "{stated}: {error}");
    }
}

#[test]
fn a_column_states_a_spread_for_each_value() {
    let stated =
        "capacity = { value = [128, 256], spread = [[120, 130], [256, 256]], source = \"test\" }";
    let sheet = sheet(&GOOD.replace("capacity = [128, 256]", stated)).unwrap();
    let figure = figure(&sheet, "freq_domain.small.capacity");
    assert_eq!(figure.provenance.spread, [[120, 130], [256, 256]]);
}

#[test]
fn a_spread_belongs_to_a_figure_alone() {
    let error = sheet(&GOOD.replace("hz = 250", "hz = 250\nspread = [1, 2]")).unwrap_err();
    assert!(error.contains("unknown key `spread`"), "{error}");
}

/// Two kinds of core whose capacities the kernel gives as 1024, one of them with threads.
fn hybrid() -> Tree {
    let tree = Tree::new();
    tree.online("0-3");
    tree.write(
        "proc/cpuinfo",
        "vendor_id : GenuineIntel\nmodel name : Hybrid",
    );
    tree.write("sys/devices/cpu_core/cpus", "0-1");
    tree.write("sys/devices/cpu_atom/cpus", "2-3");
    for cpu in 0..4 {
        let core = if cpu < 2 {
            "0-1".to_owned()
        } else {
            cpu.to_string()
        };
        tree.cpu(cpu, "topology/core_cpus_list", &core)
            .cache(cpu, 3, 3, "12288K", "0-3")
            .cpu(
                cpu,
                "cpufreq/scaling_available_frequencies",
                "800000 2000000",
            )
            .idle(cpu, 0, "POLL", 0, 0)
            .idle(cpu, 1, "C1", 1, 1)
            .idle(cpu, 2, "C6", 133, 600);
    }
    tree
}

fn cores() -> Vec<MeasuredCore> {
    let core = |cpus: &str, switch: Reading, speed: Reading| MeasuredCore {
        cpus: cpus.parse().unwrap(),
        costs: vec![("switch_ns", switch)],
        within: vec!["lock_ns"],
        speed: Some(speed),
        ..MeasuredCore::default()
    };
    vec![
        MeasuredCore {
            smt_percent: Some(reading(60, 63, 66)),
            idle_exits: vec![
                ("C1".to_owned(), reading(1, 2, 3)),
                ("C6".to_owned(), reading(80, 90, 110)),
            ],
            speed_at: vec![
                (800_000, reading(390, 410, 420)),
                (2_000_000, reading(1000, 1000, 1000)),
            ],
            ..core("0-1", reading(880, 900, 950), reading(1020, 1024, 1028))
        },
        core("2-3", reading(1500, 1600, 1700), reading(590, 600, 610)),
    ]
}

fn captured(tree: &Tree, measured: &Measured) -> (Captured, DataSheet) {
    let captured = capture_measured(tree.path(), measured).unwrap();
    let sheet = sheet(&captured.toml).unwrap_or_else(|error| panic!("{error}\n{}", captured.toml));
    (captured, sheet)
}

fn speeds(sheet: &DataSheet) -> Vec<u32> {
    sheet.machine.cpus.iter().map(|cpu| cpu.speed()).collect()
}

#[test]
fn each_core_type_has_what_was_measured_of_it() {
    let measured = Measured {
        cores: cores(),
        memory: vec![
            ("llc_line_ns", reading(150, 160, 170)),
            ("refill_mlp", reading(6, 7, 8)),
        ],
        method: Some("three rounds".to_owned()),
        notes: vec!["not measured: powers".to_owned()],
        ..Measured::default()
    };
    let (captured, sheet) = captured(&hybrid(), &measured);
    let machine = &sheet.machine;
    // The kernel says 1024 of all, and the scheduler sees that; they work at their own speeds.
    let capacities: Vec<u32> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [1024; 4]);
    assert_eq!(speeds(&sheet), [1024, 1024, 600, 600]);
    assert_eq!(
        sheet.trust().speeds.to_string(),
        "stated apart from the capacities: 1024 of CPUs 0-1 (Hybrid cpu_core, 2000 MHz), 600 of \
         CPUs 2-3 (Hybrid cpu_atom, 2000 MHz)"
    );
    let switches: Vec<u32> = machine
        .core_types
        .iter()
        .map(|core| core.costs.switch_ns)
        .collect();
    assert_eq!(switches, [900, 1600]);
    assert_eq!(machine.core_types[0].costs.lock_ns, 1);
    assert_eq!(machine.core_types[0].smt_percent, 63);
    let exits: Vec<u64> = (machine.core_types[0].idle_states.iter())
        .map(|state| state.exit_ns / 1000)
        .collect();
    assert_eq!(exits, [0, 2, 90]);
    // cpuidle plans with what the driver says, where leaving the state takes no longer.
    let plans: Vec<u64> = (machine.core_types[0].idle_states.iter())
        .map(|state| state.wakeup_ns / 1000)
        .collect();
    assert_eq!(plans, [0, 2, 133]);
    // 410 thousandths of 1024.
    assert_eq!(machine.freq_domains[0].opps[0].capacity, 419);
    assert_eq!(machine.memory.refill_mlp, 7);
    // What is assumed of farther lines takes no less than what was measured of nearer ones.
    assert_eq!(machine.memory.cross_llc_line_ns, 160);
    assert!(captured.notes.contains(&"not measured: powers".to_owned()));
}

#[test]
fn measured_figures_name_their_method_and_spread() {
    let measured = Measured {
        cores: cores(),
        method: Some("three rounds".to_owned()),
        ..Measured::default()
    };
    let (_, sheet) = captured(&hybrid(), &measured);
    let cost = figure(&sheet, "core_type.Hybrid cpu_core.costs.switch_ns");
    assert_eq!(cost.provenance.source, "three rounds");
    assert_eq!(cost.provenance.confidence, Confidence::Measured);
    assert_eq!(cost.provenance.spread, [[880, 950]]);
    let within = figure(&sheet, "core_type.Hybrid cpu_core.costs.lock_ns");
    assert_eq!(within.provenance.confidence, Confidence::Derived);
    let shown = show(&sheet);
    assert!(shown.contains("(rounds 880 to 950)"), "{shown}");
}

#[test]
fn speeds_within_their_spreads_leave_the_capacities_as_they_are() {
    let mut cores = cores();
    cores[1].speed = Some(reading(1010, 1021, 1030));
    let measured = Measured {
        cores,
        ..Measured::default()
    };
    let (_, sheet) = captured(&hybrid(), &measured);
    assert!(
        sheet
            .machine
            .cpus
            .iter()
            .all(|cpu| cpu.capacity_orig == 1024 && cpu.stated_speed.is_none())
    );
}

#[test]
fn capacities_that_the_kernel_states_stay() {
    let tree = hybrid();
    for (cpu, capacity) in [(0, "1024"), (1, "1024"), (2, "700"), (3, "700")] {
        tree.cpu(cpu, "cpu_capacity", capacity);
    }
    let measured = Measured {
        cores: cores(),
        ..Measured::default()
    };
    let (_, sheet) = captured(&tree, &measured);
    let capacities: Vec<u32> = sheet
        .machine
        .cpus
        .iter()
        .map(|cpu| cpu.capacity_orig)
        .collect();
    assert_eq!(capacities, [1024, 1024, 700, 700]);
    assert_eq!(speeds(&sheet), [1024, 1024, 600, 600]);
}
