// SPDX-License-Identifier: GPL-2.0-only
//! Descriptions that are packed with gzip: each is read as what it holds.

mod common;

use std::io::Write;

use alight_machine_import::Format;
use common::blob::{Node, blob};
use common::{import, refusal, sheet};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn what_is_packed_is_read_as_what_it_holds() {
    let cpu = Node::new("cpu@0")
        .text("device_type", "cpu")
        .text("compatible", "arm,cortex-a53");
    let tree = Node::new("").child(Node::new("cpus").child(cpu));
    let xml = "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\">\
               <object type=\"PU\" os_index=\"0\"/></object></topology>";
    let dts = "/dts-v1/; / { cpus { cpu@0 { device_type = \"cpu\"; compatible = \"arm,cortex-a53\"; }; }; };";
    let yaml = "platform-info:\n  conf:\n    cpus-count: 1\n";
    let dump =
        "* daemon started\n/sys/devices/system/cpu/online:0\n/sys/devices/system/cpu/possible:0\n";
    for (name, bytes, format) in [
        ("one.dtb", blob(&tree), Format::Dtb),
        ("one.dts", dts.into(), Format::Dts),
        ("one.xml", xml.into(), Format::Hwloc),
        ("one.yml", yaml.into(), Format::Lisa),
        ("one.txt", dump.into(), Format::Sysfs),
    ] {
        let plain = import(name, &bytes);
        assert_eq!(plain.format, format);
        assert_eq!(sheet(&plain).machine.cpus.len(), 1);
        assert_eq!(import(&format!("{name}.gz"), gzip(&bytes)), plain, "{name}");
    }
}

#[test]
fn what_is_packed_and_unknown_is_refused_by_its_content() {
    let message = refusal("a.txt.gz", gzip(b"hello"));
    assert!(
        message.contains("a.txt: the content shows no known format, expected a device tree"),
        "{message}"
    );
}
