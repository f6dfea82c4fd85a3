// SPDX-License-Identifier: GPL-2.0-only
//! `numactl -N NODES COMMAND`, `numactl -C CPUS COMMAND` (numactl 2.0.19): CPUs that a command may use,
//! by NUMA node or by number. Where memory is placed is not modelled.

use super::super::cpus::{self, Numbered, Text};
use super::super::getopt::{self, Found, Spec, Value, Word};
use super::super::surroundings::Surroundings;
use super::{prints_a_text, starts_nothing};
use crate::diagnostic::{Refusal, Remarks, Severity};
use crate::site::Site;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opt {
    All,
    CpuNodeBind,
    PhysCpuBind,
    /// Nodes that memory comes from.
    Memory,
    /// Rules for memory that name no nodes.
    MemoryRule,
    Informs,
    /// Shared memory and its files.
    SharedMemory,
}

const fn spec(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('a', "all", Value::No, Opt::All),
    spec('i', "interleave", Value::Required, Opt::Memory),
    spec('w', "weighted-interleave", Value::Required, Opt::Memory),
    spec('p', "preferred", Value::Required, Opt::Memory),
    spec('P', "preferred-many", Value::Required, Opt::Memory),
    spec('c', "cpubind", Value::Required, Opt::CpuNodeBind),
    spec('N', "cpunodebind", Value::Required, Opt::CpuNodeBind),
    spec('C', "physcpubind", Value::Required, Opt::PhysCpuBind),
    spec('m', "membind", Value::Required, Opt::Memory),
    spec('s', "show", Value::No, Opt::Informs),
    spec('l', "localalloc", Value::No, Opt::MemoryRule),
    spec('b', "balancing", Value::No, Opt::MemoryRule),
    spec('H', "hardware", Value::No, Opt::Informs),
    spec('S', "shm", Value::Required, Opt::SharedMemory),
    spec('f', "file", Value::Required, Opt::SharedMemory),
    spec('o', "offset", Value::Required, Opt::SharedMemory),
    spec('L', "length", Value::Required, Opt::SharedMemory),
    spec('t', "strict", Value::No, Opt::MemoryRule),
    spec('M', "shmmode", Value::Required, Opt::SharedMemory),
    spec('d', "dump", Value::No, Opt::SharedMemory),
    spec('D', "dump-nodes", Value::No, Opt::SharedMemory),
    spec('I', "shmid", Value::Required, Opt::SharedMemory),
    spec('u', "huge", Value::No, Opt::SharedMemory),
    spec('T', "touch", Value::No, Opt::SharedMemory),
    spec('V', "verify", Value::No, Opt::SharedMemory),
    Spec {
        short: None,
        long: Some("version"),
        value: Value::No,
        id: Opt::Informs,
    },
];

pub(super) fn read(
    words: &[Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<usize, Refusal> {
    let parsed = getopt::parse_leading("numactl", SPECS, &words[1..])?;
    let mut reader = Reader {
        // What numactl finds when it begins; its own options do not change that.
        allowed: around.allowed(),
        all: false,
        last_nodes: None,
        around,
    };
    for found in &parsed.options {
        reader.take(found, remarks)?;
    }
    Ok(words.len() - parsed.operands.len())
}

struct Reader<'r, 'a> {
    around: &'r mut Surroundings<'a>,
    allowed: Option<Vec<u32>>,
    /// `-a`: what the command may use does not limit what may be named.
    all: bool,
    /// For `same`.
    last_nodes: Option<String>,
}

impl Reader<'_, '_> {
    fn take(&mut self, found: &Found<Opt>, remarks: &mut Remarks) -> Result<(), Refusal> {
        match found.id {
            Opt::All => self.all = true,
            Opt::CpuNodeBind => {
                let site = self.around.known_site(
                    found.place,
                    &format!("numactl {} names NUMA nodes", found.spelling),
                )?;
                let nodes = self.nodes(found, Some(site))?;
                self.around.begin.attributes.affinity = Some(site.cpus_of(&nodes));
            }
            Opt::PhysCpuBind => {
                let cpus = self.cpus(found)?;
                self.around.begin.attributes.affinity = Some(cpus);
            }
            Opt::Memory | Opt::MemoryRule => {
                if found.id == Opt::Memory {
                    self.nodes(found, self.around.site)?;
                }
                remarks.leave_out(
                    Severity::Warning,
                    found.place,
                    format!(
                        "numactl {} has no effect: the placement of memory is not modelled; -N \
                         and -C, which bind to CPUs, are",
                        found.spelling
                    ),
                );
            }
            Opt::Informs => {
                return Err(prints_a_text(found));
            }
            Opt::SharedMemory => {
                let does = "is about shared memory, which is not modelled,";
                return Err(starts_nothing(found.place, &found.spelling, does));
            }
        }
        Ok(())
    }

    fn nodes(&mut self, found: &Found<Opt>, site: Option<&Site>) -> Result<Vec<u32>, Refusal> {
        let value = found.value.clone().unwrap_or_default();
        let text = match (value.as_str(), &self.last_nodes) {
            ("same", Some(last)) => last.clone(),
            ("same", None) => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "numactl {} `same` needs nodes before it; write their numbers",
                        found.spelling
                    ),
                ));
            }
            _ => value,
        };
        self.last_nodes = Some(text.clone());
        let of = format!("numactl {}", found.spelling);
        let there = site.map(Site::nodes);
        let given = Text {
            text: &text,
            place: found.place,
            of: &of,
        };
        let numbered = Numbered {
            what: "node",
            allowed: there.as_deref(),
            all: there.as_deref(),
        };
        cpus::libnuma(given, numbered)
    }

    fn cpus(&self, found: &Found<Opt>) -> Result<Vec<u32>, Refusal> {
        let there = self.around.site.map(Site::cpus);
        let allowed = match self.all {
            true => there.clone(),
            false => self.allowed.clone(),
        };
        let of = format!("numactl {}", found.spelling);
        let given = Text {
            text: found.value.as_deref().unwrap_or_default(),
            place: found.place,
            of: &of,
        };
        let numbered = Numbered {
            what: "CPU",
            allowed: allowed.as_deref(),
            all: there.as_deref(),
        };
        cpus::libnuma(given, numbered)
    }
}
