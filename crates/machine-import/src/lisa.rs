// SPDX-License-Identifier: GPL-2.0-only
//! The platform information of LISA: the key `platform-info` of its YAML, as `lisa-platinfo-extract` or
//! `PlatformInfo.to_yaml_map()` writes it.

mod unread;
mod yaml;

use std::path::Path;
use std::rc::Rc;

use alight_machine::CpuSet;
use alight_machine::guess::CostKind;

use crate::error::Error;
use crate::platform::{Clock, Cpu, Place, Platform, Said};
use yaml::{Node, Pair, Value};

const BIGGEST: u64 = 1024;

/// Reads the platform information of `text`, the content of `path`.
pub(crate) fn read(path: &Path, text: &str) -> Result<Platform, Error> {
    let root = yaml::parse(path, text)?;
    let file = File { path };
    let Some(info) = root.get("platform-info") else {
        let message = "there is no key `platform-info`, expected the platform information of LISA";
        return Err(file.error(&root, message));
    };
    let conf = info.get("conf").unwrap_or(info);
    file.mapping(conf, "platform-info.conf")?;
    let cpus = file.count(conf)?;
    let mut platform = Platform {
        name: file
            .text(conf, "name")?
            .unwrap_or_else(|| "lisa".to_owned()),
        ..Platform::default()
    };
    let abi = file.text(conf, "abi")?.unwrap_or_default();
    let architecture = Architecture::of(&abi);
    platform.x86 = architecture == Architecture::X86;
    platform
        .notes
        .extend(file.guessed(conf, architecture, &abi));
    platform.description = match abi.as_str() {
        "" => format!("{}, {cpus} CPUs, from LISA", platform.name),
        abi => format!("{}, {cpus} CPUs of {abi}, from LISA", platform.name),
    };
    let capacities = file.capacities(conf, cpus)?;
    platform.cpus = capacities
        .into_iter()
        .map(|said| cpu(architecture, said))
        .collect();
    platform.clocks = file.clocks(conf, cpus)?;
    platform.hz = file.hz(conf)?;
    platform.notes.extend(file.nodes(conf)?);
    platform.notes.extend(unread::notes(info, conf));
    Ok(platform)
}

/// LISA names no makes: CPUs of one capacity are of one.
fn cpu(architecture: Architecture, capacity: Option<Said<u64>>) -> Cpu {
    let value = capacity.as_ref().map_or(BIGGEST, |said| said.value);
    let kind = match architecture {
        Architecture::X86 | Architecture::Foreign => CostKind::X86,
        Architecture::Arm | Architecture::Unstated => CostKind::by_capacity(value, BIGGEST),
    };
    Cpu {
        capacity,
        ..Cpu::new(format!("capacity-{value}"), kind)
    }
}

/// What the key `abi` says of the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Architecture {
    X86,
    Arm,
    /// One that has no kernel path costs of its own.
    Foreign,
    Unstated,
}

impl Architecture {
    /// By the names that devlib writes: `arm64`, `armeabi`, else what `uname -m` prints
    /// (devlib/target.py, `abi`).
    fn of(abi: &str) -> Self {
        let begins = |names: &[&str]| names.iter().any(|name| abi.starts_with(name));
        match abi {
            "" => Self::Unstated,
            _ if begins(&["x86", "i386", "i686", "amd64"]) => Self::X86,
            _ if begins(&["arm", "aarch64"]) => Self::Arm,
            _ => Self::Foreign,
        }
    }
}

struct File<'a> {
    path: &'a Path,
}

/// The frequencies of a CPU.
struct Freqs {
    line: usize,
    /// Rising.
    khz: Vec<u64>,
}

impl Freqs {
    fn said(&self) -> Said<Vec<u64>> {
        Said::new(self.khz.clone(), format!("line {}, freqs", self.line))
    }
}

