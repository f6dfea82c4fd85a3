// SPDX-License-Identifier: GPL-2.0-only
//! Who shares a core, a cache, a node: what the kernel says CPU by CPU, as
//! disjoint sets that lie within each other. What does not fit is said in a note.

use super::facts::Gatherer;
use crate::cpuset::CpuSet;
use crate::kernel::{CPU, NODE};

/// Sets of CPUs, numbered without gaps, in the order of their lowest CPU.
pub(super) struct Sharing {
    pub core: Vec<CpuSet>,
    pub llc: Vec<CpuSet>,
    /// The level CLS where it is none of the others.
    pub cls: Option<Vec<CpuSet>>,
    /// The level MC where it is not that of the last-level caches.
    pub mc: Option<Vec<CpuSet>>,
    pub nodes: Vec<CpuSet>,
    /// Distances between the nodes, 10 = local.
    pub distances: Vec<Vec<u64>>,
}

/// Distance of a node to itself.
const LOCAL: u64 = 10;
/// Largest distance that a table of distances can hold.
const FARTHEST: u64 = 255;

/// Levels of the kernel for s390 that the model has not, with the files that tell of them.
const LEFT_OUT: [(&str, &str); 2] = [
    ("BOOK", "book_siblings_list"),
    ("DRAWER", "drawer_siblings_list"),
];

