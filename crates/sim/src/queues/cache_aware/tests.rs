// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the cache that a process prefers, and of how long it does.

use super::*;
use crate::testbed::{MS, begin_on, machine, task, workload};
use alight_workload::program::Op;

impl CacheAware {
    /// Pretends that this many tasks on `cpu` prefer the cache.
    pub(crate) fn pretend_wanted(&mut self, cpu: usize, llc: usize, tasks: u32) {
        self.wanted[cpu * self.nr_llcs + llc] = tasks;
        if llc != self.llc(cpu) {
            self.strays[llc] += tasks;
        }
    }

    /// Pretends that a core has this many threads.
    pub(crate) fn pretend_threads(&mut self, smt: u32) {
        self.smt = smt;
    }
}

const HOG: [Op; 1] = [Op::Run { ns: 10_000 * MS }];

/// A process without a scan for more than five epochs prefers no cache.
#[test]
fn a_preference_does_not_outlive_what_it_is_made_of() {
    let late = task(0, &[Op::Sleep { ns: 500 * MS }, Op::Run { ns: MS }]);
    let other = task(0, &[Op::Sleep { ns: 9_000 * MS }]);
    let workload = workload(&[late, other]);
    begin_on("linux-7.2", &machine(16, 8), &workload, |sim| {
        sim.until(499 * MS);
        sim.cache_aware.processes[0].cpu = 3;
        sim.until(505 * MS);
        assert_eq!(sim.cache_aware.processes[0].cpu, NONE);
    });
}

/// Run time is halved at each epoch. An epoch is 10 ms in whole ticks: 8 ms with ticks of 4 ms.
#[test]
fn time_is_forgotten_by_halves() {
    let mut ran = Ran { ns: 800, epoch: 3 };
    for (epoch, left) in [(3, 800), (4, 400), (6, 100), (80, 0)] {
        ran.decay(epoch);
        assert_eq!(ran.ns, left, "epoch {epoch}");
    }
    begin_on(
        "linux-7.2",
        &machine(16, 8),
        &workload(&[task(0, &HOG)]),
        |sim| {
            assert_eq!(sim.cache_aware.period, 2);
        },
    );
}
