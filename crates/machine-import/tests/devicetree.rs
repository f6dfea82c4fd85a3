// SPDX-License-Identifier: GPL-2.0-only
//! Device trees that the tests make: what they say, and what of it comes out.

mod common;

use common::blob::{Node, blob};
use common::{import, level, machine, plain, sheet, source_of, spans};

/// A board of two little and two big cores, with everything that is read.
const BOARD: &str = include_str!("data/board.dts");

#[test]
fn a_board_comes_out_as_linux_sees_it() {
    let imported = import("board.dts", BOARD);
    let sheet = sheet(&imported);
    let machine = &sheet.machine;
    assert_eq!(machine.name, "board");
    assert_eq!(
        machine.description,
        "Test Board, 4 CPUs, from its device tree"
    );
    // capacity-dmips-mhz times the top clock, the biggest 1024 (topology_normalize_cpu_scale()).
    let capacities: Vec<_> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [381, 381, 1024, 1024]);
    let names: Vec<_> = machine
        .core_types
        .iter()
        .map(|core| core.name.as_str())
        .collect();
    assert_eq!(names, ["Cortex-A53", "Cortex-A72"]);
    assert_eq!(level(machine, "MC"), "0-1 2-3");
    assert_eq!(level(machine, "PKG"), "0-3");
    assert_eq!(
        spans(machine.freq_domains.iter().map(|domain| &domain.cpus)),
        "0-1 2-3"
    );
    let points = |domain: usize| -> Vec<(u32, u64)> {
        let opps = machine.freq_domains[domain].opps.iter();
        opps.map(|opp| (opp.khz, opp.core_power_uw)).collect()
    };
    // Coefficient times MHz times V squared, in uW (_get_power() of drivers/opp/of.c).
    assert_eq!(points(0), [(408_000, 27_769), (1_416_000, 179_212)]);
    assert_eq!(points(1), [(408_000, 121_075), (1_800_000, 1_130_112)]);
    assert_eq!(machine.core_types[0].l2_bytes, 256 * 1024);
    assert_eq!(machine.core_types[1].l2_bytes, 512 * 1024);
}

