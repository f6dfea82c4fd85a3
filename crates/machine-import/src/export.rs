// SPDX-License-Identifier: GPL-2.0-only
//! A machine as the platform information of LISA.

use std::fmt::Write;

use alight_machine::{CpuSet, DataSheet, Machine};

/// A machine in LISA's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// YAML with the key `platform-info`, which `PlatformInfo.from_yaml_map()` of LISA reads.
    pub yaml: String,
    /// What of the machine the form cannot hold, a sentence each.
    pub notes: Vec<String>,
}

/// The machine as the platform information of LISA.
pub fn lisa(sheet: &DataSheet) -> Exported {
    let abi = abi(sheet);
    Exported {
        yaml: yaml(&sheet.machine, abi),
        notes: left_out(sheet, abi),
    }
}

fn yaml(machine: &Machine, abi: Option<&str>) -> String {
    let mut text = String::from("platform-info:\n    conf:\n");
    let nodes = nodes(machine).len();
    let _ = writeln!(text, "        name: {}", quoted(&machine.name));
    if let Some(abi) = abi {
        let _ = writeln!(text, "        abi: {abi}");
    }
    let _ = writeln!(text, "        os: linux");
    let _ = writeln!(text, "        cpus-count: {}", machine.cpus.len());
    let _ = writeln!(text, "        numa-nodes-count: {nodes}");
    let _ = writeln!(text, "        freq-domains:");
    for domain in &machine.freq_domains {
        let _ = writeln!(
            text,
            "            - {:?}",
            domain.cpus.iter().collect::<Vec<_>>()
        );
    }
    let _ = writeln!(text, "        freqs:");
    for (number, cpu) in machine.cpus.iter().enumerate() {
        let opps = machine.freq_domains[cpu.freq_domain].opps.iter();
        let khz: Vec<_> = opps.map(|opp| opp.khz).collect();
        let _ = writeln!(text, "            {number}: {khz:?}");
    }
    let _ = writeln!(text, "        cpu-capacities:");
    let _ = writeln!(text, "            orig:");
    for (number, cpu) in machine.cpus.iter().enumerate() {
        let _ = writeln!(text, "                {number}: {}", cpu.capacity_orig);
    }
    text
}

/// The architecture by LISA's name, as the classes of costs tell it: a machine file has no key for it.
fn abi(sheet: &DataSheet) -> Option<&'static str> {
    let all = |names: &[&str]| {
        let mut families = sheet.cost_families.iter();
        families.all(|family| names.contains(&family.as_str()))
    };
    match () {
        () if all(&["x86"]) => Some("x86_64"),
        () if all(&["little", "big"]) => Some("arm64"),
        () => None,
    }
}

/// What of the machine has no key in LISA's form.
fn left_out(sheet: &DataSheet, abi: Option<&str>) -> Vec<String> {
    let machine = &sheet.machine;
    let threads: CpuSet = (machine.cpus.iter().enumerate())
        .filter(|(_, cpu)| {
            let same = machine.cpus.iter().filter(|other| other.core == cpu.core);
            same.count() > 1
        })
        .map(|(number, _)| number)
        .collect();
    let speeds = machine.cpus.iter().any(|cpu| cpu.stated_speed.is_some());
    let mut notes = vec![
        "LISA has no keys for caches, clusters, idle states, powers, costs of kernel paths, times of \
         memory, the tick frequency and the governor: they are left out"
            .to_owned(),
    ];
    let mut leave_out = |there: bool, what: &str| {
        if there {
            notes.push(format!("LISA has no key for {what}: left out"));
        }
    };
    leave_out(
        !threads.is_empty(),
        &format!("threads of one core, which the CPUs {threads} are"),
    );
    leave_out(speeds, "speeds apart from capacities");
    leave_out(machine.itmt.is_some(), "the priorities of CPUs (`[itmt]`)");
    leave_out(
        nodes(machine).len() > 1,
        "the CPUs of NUMA nodes and the distances between these",
    );
    if abi.is_none() {
        notes.push(
            "the costs of the core types are neither all of x86 nor all of arm, so that the \
             architecture is not known: the key `abi` is left out"
                .to_owned(),
        );
    }
    notes
}

fn nodes(machine: &Machine) -> CpuSet {
    machine.cpus.iter().map(|cpu| cpu.node).collect()
}

/// Text as a string of YAML in double quotes, whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
