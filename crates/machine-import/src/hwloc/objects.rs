// SPDX-License-Identifier: GPL-2.0-only
//! The tree of objects, seen from its leaves: what each PU is inside of.

use alight_machine::CpuSet;
use roxmltree::Node;

use super::xml::File;
use crate::error::Error;
use crate::platform::{Distances, Said};

/// Depth of objects, against files that are made to exhaust the stack.
const DEEPEST: usize = 64;
/// hwloc's number for groups that it makes for memory alone (`HWLOC_GROUP_KIND_MEMORY`).
const MEMORY_GROUP: &str = "1001";

/// A cache that holds data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cache {
    pub id: usize,
    pub level: u64,
    pub bytes: u64,
    pub line: usize,
}

/// What a PU is inside of, each by a number of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Pu {
    /// Our number of the CPU.
    pub cpu: usize,
    /// The system's number of it.
    pub os_index: usize,
    pub core: Option<usize>,
    pub cluster: Option<usize>,
    pub package: Option<usize>,
    /// Index in the nodes that have CPUs.
    pub node: Option<usize>,
    pub caches: Vec<Cache>,
}

impl Pu {
    pub fn l2(&self) -> Option<&Cache> {
        self.caches.iter().find(|cache| cache.level == 2)
    }

    /// The cache of the highest level.
    pub fn llc(&self) -> Option<usize> {
        let highest = self.caches.iter().max_by_key(|cache| cache.level);
        highest.map(|cache| cache.id)
    }
}

/// A NUMA node.
struct Numa {
    os_index: u64,
    /// Its place among the nodes of the file, which is hwloc's logical number of it.
    logical: usize,
    /// The system's numbers of its CPUs.
    cpus: CpuSet,
}

/// The objects of a topology.
pub(super) struct Objects {
    /// In the order of the system's numbers, which is that of ours.
    pub pus: Vec<Pu>,
    pub distances: Option<Distances>,
    pub notes: Vec<String>,
}

impl Objects {
    pub fn of(file: &File, root: Node) -> Result<Self, Error> {
        let mut walk = Walk {
            file,
            pus: Vec::new(),
            numas: Vec::new(),
            levels: Vec::new(),
            objects: 0,
        };
        let machines: Vec<Node> = objects_in(root).collect();
        let Some(&machine) = machines.first() else {
            let message = "there is no `object`, expected that of the machine";
            return Err(file.error(root, message));
        };
        for object in machines {
            walk.object(object, &Pu::default(), 0)?;
        }
        if walk.pus.is_empty() {
            let message = "the machine has 0 PUs (`object type=\"PU\"`), expected one at least";
            return Err(file.error(machine, message));
        }
        walk.finished(root, machine)
    }

    /// The system's numbers of CPUs as ours.
    pub fn ours(&self, system: &CpuSet) -> CpuSet {
        let known = self.pus.iter().filter(|pu| system.contains(pu.os_index));
        known.map(|pu| pu.cpu).collect()
    }
}

fn objects_in<'a, 't>(node: Node<'a, 't>) -> impl Iterator<Item = Node<'a, 't>> {
    node.children()
        .filter(|child| child.tag_name().name() == "object")
}

struct Walk<'a, 'f, 't> {
    file: &'a File<'f, 't>,
    pus: Vec<Pu>,
    numas: Vec<Numa>,
    /// Groups that are no level of the model: name, CPUs.
    levels: Vec<(String, CpuSet)>,
    objects: usize,
}