#[test]
fn idle_states_have_their_scope_and_times() {
    let imported = import("board.dts", BOARD);
    let states = &sheet(&imported).machine.core_types[0].idle_states;
    let said: Vec<String> = states
        .iter()
        .map(|state| {
            format!(
                "{} {:?} {} {}",
                state.name,
                state.scope,
                state.timer_stops,
                state.residency_ns / 1000
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "WFI Core false 1",
            "cpu-sleep Core true 900",
            "deep Cluster true 2000"
        ]
    );
    assert!(
        imported.toml.contains("wakeup_us = 950"),
        "{}",
        imported.toml
    );
}

#[test]
fn figures_say_their_node_and_line() {
    let sheet = sheet(&import("board.dts", BOARD));
    for (path, source) in [
        (
            "core_type.Cortex-A53.capacity_dmips_mhz",
            "board.dts, /cpus/cpu@0 (line 16), capacity-dmips-mhz (published)",
        ),
        (
            "freq_domain.policy0.khz",
            "board.dts, /opp-table-0 (line 57) (published)",
        ),
        (
            "core_type.Cortex-A72.l2_kib",
            "board.dts, /cpus/l2-cache1 (line 42), cache-size (published)",
        ),
    ] {
        assert_eq!(source_of(&sheet, path), source);
    }
}

#[test]
fn what_is_left_out_and_what_is_assumed_is_listed() {
    let notes = import("board.dts", BOARD).notes.join("\n");
    for said in [
        "cpu@102: its status is not `okay`: it is left out",
        "the points 2000000 kHz are of turbo-mode",
        "board.dts does not say the tick frequency: assumed is 250 Hz",
        "board.dts does not say the power of idle states",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    assert!(!notes.contains("frequencies"), "{notes}");
}

#[test]
fn lines_of_the_preprocessor_lead_to_the_included_file() {
    let (head, rest) = BOARD.split_once("\tcpus {").unwrap();
    let text = format!("{head}\n# 100 \"arch/soc.dtsi\" 1\n\tcpus {{{rest}");
    let sheet = sheet(&import("board.dts", text));
    let source = source_of(&sheet, "core_type.Cortex-A53.capacity_dmips_mhz");
    assert_eq!(
        source,
        "board.dts, /cpus/cpu@0 (soc.dtsi line 110), capacity-dmips-mhz (published)"
    );
}

/// Two CPUs on power domains, as a blob.
fn domains() -> Node {
    let cpu = |name: &str, domain: u32| {
        Node::new(name)
            .text("device_type", "cpu")
            .text("compatible", "riscv")
            .text("power-domain-names", "psci")
            .cells("power-domains", &[domain])
    };
    let state = |name: &str, phandle: u32, times: [u32; 3]| {
        Node::new(name)
            .cells("phandle", &[phandle])
            .cells("entry-latency-us", &times[..1])
            .cells("exit-latency-us", &times[1..2])
            .cells("min-residency-us", &times[2..])
    };
    let domain = |name: &str, phandle: u32, state: u32, around: &[u32]| {
        let node = Node::new(name)
            .cells("phandle", &[phandle])
            .cells("#power-domain-cells", &[0])
            .cells("domain-idle-states", &[state]);
        if around.is_empty() {
            node
        } else {
            node.cells("power-domains", around)
        }
    };
    let cpus = Node::new("cpus")
        .child(cpu("cpu@0", 1))
        .child(cpu("cpu@1", 2))
        .child(state("off", 10, [10, 20, 100]))
        .child(state("cluster-off", 11, [100, 200, 2000]))
        .child(state("all-off", 12, [1000, 2000, 9000]));
    let psci = Node::new("psci")
        .child(domain("cpu0", 1, 10, &[3]))
        .child(domain("cpu1", 2, 10, &[3]))
        .child(domain("cluster", 3, 11, &[4]))
        .child(domain("system", 4, 12, &[]));
    Node::new("")
        .text("model", "Domains")
        .child(cpus)
        .child(psci)
}

#[test]
fn states_of_power_domains_are_of_the_cluster() {
    let imported = import("domains.dtb", blob(&domains()));
    let sheet = sheet(&imported);
    let states = &sheet.machine.core_types[0].idle_states;
    let said: Vec<String> = states
        .iter()
        .map(|state| format!("{} {:?}", state.name, state.scope))
        .collect();
    assert_eq!(said, ["WFI Core", "off Core", "cluster-off Domain"]);
    assert_eq!(
        spans(sheet.machine.clusters.iter().map(|cluster| &cluster.cpus)),
        "0-1"
    );
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("the idle states of /psci/system concern several clusters"),
        "{notes}"
    );
}

#[test]
fn later_parts_of_a_source_change_earlier_ones() {
    let text = plain(2, "capacity-dmips-mhz = <500>;", "")
        + "&c1 { capacity-dmips-mhz = <1000>; extra: x { }; };
           / { cpus { cpu@2 { device_type = \"cpu\"; compatible = \"arm,cortex-a55\"; capacity-dmips-mhz = <1>; }; }; };
           /delete-node/ &{/cpus/cpu@2};
           more: &c0 { /delete-property/ nothing; a = [00 ff 1234], \"text\\n\", <&c1 'a' 0x10>, &c1; };";
    let machine = machine("later.dts", text);
    let capacities: Vec<_> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [512, 1024]);
}

#[test]
fn expressions_have_the_value_of_c() {
    for (expression, value) in [
        ("(1 + 2 * 3)", 7),
        ("((1 << 4) | 0x3)", 19),
        ("(10 - 2 - 3)", 5),
        ("(7 / 2 % 2)", 1),
        ("(1 ? 20 : 30)", 20),
        ("(!5 + ~(~8))", 8),
        ("(3 > 2 && 2 >= 3 || 1)", 1),
        ("(0x10 == 020 ? 'A' : 1)", 65),
        ("010", 8),
        ("12UL", 12),
    ] {
        let text = plain(1, &format!("capacity-dmips-mhz = <{expression}>;"), "");
        let imported = import("value.dts", text);
        let line = format!("capacity_dmips_mhz = {{ value = {value},");
        assert!(
            imported.toml.contains(&line),
            "{expression}: {}",
            imported.toml
        );
    }
}
