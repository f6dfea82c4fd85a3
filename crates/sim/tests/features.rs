// SPDX-License-Identifier: GPL-2.0-only
//! Features in whole runs: all combinations hold the invariants, and a feature
//! that cannot act changes nothing.

mod common;

use alight_machine::{CpuSet, Machine};
use alight_policy::scheduler::FEATURES;
use alight_policy::{STEPS, Scheduler};
use alight_sim::{Action, Change, Decision, Scenario, Watch};
use alight_workload::Workload;
use common::{Run, load, machine};

/// A name for each set of features over a base.
fn combinations(base: &str) -> Vec<String> {
    let chosen = |set: u32| {
        let of_set = FEATURES
            .iter()
            .enumerate()
            .filter(move |(i, _)| set & 1 << i != 0);
        of_set.map(|(_, feature)| format!("+{}", feature.name))
    };
    (1..1u32 << FEATURES.len())
        .map(|set| base.to_owned() + &chosen(set).collect::<String>())
        .collect()
}

#[test]
fn all_combinations_hold_the_invariants() {
    let workloads = [
        load("periodic-mix.json"),
        load("frame-pipeline.json"),
        load("hackbench -g 1 -f 2 -l 10 --pipe --threads"),
    ];
    for base in ["linux-6.5", "linux-7.2"] {
        for scheduler in combinations(base) {
            for name in ["juno-r0", "tc2"] {
                let machine = machine(name);
                let run = Run {
                    scheduler: &scheduler,
                    ..Run::new(&machine, &workloads)
                };
                run.for_ms(60)
                    .go()
                    .unwrap_or_else(|error| panic!("{name}, {scheduler}: {error}"));
            }
        }
    }
}

#[test]
fn a_feature_that_cannot_act_changes_nothing() {
    const HACKBENCH: &str = "hackbench -g 2 -f 3 -l 20 --pipe --threads";
    let table = [
        (
            "equal CPUs",
            "linux-5.5",
            "asym-capacity",
            "ca9x4",
            HACKBENCH,
        ),
        (
            "equal CPUs",
            "linux-5.4",
            "asym-capacity:hog=cap-orig",
            "ca9x4",
            "periodic-mix.json",
        ),
        (
            "part of the base",
            "linux-6.5",
            "asym-capacity",
            "juno-r0",
            HACKBENCH,
        ),
        (
            "no SCHED_IDLE task",
            "linux-5.4",
            "sched-idle",
            "juno-r0",
            HACKBENCH,
        ),
        (
            "no SCHED_IDLE task",
            "linux-5.5",
            "sched-idle:balance:wakee=normal",
            "tc2",
            HACKBENCH,
        ),
        (
            "part of the base",
            "linux-7.2",
            "sched-idle",
            "juno-r0",
            "periodic-mix.json",
        ),
        (
            "nothing can be power gated",
            "linux-3.9",
            "pack=full",
            "juno-r0",
            HACKBENCH,
        ),
        (
            "nothing can be power gated",
            "linux-7.2",
            "pack:signals=2013",
            "juno-r0",
            "light-tasks.json",
        ),
        (
            "EAS decides, and the machine is not overutilized",
            "linux-6.5",
            "bias-prev",
            "juno-r0",
            "audio-chain.json",
        ),
    ];
    for (why, base, feature, name, workload) in table {
        let (machine, workloads) = (machine(name), [load(workload)]);
        let of = |scheduler: &str| {
            let run = Run {
                scheduler,
                ..Run::new(&machine, &workloads)
            };
            let outcome = run.for_ms(200).go().expect("a run");
            (outcome.hash, outcome.results, outcome.mechanism)
        };
        let with = format!("{base}+{feature}");
        assert_eq!(of(base), of(&with), "{with} on {name}: {why}");
    }
}

#[test]
fn a_feature_that_can_act_does() {
    for (base, feature, name, workload) in [
        ("linux-3.9", "pack", "tc2", "light-tasks.json"),
        ("linux-6.5", "pack=full", "ca9x4", "light-tasks.json"),
        (
            "linux-5.5",
            "asym-capacity",
            "juno-r0",
            "hackbench -g 3 -f 5 -l 40",
        ),
        (
            "linux-6.5",
            "asym-capacity:clamps=off:prev-first=off",
            "juno-r0",
            "hackbench -g 3 -f 5 -l 40",
        ),
        (
            "linux-6.5",
            "bias-prev",
            "ca9x4",
            "hackbench -g 3 -f 5 -l 40",
        ),
    ] {
        let (machine, workloads) = (machine(name), [load(workload)]);
        let of = |scheduler: &str| {
            let run = Run {
                scheduler,
                ..Run::new(&machine, &workloads)
            };
            run.for_ms(200).go().expect("a run").hash
        };
        let with = format!("{base}+{feature}");
        assert_ne!(of(base), of(&with), "{with} on {name}");
    }
}

/// A CPU that is left with SCHED_IDLE tasks only looks for better ones at its next tick.
#[test]
fn balancing_towards_sched_idle_cpus_acts_where_there_are_any() {
    let (machine, workloads) = (
        machine("juno-r0"),
        [load("idle-hogs.json"), load("hackbench -g 2 -f 3 -l 40")],
    );
    let of = |scheduler: &str| {
        let run = Run {
            scheduler,
            ..Run::new(&machine, &workloads)
        };
        run.for_ms(200).go().expect("a run").hash
    };
    assert_ne!(
        of("linux-5.5+sched-idle"),
        of("linux-5.5+sched-idle:balance")
    );
}