impl Gatherer<'_> {
    pub(super) fn sharing(&mut self) -> Result<Sharing, crate::Error> {
        let single = (0..self.online.len())
            .map(CpuSet::single)
            .collect::<Vec<_>>();
        self.note_unread_levels();
        let core = self.settled("a core", &single, |all, cpu| all.ours(&all.facts(cpu).core));
        let (nodes, distances) = self.nodes(&core);
        let node_of = |cpu: usize| {
            let holds = |node: &&CpuSet| node.contains(cpu);
            nodes.iter().find(holds).copied().unwrap_or_default()
        };
        let llc = self.settled("a last-level cache", &core, |all, cpu| {
            let facts = all.facts(cpu);
            let shared = facts.llc.or(facts.package);
            let shared = shared.map_or_else(|| node_of(cpu), |shared| all.ours(&shared));
            shared.intersection(&node_of(cpu))
        });
        let levels = self.kernel.levels();
        let level = |name: &str| {
            let found = levels.iter().find(|level| level.name == name);
            found.map(|level| level.spans.clone()).unwrap_or_default()
        };
        let (cls, mc) = (level("CLS"), level("MC"));
        let of_kernel = |all: &Self, spans: &[CpuSet], cpu: usize| {
            all.ours(&spans[all.online[cpu]])
                .intersection(&node_of(cpu))
        };
        let mc = self.settled("the level MC", &core, |all, cpu| of_kernel(all, &mc, cpu));
        let cls = self.settled("the level CLS", &core, |all, cpu| {
            let within = mc.iter().find(|span| span.contains(cpu));
            let within = within.copied().unwrap_or_default();
            of_kernel(all, &cls, cpu).intersection(&within)
        });
        let cls = (cls != core && cls != mc).then_some(cls);
        if cls.is_some() && !self.x86()? {
            self.note(
                "the level CLS (clusters of CPUs that share an L2 or the like) is taken from \
                 `cluster_cpus_list`: that the kernel builds it (CONFIG_SCHED_CLUSTER, from 5.16 \
                 on) is assumed",
            );
        }
        self.note_left_out_levels(&core, &nodes)?;
        Ok(Sharing {
            cls,
            mc: (mc != llc).then_some(mc),
            core,
            llc,
            nodes,
            distances,
        })
    }

    /// Disjoint sets of whole `units`, from what each CPU says of its own. Says in a
    /// note where CPUs contradict each other.
    pub(super) fn settled(
        &mut self,
        what: &str,
        units: &[CpuSet],
        set_of: impl Fn(&Self, usize) -> CpuSet,
    ) -> Vec<CpuSet> {
        let sets = partition(units, |cpu| set_of(self, cpu));
        let contradicted = (0..self.online.len()).find(|&cpu| {
            let own = sets.iter().find(|set| set.contains(cpu));
            let said = set_of(self, cpu).union(&CpuSet::single(cpu));
            own.is_some_and(|own| said != *own)
        });
        if let Some(cpu) = contradicted {
            let said = self.theirs(&set_of(self, cpu));
            let taken: Vec<String> = (sets.iter())
                .map(|set| self.theirs(set).to_string())
                .collect();
            self.note(&format!(
                "the CPUs disagree about the sharing of {what} (CPU {} says {said}): the sets \
                 used are {}",
                self.online[cpu],
                taken.join(" and ")
            ));
        }
        sets
    }

    /// Nodes that have CPUs, and the distances between them.
    fn nodes(&mut self, core: &[CpuSet]) -> (Vec<CpuSet>, Vec<Vec<u64>>) {
        let nowhere: CpuSet = (self.online.iter().copied())
            .filter(|&cpu| !self.kernel.nodes.iter().any(|node| node.cpus.contains(cpu)))
            .collect();
        if !nowhere.is_empty() {
            self.note(&format!(
                "no node has the CPUs {nowhere}: they are put into the first node"
            ));
        }
        let nodes = self.settled("a node", core, |all, cpu| {
            let node = all.kernel.node_of(all.online[cpu]);
            let home = |&other: &usize| all.kernel.node_of(all.online[other]) == node;
            (0..all.online.len()).filter(home).collect()
        });
        let places: Vec<usize> = nodes.iter().map(|node| self.place(node)).collect();
        if places.len() > 1
            && places
                .iter()
                .any(|&place| self.kernel.nodes[place].distance.is_none())
        {
            self.note("the distances between nodes are not known: 20 is assumed");
        }
        let kernel = &self.kernel;
        let row = |from: usize| {
            places
                .iter()
                .map(move |&to| u64::from(kernel.distance(from, to)))
        };
        let said: Vec<Vec<u64>> = places.iter().map(|&from| row(from).collect()).collect();
        self.plausible_distances(nodes, said)
    }

    /// Index of a node among those of the kernel.
    fn place(&self, node: &CpuSet) -> usize {
        let first = node.first().unwrap_or(0);
        self.kernel.node_of(self.online[first])
    }

    /// Distances as the scheduler can use them: the same both ways, 10 within a node,
    /// more between two. Nodes that are no farther are one.
    fn plausible_distances(
        &mut self,
        nodes: Vec<CpuSet>,
        said: Vec<Vec<u64>>,
    ) -> (Vec<CpuSet>, Vec<Vec<u64>>) {
        let all = 0..nodes.len();
        let between = |a: usize, b: usize| match a == b {
            true => LOCAL,
            false => said[a][b].max(said[b][a]).clamp(LOCAL, FARTHEST),
        };
        let plain: Vec<Vec<u64>> = (all.clone())
            .map(|a| all.clone().map(|b| between(a, b)).collect())
            .collect();
        if plain != said {
            self.note(&format!(
                "the distances between nodes {said:?} are not the same both ways, not 10 within a \
                 node or not 10 to 255: {plain:?} are used"
            ));
        }
        let groups = at_one_place(&plain);
        if groups.len() < nodes.len() {
            self.note("nodes whose distance is that within a node are merged");
        }
        let farthest = |some: &[usize], others: &[usize]| {
            let rows = some.iter().map(|&node| &plain[node]);
            let cells = rows.flat_map(|row| others.iter().map(|&other| row[other]));
            cells.max().unwrap_or(LOCAL)
        };
        let distance = |some: &Vec<usize>, others: &Vec<usize>| match some == others {
            true => LOCAL,
            false => farthest(some, others),
        };
        let row = |some: &Vec<usize>| groups.iter().map(|others| distance(some, others)).collect();
        let distances = groups.iter().map(row).collect();
        let merged = |group: &Vec<usize>| {
            let cpus = group.iter().map(|&node| nodes[node]);
            cpus.fold(CpuSet::new(), |all, node| all.union(&node))
        };
        (groups.iter().map(merged).collect(), distances)
    }

    /// Says what of the topology has no file to read it from.
    fn note_unread_levels(&mut self) {
        let has = |all: &Self, names: &[&str]| {
            let file = |name: &&str| {
                all.tree
                    .exists(&all.cpu_file(0, &format!("topology/{name}")))
            };
            names.iter().any(file)
        };
        let core = [
            "core_cpus_list",
            "core_cpus",
            "thread_siblings_list",
            "thread_siblings",
        ];
        if !has(self, &core) {
            self.note("the SMT siblings are not known: each CPU counts as a core of its own");
        }
        let (caches, packages) = (self.facts(0).llc.is_some(), self.facts(0).package.is_some());
        match (caches, packages) {
            (true, _) => {}
            (false, true) => {
                self.note("the caches are not known: each package counts as one last-level cache");
            }
            (false, false) => self.note(
                "the caches and packages are not known: each node counts as one last-level cache",
            ),
        }
        let unread: Vec<String> = (self.node_numbers.iter())
            .filter(|node| {
                let file = |name: &str| format!("{NODE}/node{node}/{name}");
                !self.tree.exists(&file("cpulist")) && !self.tree.exists(&file("cpumap"))
            })
            .map(u64::to_string)
            .collect();
        if !unread.is_empty() {
            self.note(&format!(
                "node {} has neither `cpulist` nor `cpumap`, so its CPUs are not known: the node \
                 is left out",
                unread.join(", ")
            ));
        }
        if self.node_numbers.is_empty() {
            self.note("sysfs has no nodes: all CPUs count as one node");
        }
    }

    /// Names the levels of this kernel that the model has not.
    fn note_left_out_levels(
        &mut self,
        core: &[CpuSet],
        nodes: &[CpuSet],
    ) -> Result<(), crate::Error> {
        for (level, file) in LEFT_OUT {
            let mut said = Vec::new();
            for &cpu in &self.online {
                let folder = format!("{CPU}/cpu{cpu}/topology");
                let set = self.tree.cpus_or_mask(&folder, file)?;
                said.push(set.map(|set| self.ours(&set)).unwrap_or_default());
            }
            let spans = partition(core, |cpu| said[cpu]);
            if said.iter().any(|set| set.len() > 1) && spans != core && spans != nodes {
                let spans: Vec<String> = spans
                    .iter()
                    .map(|span| self.theirs(span).to_string())
                    .collect();
                self.note(&format!(
                    "the kernel's level {level} (CPUs {}) is not modelled: it is left out",
                    spans.join(" and ")
                ));
            }
        }
        Ok(())
    }
}

