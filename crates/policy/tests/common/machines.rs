// SPDX-License-Identifier: GPL-2.0-only
//! Small machines to ask questions about.

use alight_policy::topology::{CpuDescription, Description, Level, LevelKind};

/// Capacity of a little CPU: a task of up to 356 fits it.
pub const LITTLE: u32 = 446;
/// Capacity of a big CPU: a task of up to 819 fits it.
pub const BIG: u32 = 1024;

fn machine(capacities: &[u32], levels: Vec<Level>) -> Description {
    Description {
        cpus: (capacities.iter())
            .map(|&capacity| CpuDescription { capacity, node: 0 })
            .collect(),
        levels,
    }
}

fn level(kind: LevelKind, nr: u32, key: impl Fn(u32) -> u32) -> Level {
    Level::by_key(kind, &(0..nr).map(key).collect::<Vec<_>>())
}

/// `nr` equal CPUs behind one cache.
pub fn flat(nr: u32) -> Description {
    caches(nr, nr)
}

/// `nr` equal CPUs in one package, `each` behind a cache.
pub fn caches(nr: u32, each: u32) -> Description {
    let levels = vec![
        level(LevelKind::Cache, nr, |cpu| cpu / each),
        level(LevelKind::Package, nr, |_| 0),
    ];
    machine(&vec![BIG; nr as usize], levels)
}

/// `cores` cores of `threads` threads behind one cache; thread t of core c is CPU c + t * cores.
pub fn smt(cores: u32, threads: u32) -> Description {
    let nr = cores * threads;
    let levels = vec![
        level(LevelKind::Smt, nr, |cpu| cpu % cores),
        level(LevelKind::Cache, nr, |_| 0),
    ];
    machine(&vec![BIG; nr as usize], levels)
}

/// `nr` equal CPUs behind one cache that consists of clusters of `each`.
pub fn clustered(nr: u32, each: u32) -> Description {
    let levels = vec![
        level(LevelKind::Cluster, nr, |cpu| cpu / each),
        level(LevelKind::Cache, nr, |_| 0),
    ];
    machine(&vec![BIG; nr as usize], levels)
}

/// Four little cores and four big ones of two threads each (CPU c and c + 8), one cache for all.
pub fn asym_smt() -> Description {
    let levels = vec![
        level(LevelKind::Smt, 16, |cpu| cpu % 8),
        level(LevelKind::Cache, 16, |_| 0),
    ];
    let capacities: Vec<u32> = (0..16).map(|cpu| BIG_LITTLE[cpu % 8]).collect();
    machine(&capacities, levels)
}

/// Two nodes of `each` CPUs, each one package and one cache.
pub fn nodes(each: u32, distance: u32) -> Description {
    let nr = 2 * each;
    let levels = vec![
        level(LevelKind::Cache, nr, |cpu| cpu / each),
        level(LevelKind::Package, nr, |cpu| cpu / each),
        level(LevelKind::Numa { distance }, nr, |_| 0),
    ];
    let mut machine = machine(&vec![BIG; nr as usize], levels);
    for (cpu, of) in machine.cpus.iter_mut().enumerate() {
        of.node = cpu as u32 / each;
    }
    machine
}

const BIG_LITTLE: [u32; 8] = [LITTLE, LITTLE, LITTLE, LITTLE, BIG, BIG, BIG, BIG];

/// CPUs 0-3 little, 4-7 big, a cache for each four.
pub fn clusters() -> Description {
    Description {
        levels: caches(8, 4).levels,
        ..machine(&BIG_LITTLE, Vec::new())
    }
}

/// CPUs 0-3 little, 4-7 big, one cache for all.
pub fn dynamiq() -> Description {
    Description {
        levels: flat(8).levels,
        ..machine(&BIG_LITTLE, Vec::new())
    }
}

/// One cache for all, of these capacities.
pub fn of_capacities(capacities: &[u32]) -> Description {
    Description {
        levels: flat(capacities.len() as u32).levels,
        ..machine(capacities, Vec::new())
    }
}

/// Versatile Express TC2: CPUs 0-1 Cortex-A15, 2-4 Cortex-A7, a cache for each kind.
pub fn tc2() -> Description {
    let levels = vec![
        level(LevelKind::Cache, 5, |cpu| u32::from(cpu >= 2)),
        level(LevelKind::Package, 5, |_| 0),
    ];
    machine(&[BIG, BIG, 430, 430, 430], levels)
}

/// The same machine, of which the groups of levels of these kinds can be power gated each
/// for itself.
pub fn gated(machine: Description, kinds: &[LevelKind]) -> Description {
    let gate = |level: Level| match kinds.contains(&level.kind) {
        true => level.gated(),
        false => level,
    };
    Description {
        levels: machine.levels.into_iter().map(gate).collect(),
        ..machine
    }
}

/// Equal CPUs that share nothing but the package.
pub fn no_cache(nr: u32) -> Description {
    machine(
        &vec![BIG; nr as usize],
        vec![level(LevelKind::Package, nr, |_| 0)],
    )
}