impl Walk<'_, '_, '_> {
    fn object(&mut self, object: Node, inside: &Pu, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            let message = format!("the objects nest deeper than {DEEPEST}, expected less");
            return Err(self.file.error(object, message));
        }
        let Some(kind) = object.attribute("type") else {
            return Err(self
                .file
                .error(object, "an `object` has no `type`, expected one"));
        };
        self.objects += 1;
        let id = self.objects;
        let mut inside = inside.clone();
        match kind {
            "Core" => inside.core = Some(id),
            "Package" | "Socket" => inside.package = Some(id),
            "NUMANode" => self.numa(object)?,
            "PU" => self.pu(object, &inside)?,
            "Group" => self.group(object, id, &mut inside)?,
            kind => inside.caches.extend(self.cache(object, kind, id)?),
        }
        for child in objects_in(object) {
            self.object(child, &inside, depth + 1)?;
        }
        Ok(())
    }

    fn pu(&mut self, object: Node, inside: &Pu) -> Result<(), Error> {
        let Some(number) = self.file.number(object, "os_index")? else {
            return Err(self
                .file
                .error(object, "a PU has no `os_index`, expected its number"));
        };
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= CpuSet::MAX {
            let message = format!(
                "a PU has the number {number}, expected one below {}",
                CpuSet::MAX
            );
            return Err(self.file.error(object, message));
        }
        if self.pus.iter().any(|pu| pu.os_index == number) {
            let message = format!("two PUs have the number {number}, expected one");
            return Err(self.file.error(object, message));
        }
        self.pus.push(Pu {
            os_index: number,
            ..inside.clone()
        });
        Ok(())
    }

    fn numa(&mut self, object: Node) -> Result<(), Error> {
        let os_index = self.file.number(object, "os_index")?.unwrap_or(0);
        let cpus = self.file.cpus(object, "cpuset")?.unwrap_or_default();
        self.numas.push(Numa {
            os_index,
            logical: self.numas.len(),
            cpus,
        });
        Ok(())
    }

    fn group(&mut self, object: Node, id: usize, inside: &mut Pu) -> Result<(), Error> {
        let name = object.attribute("subtype").unwrap_or("without a subtype");
        if name == "Cluster" {
            inside.cluster = Some(id);
        } else if object.attribute("kind") != Some(MEMORY_GROUP) {
            let cpus = self.file.cpus(object, "cpuset")?.unwrap_or_default();
            self.levels.push((name.to_owned(), cpus));
        }
        Ok(())
    }

    /// A cache of data: `Cache` of version 1, `L2Cache` since.
    fn cache(&self, object: Node, kind: &str, id: usize) -> Result<Option<Cache>, Error> {
        let is_level = |middle: &str| middle.starts_with('L') && middle.len() <= 3;
        let is_cache = kind
            .strip_suffix("Cache")
            .is_some_and(|start| start.is_empty() || is_level(start));
        const INSTRUCTIONS: &str = "2";
        if !is_cache || object.attribute("cache_type") == Some(INSTRUCTIONS) || kind.contains('i') {
            return Ok(None);
        }
        let named = kind
            .chars()
            .nth(1)
            .and_then(|digit| digit.to_digit(10))
            .map(u64::from);
        Ok(Some(Cache {
            id,
            level: self.file.number(object, "depth")?.or(named).unwrap_or(1),
            bytes: self.file.number(object, "cache_size")?.unwrap_or(0),
            line: self.file.line(object),
        }))
    }

    fn finished(mut self, root: Node, machine: Node) -> Result<Objects, Error> {
        self.pus.sort_by_key(|pu| pu.os_index);
        self.pus
            .iter_mut()
            .enumerate()
            .for_each(|(number, pu)| pu.cpu = number);
        self.numas.sort_by_key(|numa| numa.os_index);
        let mut notes = self.numbering(machine)?;
        let with_cpus = self.nodes(&mut notes);
        let mut objects = Objects {
            distances: self.distances(root, &with_cpus, &mut notes)?,
            pus: self.pus,
            notes,
        };
        let mut named: Vec<&str> = Vec::new();
        for (name, _) in &self.levels {
            if named.contains(&name.as_str()) {
                continue;
            }
            named.push(name);
            let same = self.levels.iter().filter(|(other, _)| other == name);
            let spans: Vec<String> = same
                .map(|(_, cpus)| objects.ours(cpus).to_string())
                .collect();
            objects.notes.push(format!(
                "the level Group {name} (CPUs {}) is not modelled: it is left out",
                spans.join(" and ")
            ));
        }
        Ok(objects)
    }

    /// CPUs that are not there, and numbers with gaps.
    fn numbering(&self, machine: Node) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        let online: CpuSet = self.pus.iter().map(|pu| pu.os_index).collect();
        let complete = self
            .file
            .cpus(machine, "complete_cpuset")?
            .unwrap_or_default();
        let offline = complete.difference(&online);
        if !offline.is_empty() {
            notes.push(format!(
                "the CPUs {offline} are offline or not allowed: they are left out"
            ));
        }
        if online != CpuSet::first_n(online.len()) {
            notes.push(format!(
                "the CPUs {online} are renumbered to 0-{}",
                online.len() - 1
            ));
        }
        Ok(notes)
    }

    /// Puts each PU into the smallest node around it, the lowest of equal ones. Gives the places of the
    /// nodes that have PUs, and names the others.
    fn nodes(&mut self, notes: &mut Vec<String>) -> Vec<usize> {
        let numas = &self.numas;
        let home = |os_index: usize| {
            let around = numas.iter().enumerate();
            let around = around.filter(|(_, numa)| numa.cpus.contains(os_index));
            around
                .min_by_key(|(_, numa)| numa.cpus.len())
                .map(|(place, _)| place)
        };
        let homes: Vec<Option<usize>> = self.pus.iter().map(|pu| home(pu.os_index)).collect();
        let used: Vec<usize> = (0..numas.len())
            .filter(|place| homes.contains(&Some(*place)))
            .collect();
        let unused: Vec<String> = (numas.iter().enumerate())
            .filter(|(place, _)| !used.contains(place))
            .map(|(_, numa)| numa.os_index.to_string())
            .collect();
        if !unused.is_empty() {
            notes.push(format!(
                "the NUMA nodes {} are memory without CPUs of their own: they are left out",
                unused.join(", ")
            ));
        }
        for (pu, home) in self.pus.iter_mut().zip(homes) {
            pu.node = home.and_then(|home| used.iter().position(|place| *place == home));
        }
        used
    }

    /// Distances between the nodes that have CPUs, in the order of `nodes`.
    fn distances(
        &self,
        root: Node,
        nodes: &[usize],
        notes: &mut Vec<String>,
    ) -> Result<Option<Distances>, Error> {
        if nodes.len() < 2 {
            return Ok(None);
        }
        for element in root.descendants() {
            let found = match (element.tag_name().name(), element.attribute("type")) {
                ("distances2", Some("NUMANode")) => self.distances_by_number(element, nodes)?,
                ("distances", _) => self.distances_of_version_1(element, nodes)?,
                _ => continue,
            };
            let line = self.file.line(element);
            match found {
                Some(rows) => return Ok(Some(Said::new(rows, format!("line {line}, distances")))),
                None => notes.push(format!(
                    "line {line}: these distances are no latencies between all NUMA nodes that have \
                     CPUs: they are left out"
                )),
            }
        }
        Ok(None)
    }

    /// The rows of `nodes` in a matrix that names its nodes by their system's numbers (`indexes`).
    fn distances_by_number(
        &self,
        element: Node,
        nodes: &[usize],
    ) -> Result<Option<Vec<Vec<u64>>>, Error> {
        let is = |name: &str, value: &str| element.attribute(name).is_none_or(|is| is == value);
        let by_number = element.attribute("indexing") == Some("os");
        let latency = is("name", "NUMALatency") && is_latency(self.file.number(element, "kind")?);
        if !by_number || !latency {
            return Ok(None);
        }
        let indexes = self.numbers(element, "indexes")?;
        let values = self.numbers(element, "u64values")?;
        self.is_square(element, values.len(), indexes.len())?;
        let place = |&node: &usize| {
            let os_index = self.numas[node].os_index;
            indexes.iter().position(|&index| index == os_index)
        };
        let places: Option<Vec<usize>> = nodes.iter().map(place).collect();
        Ok(places.map(|places| rows(&values, indexes.len(), &places)))
    }

    fn is_square(&self, element: Node, values: usize, nodes: usize) -> Result<(), Error> {
        if values == nodes * nodes {
            return Ok(());
        }
        let message = format!(
            "the distances are {values} values, expected {} for {nodes} nodes",
            nodes * nodes
        );
        Err(self.file.error(element, message))
    }

    /// Numbers of the texts of all children of that name.
    fn numbers(&self, element: Node, name: &str) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        for child in element.children().filter(|node| node.has_tag_name(name)) {
            for word in child.text().unwrap_or_default().split_whitespace() {
                let number = word.parse().map_err(|_| {
                    let message = format!("`{name}` has `{word}`, expected whole numbers");
                    self.file.error(child, message)
                })?;
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    /// The rows of `nodes` in a matrix of version 1: it is of all nodes, in the order of their logical
    /// numbers, and relative to the nearest (hwloc 1.11 src/distances.c,
    /// hwloc_distances__finalize_logical()).
    fn distances_of_version_1(
        &self,
        element: Node,
        nodes: &[usize],
    ) -> Result<Option<Vec<Vec<u64>>>, Error> {
        let all = self.numas.len();
        let base = element
            .attribute("latency_base")
            .and_then(|text| text.parse::<f64>().ok());
        let of_all = self.file.number(element, "nbobjs")? == Some(all as u64);
        let (true, Some(base)) = (of_all, base) else {
            return Ok(None);
        };
        let values: Option<Vec<u64>> = (element.children())
            .filter(|node| node.has_tag_name("latency"))
            .map(|node| node.attribute("value")?.parse::<f64>().ok())
            .map(|value| value.map(|value| (value * base).round() as u64))
            .collect();
        let values = values.unwrap_or_default();
        self.is_square(element, values.len(), all)?;
        let places: Vec<usize> = (nodes.iter())
            .map(|&node| self.numas[node].logical)
            .collect();
        Ok(Some(rows(&values, all, &places)))
    }
}

/// Are the values of this kind latencies (`HWLOC_DISTANCES_KIND_VALUE_LATENCY`)?
fn is_latency(kind: Option<u64>) -> bool {
    const LATENCY: u64 = 1 << 2;
    kind.is_none_or(|kind| kind & LATENCY != 0)
}

/// The rows and columns `places` of a matrix with `side` columns.
fn rows(values: &[u64], side: usize, places: &[usize]) -> Vec<Vec<u64>> {
    let row = |&from: &usize| places.iter().map(|to| values[from * side + to]).collect();
    places.iter().map(row).collect()
}
