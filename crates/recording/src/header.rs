// SPDX-License-Identifier: GPL-2.0-only
//! Where a recording comes from, and how it ended.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Where a recording comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Names of the kinds of records, each with the version of its layout, such
    /// as `pelt.update/1`. A record names its kind by the index in this list.
    pub kinds: Vec<String>,
    /// `uname -r` of the kernel.
    pub kernel: String,
    /// `/proc/version` of the kernel.
    pub build: String,
    /// Architecture as Linux calls it: `x86_64`, `aarch64`.
    pub arch: String,
    /// Ticks a second (`CONFIG_HZ`), where the kernel's config could be read.
    pub hz: Option<u32>,
    /// Which clock the records' times are of, and their unit.
    pub clock: String,
    /// What was run while this was recorded.
    pub command: String,
    /// The CPUs, in the order of their numbers.
    pub cpus: Vec<CpuFact>,
    /// Other facts by name, such as the scheduler's features.
    pub facts: BTreeMap<String, String>,
}

/// One CPU as sysfs shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuFact {
    /// Its number.
    pub cpu: u32,
    /// `cpu_capacity`: compute capacity, 1024 is the largest of the machine.
    pub capacity: u32,
    /// The threads of its core, as a list of CPUs.
    pub core: String,
    /// The CPUs of its cluster.
    pub cluster: String,
    /// The CPUs of its package.
    pub package: String,
    /// The CPUs that share its last-level cache, where caches are known.
    pub llc: Option<String>,
}

/// How a recording ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Records written, by the name of their kind.
    pub records: BTreeMap<String, u64>,
    /// Events that happened and were not written, by cause, such as `ring_full`.
    pub lost: BTreeMap<String, u64>,
    /// Exit status of the command that was run, if one was.
    pub status: Option<i32>,
    /// Other facts that are known only at the end.
    pub facts: BTreeMap<String, String>,
}

impl End {
    /// All events that were not written.
    pub fn lost_events(&self) -> u64 {
        self.lost.values().sum()
    }
}

/// An architecture that recordings can be read from: little-endian, 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    /// `x86_64`
    Amd64,
    /// `aarch64`
    Arm64,
}

/// The two numbers of a release that its rules follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// 6 of 6.18.15.
    pub major: u32,
    /// 18 of 6.18.15.
    pub minor: u32,
}

impl KernelVersion {
    /// Of a release as `uname -r` prints it; `None` if it does not begin with two numbers.
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release.splitn(3, ['.', '-', '+']);
        Some(Self {
            major: numbers.next()?.parse().ok()?,
            minor: numbers.next()?.parse().ok()?,
        })
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Header {
    /// The header of a recording that is made here and now: kernel, CPUs and the
    /// scheduler's features from the proc, sysfs and debugfs under `root`
    /// (`/`, or a copied tree). The caller adds its own facts.
    ///
    /// # Errors
    /// A file that every kernel has cannot be read; its path is in the message.
    pub fn capture(root: &Path, kinds: &[&str], clock: &str, command: &str) -> io::Result<Self> {
        let read = |path: &str| {
            let path = root.join(path);
            fs::read_to_string(&path)
                .map(|text| text.trim().to_owned())
                .map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })
        };
        let kernel = read("proc/sys/kernel/osrelease")?;
        let hz = (read(&format!("boot/config-{kernel}")).ok())
            .and_then(|config| config_value(&config, "CONFIG_HZ").and_then(|v| v.parse().ok()));
        let mut facts = BTreeMap::new();
        for (name, path) in [
            ("cmdline", "proc/cmdline"),
            (
                "clocksource",
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            ("sched_features", "sys/kernel/debug/sched/features"),
            ("autogroup", "proc/sys/kernel/sched_autogroup_enabled"),
        ] {
            if let Ok(text) = read(path) {
                facts.insert(name.to_owned(), text);
            }
        }
        Ok(Header {
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            build: read("proc/version")?,
            arch: read("proc/sys/kernel/arch")
                .unwrap_or_else(|_| std::env::consts::ARCH.to_owned()),
            hz,
            clock: clock.to_owned(),
            command: command.to_owned(),
            cpus: cpus(&read)?,
            facts,
            kernel,
        })
    }

    /// The architecture; `None` if recordings of it cannot be read.
    pub fn arch(&self) -> Option<Arch> {
        match self.arch.as_str() {
            "x86_64" => Some(Arch::Amd64),
            "aarch64" => Some(Arch::Arm64),
            _ => None,
        }
    }

    /// Major and minor number of the kernel; `None` if its release does not begin with them.
    pub fn kernel_version(&self) -> Option<KernelVersion> {
        KernelVersion::parse(&self.kernel)
    }

    /// 15 of 6.18.15; `None` of 6.18. Debian's names of kernels up to 6.1 have 0 here, whatever the
    /// release.
    pub fn point_release(&self) -> Option<u32> {
        let third = self.kernel.split('.').nth(2)?;
        let digits = third.find(|c: char| !c.is_ascii_digit());
        third[..digits.unwrap_or(third.len())].parse().ok()
    }

    /// Index of the kind of this name.
    pub fn kind(&self, name: &str) -> Option<u32> {
        let at = self.kinds.iter().position(|kind| kind == name)?;
        u32::try_from(at).ok()
    }
}

fn config_value<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    (config.lines()).find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

fn cpus(read: &impl Fn(&str) -> io::Result<String>) -> io::Result<Vec<CpuFact>> {
    let mut cpus = Vec::new();
    for cpu in numbers(&read("sys/devices/system/cpu/online")?) {
        let base = format!("sys/devices/system/cpu/cpu{cpu}");
        let topology = |name: &str| read(&format!("{base}/topology/{name}")).unwrap_or_default();
        cpus.push(CpuFact {
            cpu,
            // Only architectures whose CPUs can differ have the file.
            capacity: (read(&format!("{base}/cpu_capacity")).ok())
                .and_then(|text| text.parse().ok())
                .unwrap_or(1024),
            core: topology("core_cpus_list"),
            cluster: topology("cluster_cpus_list"),
            package: topology("package_cpus_list"),
            llc: last_level_cache(&base, read),
        });
    }
    Ok(cpus)
}

/// The CPUs that share the data or unified cache of the highest level.
fn last_level_cache(cpu: &str, read: &impl Fn(&str) -> io::Result<String>) -> Option<String> {
    (0..)
        .map_while(|index| {
            let cache = format!("{cpu}/cache/index{index}");
            let level: u32 = read(&format!("{cache}/level")).ok()?.parse().ok()?;
            Some((level, cache))
        })
        .filter(|(_, cache)| read(&format!("{cache}/type")).is_ok_and(|t| t != "Instruction"))
        .max_by_key(|(level, _)| *level)
        .and_then(|(_, cache)| read(&format!("{cache}/shared_cpu_list")).ok())
}

/// The numbers of a list such as `0-3,6`; what is not a number is left out.
fn numbers(list: &str) -> Vec<u32> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let mut all = Vec::new();
    for part in list.split(',') {
        match part.split_once('-') {
            Some((first, last)) => all.extend(
                (number(first).zip(number(last)))
                    .into_iter()
                    .flat_map(|(a, b)| a..=b),
            ),
            None => all.extend(number(part)),
        }
    }
    all
}
