// SPDX-License-Identifier: GPL-2.0-only
//! What is captured can always be used. Hosts are made at random: files that lack or
//! contradict each other, holes in the numbers of CPUs, all kinds of caches, clocks,
//! nodes, idle states. Of each either a machine file is written that `check` passes and
//! that loads from disk, or a file of the host is named that makes no sense.

#[path = "common/host.rs"]
mod host;

use alight_machine::{Error, Severity, capture, check, load, open};
use host::Tree;
use proptest::prelude::*;

/// CPUs there can be.
const CPUS: usize = 6;

/// Throws, the same from the same seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % sides as u64) as usize
    }

    /// In `n` of ten throws.
    fn often(&mut self, n: usize) -> bool {
        self.below(10) < n
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// CPUs with `cpu` among them, or in a few throws without.
    fn cpus_with(&mut self, cpu: usize) -> Vec<usize> {
        let keep = self.often(9);
        let chosen = |other: &usize| match *other == cpu {
            true => keep,
            false => self.often(3),
        };
        (0..CPUS).filter(chosen).collect()
    }
}

fn list(cpus: &[usize], separator: &str) -> String {
    let words: Vec<String> = cpus.iter().map(usize::to_string).collect();
    words.join(separator)
}

fn mask(cpus: &[usize]) -> String {
    format!("{:x}", cpus.iter().fold(0_u64, |bits, cpu| bits | 1 << cpu))
}

/// Of each CPU the set of those that share something with it.
fn shared(dice: &mut Dice) -> Vec<Vec<usize>> {
    let blocks = |size: usize| move |cpu: usize| cpu / size * size..(cpu / size + 1) * size;
    let size = dice.of(&[1, 2, 3, 4, 5, CPUS]);
    let coherent: Vec<Vec<usize>> = (0..CPUS)
        .map(|cpu| blocks(size)(cpu).filter(|&other| other < CPUS).collect())
        .collect();
    match dice.below(4) {
        0 => (0..CPUS).map(|cpu| dice.cpus_with(cpu)).collect(),
        // The second threads of cores are numbered after the first.
        1 => (0..CPUS)
            .map(|cpu| vec![cpu % (CPUS / 2), cpu % (CPUS / 2) + CPUS / 2])
            .collect(),
        _ => coherent,
    }
}

/// Writes who shares what, as a list, a mask, or for some CPUs not at all.
fn write_shared(tree: &Tree, dice: &mut Dice, list_file: &str, mask_file: &str) {
    let sets = shared(dice);
    let form = dice.below(3);
    for (cpu, set) in sets.iter().enumerate() {
        if form == 0 || dice.often(1) {
            continue;
        }
        match form {
            1 => tree.cpu(cpu, list_file, &list(set, ",")),
            _ => tree.cpu(cpu, mask_file, &mask(set)),
        };
    }
}

fn write_topology(tree: &Tree, dice: &mut Dice) {
    for (list_file, mask_file) in [
        ("core_cpus_list", "core_cpus"),
        ("thread_siblings_list", "thread_siblings"),
        ("package_cpus_list", "package_cpus"),
        ("core_siblings_list", "core_siblings"),
        ("cluster_cpus_list", "cluster_cpus"),
        ("book_siblings_list", "book_siblings"),
    ] {
        if dice.often(5) {
            let file = |name: &str| format!("topology/{name}");
            write_shared(tree, dice, &file(list_file), &file(mask_file));
        }
    }
    for index in 0..dice.below(4) {
        let file = |name: &str| format!("cache/index{index}/{name}");
        let level = dice.of(&["1", "2", "2", "3", "4"]);
        write_shared(
            tree,
            dice,
            &file("shared_cpu_list"),
            &file("shared_cpu_map"),
        );
        for cpu in (0..CPUS).filter(|_| dice.often(9)).collect::<Vec<_>>() {
            tree.cpu(cpu, &file("level"), level)
                .cpu(
                    cpu,
                    &file("type"),
                    dice.of(&["Unified", "Data", "Instruction"]),
                )
                .cpu(
                    cpu,
                    &file("size"),
                    dice.of(&["32K", "512K", "1M", "24576K", "0K"]),
                );
        }
    }
}

fn write_nodes(tree: &Tree, dice: &mut Dice) {
    let count = dice.below(5);
    let home: Vec<usize> = (0..CPUS).map(|_| dice.below(count + 1)).collect();
    for node in 0..count {
        let file = |name: &str| format!("sys/devices/system/node/node{}/{name}", node * 2);
        let cpus: Vec<usize> = (0..CPUS)
            .filter(|&cpu| home[cpu] == node || dice.below(30) == 0)
            .collect();
        match dice.below(3) {
            0 => tree.write(&file("cpulist"), &list(&cpus, ",")),
            1 => tree.write(&file("cpumap"), &mask(&cpus)),
            _ => tree.write(&file("numastat"), ""),
        };
        if dice.often(8) {
            let distance = |other: usize| match other == node {
                true => dice.of(&[10, 10, 10, 10, 11]),
                false => dice.of(&[20, 20, 21, 32, 10, 5, 0, 300]),
            };
            let row: Vec<usize> = (0..count).map(distance).collect();
            tree.write(&file("distance"), &list(&row, " "));
        }
    }
}