/// Up to the first decision that a feature changes, a run of the base is the same run: so what
/// the base is said to have answered there must be what it does answer in its own, to the last
/// count, and with the same picture of the CPU that it chooses.
#[test]
fn the_base_answers_in_its_own_run_what_it_is_said_to() {
    const HACKBENCH: &str = "hackbench -g 1 -f 3 -l 20 --pipe --threads";
    let table = [
        ("linux-3.9+pack", "tc2", "light-tasks.json"),
        ("linux-5.4+sched-idle", "hikey620", "periodic-mix.json"),
        ("linux-5.5+asym-capacity", "juno-r0", HACKBENCH),
        ("linux-5.5+asym-capacity", "sdm845", "periodic-mix.json"),
        ("linux-6.5+bias-prev", "epyc-9654-2s", HACKBENCH),
        ("linux-6.5+pack", "tc2", "light-tasks.json"),
        ("linux-7.2+bias-prev:fits:select", "juno-r0", HACKBENCH),
    ];
    for (name, board, workload) in table {
        let (machine, workloads) = (machine(board), [load(workload), load("idle-hogs.json")]);
        let decisions = |scheduler: &Scheduler| {
            let scenario = scenario(&machine, &workloads, scheduler, &[]);
            let found = alight_sim::explain(&scenario, &EVERYBODY, usize::MAX, &false.into());
            found.expect(name).1
        };
        let scheduler = Scheduler::parse(name).expect(name);
        let with = decisions(&scheduler);
        let base = decisions(&scheduler.base_alone());
        let first = with.iter().position(|d| d.chosen.answer != d.base.answer);
        let first = first.unwrap_or_else(|| panic!("{name} changes something"));
        for (with, base) in with[..=first].iter().zip(&base) {
            let woken = |d: &Decision| (d.time_ns, d.comm.clone(), d.this_cpu, d.prev_cpu);
            assert_eq!(woken(with), woken(base), "{name}");
            assert_eq!(with.base, base.chosen, "{name} at {} ns", base.time_ns);
        }
    }
}

/// Nobody in particular.
const EVERYBODY: Watch = Watch {
    comm: None,
    at_ns: None,
};

fn scenario<'a>(
    machine: &'a Machine,
    workloads: &'a [Workload],
    scheduler: &'a Scheduler,
    changes: &'a [Change],
) -> Scenario<'a> {
    Scenario {
        duration_ns: Some(60 * common::MS),
        changes,
        check: true,
        ..Scenario::new(machine, workloads, scheduler)
    }
}

/// Asking the base beside every decision changes nothing, whatever acts: the run is the same to
/// the bit, and the rows add up to its decisions and wakeups.
#[test]
fn counting_answers_changes_nothing_and_adds_up() {
    const HACKBENCH: &str = "hackbench -g 1 -f 3 -l 20 --pipe --threads";
    const GROUPED: &str = "cgexec -g cpu:/bg hackbench -g 1 -f 3 -l 20 --pipe --threads";
    let group = [alight_sim::Cgroup::new("/bg")];
    let table = [
        ("linux-3.9+pack=full", "tc2", "light-tasks.json"),
        ("linux-5.4+sched-idle", "hikey620", "periodic-mix.json"),
        ("linux-5.5+asym-capacity", "juno-r0", HACKBENCH),
        (
            "linux-6.5+uclamp-sum+bias-prev",
            "juno-r2",
            "juno-r2/wide-tasks.json",
        ),
        (
            "linux-6.5+asym-capacity:smt+pack",
            "tc2",
            "periodic-mix.json",
        ),
        (
            "linux-7.2+pack=full+uclamp-sum=bias+bias-prev",
            "tc2",
            HACKBENCH,
        ),
        ("linux-6.5+bias-prev", "juno-r0", GROUPED),
    ];
    for (name, board, workload) in table {
        let (machine, workloads) = (machine(board), [load(workload), load("idle-hogs.json")]);
        let scheduler = Scheduler::parse(name).expect(name);
        // The base's domains are built anew with the run's.
        let change = |ms: u64, action: fn(CpuSet) -> Action| Change {
            at_ns: ms * common::MS,
            action: action(CpuSet::single(1)),
        };
        let changes = [
            Change::count_from(5 * common::MS),
            change(10, Action::Offline),
            change(25, Action::Online),
        ];
        let scenario = Scenario {
            groups: if workload == GROUPED { &group } else { &[] },
            ..scenario(&machine, &workloads, &scheduler, &changes)
        };
        let cancel = false.into();
        let plain = alight_sim::run(&scenario, None, &cancel).expect(name);
        let (outcome, answers) = alight_sim::answers(&scenario, &EVERYBODY, &cancel).expect(name);
        assert_eq!(outcome, plain, "{name}");
        let mut steps = [0; STEPS.len()];
        for row in &answers.rows {
            steps[row.step as usize] = row.all.count;
            let instead: u64 = row.instead_of.iter().map(|(_, count)| count).sum();
            assert_eq!(instead, row.other.count, "{name}");
            assert!(row.all.latency.samples <= row.all.count, "{name}");
        }
        assert_eq!(steps, outcome.steps, "{name}");
        let total = &answers.total.all;
        assert_eq!(total.count, steps.iter().sum::<u64>(), "{name}");
        let wakeups = total.count - total.new_tasks + answers.still_queued;
        assert_eq!(
            wakeups as f64,
            common::metric(&outcome, "wakeups"),
            "{name}"
        );
        assert!(answers.total.other.count > 0, "{name}: it acts");
    }
}
