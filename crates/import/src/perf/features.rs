// SPDX-License-Identifier: GPL-2.0-only
//! The features of a perf.data: what it says of machine, kernel and command
//! (tools/perf/Documentation/perf.data-file-format.txt).

use alight_recording::CpuFact;

use crate::Error;
use crate::bytes::{Bytes, text};
use crate::origin::{Origin, lists};
use crate::tracing::{self, Tracing};

/// `HEADER_*` of tools/perf/util/header.h.
pub(crate) mod feature {
    pub const TRACING_DATA: u64 = 1;
    pub const HOSTNAME: u64 = 3;
    pub const OSRELEASE: u64 = 4;
    pub const VERSION: u64 = 5;
    pub const ARCH: u64 = 6;
    pub const NRCPUS: u64 = 7;
    pub const CPUDESC: u64 = 8;
    pub const CMDLINE: u64 = 11;
    pub const CPU_TOPOLOGY: u64 = 13;
    pub const CACHE: u64 = 20;
    pub const COMPRESSED: u64 = 27;
}

/// What the features say that is put together at the end.
#[derive(Debug, Default)]
pub(crate) struct Features {
    pub tracing: Tracing,
    /// Lists of CPUs of one package, and of one core.
    packages: Vec<String>,
    cores: Vec<String>,
    /// Lists of CPUs of one cache, with its level.
    caches: Vec<(u32, String)>,
}

impl Features {
    /// Reads a feature.
    pub fn read(
        &mut self,
        number: u64,
        mut bytes: Bytes,
        origin: &mut Origin,
    ) -> Result<(), Error> {
        let bytes = &mut bytes;
        let mut fact = |name: &str, value: String| {
            origin.facts.insert(name.to_owned(), value);
        };
        match number {
            feature::TRACING_DATA => {
                tracing::initial(bytes)?;
                self.tracing.read_all(bytes)?;
            }
            feature::HOSTNAME => fact("hostname", string(bytes)?),
            feature::VERSION => fact("perf", string(bytes)?),
            feature::CPUDESC => fact("cpu", string(bytes)?),
            feature::OSRELEASE => origin.kernel = string(bytes)?,
            feature::ARCH => origin.arch = string(bytes)?,
            feature::NRCPUS => origin.cpu_count = Some(bytes.u32("the number of CPUs")?),
            feature::CMDLINE => {
                let words = strings(bytes)?;
                origin.command = words.join(" ");
            }
            feature::CPU_TOPOLOGY => {
                self.packages = strings(bytes)?;
                self.cores = strings(bytes)?;
            }
            feature::CACHE => self.caches = caches(bytes)?,
            feature::COMPRESSED => origin.variant = "compressed".into(),
            _ => {}
        }
        Ok(())
    }

    /// The CPUs of the machine.
    pub fn cpus(&self) -> Vec<CpuFact> {
        let of = |lists_of: &[String], cpu| {
            let found = lists_of.iter().find(|one| lists(one, cpu));
            found.cloned().unwrap_or_default()
        };
        let top = self.caches.iter().map(|(level, _)| *level).max();
        let last_level: Vec<String> = (self.caches.iter())
            .filter(|(level, _)| Some(*level) == top)
            .map(|(_, cpus)| cpus.clone())
            .collect();
        let most = 8192;
        (0..most)
            .filter(|cpu| self.packages.iter().any(|one| lists(one, *cpu)))
            .map(|cpu| CpuFact {
                cpu,
                capacity: 1024,
                core: of(&self.cores, cpu),
                cluster: String::new(),
                package: of(&self.packages, cpu),
                llc: Some(of(&last_level, cpu)).filter(|cpus| !cpus.is_empty()),
            })
            .collect()
    }
}

/// A string with its length before it, padded with zeros.
fn string(bytes: &mut Bytes) -> Result<String, Error> {
    let length = bytes.u32("a string")? as usize;
    Ok(text(bytes.take(length, "a string")?))
}

fn strings(bytes: &mut Bytes) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for _ in 0..bytes.u32("a list of strings")? {
        all.push(string(bytes)?);
    }
    Ok(all)
}

/// The level of each cache that holds data, and its CPUs.
fn caches(bytes: &mut Bytes) -> Result<Vec<(u32, String)>, Error> {
    let mut all = Vec::new();
    bytes.u32("the version of the caches")?;
    for _ in 0..bytes.u32("the number of caches")? {
        let level = bytes.u32("a cache")?;
        bytes.take(12, "a cache")?;
        let kind = string(bytes)?;
        string(bytes)?;
        let cpus = string(bytes)?;
        if kind != "Instruction" {
            all.push((level, cpus));
        }
    }
    Ok(all)
}

/// Names of clocks, by their numbers of `clock_gettime()`.
pub(crate) fn clock_name(number: Option<u32>) -> &'static str {
    match number {
        // perf's own, local_clock().
        None => "perf",
        Some(0) => "realtime",
        Some(1) => "monotonic",
        Some(4) => "monotonic_raw",
        Some(7) => "boottime",
        Some(11) => "tai",
        Some(_) => "unknown",
    }
}