fn write_clocks(tree: &Tree, dice: &mut Dice) {
    if dice.often(2) {
        return;
    }
    let policies = shared(dice);
    let one_table = dice.often(5);
    for (cpu, policy) in policies.iter().enumerate() {
        if dice.often(1) {
            continue;
        }
        let set = list(policy, dice.of(&[" ", ","]));
        tree.cpu(
            cpu,
            dice.of(&["cpufreq/related_cpus", "cpufreq/affected_cpus"]),
            &set,
        );
        let khz = |dice: &mut Dice| match one_table {
            true => "1800000",
            false => dice.of(&["0", "400000", "1800000", "2100000", "5200000"]),
        };
        for file in ["cpuinfo_min_freq", "base_frequency", "cpuinfo_max_freq"] {
            if dice.often(7) {
                tree.cpu(cpu, &format!("cpufreq/{file}"), khz(dice));
            }
        }
        if dice.often(3) {
            let table = format!("{} {} 900000 900000", khz(dice), khz(dice));
            tree.cpu(cpu, "cpufreq/scaling_available_frequencies", &table);
        }
        tree.cpu(
            cpu,
            "cpufreq/cpuinfo_transition_latency",
            dice.of(&["0", "50000", "4294967295"]),
        )
        .cpu(
            cpu,
            "cpufreq/scaling_driver",
            dice.of(&["intel_pstate", "cppc_cpufreq"]),
        )
        .cpu(
            cpu,
            "cpufreq/scaling_governor",
            dice.of(&["performance", "powersave", "ondemand"]),
        );
    }
    for first in 0..dice.below(4) {
        for _ in 0..dice.below(4) {
            let step = dice.of(&[450_000, 850_000, 1_100_000]);
            let folder = format!("sys/kernel/debug/energy_model/cpu{first}");
            let power = dice.of(&["0", "33", "616", "200000", "64000000"]);
            tree.write(&format!("{folder}/ps:{step}/power"), power);
            if dice.often(3) {
                tree.write(
                    &format!("{folder}/ps:{step}/frequency"),
                    dice.of(&["450000", "850000"]),
                );
            }
            if dice.often(5) {
                tree.write(
                    &format!("{folder}/ps:{step}/performance"),
                    dice.of(&["0", "200", "446", "800", "1024"]),
                );
            }
            if dice.often(5) {
                tree.write(&format!("{folder}/flags"), dice.of(&["0x0", "0x1", "0x5"]));
            }
        }
    }
}

fn write_cores(tree: &Tree, dice: &mut Dice) {
    let states = dice.below(4);
    let names = [
        "POLL",
        "WFI",
        "C1",
        "cluster-sleep",
        "a \"deep\" one",
        "C\u{1}6",
        "'''",
        "",
    ];
    let capacities = dice.below(3);
    let arm = dice.often(4);
    for cpu in 0..CPUS {
        for state in 0..states {
            let file = |name: &str| format!("cpuidle/state{state}/{name}");
            tree.cpu(cpu, &file("name"), dice.of(&names));
            for time in ["latency", "residency"] {
                if dice.often(9) {
                    let us = dice.of(&["0", "1", "133", "8500", "8800", "4294967295"]);
                    tree.cpu(cpu, &file(time), us);
                }
            }
            tree.cpu(cpu, &file("disable"), dice.of(&["0", "0", "0", "1"]));
        }
        if capacities == 1 || capacities == 2 && dice.often(5) {
            tree.cpu(
                cpu,
                "cpu_capacity",
                dice.of(&["1", "446", "718", "1023", "1024"]),
            );
        }
        if arm && dice.often(8) {
            let midr = dice.of(&["0x410fd030", "0x410fd070", "0x510f8000"]);
            tree.cpu(cpu, "regs/identification/midr_el1", midr);
        }
    }
    if dice.often(5) {
        let model = dice.of(&["Xeon \"Gold\"", "it's #0", "", "a\\b", "x.costs.y"]);
        let text = format!("vendor_id : GenuineIntel\nmodel name : {model}\ncpu MHz : 2100.5");
        tree.write("proc/cpuinfo", &text);
    }
    if dice.often(2) {
        tree.write("sys/devices/cpu_core/cpus", "0-2");
        tree.write("sys/devices/cpu_atom/cpus", "3-5");
    }
}

/// A host, its files plausible one by one.
fn random_host(dice: &mut Dice) -> Tree {
    let tree = Tree::new();
    let online: Vec<usize> = match dice.below(3) {
        0 => (0..1 + dice.below(CPUS)).collect(),
        1 => vec![dice.below(CPUS)],
        _ => dice.cpus_with(0),
    };
    let online = if online.is_empty() { vec![0] } else { online };
    tree.online(&list(&online, ","));
    if dice.often(5) {
        tree.write(
            "sys/devices/system/cpu/possible",
            &format!("0-{}", CPUS - 1),
        );
    }
    write_topology(&tree, dice);
    write_nodes(&tree, dice);
    write_clocks(&tree, dice);
    write_cores(&tree, dice);
    tree
}

/// What is wrong with the capture of `tree`; `Ok`: nothing.
fn complaint(tree: &Tree) -> Result<(), String> {
    let captured = capture(tree.path()).map_err(|error| format!("refused: {error}"))?;
    let file = tree.path().join("captured.toml");
    std::fs::write(&file, &captured.toml).map_err(|error| error.to_string())?;
    let name = file.to_str().unwrap();
    let with_text = |error: &Error| format!("{error}\n{}", captured.toml);
    let findings = check(&open(name).map_err(|error| with_text(&error))?);
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    if let Some(error) = errors.into_iter().next() {
        return Err(format!("{error}\n{}", captured.toml));
    }
    let sheet = load(name).map_err(|error| with_text(&error))?;
    match sheet.notes == captured.notes {
        true => Ok(()),
        false => Err(format!("other notes: {:?}", sheet.notes)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        // A seed is no smaller than another, and none is worth keeping.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_captured_machine_can_be_used(seed in any::<u64>()) {
        let tree = random_host(&mut Dice(seed));
        prop_assert_eq!(complaint(&tree), Ok(()));
    }
}
