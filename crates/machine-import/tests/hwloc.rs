// SPDX-License-Identifier: GPL-2.0-only
//! XML of hwloc that the tests make: what it says, and what of it comes out.

mod common;

use common::{import, level, machine, sheet, source_of, spans};

/// A topology of version 2 around these elements.
fn topology(inside: &str, beside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n\
         <topology version=\"2.0\">\n<object type=\"Machine\">\n{inside}\n</object>\n{beside}\n\
         <info name=\"Architecture\" value=\"x86_64\"/>\n</topology>\n"
    )
}

fn pu(number: usize) -> String {
    format!("<object type=\"PU\" os_index=\"{number}\"/>")
}

fn object(kind: &str, inside: &str) -> String {
    let name = kind.split(' ').next().unwrap();
    let attributes = kind.strip_prefix(name).unwrap();
    format!("<object type=\"{name}\"{attributes}>{inside}</object>")
}

/// A core with these PUs.
fn core(pus: &[usize]) -> String {
    object(
        "Core",
        &pus.iter().map(|&number| pu(number)).collect::<String>(),
    )
}

#[test]
fn cores_caches_packages_and_nodes_make_the_levels() {
    let package = |node: usize, mask: &str, cores: &str| {
        let node = format!("NUMANode os_index=\"{node}\" cpuset=\"{mask}\"");
        let l3 = object(
            "L3Cache cache_size=\"8388608\" depth=\"3\" cache_type=\"0\"",
            cores,
        );
        object("Package", &(object(&node, "") + &l3))
    };
    let l2 = |pus: &[usize]| {
        object(
            "L2Cache cache_size=\"1048576\" depth=\"2\" cache_type=\"0\"",
            &core(pus),
        )
    };
    let inside = package(0, "0x33", &(l2(&[0, 4]) + &l2(&[1, 5])))
        + &package(1, "0xcc", &(l2(&[2, 6]) + &l2(&[3, 7])));
    let distances = "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" name=\"NUMALatency\" \
                     indexing=\"os\"><indexes length=\"4\">1 0 </indexes>\
                     <u64values length=\"12\">10 32 </u64values><u64values>32 10</u64values></distances2>";
    let imported = import("two.xml", topology(&inside, distances));
    let sheet = sheet(&imported);
    let machine = &sheet.machine;
    assert_eq!(level(machine, "SMT"), "0,4 1,5 2,6 3,7");
    assert_eq!(level(machine, "MC"), "0-1,4-5 2-3,6-7");
    assert_eq!(level(machine, "NUMA"), "0-7");
    assert_eq!(machine.numa_distance, [10, 32, 32, 10]);
    assert_eq!(machine.core_types[0].l2_bytes, 1 << 20);
    assert!(machine.hrtick, "x86");
    assert_eq!(
        source_of(&sheet, "topology.llc"),
        "two.xml, its objects `Cache` (measured)"
    );
}

#[test]
fn sparse_and_offline_cpus_are_renumbered_and_named() {
    let machine_object =
        "<object type=\"Machine\" cpuset=\"0x00000f05\" complete_cpuset=\"0x00000f0f\">";
    let cores = core(&[0]) + &core(&[2]) + &core(&[8]) + &core(&[11]);
    let text = topology(&cores, "").replace("<object type=\"Machine\">", machine_object);
    let imported = import("sparse.xml", text);
    assert_eq!(sheet(&imported).machine.cpus.len(), 4);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("the CPUs 1,3,9-10 are offline or not allowed"),
        "{notes}"
    );
    assert!(
        notes.contains("the CPUs 0,2,8,11 are renumbered to 0-3"),
        "{notes}"
    );
}

