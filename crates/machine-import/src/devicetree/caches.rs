// SPDX-License-Identifier: GPL-2.0-only
//! Caches: the chain of `next-level-cache` from each CPU.

use alight_machine::CpuSet;

use super::map::Map;
use super::tree::{Id, Tree};
use crate::error::Error;
use crate::platform::{Place, Platform, Said, Spans, named};

/// Levels of caches that a chain may have.
const LONGEST: usize = 8;

/// By CPU, its caches from the nearest to the last one.
pub(super) struct Caches {
    chains: Vec<Vec<Cache>>,
}

#[derive(Clone, Copy)]
struct Cache {
    node: Id,
    level: u32,
    bytes: Option<u32>,
}

pub(super) fn read(tree: &Tree, nodes: &[Id]) -> Result<Caches, Error> {
    let chains = nodes
        .iter()
        .map(|&node| chain(tree, node))
        .collect::<Result<_, _>>()?;
    Ok(Caches { chains })
}

fn chain(tree: &Tree, cpu: Id) -> Result<Vec<Cache>, Error> {
    let mut chain: Vec<Cache> = Vec::new();
    let mut at = cpu;
    // Of two names the newer one holds (of_find_next_cache_node()).
    while let Some(name) = ["next-level-cache", "l2-cache"]
        .into_iter()
        .find(|name| tree.has(at, name))
    {
        let Some(&node) = tree.links(at, name)?.first() else {
            break;
        };
        if chain.len() == LONGEST || chain.iter().any(|cache| cache.node == node) {
            let message = format!("leads in a circle, or over more than {LONGEST} caches");
            return Err(tree.error_in(at, name, message));
        }
        let level = tree.cell(node, "cache-level")?;
        chain.push(Cache {
            node,
            level: level.unwrap_or(chain.len() as u32 + 2),
            bytes: tree.cell(node, "cache-size")?.filter(|&bytes| bytes > 0),
        });
        at = node;
    }
    Ok(chain)
}

impl Caches {
    fn users(&self, node: Id) -> CpuSet {
        let has = |chain: &Vec<Cache>| chain.iter().any(|cache| cache.node == node);
        (0..self.chains.len())
            .filter(|&cpu| has(&self.chains[cpu]))
            .collect()
    }

    /// L2 of a CPU, divided by the cores that share it.
    pub fn l2_kib(&self, tree: &Tree, cpu: usize, map: &Map) -> Option<Said<u64>> {
        let l2 = self.chains[cpu].iter().find(|cache| cache.level == 2)?;
        let sharing = self.users(l2.node);
        let leads = |cpu: &usize| map.core_of(*cpu).intersection(&sharing).first() == Some(*cpu);
        let cores = sharing.iter().filter(leads).count().max(1) as u64;
        let kib = (u64::from(l2.bytes?) / 1024 / cores).max(1);
        let place = tree.place_of(l2.node, "cache-size");
        (kib <= 1_048_576).then(|| Said::new(kib, place))
    }

    /// CPUs by the last cache of their chains. Those without a chain have one each.
    fn last_level(&self) -> Option<Spans> {
        let mut spans: Vec<(Id, CpuSet)> = Vec::new();
        for (cpu, chain) in self.chains.iter().enumerate() {
            let Some(last) = chain.last() else { continue };
            match spans.iter_mut().find(|(known, _)| *known == last.node) {
                Some((_, span)) => {
                    span.insert(cpu);
                }
                None => spans.push((last.node, CpuSet::single(cpu))),
            }
        }
        let mut spans: Vec<CpuSet> = spans.into_iter().map(|(_, span)| span).collect();
        if spans.is_empty() {
            return None;
        }
        let stated = spans
            .iter()
            .fold(CpuSet::new(), |all, span| all.union(span));
        let without = CpuSet::first_n(self.chains.len()).difference(&stated);
        if without.is_empty() {
            return Some(Said::new(spans, "next-level-cache of its CPUs"));
        }
        spans.extend(without.iter().map(CpuSet::single));
        let sentence = format!(
            "there is no `next-level-cache` of {}, but one of other CPUs: each counts as one last-level \
             cache",
            named(&without)
        );
        Some(Said::new(spans, Place::Assumed(sentence)))
    }

    /// Puts caches and clusters into the platform. The level MC is a cluster of the map where that is
    /// larger than the cache, and the package where there is no cache (cpu_coregroup_mask()).
    pub fn sharing(&self, platform: &mut Platform, map: Map) {
        let Some(llc) = self.last_level() else {
            platform.llc = Some(without_caches(platform.cpus.len(), map.package));
            platform.cls = map.cluster;
            return;
        };
        if let Some(cluster) = map.cluster {
            let larger = |span: &CpuSet| {
                let inside = llc.value.iter().filter(|llc| llc.intersects(span));
                inside.clone().count() > 1 && inside.clone().all(|llc| llc.is_subset(span))
            };
            match cluster.value.iter().any(larger) {
                true => platform.mc = Some(cluster),
                false => platform.cls = Some(cluster),
            }
        }
        platform.llc = Some(llc);
    }
}

/// What stands for the last-level caches of a tree without any.
fn without_caches(cpus: usize, package: Option<Spans>) -> Spans {
    let (what, spans) = match package {
        Some(said) if said.value.len() > 1 => ("each socket of the cpu-map counts", said.value),
        _ => ("all CPUs count", vec![CpuSet::first_n(cpus)]),
    };
    let sentence = format!(
        "there are no caches (`next-level-cache`): {what} as one last-level cache, as the level MC of Linux \
         has it"
    );
    Said::new(spans, Place::Assumed(sentence))
}
