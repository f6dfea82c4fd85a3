// SPDX-License-Identifier: GPL-2.0-only
//! A settled description as a machine file. Each figure cites the place where it stands; what the
//! description does not say is assumed, and each assumption is a note.

mod cores;
mod sources;

use std::fmt::Write;
use std::path::Path;

use alight_machine::guess::{self, CostKind};
use alight_machine::{CpuSet, SCHEMA};

use crate::format::Format;
use crate::platform::{Clock, Said, named};
use crate::settle::Settled;
use sources::Sources;

/// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {
        let _ = writeln!($text, $($argument)*);
    };
}
use line;

/// The machine file, and its notes.
pub(crate) fn machine_file(path: &Path, format: Format, settled: Settled) -> (String, Vec<String>) {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let mut writer = Writer {
        sources: Sources::new(&file, format),
        body: String::new(),
        settled,
    };
    writer.topology();
    writer.core_types();
    writer.freq_domains();
    writer.clusters();
    writer.memory();
    let head = writer.head();
    let notes = writer.notes();
    let text = format!(
        "{head}{}{}{}",
        noted(&notes),
        writer.sources.section(),
        writer.body
    );
    (text, notes)
}

/// A key of `[topology]`, what it says, and what is assumed where nothing is said.
struct Level(&'static str, &'static str, &'static str);

struct Writer {
    sources: Sources,
    /// All tables but `[sources]`, which is known at the end.
    body: String,
    settled: Settled,
}

impl Writer {
    fn head(&mut self) -> String {
        let platform = &self.settled.platform;
        let mut head = String::new();
        line!(head, "schema = {}", quoted(SCHEMA));
        line!(head, "name = {}", quoted(&platform.name));
        line!(head, "description = {}", quoted(&platform.description));
        let (hz, source) = match &platform.hz {
            Some(said) => (said.value, self.sources.of(&said.place)),
            None => {
                let assumed = format!("{} Hz", guess::HZ);
                (
                    guess::HZ,
                    self.sources.assumed("the tick frequency", &assumed),
                )
            }
        };
        line!(head, "hz = {{ value = {hz}, source = \"{source}\" }}");
        if platform.x86 {
            let rule = self.sources.rule("default of kernels from 7.1 on for x86");
            line!(head, "hrtick = {{ value = true, source = \"{rule}\" }}");
        }
        let several = |clock: &Clock| clock.khz.as_ref().is_some_and(|khz| khz.value.len() > 1);
        let governor = match self.settled.clocks.iter().any(several) {
            true => "schedutil",
            false => "performance",
        };
        let source = self
            .sources
            .assumed("the cpufreq governor", &format!("`{governor}`"));
        line!(
            head,
            "governor = {{ value = \"{governor}\", source = \"{source}\" }}"
        );
        head
    }

    /// What was left out or changed, then what is assumed.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.settled.platform.notes.clone();
        notes.extend(self.sources.notes().iter().cloned());
        let mut seen = Vec::new();
        notes.retain(|note| {
            let new = !seen.contains(note);
            seen.push(note.clone());
            new
        });
        notes
    }

    fn topology(&mut self) {
        let settled = &self.settled;
        let platform = &settled.platform;
        let count = platform.cpus.len();
        let cpus = self.sources.file("its CPUs");
        line!(self.body, "\n[topology]");
        let all = CpuSet::first_n(count);
        line!(
            self.body,
            "cpus = {{ value = \"{all}\", source = \"{cpus}\" }}"
        );
        let levels = [
            (
                Level("core", "which CPUs share a core", "one thread a core"),
                Some(settled.core.clone()),
                platform.core.clone(),
            ),
            (
                Level("cls", "clusters", "none"),
                settled.cls.clone(),
                platform.cls.clone(),
            ),
            (
                Level(
                    "llc",
                    "which CPUs share the last-level cache",
                    "one for each node",
                ),
                Some(settled.llc.clone()),
                platform.llc.clone(),
            ),
            (
                Level("mc", "the level MC", "that of the caches"),
                settled.mc.clone(),
                platform.mc.clone(),
            ),
            (
                Level("node", "NUMA nodes", "one node"),
                Some(settled.node.clone()),
                platform.node.clone(),
            ),
        ];
        for (Level(key, what, assumed), sets, said) in levels {
            let Some(sets) = sets else { continue };
            let source = match said {
                Some(said) => self.sources.of(&said.place),
                None => self.sources.assumed(what, assumed),
            };
            line!(
                self.body,
                "{key} = {{ value = {}, source = \"{source}\" }}",
                spans(&sets)
            );
        }
        self.distances();
    }

    fn distances(&mut self) {
        let nodes = self.settled.node.len();
        let (rows, source) = match (&self.settled.distances, &self.settled.platform.distances) {
            (Some(rows), Some(said)) => (rows.clone(), self.sources.of(&said.place)),
            _ if nodes == 1 => return,
            _ => {
                let far = guess::NUMA_DISTANCE;
                let row = |from| {
                    (0..nodes)
                        .map(move |to| if to == from { 10 } else { far })
                        .collect()
                };
                let source = self
                    .sources
                    .assumed("the distance between nodes", &far.to_string());
                ((0..nodes).map(row).collect::<Vec<Vec<u64>>>(), source)
            }
        };
        line!(
            self.body,
            "numa_distance = {{ value = {rows:?}, source = \"{source}\" }}"
        );
    }

    /// Clocks that differ by their CPUs alone are one table.
    fn freq_domains(&mut self) {
        let clocks = self.settled.clocks.clone();
        let mut kinds: Vec<(CostKind, u64, Clock, Vec<CpuSet>)> = Vec::new();
        for clock in clocks {
            let (kind, cpus) = (self.kind_of(&clock.cpus.value), clock.cpus.value);
            let capacity = self.settled.capacity_of(&clock);
            let coefficient = self.coefficient(&clock);
            let same = |known: &&mut (CostKind, u64, Clock, Vec<CpuSet>)| {
                let (of, at, other, _) = known;
                let alike = Clock {
                    cpus: other.cpus.clone(),
                    ..clock.clone()
                } == *other;
                *of == kind && *at == capacity && alike && self.coefficient(other) == coefficient
            };
            match kinds.iter_mut().find(same) {
                Some((.., sets)) => sets.push(cpus),
                None => kinds.push((kind, capacity, clock, vec![cpus])),
            }
        }
        for (number, (kind, _, clock, sets)) in kinds.iter().enumerate() {
            self.freq_domain(number, *kind, clock, sets);
        }
    }

    fn freq_domain(&mut self, number: usize, kind: CostKind, clock: &Clock, sets: &[CpuSet]) {
        line!(self.body, "\n[freq_domain.policy{number}]");
        let source = self.sources.of(&clock.cpus.place);
        line!(
            self.body,
            "cpus = {{ value = {}, source = \"{source}\" }}",
            spans(sets)
        );
        let khz = self.frequencies(clock);
        self.put("khz", &khz);
        self.powers(kind, clock, &khz.value);
        let percent = guess::CLUSTER_POWER_PERCENT;
        let source = self.sources.assumed(
            "the power of what cores share",
            &format!("{percent} % of that of a core"),
        );
        line!(
            self.body,
            "cluster_power_percent = {{ value = {percent}, source = \"{source}\" }}"
        );
        let switch = match &clock.switch_us {
            Some(said) => self.said(said),
            None => {
                let us = guess::SWITCH_US;
                let source = self
                    .sources
                    .assumed("the time of a clock change", &format!("{us} us"));
                format!("{{ value = {us}, source = \"{source}\" }}")
            }
        };
        line!(self.body, "switch_us = {switch}");
    }

    fn frequencies(&mut self, clock: &Clock) -> Said<Vec<u64>> {
        clock.khz.clone().unwrap_or_else(|| {
            let (khz, cpus) = (guess::CLOCK_KHZ, clock.cpus.value);
            let all = self.settled.clocks.iter().all(|clock| clock.khz.is_none());
            let whose = if all {
                String::new()
            } else {
                format!(" of {}", named(&cpus))
            };
            Said::new(
                vec![khz],
                crate::platform::Place::Assumed(
                    self.sources
                        .lacking(&format!("frequencies{whose}"), &format!("one of {khz} kHz")),
                ),
            )
        })
    }

    fn powers(&mut self, kind: CostKind, clock: &Clock, khz: &[u64]) {
        if let Some(power) = &clock.power_uw {
            self.put("core_power_uw", power);
            return;
        }
        if let (Some(volts), Some(coefficient)) = (&clock.microvolt, self.coefficient(clock)) {
            self.put("microvolt", volts);
            self.put("dynamic_power_coefficient", &coefficient);
            return;
        }
        let source = self.sources.assumed(
            "the power of a busy core",
            &format!(
                "{} uW at the top clock of a core of the kind `{}`",
                kind.powers_uw(khz).last().copied().unwrap_or(0),
                kind.class()
            ),
        );
        let power = kind.powers_uw(khz);
        line!(
            self.body,
            "core_power_uw = {{ value = {power:?}, source = \"{source}\" }}"
        );
    }

    fn coefficient(&self, clock: &Clock) -> Option<Said<u64>> {
        let first = clock.cpus.value.first()?;
        self.settled.platform.cpus[first].coefficient.clone()
    }

    fn clusters(&mut self) {
        let place = match &self.settled.platform.power {
            Some(said) => self.sources.of(&said.place),
            None => self.sources.assumed(
                "which CPUs are switched off together",
                "those of one last-level cache",
            ),
        };
        let idle = guess::CLUSTER_IDLE_MW;
        let source = self
            .sources
            .assumed("the idle power of what cores share", &format!("{idle} mW"));
        line!(self.body, "\n[cluster.cluster]\nsource = \"{source}\"");
        let sets = spans(&self.settled.power);
        line!(
            self.body,
            "cpus = {{ value = {sets}, source = \"{place}\" }}"
        );
        line!(self.body, "idle_power_mw = {idle}\noff_power_mw = 0");
    }

    fn memory(&mut self) {
        let memory = guess::memory(self.settled.platform.x86);
        let [llc, cross_llc, cross_node] = memory.lines;
        let source = self.sources.assumed(
            "kernel path costs and times of cache lines",
            "those of this kind of core",
        );
        line!(self.body, "\n[memory]\nsource = \"{source}\"");
        for (key, value) in [
            ("llc_line_ns", llc),
            ("cross_llc_line_ns", cross_llc),
            ("cross_node_line_ns", cross_node),
            ("dram_line_ns", memory.dram),
            ("refill_mlp", memory.mlp),
            ("channel_lines", memory.channel_lines),
            ("working_set_kib", memory.working_set_kib),
        ] {
            line!(self.body, "{key} = {value}");
        }
    }

    /// A line with a figure.
    fn put<T: std::fmt::Debug>(&mut self, key: &str, said: &Said<T>) {
        let figure = self.said(said);
        line!(self.body, "{key} = {figure}");
    }

    /// A figure with its source.
    fn said<T: std::fmt::Debug>(&mut self, said: &Said<T>) -> String {
        let source = self.sources.of(&said.place);
        format!("{{ value = {:?}, source = \"{source}\" }}", said.value)
    }

    fn kind_of(&self, cpus: &CpuSet) -> CostKind {
        let first = cpus.first().unwrap_or(0);
        self.settled
            .platform
            .cpus
            .get(first)
            .map_or(CostKind::X86, |cpu| cpu.kind)
    }
}

fn noted(notes: &[String]) -> String {
    let mut text = String::from(
        "# These notes say what was assumed: remove a note when its figures are right.\nnotes = [\n",
    );
    for note in notes {
        line!(text, "  {},", quoted(note));
    }
    text.push_str("]\n");
    text
}

fn spans(spans: &[CpuSet]) -> String {
    let lists: Vec<String> = spans.iter().map(|span| format!("\"{span}\"")).collect();
    format!("[{}]", lists.join(", "))
}

/// Text as TOML, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