#[test]
fn nodes_of_memory_alone_and_books_are_named() {
    let node = |number: usize, mask: &str| {
        object(
            &format!("NUMANode os_index=\"{number}\" cpuset=\"{mask}\""),
            "",
        )
    };
    let book = |mask: &str, inside: &str| {
        object(
            &format!("Group subtype=\"Book\" cpuset=\"{mask}\" kind=\"110\""),
            inside,
        )
    };
    let inside = node(0, "0x3")
        + &node(1, "0xc")
        + &node(2, "0x0")
        + &node(3, "0xc")
        + &book("0x3", &(core(&[0]) + &core(&[1])))
        + &book("0xc", &(core(&[2]) + &core(&[3])));
    let imported = import("books.xml", topology(&inside, ""));
    let nodes: Vec<_> = sheet(&imported)
        .machine
        .cpus
        .iter()
        .map(|cpu| cpu.node)
        .collect();
    assert_eq!(nodes, [0, 0, 1, 1]);
    let notes = imported.notes.join("\n");
    for said in [
        "the NUMA nodes 2, 3 are memory without CPUs of their own",
        "the level Group Book (CPUs 0-1 and 2-3) is not modelled",
        "books.xml does not say the distance between nodes: assumed is 20",
        "books.xml does not say which CPUs share the last-level cache",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[test]
fn sub_numa_nodes_lie_within_a_package() {
    let node = |number: usize, mask: &str| {
        object(
            &format!("NUMANode os_index=\"{number}\" cpuset=\"{mask}\""),
            "",
        )
    };
    let group = |number: usize, mask: &str, inside: &str| {
        object("Group kind=\"1001\"", &(node(number, mask) + inside))
    };
    let l3 = |inside: &str| object("L3Cache depth=\"3\"", inside);
    let inside = object(
        "Package",
        &l3(&(group(0, "0x3", &(core(&[0]) + &core(&[1])))
            + &group(1, "0xc", &(core(&[2]) + &core(&[3]))))),
    );
    let machine = machine("snc.xml", topology(&inside, ""));
    // The cache is divided: a last-level cache lies within one node.
    assert_eq!(level(&machine, "MC"), "0-1 2-3");
    assert_eq!(level(&machine, "NUMA"), "0-3");
}

#[test]
fn version_1_has_sockets_caches_and_latencies() {
    let text = "<?xml version=\"1.0\"?><topology><object type=\"Machine\">\
        <distances nbobjs=\"2\" relative_depth=\"1\" latency_base=\"10.000000\">\
        <latency value=\"1.000000\"/><latency value=\"2.100000\"/>\
        <latency value=\"2.100000\"/><latency value=\"1.000000\"/></distances>\
        <object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x00000003\"><object type=\"Socket\">\
        <object type=\"Cache\" depth=\"2\" cache_size=\"2097152\" cache_type=\"0\">\
        <object type=\"Core\"><object type=\"PU\" os_index=\"0\"/></object>\
        <object type=\"Core\"><object type=\"PU\" os_index=\"1\"/></object></object></object></object>\
        <object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x0000000c\"><object type=\"Socket\">\
        <object type=\"Core\"><object type=\"PU\" os_index=\"2\"/></object>\
        <object type=\"Core\"><object type=\"PU\" os_index=\"3\"/></object></object></object>\
        </object></topology>";
    let machine = machine("old.xml", text);
    assert_eq!(machine.numa_distance, [10, 21, 21, 10]);
    assert_eq!(machine.core_types[0].l2_bytes, 1 << 20);
    assert_eq!(
        spans(machine.clusters.iter().map(|cluster| &cluster.cpus)),
        "0-1 2 3"
    );
}

#[test]
fn kinds_of_cpu_have_capacities_clocks_and_names() {
    let kinds = "<cpukind cpuset=\"0x3\"><info name=\"CoreType\" value=\"Small\"/>\
                 <info name=\"LinuxCapacity\" value=\"512\"/>\
                 <info name=\"FrequencyMaxMHz\" value=\"2000\"/></cpukind>\
                 <cpukind cpuset=\"0xc\"><info name=\"LinuxCapacity\" value=\"1024\"/>\
                 <info name=\"FrequencyMaxMHz\" value=\"3000\"/>\
                 <info name=\"FrequencyBaseMHz\" value=\"1500\"/></cpukind>";
    let cores: String = (0..4).map(|cpu| core(&[cpu])).collect();
    let text = topology(&cores, kinds).replace("x86_64", "aarch64");
    let machine = machine("kinds.xml", text);
    let capacities: Vec<_> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [512, 512, 1024, 1024]);
    let names: Vec<_> = machine
        .core_types
        .iter()
        .map(|core| core.name.as_str())
        .collect();
    assert_eq!(names, ["capacity-512 Small", "capacity-1024"]);
    let points = |cpu: usize| -> Vec<u32> {
        let opps = machine.freq_domains[machine.cpus[cpu].freq_domain]
            .opps
            .iter();
        opps.map(|opp| opp.khz).collect()
    };
    assert_eq!(
        (points(0), points(3)),
        (vec![2_000_000], vec![1_500_000, 3_000_000])
    );
}

#[test]
fn clusters_inside_a_cache_are_the_level_cls() {
    let cluster = |pus: [usize; 2]| {
        object(
            "Group subtype=\"Cluster\"",
            &(core(&[pus[0]]) + &core(&[pus[1]])),
        )
    };
    let inside = object("L3Cache depth=\"3\"", &(cluster([0, 1]) + &cluster([2, 3])));
    let machine = machine("clusters.xml", topology(&inside, ""));
    assert_eq!(
        (
            level(&machine, "CLS").as_str(),
            level(&machine, "MC").as_str()
        ),
        ("0-1 2-3", "0-3")
    );
}

/// A package with one PU for each of `pus`, which is the memory node `node`.
fn package_of(node: usize, pus: &[usize]) -> String {
    let mask: u64 = pus.iter().map(|pu| 1 << pu).sum();
    let node = object(
        &format!("NUMANode os_index=\"{node}\" cpuset=\"{mask:#x}\""),
        "",
    );
    object(
        "Package",
        &(node + &pus.iter().map(|&pu| core(&[pu])).collect::<String>()),
    )
}

/// Latencies between nodes by their numbers, in the form of version 2.
fn latencies(kind: u64, indexes: &str, values: &str) -> String {
    format!(
        "<distances2 type=\"NUMANode\" kind=\"{kind}\" indexing=\"os\"><indexes>{indexes}</indexes>\
         <u64values>{values}</u64values></distances2>"
    )
}

#[test]
fn distances_are_those_of_the_nodes_whatever_their_numbers() {
    const OTHER: &str = "these distances are no latencies between all NUMA nodes that have CPUs";
    const LATENCY: u64 = 5;
    const BANDWIDTH: u64 = 9;
    // The nodes' numbers in the order of their CPUs; the numbers as the matrix has them; the matrix.
    for (nodes, kind, indexes, values, expected) in [
        (
            [0, 1, 2],
            LATENCY,
            "0 1 2",
            "10 30 20 30 10 40 20 40 10",
            Some([30, 20, 40]),
        ),
        // Node 1 has the lowest CPUs: 1 to 0 is 30, 1 to 2 is 40, 0 to 2 is 20.
        (
            [1, 0, 2],
            LATENCY,
            "0 1 2",
            "10 30 20 30 10 40 20 40 10",
            Some([30, 40, 20]),
        ),
        (
            [2, 1, 0],
            LATENCY,
            "0 1 2",
            "10 30 20 30 10 40 20 40 10",
            Some([40, 20, 30]),
        ),
        (
            [5, 7, 3],
            LATENCY,
            "3 5 7",
            "10 11 12 11 10 13 12 13 10",
            Some([13, 11, 12]),
        ),
        (
            [1, 0, 2],
            LATENCY,
            "2 0 1",
            "10 20 40 20 10 30 40 30 10",
            Some([30, 40, 20]),
        ),
        // The matrix is of other nodes, or no latencies.
        ([1, 0, 2], LATENCY, "0 1", "10 20 20 10", None),
        (
            [1, 0, 2],
            BANDWIDTH,
            "0 1 2",
            "10 30 20 30 10 40 20 40 10",
            None,
        ),
    ] {
        let inside = package_of(nodes[0], &[0, 1])
            + &package_of(nodes[1], &[2, 3])
            + &package_of(nodes[2], &[4, 5]);
        let imported = import(
            "n.xml",
            topology(&inside, &latencies(kind, indexes, values)),
        );
        let machine = sheet(&imported).machine;
        let [first, second, third] = expected.unwrap_or([20, 20, 20]);
        assert_eq!(
            machine.numa_distance,
            [10, first, second, first, 10, third, second, third, 10],
            "{nodes:?} {indexes}"
        );
        let notes = imported.notes.join("\n");
        assert_eq!(notes.contains(OTHER), expected.is_none(), "{notes}");
    }
}

#[test]
fn distances_of_version_1_are_in_the_order_of_the_file() {
    let node = |number: usize, pus: [usize; 2]| {
        let mask: u64 = pus.iter().map(|pu| 1 << pu).sum();
        object(
            &format!("NUMANode os_index=\"{number}\" cpuset=\"{mask:#x}\""),
            &(core(&[pus[0]]) + &core(&[pus[1]])),
        )
    };
    let matrix = |values: &[u32]| {
        let values: String = (values.iter())
            .map(|value| format!("<latency value=\"{}.0\"/>", value))
            .collect();
        format!("<distances nbobjs=\"3\" latency_base=\"10.0\">{values}</distances>")
    };
    // Node 2 comes first in the file and has the lowest CPUs.
    let inside = matrix(&[1, 2, 3, 2, 1, 4, 3, 4, 1])
        + &node(2, [0, 1])
        + &node(0, [2, 3])
        + &node(1, [4, 5]);
    let machine = machine("old.xml", topology(&inside, ""));
    assert_eq!(machine.numa_distance, [10, 20, 30, 20, 10, 40, 30, 40, 10]);
}

#[test]
fn an_l2_is_divided_by_the_cores_that_share_it() {
    let l2 = |inside: &str| object("L2Cache cache_size=\"1048576\" depth=\"2\"", inside);
    let pus: String = (0..4).map(pu).collect();
    for (inside, kib) in [
        (core(&[0]) + &core(&[1]) + &core(&[2]) + &core(&[3]), 256),
        // Siblings that are neighbours by number, and some that are not.
        (core(&[0, 1]) + &core(&[2, 3]), 512),
        (core(&[0, 2]) + &core(&[1, 3]), 512),
        (core(&[0, 1, 2, 3]), 1024),
        // PUs without cores are cores.
        (pus, 256),
    ] {
        let imported = import("l2.xml", topology(&l2(&inside), ""));
        let sheet = sheet(&imported);
        let bytes = sheet.machine.core_types[0].l2_bytes;
        assert_eq!(bytes, kib << 10, "{inside}");
        assert!(source_of(&sheet, "core_type.unknown processor.l2_kib").contains("its L2"));
    }
}

/// A kind of CPU with this mask, these attributes and this top clock.
fn kind(mask: &str, attributes: &str, mhz: u64) -> String {
    format!(
        "<cpukind cpuset=\"{mask}\" {attributes}><info name=\"FrequencyMaxMHz\" value=\"{mhz}\"/></cpukind>"
    )
}

#[test]
fn a_hybrid_says_what_its_file_lacks() {
    const RANKS: &str = "`forced_efficiency` (1 in line ";
    const ITMT: &str = "the file has no `[itmt]`";
    const EQUAL: &str = "speeds: ASSUMED EQUAL: ";
    let l2 = |pus: &[usize]| {
        let cores: String = pus.iter().map(|&pu| core(&[pu])).collect();
        object("L2Cache cache_size=\"2097152\" depth=\"2\"", &cores)
    };
    let cores = l2(&[0]) + &l2(&[1]) + &l2(&[2, 3, 4, 5]);
    let l3 = object("L3Cache cache_size=\"25165824\" depth=\"3\"", &cores);
    let ranked = |mhz: [u64; 2]| {
        kind("0x3", "forced_efficiency=\"1\"", mhz[0])
            + &kind("0x3c", "forced_efficiency=\"0\"", mhz[1])
    };
    for (kinds, architecture, said, unsaid) in [
        (
            ranked([5000, 3900]),
            "x86_64",
            vec![RANKS, ITMT, EQUAL],
            vec![],
        ),
        (kind("0x3f", "", 5000), "x86_64", vec![], vec![RANKS, ITMT]),
        (
            ranked([5000, 3900]),
            "aarch64",
            vec![RANKS, EQUAL],
            vec![ITMT],
        ),
    ] {
        let text = topology(&l3, &kinds).replace("x86_64", architecture);
        let imported = import("hybrid.xml", text);
        let notes = imported.notes.join("\n");
        for said in said {
            assert!(notes.contains(said), "{said}: {notes}");
        }
        for unsaid in unsaid {
            assert!(!notes.contains(unsaid), "{unsaid}: {notes}");
        }
        let sheet = sheet(&imported);
        assert_eq!(sheet.notes, imported.notes, "the file has the notes");
        // Linux makes clusters of the L2 on x86 alone.
        let clusters = if architecture == "x86_64" {
            "0 1 2-5"
        } else {
            ""
        };
        assert_eq!(level(&sheet.machine, "CLS"), clusters);
    }
}

#[test]
fn cpus_outside_of_an_object_are_named() {
    const ALONE: &str = "each core has one of its own";
    let all = node_of("0xf");
    let l3 = |inside: &str| object("L3Cache depth=\"3\"", inside);
    let cores: String = (0..4).map(|cpu| core(&[cpu])).collect();
    let pairs = core(&[0, 1]) + &core(&[2, 3]);
    let two_kinds = kind("0x7", "", 1000) + &kind("0x8", "", 2000);
    for (inside, beside, path, said) in [
        (
            all.clone() + &l3(&(core(&[0]) + &core(&[1]))) + &core(&[2]) + &core(&[3]),
            String::new(),
            "topology.llc",
            "there is no `Cache` of the CPUs 2-3: each core of them counts as one last-level cache",
        ),
        (
            all.clone() + &l3(&(core(&[0]) + &core(&[1]) + &pu(2) + &pu(3))),
            String::new(),
            "topology.core",
            "there is no `Core` of the CPUs 2-3: each of them counts as a core",
        ),
        (
            node_of("0x7") + &l3(&cores),
            String::new(),
            "topology.node",
            "there is no `NUMANode` of CPU 3: they are put into the first node",
        ),
        (
            all.clone() + &l3(&cores),
            two_kinds.clone(),
            "freq_domain.policy0.cpus",
            ALONE,
        ),
        (
            all.clone() + &l3(&cores),
            String::new(),
            "freq_domain.policy0.cpus",
            ALONE,
        ),
        (
            all + &l3(&pairs),
            two_kinds,
            "",
            "the CPUs 2-3 are threads of one core and not of one kind (`cpukind`): all are taken to be \
             of that of CPU 2",
        ),
    ] {
        let imported = import("some.xml", topology(&inside, &beside));
        let notes = imported.notes.join("\n");
        assert!(notes.contains(said), "{said}: {notes}");
        if !path.is_empty() {
            let source = source_of(&sheet(&imported), path);
            assert!(
                source.contains(said) && source.ends_with("(assumed)"),
                "{source}"
            );
        }
    }
}

fn node_of(mask: &str) -> String {
    object(&format!("NUMANode os_index=\"0\" cpuset=\"{mask}\""), "")
}
