// SPDX-License-Identifier: GPL-2.0-only
//! Speeds are those that the simulator has.

use super::*;

fn machine() -> Machine {
    let mut machine = Machine::load("ca9x4").expect("built in");
    for domain in &mut machine.freq_domains {
        let top = domain.opps.last_mut().expect("one is there");
        top.khz = 1_000_000;
    }
    machine
}

/// Whole us of the biggest CPU, rounded.
fn us(work: Work) -> u64 {
    (to_ns(work) + 500) / 1000
}

/// Two CPUs that execute from 0 on, the second one until 100 us: the work of the first in 200 us.
fn beside(machine: &Machine) -> u64 {
    let mut speeds = Speeds::new(machine, 0);
    speeds.set_executes(0, true, 0);
    speeds.set_executes(1, true, 0);
    speeds.set_executes(1, false, 100_000);
    us(speeds.done(0, 200_000))
}

#[test]
fn threads_of_a_core_share_it_as_long_as_both_execute() {
    let mut machine = machine();
    assert_eq!(beside(&machine), 200);
    for cpu in &mut machine.cpus {
        cpu.core = 0;
    }
    machine.core_types[0].smt_percent = 60;
    assert_eq!(beside(&machine), 160);
    machine.one_processor = true;
    assert_eq!(beside(&machine), 150);
}

#[test]
fn work_follows_capacity_and_clock() {
    let mut machine = machine();
    machine.cpus[0].capacity_orig = 512;
    let mut speeds = Speeds::new(&machine, 0);
    speeds.set_executes(0, true, 0);
    assert_eq!(us(speeds.done(0, 100_000)), 50);
    speeds.set_khz(0, 200_000, 100_000);
    assert_eq!(us(speeds.done(0, 200_000)), 60);
    // Kernel work of 10 ns is work of 5 ns of the biggest CPU, at any clock.
    assert_eq!(to_ns(of_kernel(10, 512)), 5);
}

#[test]
fn an_idle_cpu_gets_nothing_done() {
    let machine = machine();
    let mut speeds = Speeds::new(&machine, 50);
    assert_eq!(speeds.done(0, 1000), 0);
    speeds.set_executes(0, true, 1000);
    speeds.set_executes(0, false, 1100);
    assert_eq!(to_ns(speeds.done(0, 5000)), 100);
}
