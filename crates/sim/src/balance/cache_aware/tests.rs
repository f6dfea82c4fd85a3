// SPDX-License-Identifier: GPL-2.0-only
//! Tests of cache-aware balancing on machines with two caches: where threads end up, and when
//! caches do not count.

use super::*;
use crate::testbed::{Given, MS, begin_on, big_little, machine, task, workload};
use crate::world::state::Task;
use alight_machine::MachineLevel;
use alight_workload::program::{Attributes, Op, Workload};

impl Balancer<'_> {
    /// Pretends that this part of each cache's capacity is used, percent.
    pub(in crate::balance) fn pretend_used(&mut self, percent: &[u64]) {
        for (cache, &percent) in self.cache_uses.iter_mut().zip(percent) {
            *cache = Use {
                util: percent * 80,
                capacity: 8000,
            };
        }
    }
}

const HOG: [Op; 1] = [Op::Run { ns: 10_000 * MS }];

fn processes(mut workload: Workload, of: impl Fn(usize) -> u32) -> Workload {
    for (at, task) in workload.tasks.iter_mut().enumerate() {
        task.process = of(at);
    }
    workload
}

/// Number of tasks in the first of two caches of `cpus` after a second.
fn in_first_cache(base: &str, cpus: usize, workload: &Workload) -> usize {
    begin_on(base, &machine(2 * cpus, cpus), workload, |sim| {
        sim.until(1000 * MS);
        let first = |task: &&Task| (task.cpu as usize) < cpus;
        sim.tasks.iter().filter(first).count()
    })
}

/// Of three tasks that never sleep, two begin in the first cache, so that its idle CPUs look for
/// work, and one in the other. A guest with 7.2 behaves the same.
#[test]
fn threads_of_a_process_come_together() {
    // The tasks are bound until they run, and free from then on.
    let anywhere = Attributes {
        affinity: Some((0..8).collect()),
        ..Attributes::default()
    };
    let start = [
        Op::Sleep { ns: 30 * MS },
        Op::SetAttributes { attributes: 0 },
    ];
    let begins_on = |cpu| task(0, &[&start[..], &HOG].concat()).on(&[cpu]);
    let together = |base, process: fn(usize) -> u32| {
        let hogs = workload(&[0, 1, 4].map(begins_on));
        let mut workload = processes(hogs, process);
        workload.attributes = vec![anywhere.clone()];
        in_first_cache(base, 4, &workload)
    };
    assert_eq!(together("linux-7.2", |_| 0), 3, "one process");
    assert_eq!(together("linux-7.2", |at| at as u32), 2, "three processes");
    assert_eq!(
        together("linux-6.5", |_| 0),
        2,
        "a kernel that does not know it"
    );
}

/// 6 of 8 CPUs are less than 80 %; with more threads at a time the process prefers no cache.
#[test]
fn a_process_that_fills_a_cache_is_spread() {
    let hogs = |count: usize| {
        let hogs: Vec<Given> = (0..count).map(|_| task(0, &HOG)).collect();
        in_first_cache("linux-7.2", 8, &workload(&hogs))
    };
    assert!([0, 4].contains(&hogs(4)), "together");
    let spread = hogs(14);
    assert!((6..=8).contains(&spread), "{spread} of 14");
}

/// Percent used of the cache that a task leaves and of the one it goes to, and whether the latter
/// is the one that it prefers.
#[test]
fn caches_fill_up_to_a_half_and_a_fifth_more() {
    use Verdict::{Forbidden, Free, Wanted};
    begin_on(
        "linux-7.2",
        &machine(16, 8),
        &workload(&[task(0, &HOG)]),
        |sim| {
            for (smt, from, to, home, verdict) in [
                (2, 30, 30, true, Wanted),
                (2, 30, 49, true, Wanted),
                (2, 30, 50, true, Forbidden),
                (2, 42, 50, true, Wanted),
                (2, 41, 50, true, Forbidden),
                (2, 50, 50, true, Free),
                (2, 30, 30, false, Forbidden),
                (2, 60, 30, false, Wanted),
                (2, 60, 49, false, Wanted),
                (2, 58, 49, false, Forbidden),
                (2, 49, 0, false, Forbidden),
                (2, 60, 60, false, Free),
                (1, 30, 74, true, Wanted),
                (1, 30, 75, true, Forbidden),
                (1, 74, 0, false, Forbidden),
                (1, 75, 0, false, Wanted),
                (1, 75, 75, false, Free),
            ] {
                sim.cache_aware.pretend_threads(smt);
                let of = |percent: u64| Use {
                    util: percent * 80,
                    capacity: 8000,
                };
                (sim.cache_uses[0], sim.cache_uses[1]) = (of(from), of(to));
                let found = sim.move_between(0, 8, 0, home);
                assert_eq!(
                    found, verdict,
                    "{smt} threads, from {from} to {to}, home {home}"
                );
            }
            // The task's utilization moves with it.
            sim.cache_aware.pretend_threads(2);
            let of = |util| Use {
                util,
                capacity: 8000,
            };
            (sim.cache_uses[0], sim.cache_uses[1]) = (of(3000), of(3960));
            assert_eq!(sim.move_between(0, 8, 0, true), Wanted);
            assert_eq!(sim.move_between(0, 8, 80, true), Forbidden);
        },
    );
}

/// Between caches with different CPUs no task moves from a CPU that it fits to one that it does not
/// fit, whatever its process.
#[test]
fn who_fits_is_not_moved_to_where_it_would_not() {
    let mut machine = big_little(4);
    machine.levels.insert(
        0,
        MachineLevel {
            name: "MC".into(),
            spans: vec![(0..2).collect(), (2..4).collect()],
            power_gated: false,
        },
    );
    machine.levels[1].name = "PKG".into();
    begin_on("linux-7.2", &machine, &workload(&[task(0, &HOG)]), |sim| {
        assert!(sim.cache_aware.used);
        let scope = |dst| Scope::new(dst, 1, Idle::Yes, 0);
        for (util, src, dst, misfit) in [
            (700, 2, 0, true),
            (300, 2, 0, false),
            (700, 0, 2, false),
            (700, 2, 3, false),
        ] {
            sim.views[0].pelt.util_avg = util;
            sim.views[0].util_est_ewma = 0;
            assert_eq!(
                sim.would_misfit(&scope(dst), src, dst, 0),
                misfit,
                "{util} {src} {dst}"
            );
        }
    });
}
