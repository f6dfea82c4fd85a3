// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's energy model, as its debugfs shows it.

use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// CPUs that share a frequency.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct PerfDomain {
    /// As a list, such as `0-3`.
    cpus: String,
    /// Rising in frequency.
    states: Vec<State>,
}

/// One operating point (`struct em_perf_state`), in the kernel's units.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct State {
    frequency: u64,
    power: u64,
    cost: u64,
    /// Since 6.9.
    performance: Option<u64>,
    inefficient: bool,
}

/// The performance domains as JSON, in the order of their first CPUs; `None` if
/// the kernel has no energy model or no debugfs.
pub fn read(root: &Path) -> Option<String> {
    let mut domains: Vec<PerfDomain> = directories(&root.join("sys/kernel/debug/energy_model"))
        .iter()
        .filter_map(|directory| domain(directory))
        .collect();
    domains.sort_by_key(|domain| first_cpu(&domain.cpus));
    if domains.is_empty() {
        return None;
    }
    serde_json::to_string(&domains).ok()
}

fn domain(directory: &Path) -> Option<PerfDomain> {
    let cpus = text(&directory.join("cpus"))?;
    let mut states: Vec<State> = directories(directory)
        .iter()
        .filter_map(|directory| state(directory))
        .collect();
    states.sort_by_key(|state| state.frequency);
    Some(PerfDomain { cpus, states })
}

fn state(directory: &Path) -> Option<State> {
    let number = |name: &str| text(&directory.join(name))?.parse::<u64>().ok();
    Some(State {
        frequency: number("frequency")?,
        power: number("power")?,
        cost: number("cost")?,
        performance: number("performance"),
        inefficient: number("inefficient").unwrap_or(0) != 0,
    })
}

fn first_cpu(list: &str) -> u32 {
    let digits: String = list.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u32::MAX)
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join("sys/kernel/debug/energy_model").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn domains_and_states_stand_in_order() {
        let root = tempfile::tempdir().unwrap();
        for (domain, cpus, frequencies) in [
            ("cpu4", "4-5\n", [600, 1100]),
            ("cpu0", "0-3\n", [450, 850]),
        ] {
            write(root.path(), &format!("{domain}/cpus"), cpus);
            for mhz in frequencies {
                for (name, value) in [("frequency", mhz * 1000), ("power", mhz / 10), ("cost", 7)] {
                    let path = format!("{domain}/ps:{mhz}000/{name}");
                    write(root.path(), &path, &format!("{value}\n"));
                }
            }
        }
        let state = |frequency, power| {
            format!(
                r#"{{"frequency":{frequency},"power":{power},"cost":7,"performance":null,"inefficient":false}}"#
            )
        };
        let expected = format!(
            r#"[{{"cpus":"0-3","states":[{},{}]}},{{"cpus":"4-5","states":[{},{}]}}]"#,
            state(450_000, 45),
            state(850_000, 85),
            state(600_000, 60),
            state(1_100_000, 110)
        );
        assert_eq!(read(root.path()), Some(expected));
    }

    #[test]
    fn without_an_energy_model_there_is_none() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read(root.path()), None);
    }
}