/// Disjoint sets of whole `units`: the lowest CPU of a unit says which set it is in.
pub(super) fn partition(units: &[CpuSet], set_of: impl Fn(usize) -> CpuSet) -> Vec<CpuSet> {
    let mut left = units.to_vec();
    let mut sets = Vec::new();
    while let Some(first) = left.first().copied() {
        let set = first.first().map(&set_of).unwrap_or_default();
        let within =
            |unit: &CpuSet| *unit == first || unit.first().is_some_and(|cpu| set.contains(cpu));
        let (taken, rest): (Vec<CpuSet>, Vec<CpuSet>) = left.iter().partition(|unit| within(unit));
        sets.push(union(&taken));
        left = rest;
    }
    sets
}

/// The nodes in groups, of which each node is at the distance 10 from another of its group.
fn at_one_place(distances: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (node, row) in distances.iter().enumerate() {
        let near = |group: &Vec<usize>| group.iter().any(|&other| row[other] == LOCAL);
        let (joined, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(near);
        let mut group: Vec<usize> = joined.concat();
        group.push(node);
        rest.push(group);
        rest.sort();
        groups = rest;
    }
    groups
}

fn union(sets: &[CpuSet]) -> CpuSet {
    let all = CpuSet::new();
    sets.iter().fold(all, |all, set| all.union(set))
}
