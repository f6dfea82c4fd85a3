// SPDX-License-Identifier: GPL-2.0-only
//! Descriptions with mistakes: each is refused with its place, what was found and what was expected.

mod common;

use alight_machine_import::{Format, import};
use common::blob::{Node, blob};
use common::refusal;

/// A source with one CPU whose node has `inside`, and with `beside` next to `cpus`.
fn dts(inside: &str, beside: &str) -> String {
    format!(
        "/dts-v1/;\n/ {{\ncpus {{\ncpu@0 {{ device_type = \"cpu\"; compatible = \"arm,cortex-a55\";\n\
         {inside}\n}};\n}};\n{beside}\n}};\n"
    )
}

#[test]
fn sources_of_device_trees() {
    let foreign = "/dts-v1/; / { cpus { cpu@0 { compatible = \"mips,mips24Kc\"; }; }; };";
    for (text, said) in [
        (
            "/dts-v1/; / { };".to_owned(),
            "a.dts: /: has no node `cpus`, expected one with the CPUs",
        ),
        (
            foreign.to_owned(),
            "a.dts: /cpus/cpu@0 (line 1): has the `compatible` mips,mips24Kc, expected a core of Arm or RISC-V",
        ),
        (
            dts("next-level-cache = <0x12>;", ""),
            "a.dts: /cpus/cpu@0 (line 5), next-level-cache: names the phandle 0x12, which no node has, expected that of a node of this file: add the node",
        ),
        (
            dts("next-level-cache = <&l2>;", ""),
            "a.dts:5: `&l2` in `next-level-cache` of /cpus/cpu@0 names no node, expected a label of this file",
        ),
        (
            dts(
                "operating-points-v2 = <&t>;",
                "t: table { opp-shared; opp-1 { opp-microvolt = <1>; }; };",
            ),
            "a.dts: /table (line 8): has no point with a frequency (`opp-hz`), expected one at least",
        ),
        (
            dts(
                "operating-points-v2 = <&t>;",
                "t: table { opp-1 { opp-hz = <1000>; }; };",
            ),
            "a.dts: /table/opp-1 (line 8), opp-hz: has 1 cells, expected the two of a number of 64 bits",
        ),
        (
            dts("capacity-dmips-mhz = <0>;", ""),
            "a.dts: /cpus/cpu@0 (line 5), capacity-dmips-mhz: is 0, expected 1 to 1000000",
        ),
        (
            dts("capacity-dmips-mhz = [00 01];", ""),
            "a.dts: /cpus/cpu@0 (line 5), capacity-dmips-mhz: has 2 bytes, expected cells of 4 bytes",
        ),
        (
            dts("operating-points = <1000>;", ""),
            "a.dts: /cpus/cpu@0 (line 5), operating-points: has the cells [1000], expected pairs of kHz",
        ),
        (
            dts(
                "cpu-idle-states = <&s>;",
                "s: s { exit-latency-us = <1>; };",
            ),
            "a.dts: /s (line 8): has no `entry-latency-us`, expected the times of an idle state",
        ),
        (
            dts(
                "next-level-cache = <&a>;",
                "a: a { next-level-cache = <&a>; };",
            ),
            "a.dts: /a (line 8), next-level-cache: leads in a circle, or over more than 8 caches",
        ),
        (
            dts("x = <CLK_CPU>;", ""),
            "a.dts:5: `CLK_CPU` stands here, expected a number: it is a name that the preprocessor replaces",
        ),
        (dts("x = <(1 / 0)>;", ""), "a.dts:5: `1 / 0` has no value"),
        (
            dts("x = <0x100000000>;", ""),
            "a.dts:5: `4294967296` does not fit into a cell of 32 bits",
        ),
        (dts("x = \"open;", ""), "a text has no end, expected `\"`"),
        (
            dts("x = ;", ""),
            "a.dts:5: `;` stands here, expected a value",
        ),
        (dts("x = <1>", ""), "a.dts:6: `}` stands here, expected `;`"),
        (
            dts("/* open", ""),
            "a.dts:5: a comment has no end, expected `*/`",
        ),
        (
            dts("#include \"b.dtsi\"", ""),
            "a.dts:5: `#include` stands here, expected a source without it: run the preprocessor first",
        ),
        (
            dts("/include/ \"b.dtsi\"", ""),
            "a.dts:5: `/include/` or `/incbin/` stands here",
        ),
        (
            "/dts-v1/; &cpu0 { };".to_owned(),
            "a.dts:1: `&cpu0` names no node that stands before it, expected a label of this file",
        ),
        (
            dts("", "") + "}",
            "a.dts:10: `}` stands here, expected `/ {` or `&label {`",
        ),
    ] {
        let message = refusal("a.dts", &text);
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
}

#[test]
fn each_cpu_of_a_device_tree_is_of_arm_or_of_riscv() {
    let cpu = |inside: &str| format!("device_type = \"cpu\"; {inside}");
    let named = |compatible: &str| cpu(&format!("compatible = {compatible};"));
    let tree = |second: &str| {
        let first = named("\"arm,cortex-a53\"");
        format!("/dts-v1/; / {{ cpus {{ a@0 {{ {first} }}; b@1 {{ {second} }}; }}; }};")
    };
    for (second, said) in [
        (
            named("\"brcm,bmips5200\""),
            "/cpus/b@1 (line 1): has the `compatible` brcm,bmips5200, expected a core of Arm or RISC-V",
        ),
        (
            named("\"cavium,octeon-3860\""),
            "has the `compatible` cavium,octeon-3860, expected",
        ),
        (
            named("\"loongson,la264\""),
            "has the `compatible` loongson,la264, expected",
        ),
        (
            named("\"intel,ce4100\""),
            "has the `compatible` intel,ce4100, expected",
        ),
        // PowerPC names its cores by the nodes, and has spin tables as Arm has.
        (
            cpu("enable-method = \"spin-table\";"),
            "/cpus/b@1 (line 1): has no `compatible`, expected a core of Arm or RISC-V",
        ),
        (
            named("\"sifive,u74-mc\", \"riscv\""),
            "/cpus/b@1 (line 1): is a core of RISC-V, expected one of Arm, as the CPUs before it are",
        ),
    ] {
        let message = refusal("a.dts", tree(&second));
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
    for second in [
        named("\"brcm,brahma-b53\""),
        named("\"cavium,thunder\", \"arm,armv8\""),
        named("\"vendor,core\", \"arm,armv8\""),
        cpu("enable-method = \"psci\";"),
    ] {
        common::import("a.dts", tree(&second));
    }
}

#[test]
fn blobs_of_device_trees() {
    let tree = Node::new("").child(
        Node::new("cpus").child(
            Node::new("cpu@0")
                .text("device_type", "cpu")
                .text("compatible", "PowerPC,POWER9"),
        ),
    );
    let whole = blob(&tree);
    let mut newer = whole.clone();
    newer[27] = 18;
    let mut broken = whole.clone();
    broken[59] = 7;
    for (bytes, said) in [
        (
            whole.clone(),
            "a.dtb: /cpus/cpu@0: has the `compatible` PowerPC,POWER9, expected a core of Arm or RISC-V",
        ),
        (
            whole[..80].to_vec(),
            "a.dtb: has 80 bytes, and its header says",
        ),
        (
            whole[..3].to_vec(),
            "a.dtb: the content shows no known format",
        ),
        (
            whole[..6].to_vec(),
            "a.dtb: byte 4: the file ends here, expected 4 bytes",
        ),
        (
            newer,
            "a.dtb: needs a reader of version 18, expected at most 17",
        ),
        (
            broken,
            "a.dtb: byte 56: the token 7 stands here, expected the begin or end of a node",
        ),
    ] {
        let message = refusal("a.dtb", bytes);
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
}

#[test]
fn xml_of_hwloc() {
    let around =
        |inside: &str| format!("<?xml version=\"1.0\"?>\n<topology>\n{inside}\n</topology>");
    let machine = |inside: &str| around(&format!("<object type=\"Machine\">\n{inside}\n</object>"));
    let two = "<object type=\"PU\" os_index=\"1\"/>\n<object type=\"PU\" os_index=\"1\"/>";
    let nodes = |element: &str| {
        let node = |number, mask| {
            format!("<object type=\"NUMANode\" os_index=\"{number}\" cpuset=\"{mask}\"/>")
        };
        let pus = "<object type=\"PU\" os_index=\"0\"/><object type=\"PU\" os_index=\"1\"/>";
        around(&format!(
            "<object type=\"Machine\">{}{}{pus}</object>\n{element}",
            node(0, "0x1"),
            node(1, "0x2")
        ))
    };
    for (text, said) in [
        (around("<object type="), "a.xml:4: this is not XML"),
        (
            around(""),
            "a.xml:2: there is no `object`, expected that of the machine",
        ),
        (
            machine(""),
            "a.xml:3: the machine has 0 PUs (`object type=\"PU\"`), expected one at least",
        ),
        (
            machine(two),
            "a.xml:5: two PUs have the number 1, expected one",
        ),
        (
            machine("<object type=\"PU\"/>"),
            "a.xml:4: a PU has no `os_index`, expected its number",
        ),
        (
            machine("<object type=\"PU\" os_index=\"1024\"/>"),
            "a.xml:4: a PU has the number 1024, expected one below 1024",
        ),
        (
            machine("<object type=\"PU\" os_index=\"one\"/>"),
            "a.xml:4: `os_index` is `one`, expected a whole number",
        ),
        (
            machine("<object/>"),
            "a.xml:4: an `object` has no `type`, expected one",
        ),
        (
            machine("<object type=\"NUMANode\" cpuset=\"0xg\"/>"),
            "a.xml:4: `cpuset` is `0xg`, expected a mask of the CPUs 0 to 1023",
        ),
        (
            nodes(
                "<distances2 type=\"NUMANode\" indexing=\"os\"><indexes>0 1</indexes><u64values>10</u64values></distances2>",
            ),
            "a.xml:4: the distances are 1 values, expected 4 for 2 nodes",
        ),
        (
            "<?xml version=\"1.0\"?>\n<html/>".to_owned(),
            "a.xml:2: the root is `html`, expected `topology`",
        ),
        (
            machine(&("<object type=\"Group\">".repeat(70) + &"</object>".repeat(70))),
            "a.xml:4: the objects nest deeper than 64",
        ),
    ] {
        let message = refusal("a.xml", &text);
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
}

#[test]
fn yaml_of_lisa() {
    let conf = |inside: &str| {
        format!("platform-info:\n    conf:\n        cpus-count: 2\n        {inside}\n")
    };
    for (text, said) in [
        (
            "other: 1".to_owned(),
            "a.yml:1: there is no key `platform-info`",
        ),
        (
            "platform-info: {conf: {name: x}}".to_owned(),
            "there is neither `cpus-count` nor `cpu-capacities` nor `freqs`",
        ),
        ("platform-info:\n  conf: [".to_owned(), "this is not YAML"),
        (
            conf("freqs: !call:module.function {}"),
            "a.yml:4: `freqs` is the expression `!call:module.function`, which only LISA computes, expected the value itself",
        ),
        (
            conf("freqs: {0: !var freqs}"),
            "a.yml:4: `freqs` is the expression `!var`",
        ),
        (
            conf("freqs: {0: []}"),
            "a.yml:4: CPU 0 has no frequency, expected one at least",
        ),
        (
            conf("freqs: {0: [fast]}"),
            "a.yml:4: `freqs` has `fast`, expected a whole number",
        ),
        (
            conf("freqs: {2: [1]}"),
            "a.yml:4: `freqs` names CPU 2, expected one below 2 (`cpus-count`)",
        ),
        (
            conf("freqs: 100"),
            "a.yml:4: `freqs` is text, expected a mapping",
        ),
        (
            conf("freq-domains: [[0], [0, 1]]"),
            "a.yml:4: CPU 0 is in two of `freq-domains`, expected one",
        ),
        (
            conf("freq-domains: [[0, 1]]\n        freqs:\n          0: [1]\n          1: [1, 2]"),
            "a.yml:7: the `freqs` of CPU 1 are not those of CPU 0 (line 6), with which it shares a clock (`freq-domains`), expected the same",
        ),
        (
            conf("kernel: {config: {text: 'CONFIG_HZ=0'}}"),
            "a.yml:4: `CONFIG_HZ` of `kernel.config` is `0`, expected a number from 1 to 10000",
        ),
        (
            conf("cpu-capacities: {orig: {0: 0}}"),
            "a.yml:4: the capacity of CPU 0 is 0, expected 1 to 65535",
        ),
        (
            conf("cpus-count: 0").replace("cpus-count: 2", "abi: arm64"),
            "a.yml:4: `cpus-count` is 0, expected 1 or more",
        ),
        (
            format!("platform-info: {}", "[".repeat(100)),
            "a.yml:1: the file nests deeper than 64",
        ),
    ] {
        let message = refusal("a.yml", &text);
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
}

#[test]
fn files_that_show_no_format() {
    for (name, bytes, said) in [
        (
            "a",
            &b""[..],
            "a: the file is empty, expected a device tree",
        ),
        (
            "a.txt",
            b"hello",
            "a.txt: the content shows no known format, expected a device tree",
        ),
        (
            "a.toml",
            b"schema = \"alight.machine/1\"",
            "`--format` names the format",
        ),
        ("a.dts", b"\xff\xfe/", "UTF-16"),
        (
            "a.tar.bz2",
            b"BZh9",
            "unpack it first (`bzip2 -dk a.tar.bz2`)",
        ),
        (
            "a.xml.bz2",
            b"BZh9",
            "unpack it first (`bzip2 -dk a.xml.bz2`)",
        ),
        (
            "a.dtb.gz",
            b"\x1f\x8b\x08\0",
            "a.dtb.gz: is packed with gzip and cut off or damaged: copy it again",
        ),
    ] {
        let message = refusal(name, bytes);
        assert!(message.contains(said), "expected: {said}\nfound: {message}");
    }
}

#[test]
fn folders_are_trees_of_sysfs_alone() {
    let folder = tempfile::tempdir().unwrap();
    let error = |format| import(folder.path(), format).unwrap_err().to_string();
    assert!(error(None).contains("no folder with `sys/devices/system/cpu`"));
    assert!(error(Some(Format::Dtb)).contains("is a folder, expected a file of the format dtb"));
    let missing = import("nowhere.dtb".as_ref(), None)
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("nowhere.dtb: cannot be read"),
        "{missing}"
    );
}
