// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the checks of views.

use super::*;
use crate::Scheduler;
use crate::topology::{CpuDescription, Description, Level, LevelKind, build};

/// Two cores of two threads, a cache each, one package.
fn core() -> Core {
    let cpu = CpuDescription {
        capacity: 1024,
        node: 0,
    };
    let machine = Description {
        cpus: vec![cpu; 4],
        levels: vec![
            Level::by_key(LevelKind::Smt, &[0, 0, 1, 1]),
            Level::by_key(LevelKind::Cache, &[0, 0, 1, 1]),
            Level::by_key(LevelKind::Package, &[0; 4]),
        ],
    };
    build(&machine, &Scheduler::parse("linux-7.2").unwrap().params).unwrap()
}

#[test]
fn views_that_were_built_are_accepted_again() {
    let core = core();
    let again = Core::of_views(core.views(), core.params).unwrap();
    assert_eq!(again.views(), core.views());
    again.accepts_cpus(&core.cpus).unwrap();
    let all = (0..4).collect();
    again.accepts_task(&Task::default(), &all).unwrap();
}

#[test]
fn each_number_that_would_lead_astray_is_named() {
    type Change = fn(&mut Views);
    let changes: [(Change, &str); 14] = [
        (|v| v.places.clear(), "number of CPUs is 0"),
        (|v| v.nr_llcs = 5000, "number of caches is 5000"),
        (|v| v.topology.nr_cpus = 5, "topology: number of CPUs is 5"),
        (
            |v| v.domains[1].first_group = 9,
            "domain 1: first_group + nr_groups",
        ),
        (
            |v| v.domains[1].span = Mask::EMPTY,
            "domain 1: span: number of CPUs is 0",
        ),
        (|v| v.domains[1].span.insert(4), "some of the CPUs 0 to 3"),
        (
            |v| v.domains[0].imbalance_pct = 0,
            "domain 0: imbalance_pct is 0",
        ),
        (|v| v.groups[2].child = 77, "group 2: child is 77"),
        (
            |v| v.groups[2].cpu = 4,
            "group 2: cpu is 4, expected less than 4",
        ),
        (|v| v.places[3].shared = 2, "place of CPU 3: shared is 2"),
        (
            |v| v.places[0].nr_domains = 9,
            "place of CPU 0: nr_domains is 9",
        ),
        (
            |v| v.places[0].domain[0] = 99,
            "place of CPU 0: domain is 99",
        ),
        (|v| v.places[1].group[0] = 99, "place of CPU 1: group is 99"),
        (
            |v| {
                v.perf = vec![PerfDomain {
                    span: (0..4).collect(),
                    nr_states: 2,
                    first_state: 1,
                    last_state: 2,
                    unused: 0,
                    state: [Default::default(); MAX_PERF_STATES],
                }];
            },
            "performance domain 0: last_state is 2",
        ),
    ];
    let core = core();
    for (change, expected) in changes {
        let mut views = core.views();
        change(&mut views);
        let text = Core::of_views(views, core.params).unwrap_err().to_string();
        assert!(text.contains(expected), "{expected:?} is not in {text:?}");
    }
}

#[test]
fn so_is_one_of_a_question() {
    let core = core();
    let refused = |change: fn(&mut Cpu)| {
        let mut cpus = core.cpus.to_vec();
        change(&mut cpus[2]);
        core.accepts_cpus(&cpus).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|cpu| cpu.capacity = 0),
        "CPU 2: capacity is 0, expected 1 to 1024"
    );
    assert_eq!(
        refused(|cpu| cpu.buddy = 4),
        "CPU 2: buddy is 4, expected less than 4"
    );
    assert!(refused(|cpu| cpu.avg_scan_cost = u64::MAX).contains("avg_scan_cost"));
    let away = Task {
        prev_cpu: 4,
        ..Task::default()
    };
    let all = (0..4).collect();
    assert!(core.accepts_task(&away, &all).is_err());
    assert!(core.accepts_task(&Task::default(), &Mask::EMPTY).is_err());
}
