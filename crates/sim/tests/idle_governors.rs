// SPDX-License-Identifier: GPL-2.0-only
//! The idle governors that a run may ask for: which kernels have them, what they
//! make of the same work, and that each is the same again.

mod common;

use alight_machine::{IdleGovernor, Machine};
use alight_policy::Scheduler;
use alight_sim::{Error, Outcome, Scenario};
use common::{load, machine};

const BASES: [&str; 6] = [
    "linux-3.9",
    "linux-5.4",
    "linux-5.5",
    "linux-6.1",
    "linux-6.5",
    "linux-7.2",
];

/// 400 ms, every event checked.
fn run(
    machine: &Machine,
    workload: &str,
    base: &str,
    idle_governor: Option<IdleGovernor>,
) -> Result<Outcome, Error> {
    let workloads = [load(workload)];
    let scheduler = Scheduler::parse(base).expect("a base");
    let scenario = Scenario {
        idle_governor,
        duration_ns: Some(400_000_000),
        check: true,
        ..Scenario::new(machine, &workloads, &scheduler)
    };
    alight_sim::run(&scenario, None, &false.into())
}

/// Linux 3.9 has none (it came with 5.1); all others do, and take menu unless told
/// otherwise.
#[test]
fn teo_came_with_5_1() {
    let juno = machine("juno-r0");
    let cyclictest = "cyclictest -t 2 -q -i 3000 -D 1 -e 1000000";
    for base in BASES {
        let outcome = |governor| run(&juno, cyclictest, base, governor);
        let own = outcome(None).expect("a run");
        let menu = outcome(Some(IdleGovernor::Menu)).expect("a run");
        assert_eq!(own, menu, "{base}: menu is what it takes by itself");
        match outcome(Some(IdleGovernor::Teo)) {
            Err(error) => {
                assert_eq!(base, "linux-3.9");
                assert_eq!(
                    error.to_string(),
                    "linux-3.9 has no idle governor teo, which came with Linux 5.1; it has menu"
                );
            }
            Ok(teo) => {
                assert_ne!(teo.hash, own.hash, "{base}: it decides otherwise");
                let again = outcome(Some(IdleGovernor::Teo)).expect("a run");
                assert_eq!(teo, again, "{base}: the same again");
            }
        }
    }
}

/// What a machine's file names counts unless the run names another.
#[test]
fn a_machine_may_name_its_governor() {
    let mut juno = machine("juno-r0");
    let outcome = |juno: &Machine, governor| {
        run(juno, "periodic-mix.json", "linux-6.5", governor).expect("a run")
    };
    let menu = outcome(&juno, None);
    let teo = outcome(&juno, Some(IdleGovernor::Teo));
    juno.idle_governor = Some(IdleGovernor::Teo);
    assert_eq!(outcome(&juno, None), teo);
    assert_eq!(outcome(&juno, Some(IdleGovernor::Menu)), menu);
}
