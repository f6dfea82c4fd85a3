// SPDX-License-Identifier: GPL-2.0-only
//! Caches: the cost for a task to bring its data to the CPU where it runs.

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, begin, machine, task, workload};
use alight_machine::Machine;
use alight_workload::program::Op;

/// Lines of a working set of 64 KiB, divided by the four that are fetched at a time.
const FETCHES: u64 = 1024 / 4;

/// Four CPUs: 0 and 1 share a cache, 2 a node with them, 3 none.
fn with_distances() -> Machine {
    let mut machine = machine(4, 2);
    machine.cpus[3].llc = 2;
    machine.cpus[3].node = 1;
    machine.memory.llc_line_ns = 10;
    machine.memory.cross_llc_line_ns = 100;
    machine.memory.cross_node_line_ns = 200;
    machine.memory.dram_line_ns = 150;
    machine.memory.refill_mlp = 4;
    machine.memory.working_set_bytes = 64 << 10;
    machine.core_types[0].l2_bytes = 1 << 20;
    machine
}

fn sleepers(n: usize) -> Vec<Given> {
    vec![task(3000 * 1000 * MS, &[Op::Run { ns: MS }]); n]
}

/// Runs `test` on that machine with three tasks that have not run.
fn cold(machine: &Machine, test: impl FnOnce(&mut Sim)) {
    begin(machine, &workload(&sleepers(3)), test);
}

/// Time that `task` waits for its data when it starts to run on `cpu`, ns.
fn refill(sim: &mut Sim, cpu: usize, task: u32) -> u64 {
    let before = sim.tasks[task as usize].stall;
    sim.refill(cpu, task);
    sim.tasks[task as usize].stall - before
}

#[test]
fn data_comes_from_where_the_task_ran() {
    for (cpu, line_ns, because) in [
        (0, 0, "still there"),
        (1, 10, "from the shared cache"),
        (2, 100, "from another cache of the node"),
        (3, 200, "from another node"),
    ] {
        cold(&with_distances(), |sim| {
            assert_eq!(refill(sim, 0, 0), FETCHES * 150, "at first from memory");
            sim.cache_leave(0, 0);
            assert_eq!(refill(sim, cpu, 0), FETCHES * line_ns, "{because}");
        });
    }
}

/// Data that other tasks bring into a private cache evict the part that does not fit beside them.
#[test]
fn others_evict_what_does_not_fit() {
    for (l2_kib, others, line_ns, because) in [
        (256, 1, 0, "room for all"),
        (128, 1, 0, "just room for two"),
        (96, 1, 5, "half of it is gone: half of 10 ns a line"),
        (64, 1, 10, "all of it"),
        (128, 2, 10, "two others take it all"),
        (160, 2, 5, "or half"),
    ] {
        let mut small = with_distances();
        small.core_types[0].l2_bytes = l2_kib << 10;
        cold(&small, |sim| {
            refill(sim, 0, 0);
            sim.cache_leave(0, 0);
            for other in 1..=others {
                refill(sim, 0, other);
                sim.cache_leave(0, other);
            }
            assert_eq!(refill(sim, 0, 0), FETCHES * line_ns, "{because}");
        });
    }
}

/// A fetch is at most as large as the private cache.
#[test]
fn a_working_set_larger_than_the_cache_is_cut() {
    let mut small = with_distances();
    small.core_types[0].l2_bytes = 32 << 10;
    cold(&small, |sim| {
        assert_eq!(refill(sim, 0, 0), FETCHES / 2 * 150)
    });
}

/// The wait for data belongs to the task: it delays the task's work and counts as runtime.
#[test]
fn refills_delay_the_task() {
    let tasks = [task(0, &[Op::Run { ns: MS }, Op::Mark { mark: 0 }])];
    begin(&with_distances(), &workload(&tasks), |sim| {
        sim.until(10 * MS);
        assert_eq!(sim.passed(0).0, MS + FETCHES * 150);
        assert_eq!(sim.ran(0), MS + FETCHES * 150);
        assert_eq!(sim.stats.refill_ns.seen(), FETCHES * 150);
    });
}

/// Work at half the frequency takes twice the time, whatever its kind.
#[test]
fn units_are_time_at_the_clock() {
    let mut machine = machine(1, 1);
    for (capacity, expected) in [(1024, 1000), (512, 2000), (341, 3003), (1, 1_024_000)] {
        machine.freq_domains[0].opps[0].capacity = capacity;
        cold(&machine, |sim| {
            let ns = sim.ns(0, 1000 * 1024);
            assert!(ns.abs_diff(expected) <= 1, "capacity {capacity}: {ns} ns");
        });
    }
}