impl File<'_> {
    fn error(&self, node: &Node, message: impl Into<String>) -> Error {
        Error::line(self.path, node.line, message)
    }

    /// Refuses what only LISA can compute.
    fn plain<'n>(&self, node: &'n Node, what: &str) -> Result<&'n Node, Error> {
        match &node.tag {
            Some(tag) => Err(self.error(
                node,
                format!(
                    "`{what}` is the expression `{tag}`, which only LISA computes, expected the value \
                     itself: let LISA write the platform information of the board \
                     (`lisa-platinfo-extract`)"
                ),
            )),
            None => Ok(node),
        }
    }

    fn mapping<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Pair], Error> {
        match &self.plain(node, what)?.value {
            Value::Mapping(pairs) => Ok(pairs),
            other => Err(self.error(
                node,
                format!("`{what}` is {}, expected a mapping", other.kind()),
            )),
        }
    }

    fn sequence<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Rc<Node>], Error> {
        match &self.plain(node, what)?.value {
            Value::Sequence(items) => Ok(items),
            other => Err(self.error(
                node,
                format!("`{what}` is {}, expected a list", other.kind()),
            )),
        }
    }

    fn text(&self, conf: &Node, key: &str) -> Result<Option<String>, Error> {
        let Some(node) = conf.get(key) else {
            return Ok(None);
        };
        match &self.plain(node, key)?.value {
            Value::Scalar(text) => Ok(Some(text.clone())),
            other => Err(self.error(node, format!("`{key}` is {}, expected text", other.kind()))),
        }
    }

    fn number(&self, node: &Node, what: &str, most: u64) -> Result<u64, Error> {
        let found = match &self.plain(node, what)?.value {
            Value::Scalar(text) => match text.parse::<u64>() {
                Ok(number) if number <= most => return Ok(number),
                _ => format!("`{text}`"),
            },
            other => other.kind().to_owned(),
        };
        Err(self.error(
            node,
            format!("`{what}` has {found}, expected a whole number up to {most}"),
        ))
    }

    fn cpu(&self, node: &Node, what: &str, cpus: usize) -> Result<usize, Error> {
        let number = self.number(node, what, CpuSet::MAX as u64 - 1)? as usize;
        if number >= cpus {
            let message =
                format!("`{what}` names CPU {number}, expected one below {cpus} (`cpus-count`)");
            return Err(self.error(node, message));
        }
        Ok(number)
    }

    /// `cpus-count`, or what follows from the CPUs that are named.
    fn count(&self, conf: &Node) -> Result<usize, Error> {
        let most = CpuSet::MAX as u64;
        if let Some(node) = conf.get("cpus-count") {
            let count = self.number(node, "cpus-count", most)?;
            return match count {
                0 => Err(self.error(node, "`cpus-count` is 0, expected 1 or more")),
                count => Ok(count as usize),
            };
        }
        let mut highest = None;
        for (key, parent) in [("orig", conf.get("cpu-capacities")), ("freqs", Some(conf))] {
            let Some(node) = parent.and_then(|parent| parent.get(key)) else {
                continue;
            };
            for (cpu, _) in self.mapping(node, key)? {
                highest = highest.max(Some(self.number(cpu, key, most - 1)? as usize));
            }
        }
        highest.map(|cpu| cpu + 1).ok_or_else(|| {
            self.error(
                conf,
                "there is neither `cpus-count` nor `cpu-capacities` nor `freqs`, expected one of them: \
                 nothing says how many CPUs there are",
            )
        })
    }

    /// `cpu-capacities: orig`, by CPU.
    fn capacities(&self, conf: &Node, cpus: usize) -> Result<Vec<Option<Said<u64>>>, Error> {
        let mut found = vec![None; cpus];
        let Some(stated) = conf.get("cpu-capacities") else {
            return Ok(found);
        };
        self.mapping(stated, "cpu-capacities")?;
        // LISA wrote the capacities themselves there, before 2020.
        let orig = stated.get("orig").unwrap_or(stated);
        for (key, value) in self.mapping(orig, "cpu-capacities.orig")? {
            if matches!(&key.value, Value::Scalar(text) if text == "writeable" || text == "rtapp") {
                continue;
            }
            let cpu = self.cpu(key, "cpu-capacities.orig", cpus)?;
            let capacity = self.number(value, "cpu-capacities.orig", 65_535)?;
            if capacity == 0 {
                let message = format!("the capacity of CPU {cpu} is 0, expected 1 to 65535");
                return Err(self.error(value, message));
            }
            found[cpu] = Some(Said::new(
                capacity,
                format!("line {}, cpu-capacities", value.line),
            ));
        }
        Ok(found)
    }

    /// `freq-domains` with the `freqs` of their CPUs.
    fn clocks(&self, conf: &Node, cpus: usize) -> Result<Vec<Clock>, Error> {
        let freqs = self.freqs(conf, cpus)?;
        let mut clocks = Vec::new();
        let mut placed = CpuSet::new();
        for domain in conf
            .get("freq-domains")
            .map_or(Ok(&[][..]), |node| self.sequence(node, "freq-domains"))?
        {
            let mut members = CpuSet::new();
            for item in self.sequence(domain, "freq-domains")? {
                let cpu = self.cpu(item, "freq-domains", cpus)?;
                if placed.contains(cpu) {
                    let message = format!("CPU {cpu} is in two of `freq-domains`, expected one");
                    return Err(self.error(item, message));
                }
                placed.insert(cpu);
                members.insert(cpu);
            }
            if !members.is_empty() {
                let mut clock = Clock::of(members, format!("line {}, freq-domains", domain.line));
                clock.khz = self.freqs_of(&members, &freqs)?;
                clocks.push(clock);
            }
        }
        for (cpu, stated) in freqs.iter().enumerate() {
            if let Some(stated) = stated.as_ref().filter(|_| !placed.contains(cpu)) {
                let alone = "a CPU in none of `freq-domains` has a clock of its own".to_owned();
                let mut clock = Clock::of(CpuSet::single(cpu), Place::Assumed(alone));
                clock.khz = Some(stated.said());
                clocks.push(clock);
            }
        }
        Ok(clocks)
    }

    /// The frequencies of a domain. Its CPUs have one clock: those that state frequencies must state
    /// the same.
    fn freqs_of(
        &self,
        members: &CpuSet,
        freqs: &[Option<Freqs>],
    ) -> Result<Option<Said<Vec<u64>>>, Error> {
        let mut stated = members
            .iter()
            .filter_map(|cpu| Some((cpu, freqs[cpu].as_ref()?)));
        let Some((first, taken)) = stated.next() else {
            return Ok(None);
        };
        match stated.find(|(_, other)| other.khz != taken.khz) {
            None => Ok(Some(taken.said())),
            Some((cpu, other)) => Err(Error::line(
                self.path,
                other.line,
                format!(
                    "the `freqs` of CPU {cpu} are not those of CPU {first} (line {}), with which it \
                     shares a clock (`freq-domains`), expected the same: the keys of `freqs` are \
                     CPUs, not domains",
                    taken.line
                ),
            )),
        }
    }

    /// `freqs` by CPU.
    fn freqs(&self, conf: &Node, cpus: usize) -> Result<Vec<Option<Freqs>>, Error> {
        let mut found: Vec<Option<Freqs>> = (0..cpus).map(|_| None).collect();
        let Some(stated) = conf.get("freqs") else {
            return Ok(found);
        };
        for (key, value) in self.mapping(stated, "freqs")? {
            let cpu = self.cpu(key, "freqs", cpus)?;
            let mut khz = Vec::new();
            for item in self.sequence(value, "freqs")? {
                match self.number(item, "freqs", 100_000_000)? {
                    0 => return Err(self.error(item, "a frequency is 0, expected kHz")),
                    number => khz.push(number),
                }
            }
            khz.sort_unstable();
            khz.dedup();
            if khz.is_empty() {
                let message = format!("CPU {cpu} has no frequency, expected one at least");
                return Err(self.error(value, message));
            }
            found[cpu] = Some(Freqs {
                line: value.line,
                khz,
            });
        }
        Ok(found)
    }

    /// What is assumed of the architecture, if something is.
    fn guessed(&self, conf: &Node, architecture: Architecture, abi: &str) -> Option<String> {
        let line = conf.get("abi").map_or(conf.line, |node| node.line);
        match architecture {
            Architecture::X86 | Architecture::Arm => None,
            Architecture::Foreign => Some(format!(
                "line {line}: `abi` is {abi}: kernel path costs of x86 are assumed"
            )),
            Architecture::Unstated => Some(
                "the architecture (`abi`) is not stated: kernel path costs of arm are assumed"
                    .into(),
            ),
        }
    }

    /// `CONFIG_HZ` of the kernel's configuration, which LISA has as the text of the file `.config`.
    fn hz(&self, conf: &Node) -> Result<Option<Said<u64>>, Error> {
        const KEY: &str = "CONFIG_HZ";
        const HIGHEST: u64 = 10_000;
        let config = conf.get("kernel").and_then(|kernel| kernel.get("config"));
        let Some(node) = config.and_then(|config| config.get("text")) else {
            return Ok(None);
        };
        let Value::Scalar(text) = &node.value else {
            return Ok(None);
        };
        let stated = |line: &'_ str| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == KEY).then(|| value.trim().to_owned())
        };
        let Some(value) = text.lines().find_map(stated) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(hz @ 1..=HIGHEST) => {
                let place = format!("line {}, kernel.config, {KEY}", node.line);
                Ok(Some(Said::new(hz, place)))
            }
            _ => {
                let message = format!(
                    "`{KEY}` of `kernel.config` is `{value}`, expected a number from 1 to {HIGHEST}"
                );
                Err(self.error(node, message))
            }
        }
    }

    /// What is assumed of the NUMA nodes, if there are several.
    fn nodes(&self, conf: &Node) -> Result<Option<String>, Error> {
        let Some(node) = conf.get("numa-nodes-count") else {
            return Ok(None);
        };
        let count = self.number(node, "numa-nodes-count", CpuSet::MAX as u64)?;
        Ok((count > 1).then(|| {
            format!(
                "line {}: there are several NUMA nodes, and LISA does not say which CPUs are of which: \
                 all are taken as one node",
                node.line
            )
        }))
    }
}
