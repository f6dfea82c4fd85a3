// SPDX-License-Identifier: GPL-2.0-only
//! Where a trace comes from: what its file says of machine, kernel and tool.

use std::collections::{BTreeMap, BTreeSet};

use alight_recording::workload::{CPUS, Capability, SOURCE};
use alight_recording::{CpuFact, Header};

/// What a file says of itself. What it does not say is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// The format, such as `perf.data`, with what distinguishes it: version, compression.
    pub format: &'static str,
    pub variant: String,
    pub kernel: String,
    pub build: String,
    pub arch: String,
    pub clock: String,
    pub command: String,
    pub cpus: Vec<CpuFact>,
    /// CPUs of the machine, where the file says no more of them than that.
    pub cpu_count: Option<u32>,
    /// Other facts, for the recording's header.
    pub facts: BTreeMap<String, String>,
    /// The names that tasks had at the end, for those whose names no event tells.
    pub last_names: BTreeMap<u32, String>,
    /// Names of the program that recorded.
    pub recorders: &'static [&'static str],
    /// Tracepoints that were asked for; `None`: the file does not say, those that occur count.
    pub asked: Option<BTreeSet<String>>,
    /// Capabilities that do not follow from the tracepoints.
    pub told: BTreeSet<Capability>,
    /// What there is to say of the file, a sentence each.
    pub remarks: Vec<String>,
}

impl Origin {
    /// The header of the recording.
    pub fn header(&self) -> Header {
        let mut facts = self.facts.clone();
        facts.insert(SOURCE.to_owned(), self.format.to_owned());
        if !self.variant.is_empty() {
            facts.insert("source_variant".to_owned(), self.variant.clone());
        }
        if let Some(count) = self.cpu_count {
            facts.insert(CPUS.to_owned(), count.to_string());
        }
        Header {
            kinds: Vec::new(),
            kernel: self.kernel.clone(),
            build: self.build.clone(),
            arch: self.arch.clone(),
            hz: None,
            clock: match self.clock.as_str() {
                "" => "unknown, ns".to_owned(),
                clock => format!("{clock}, ns"),
            },
            command: self.command.clone(),
            cpus: self.cpus.clone(),
            facts,
        }
    }
}

/// The number of `sched_yield()` (arch/x86/entry/syscalls/syscall_64.tbl,
/// include/uapi/asm-generic/unistd.h).
pub(crate) fn yield_call(arch: &str) -> Option<u64> {
    match arch {
        "x86_64" => Some(24),
        "aarch64" | "riscv64" => Some(124),
        _ => None,
    }
}

/// Whether a list such as `0-3,6` has this CPU.
pub(crate) fn lists(list: &str, cpu: u32) -> bool {
    list.split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        (number(first).zip(number(last))).is_some_and(|(first, last)| first <= cpu && cpu <= last)
    })
}
