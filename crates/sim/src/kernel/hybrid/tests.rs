// SPDX-License-Identifier: GPL-2.0-only
//! A Core Ultra 7 258V: four P-cores of capacity 1024, four E-cores of 689 without L3.

use super::*;
use alight_policy::Scheduler;

fn kernel(base: &str) -> &'static Kernel {
    let scheduler = Scheduler::parse(base).expect("a base");
    Kernel::of(&scheduler).expect("its rules")
}

fn lunar_lake() -> Machine {
    Machine::load("ultra7-258v").expect("built in")
}

#[test]
fn kernels_before_6_12_take_all_cpus_for_equal_but_not_their_speeds() {
    for base in ["linux-5.5", "linux-5.10", "linux-6.1", "linux-6.8"] {
        let seen = seen(&lunar_lake(), kernel(base)).expect("another machine");
        assert!(seen.cpus.iter().all(|cpu| cpu.capacity_orig == 1024));
        let speeds = seen.cpus.iter().map(Cpu::speed);
        assert_eq!(
            speeds.collect::<Vec<_>>(),
            [1024, 1024, 1024, 1024, 689, 689, 689, 689]
        );
        let e_core = &seen.freq_domains[seen.cpus[4].freq_domain];
        let capacities = e_core.opps.iter().map(|opp| opp.capacity);
        // 74 and 409 of 689.
        assert_eq!(capacities.collect::<Vec<_>>(), [109, 607, 1024], "{base}");
        assert!(
            hybrids(&seen, kernel(base)).is_none(),
            "its priorities count"
        );
    }
    assert!(seen(&lunar_lake(), kernel("linux-6.12")).is_none());
    assert!(seen(&lunar_lake(), kernel("linux-7.2")).is_none());
}

#[test]
fn a_hybrid_with_threads_is_left_as_it_is() {
    let machine = Machine::load("i7-1370p").expect("built in");
    for base in ["linux-6.8", "linux-7.2"] {
        assert!(seen(&machine, kernel(base)).is_none());
        assert!(hybrids(&machine, kernel(base)).is_none());
    }
}

#[test]
fn costs_follow_from_the_class_of_a_core() {
    assert!(
        clocks(&lunar_lake(), kernel("linux-6.12")).is_none(),
        "no model"
    );
    let clocks = clocks(&lunar_lake(), kernel("linux-7.2")).expect("a model");
    assert_eq!(clocks.len(), 8, "each CPU has one");
    let costs = |cpu: usize| -> Vec<u32> {
        let points = clocks[cpu].points.as_ref().expect("figures");
        let cost = |point: &OperatingPoint| point.power_uw / point.frequency_khz;
        points.iter().map(cost).collect()
    };
    assert_eq!(costs(0), [4, 5, 6, 7], "P-cores: 2 more than the state");
    assert_eq!(costs(4), [2, 3, 4, 5], "E-cores without L3: the state");
}

#[test]
fn an_e_core_with_l3_costs_one_more() {
    let mut machine = lunar_lake();
    machine.cpus[4].llc = machine.cpus[0].llc;
    let clocks = clocks(&machine, kernel("linux-7.2")).expect("a model");
    let first = clocks[4].points.as_ref().expect("figures")[0];
    assert_eq!(first.power_uw / first.frequency_khz, 3);
}

#[test]
fn a_clock_of_a_p_core_gets_more_done() {
    let machine = lunar_lake();
    let ratio = level_ratio(&machine, &machine.cpus[0], &machine.cpus[4]);
    // 100 * 100000 / 86957 by the kernel's scaling factors, whose levels are rounded.
    assert_eq!(ratio, 114);
}
