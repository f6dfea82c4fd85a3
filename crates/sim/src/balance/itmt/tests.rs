// SPDX-License-Identifier: GPL-2.0-only
//! Tests of asymmetric packing on an i7-1370P: P-cores 0-1, 2-3, …, where 4-5 and 8-9 rank above
//! the others, and E-cores 12 to 19.

use super::super::tests::{MS, advance, attempt, put, running, under};
use super::*;
use crate::dispatch::Sim;

const MACHINE: &str = "i7-1370p";
/// Every form of the rules.
const BASES: [&str; 6] = [
    "linux-5.10",
    "linux-5.15",
    "linux-6.1",
    "linux-6.5",
    "linux-6.6",
    "linux-7.2",
];

/// The level of the last-level cache.
fn top(sim: &Sim, cpu: usize) -> usize {
    sim.core.places[cpu].nr_domains as usize - 1
}

/// The CPUs with tasks after `idle` has looked for work in its cache, with one running task on each
/// CPU of `busy`.
fn after(base: &str, busy: &[usize], idle: usize) -> Vec<usize> {
    let mut at = vec![];
    under(base, MACHINE, |sim| {
        for (task, &cpu) in busy.iter().enumerate() {
            put(sim, cpu, task as u32..task as u32 + 1);
        }
        advance(sim, MS / 2);
        let level = top(sim, idle);
        attempt(sim, idle, level, Idle::Yes);
        advance(sim, MS / 2);
        at = (0..20).filter(|&cpu| running(sim)[cpu] != 0).collect();
    });
    at
}

#[test]
fn a_lone_task_goes_to_the_idle_cpu_that_ranks_higher() {
    for (from, to, moves, because) in [
        (12, 0, true, "39 is below 64"),
        (12, 4, true, "39 is below 67"),
        (0, 4, true, "64 is below 67"),
        (4, 0, false, "67 is above 64"),
        (0, 12, false, "64 is above 39"),
        (0, 2, false, "they are equal"),
    ] {
        for base in BASES {
            let expected = if moves { to } else { from };
            assert_eq!(after(base, &[from], to), [expected], "{base}: {because}");
        }
    }
    assert_eq!(after("linux-5.5", &[12], 0), [12], "not modelled");
}

#[test]
fn a_core_of_which_a_thread_is_busy_pulls_up_to_5_15() {
    for base in BASES {
        let at = after(base, &[1, 12], 0);
        let expected: &[usize] = match base {
            "linux-5.10" | "linux-5.15" => &[0, 1],
            _ => &[1, 12],
        };
        assert_eq!(at, expected, "{base}");
    }
}

#[test]
fn an_e_core_helps_a_core_with_two_busy_threads_from_6_1_on() {
    for (base, expected) in [
        ("linux-5.10", [0, 1]),
        ("linux-5.15", [0, 1]),
        // The second thread ranks below the E-core, the first above.
        ("linux-6.1", [0, 12]),
        // Tasks are spread over cores: priorities do not keep a task on a core with another busy
        // thread.
        ("linux-6.5", [1, 12]),
        ("linux-6.6", [1, 12]),
        ("linux-7.2", [1, 12]),
    ] {
        assert_eq!(after(base, &[0, 1], 12), expected, "{base}");
    }
}

#[test]
fn second_threads_rank_by_version() {
    // CPUs 0 and 1 are a core, CPU 12 is one.
    for (base, expected) in [
        ("linux-5.10", [128, 64, 78]),
        ("linux-5.15", [128, 64, 78]),
        ("linux-6.1", [128, 32, 78]),
        ("linux-6.5", [64, 64, 39]),
        ("linux-7.2", [64, 64, 39]),
    ] {
        under(base, MACHINE, |sim| {
            let found = [0, 1, 12].map(|cpu: usize| sim.itmt.priorities[cpu]);
            assert_eq!(found, expected, "{base}");
        });
    }
}

