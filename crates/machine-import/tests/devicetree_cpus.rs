// SPDX-License-Identifier: GPL-2.0-only
//! Device trees that the tests make: which CPUs there are, what they are, and what they share.

mod common;

use common::blob::{Node, blob_booted_by};
use common::{import, level, machine, plain, sheet, source_of};

/// Makes of the CPUs by number.
fn makes(machine: &alight_machine::Machine) -> String {
    let makes = machine.cpus.iter();
    let makes = makes.map(|cpu| machine.core_types[cpu.core_type].name.as_str());
    makes.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_boot_cpu_has_the_number_0() {
    let cpu = |name: &str, compatible: &str, reg: u32| {
        Node::new(name)
            .text("device_type", "cpu")
            .text("compatible", compatible)
            .cells("reg", &[0, reg])
    };
    let cores = [
        ("cortex-a57", 0),
        ("cortex-a57", 1),
        ("cortex-a53", 0x100),
        ("cortex-a53", 0x101),
    ];
    let arm = |boot: u32| {
        let named =
            |(core, reg): (&str, u32)| cpu(&format!("cpu@{reg:x}"), &format!("arm,{core}"), reg);
        let cpus = Node::new("cpus").cells("#address-cells", &[2]);
        let cpus = cores.into_iter().map(named).fold(cpus, Node::child);
        blob_booted_by(&Node::new("").child(cpus), boot)
    };
    let unknown = "does not say which CPU boots: assumed is cpu@0";
    for (boot, said, is_said) in [
        (0x100, "Cortex-A53 Cortex-A57 Cortex-A57 Cortex-A53", true),
        (0x101, "Cortex-A53 Cortex-A57 Cortex-A57 Cortex-A53", true),
        (1, "Cortex-A57 Cortex-A57 Cortex-A53 Cortex-A53", true),
        // What compilers write says nothing, nor does a CPU that is not there.
        (0, "Cortex-A57 Cortex-A57 Cortex-A53 Cortex-A53", false),
        (7, "Cortex-A57 Cortex-A57 Cortex-A53 Cortex-A53", false),
    ] {
        let imported = import("boot.dtb", arm(boot));
        assert_eq!(makes(&sheet(&imported).machine), said, "{boot:#x}");
        let notes = imported.notes.join("\n");
        assert_eq!(notes.contains(unknown), !is_said, "{boot:#x}: {notes}");
    }
    // RISC-V: boot loaders leave the hart in the tree.
    let hart =
        |reg, name| format!("cpu@{reg} {{ compatible = \"{name}\", \"riscv\"; reg = <{reg}>; }};");
    let (slow, fast) = (hart(1, "a,slow"), hart(2, "a,fast"));
    for (chosen, said) in [
        ("chosen { boot-hartid = <2>; };", "fast slow"),
        ("chosen { boot-hartid = <0 2>; };", "fast slow"),
        ("chosen { boot-hartid = <1>; };", "slow fast"),
        ("", "slow fast"),
    ] {
        let text =
            format!("/dts-v1/; / {{ cpus {{ #address-cells = <1>; {slow}{fast} }}; {chosen} }};");
        let imported = import("boot.dts", &text);
        assert_eq!(makes(&sheet(&imported).machine), said, "{chosen}");
        let notes = imported.notes.join("\n");
        let asked = notes.contains("does not say which CPU boots: assumed is cpu@1");
        assert_eq!(asked, chosen.is_empty(), "{notes}");
    }
}

#[test]
fn cpus_are_those_that_linux_takes() {
    let tree = |compatible: &str, second: &str, third: &str| {
        let cpu = |number: usize, inside: &str| {
            format!("cpu@{number} {{ compatible = \"{compatible}\"; {inside} }};")
        };
        format!(
            "/dts-v1/; / {{ cpus {{ #address-cells = <1>; {}{}{} }}; }};",
            cpu(0, "reg = <0>; riscv,isa = \"rv64ima\";"),
            cpu(1, second),
            cpu(2, third)
        )
    };
    let arm = |second: &str, third: &str| tree("arm,cortex-a53", second, third);
    let own = "reg = <2>;";
    for (text, count, note) in [
        // MPIDRs are of one processor each (is_mpidr_duplicate()).
        (
            arm("reg = <0>;", own),
            2,
            "cpu@1: it has the `reg` of cpu@0, and Linux skips it",
        ),
        (arm("", own), 3, ""),
        // of_get_next_cpu_node() leaves out what failed alone.
        (
            arm(
                "reg = <1>; status = \"disabled\"; enable-method = \"psci\";",
                own,
            ),
            3,
            "cpu@1: its status is not `okay`, but Linux starts it by its `enable-method`: it is kept",
        ),
        (
            arm(
                "reg = <1>; status = \"fail-fused\"; enable-method = \"psci\";",
                own,
            ),
            2,
            "cpu@1: its status is not `okay`: it is left out",
        ),
        // Nothing says how it would be started.
        (
            arm(
                "reg = <1>; status = \"disabled\";",
                "reg = <2>; status = \"disabled\";",
            ),
            1,
            "cpu@1, cpu@2: their status is not `okay`: they are left out",
        ),
        // riscv_early_of_processor_hartid() asks of_device_is_available().
        (
            tree(
                "a\", \"riscv",
                "reg = <1>; status = \"disabled\"; enable-method = \"spin-table\";",
                own,
            ),
            2,
            "cpu@1: its status is not `okay`: it is left out",
        ),
    ] {
        let imported = import("status.dts", &text);
        assert_eq!(sheet(&imported).machine.cpus.len(), count, "{text}");
        let notes = imported.notes.join("\n");
        assert!(notes.contains(note), "{note}: {notes}");
        assert_eq!(notes.contains("cpu@1:"), note.contains("cpu@1:"), "{notes}");
    }
}

#[test]
fn cores_that_are_not_known_are_guessed_by_their_capacity() {
    let of = |compatible: &str, inside: &str, beside: &str| {
        let known = "compatible = \"arm,cortex-a55\";";
        let own = format!("compatible = {compatible};");
        plain(2, inside, beside).replace(known, &own)
    };
    let table = |name: &str, mhz: u64| {
        format!("{name}: {name} {{ o {{ opp-hz = /bits/ 64 <{mhz}000000>; }}; }};")
    };
    let clocks = |slow: u64| table("t0", slow) + &table("t1", 2000);
    let icestorm = |dmips: u32, slow: u64| {
        of(
            "\"apple,icestorm\"",
            "operating-points-v2 = <&t@>; capacity-dmips-mhz = <1024>;",
            &clocks(slow),
        ) + &format!("&c0 {{ capacity-dmips-mhz = <{dmips}>; }};")
    };
    let unknown = |core: &str, kind: &str| {
        format!("the core `{core}` is not known: costs and powers are those of the class `{kind}`")
    };
    for (text, costs, note) in [
        (
            of("\"arm,cortex-a55\"", "", ""),
            "little little",
            String::new(),
        ),
        (of("\"arm,cortex-a76\"", "", ""), "big big", String::new()),
        (
            of("\"sifive,u74-mc\", \"riscv\"", "", ""),
            "big big",
            unknown("sifive,u74-mc", "big"),
        ),
        (
            of("\"qcom,kryo780\"", "", ""),
            "big big",
            unknown("qcom,kryo780", "big"),
        ),
        // 60 % of the biggest capacity are not 60 % of the biggest work a MHz.
        (
            icestorm(714, 2000),
            "big big",
            unknown("apple,icestorm", "big"),
        ),
        (
            icestorm(714, 1400),
            "little big",
            unknown("apple,icestorm", "little"),
        ),
        (
            icestorm(500, 2000),
            "little big",
            unknown("apple,icestorm", "little"),
        ),
    ] {
        let imported = import("kinds.dts", &text);
        let of_types = imported
            .toml
            .lines()
            .filter_map(|line| line.strip_prefix("costs = "));
        let found: Vec<&str> = of_types.map(|class| class.trim_matches('"')).collect();
        let found = match found[..] {
            [one] => format!("{one} {one}"),
            _ => found.join(" "),
        };
        assert_eq!(found, costs, "{text}");
        let notes = imported.notes.join("\n");
        assert!(notes.contains(&note), "{note}: {notes}");
        assert_eq!(notes.contains("is not known"), !note.is_empty(), "{notes}");
    }
}

#[test]
fn caches_and_clusters_make_the_levels() {
    let map = |clusters: &[&[usize]]| -> String {
        let cluster = |(number, cpus): (usize, &&[usize])| {
            let core = |(core, cpu): (usize, &usize)| format!("core{core} {{ cpu = <&c{cpu}>; }};");
            let cores: String = cpus.iter().enumerate().map(core).collect();
            format!("cluster{number} {{ {cores} }};")
        };
        let clusters: String = clusters.iter().enumerate().map(cluster).collect();
        format!("/ {{ cpus {{ cpu-map {{ {clusters} }}; }}; }};")
    };
    let l3 = "l3: l3 { cache-level = <3>; };";
    let pairs = "l20: a { cache-level = <2>; }; l21: b { cache-level = <2>; };";
    let of_pairs = "&c0 { next-level-cache = <&l20>; }; &c1 { next-level-cache = <&l20>; };
                    &c2 { next-level-cache = <&l21>; }; &c3 { next-level-cache = <&l21>; };";
    let halves: &[&[usize]] = &[&[0, 1], &[2, 3]];
    let whole: &[&[usize]] = &[&[0, 1, 2, 3]];
    let shared = "next-level-cache = <&l3>;";
    for (inside, beside, more, clusters, cls, mc) in [
        (shared, l3, "", halves, "0-1 2-3", "0-3"),
        (shared, l3, "", whole, "", "0-3"),
        // Without a cache it is the package, and clusters are the level CLS.
        ("", "", "", halves, "0-1 2-3", "0-3"),
        ("", "", "", whole, "", "0-3"),
        // A cluster larger than the cache is the level MC (cpu_coregroup_mask()).
        ("", pairs, of_pairs, whole, "", "0-3"),
        ("", pairs, of_pairs, halves, "", "0-1 2-3"),
    ] {
        let text = plain(4, inside, beside) + more + &map(clusters);
        let machine = machine("levels.dts", text);
        let found = (level(&machine, "CLS"), level(&machine, "MC"));
        assert_eq!(
            found,
            (cls.into(), mc.into()),
            "{inside} {more} {clusters:?}"
        );
    }
}

#[test]
fn packages_stand_for_the_caches_of_a_tree_without_any() {
    let cluster = |number: usize, cpus: [usize; 2]| {
        let [a, b] = cpus;
        format!("cluster{number} {{ core0 {{ cpu = <&c{a}>; }}; core1 {{ cpu = <&c{b}>; }}; }};")
    };
    let (a, b) = (cluster(0, [0, 1]), cluster(1, [2, 3]));
    let all = "there are no caches (`next-level-cache`): all CPUs count as one last-level cache";
    let sockets = "each socket of the cpu-map counts as one last-level cache";
    for (map, cls, mc, note) in [
        (format!("socket0 {{ {a}{b} }};"), "0-1 2-3", "0-3", all),
        (
            format!("socket0 {{ {a} }}; socket1 {{ {} }};", cluster(0, [2, 3])),
            "",
            "0-1 2-3",
            sockets,
        ),
        // Linux takes a map with all CPUs, or none.
        (
            a.clone(),
            "",
            "0-3",
            "the `cpu-map` lacks the CPUs 2-3: Linux then uses nothing of it",
        ),
    ] {
        let text = plain(4, "", "") + &format!("/ {{ cpus {{ cpu-map {{ {map} }}; }}; }};");
        let imported = import("packages.dts", text);
        let machine = sheet(&imported).machine;
        let found = (level(&machine, "CLS"), level(&machine, "MC"));
        assert_eq!(found, (cls.into(), mc.into()), "{map}");
        let notes = imported.notes.join("\n");
        assert!(notes.contains(note), "{note}: {notes}");
        let source = source_of(&sheet(&imported), "topology.llc");
        assert!(source.ends_with("(assumed)"), "{source}");
    }
}

#[test]
fn numa_nodes_have_the_distances_of_the_map() {
    let beside = "distance-map { distance-matrix = <0 0 10 0 1 15 1 1 10>; };";
    let machine = machine("numa.dts", plain(4, "numa-node-id = <(@ / 2)>;", beside));
    assert_eq!(machine.numa_distance, [10, 15, 15, 10]);
    let nodes: Vec<_> = machine.cpus.iter().map(|cpu| cpu.node).collect();
    assert_eq!(nodes, [0, 0, 1, 1]);
}

#[test]
fn what_only_some_cpus_say_is_assumed_of_the_others() {
    let l2 = "l2: l2 { cache-level = <2>; };";
    let of = |cpus: &[usize], inside: &str| -> String {
        let own = |cpu: &usize| format!("&c{cpu} {{ {inside} }};");
        plain(4, "", l2) + &cpus.iter().map(own).collect::<String>()
    };
    for (text, path, sets, source) in [
        (
            of(&[0, 1], "next-level-cache = <&l2>;"),
            "topology.llc",
            "0-1 2 3",
            "there is no `next-level-cache` of the CPUs 2-3, but one of other CPUs: each counts as one \
             last-level cache (assumed)",
        ),
        (
            of(&[0, 1, 2, 3], "next-level-cache = <&l2>;"),
            "topology.llc",
            "0-3",
            "some.dts, next-level-cache of its CPUs (published)",
        ),
        (
            of(&[1, 2, 3], "numa-node-id = <1>;"),
            "topology.node",
            "0 1-3",
            "there is no `numa-node-id` of CPU 0, but one of other CPUs: Linux takes node 0 \
             (early_map_cpu_to_node()) (assumed)",
        ),
        (
            of(&[1, 2, 3], "numa-node-id = <0>;"),
            "topology.node",
            "0-3",
            "there is no `numa-node-id` of CPU 0, but one of other CPUs: Linux takes node 0 \
             (early_map_cpu_to_node()) (assumed)",
        ),
    ] {
        let imported = import("some.dts", text);
        let sheet = sheet(&imported);
        assert_eq!(source_of(&sheet, path), source);
        let figure = sheet.figures.iter().find(|figure| figure.path == path);
        assert_eq!(figure.map(|figure| figure.value.as_str()), Some(sets));
        let (sentence, confidence) = source.rsplit_once(" (").unwrap();
        let is_noted = imported.notes.iter().any(|note| note == sentence);
        assert_eq!(is_noted, confidence == "assumed)", "{:?}", imported.notes);
    }
}

#[test]
fn one_cpu_is_told_of_in_the_singular() {
    let table = "t: t { o { opp-hz = /bits/ 64 <2000000000>; }; };";
    let named = |cpus: &[usize]| -> String {
        let own = |cpu: &usize| {
            format!("&c{cpu} {{ operating-points-v2 = <&t>; capacity-dmips-mhz = <1>; }};")
        };
        plain(
            3,
            "clocks = <&k>;",
            &format!("{table} k: k {{ #clock-cells = <0>; }};"),
        ) + &cpus.iter().map(own).collect::<String>()
    };
    for (cpus, who) in [(&[0, 2][..], "CPU 1"), (&[0], "the CPUs 1-2")] {
        let notes = import("one.dts", named(cpus)).notes.join("\n");
        for note in [
            format!("one.dts does not say frequencies of {who}: assumed is"),
            format!(
                "there is no `capacity-dmips-mhz` of {who}: Linux then gives all CPUs the capacity 1024"
            ),
        ] {
            assert!(notes.contains(&note), "{note}: {notes}");
        }
    }
}
