// SPDX-License-Identifier: GPL-2.0-only
//! Machines of 8, 16 and 384 CPUs, and a fixed sequence of numbers.

use alight_policy::topology::{CpuDescription, Description, Level, LevelKind};

fn level(kind: LevelKind, nr: u32, key: impl Fn(u32) -> u32) -> Level {
    Level::by_key(kind, &(0..nr).map(key).collect::<Vec<_>>())
}

fn cpus(nr: u32, describe: impl Fn(u32) -> (u32, u32)) -> Vec<CpuDescription> {
    (0..nr)
        .map(|cpu| {
            let (capacity, node) = describe(cpu);
            CpuDescription { capacity, node }
        })
        .collect()
}

/// Four little and four big CPUs behind one cache.
pub fn sdm845() -> Description {
    Description {
        cpus: cpus(8, |cpu| (if cpu < 4 { 385 } else { 1024 }, 0)),
        levels: vec![level(LevelKind::Cache, 8, |_| 0)],
    }
}

/// Eight cores of two threads behind one cache.
pub fn desktop() -> Description {
    Description {
        cpus: cpus(16, |_| (1024, 0)),
        levels: vec![
            level(LevelKind::Smt, 16, |cpu| cpu % 8),
            level(LevelKind::Cache, 16, |_| 0),
        ],
    }
}

/// Two sockets of 12 caches of 8 cores of two threads.
pub fn epyc() -> Description {
    let core = |cpu: u32| cpu % 192;
    Description {
        cpus: cpus(384, |cpu| (1024, core(cpu) / 96)),
        levels: vec![
            level(LevelKind::Smt, 384, core),
            level(LevelKind::Cache, 384, |cpu| core(cpu) / 8),
            level(LevelKind::Package, 384, |cpu| core(cpu) / 96),
            level(LevelKind::Numa { distance: 20 }, 384, |_| 0),
        ],
    }
}

/// A fixed sequence (xorshift64*), the same on every host.
pub struct Sequence(pub u64);

impl Sequence {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % u64::from(n)) as u32
    }
}