#[test]
fn a_busy_cpu_kicks_for_an_idle_one_that_ranks_higher() {
    // (base, busy, tickless, kicks)
    for (base, busy, idle, kicks) in [
        ("linux-5.5", 12, 0, false),
        ("linux-5.10", 12, 0, true),
        ("linux-6.1", 12, 0, true),
        ("linux-7.2", 12, 0, true),
        ("linux-7.2", 0, 4, true),
        ("linux-7.2", 4, 0, false),
        ("linux-7.2", 0, 12, false),
    ] {
        under(base, MACHINE, |sim| {
            put(sim, busy, 0..1);
            advance(sim, MS / 2);
            for cpu in 0..20 {
                sim.nohz.idle.remove(cpu);
            }
            sim.nohz.idle.insert(idle as u32);
            assert_eq!(
                sim.kicks_by_priority(busy),
                kicks,
                "{base}: {busy} for {idle}"
            );
        });
    }
}

#[test]
fn the_thread_of_a_busy_core_is_no_reason_for_a_kick_from_6_5_on() {
    for (base, kicks) in [
        ("linux-5.10", true),
        ("linux-6.1", true),
        ("linux-6.5", false),
        ("linux-7.2", false),
    ] {
        under(base, MACHINE, |sim| {
            put(sim, 1, 0..1);
            put(sim, 12, 1..2);
            advance(sim, MS / 2);
            for cpu in 1..20 {
                sim.nohz.idle.remove(cpu);
            }
            sim.nohz.idle.insert(0);
            assert_eq!(sim.kicks_by_priority(12), kicks, "{base}");
        });
    }
}

#[test]
fn domains_follow_priorities_by_version() {
    let flags = |sim: &Sim, cpu: usize| -> Vec<(bool, bool)> {
        let levels = 0..sim.core.places[cpu].nr_domains as usize;
        let of = |level| sim.domain(cpu, level).flags;
        let ranked = |flags| flags & domain_flag::ASYM_PACKING != 0;
        let cluster = |flags| flags & domain_flag::CLUSTER != 0;
        (levels.map(of))
            .map(|flags| (ranked(flags), cluster(flags)))
            .collect()
    };
    let (smt, cls, mc) = ((true, false), (true, true), (true, false));
    let unranked = (false, false);
    for (base, p_core, e_core) in [
        ("linux-5.5", &[unranked, unranked][..], &[unranked][..]),
        ("linux-5.10", &[smt, mc], &[mc]),
        ("linux-6.1", &[smt, mc], &[mc]),
        ("linux-6.5", &[unranked, mc], &[mc]),
        ("linux-6.6", &[unranked, mc], &[cls, mc]),
        ("linux-7.2", &[unranked, mc], &[cls, mc]),
    ] {
        under(base, MACHINE, |sim| {
            assert_eq!(flags(sim, 0), p_core, "{base}");
            assert_eq!(flags(sim, 12), e_core, "{base}");
        });
    }
}

#[test]
fn priorities_come_before_caches_from_7_3_on() {
    // E-cores 12 to 15, of lower priority than CPU 0.
    for (base, before) in [("linux-7.2", false), ("linux-7.3", true)] {
        under(base, MACHINE, |sim| {
            assert_eq!(sim.priority_before_caches(), before, "{base}");
            let scope = Scope::new(0, top(sim, 0), Idle::Yes, 0);
            assert!(sim.goes_by_priority(&scope, 12, 0), "{base}");
            assert!(!sim.goes_by_priority(&scope, 0, 12), "{base}");
            let busy = Scope::new(0, top(sim, 0), Idle::No, 0);
            assert!(!sim.goes_by_priority(&busy, 12, 0), "{base}");
        });
    }
}

#[test]
fn amd_ranks_cores_where_its_driver_does() {
    for (base, ranks) in [
        ("linux-6.1", false),
        ("linux-6.6", true),
        ("linux-6.8", false),
        ("linux-6.12", true),
        ("linux-7.2", true),
    ] {
        under(base, "ryzen-hx370", |sim| {
            assert_eq!(sim.itmt.used(), ranks, "{base}");
        });
    }
}
