// SPDX-License-Identifier: GPL-2.0-only
//! The same scenario is the same run: whenever, beside whatever, traced or not.

mod common;

use alight_sim::Outcome;
use alight_trace::{BaseAnswer, Event, Sink};
use common::{Run, load, machine};

const WORKLOADS: [&str; 4] = [
    "hackbench -g 1 -f 3 -l 30 --pipe --threads",
    "sysbench --test=threads --num-threads=6 --max-time=1 --max-requests=20 run",
    "periodic-mix.json",
    "frame-pipeline.json",
];

/// Runs each workload on each of two machines, 60 ms at most.
fn all(seed: u64) -> Vec<Outcome> {
    let mut outcomes = vec![];
    for name in ["juno-r0", "rk3588"] {
        let machine = machine(name);
        for workload in WORKLOADS {
            let workloads = [load(workload)];
            let run = Run {
                seed,
                ..Run::new(&machine, &workloads)
            };
            outcomes.push(run.for_ms(60).go().expect("a run"));
        }
    }
    outcomes
}

/// Hash and every number, to the last bit.
#[test]
fn the_same_again() {
    assert_eq!(all(1), all(1));
}

#[test]
fn the_same_in_any_thread() {
    let expected = all(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| all(1))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no panic"), expected);
        }
    });
}

/// Phases of ticks and starts differ, and with them all that follows.
#[test]
fn another_seed_is_another_run() {
    for (a, b) in all(1).iter().zip(&all(2)) {
        assert_ne!(a.hash, b.hash);
        assert_ne!(a.events, 0);
        assert_ne!(b.events, 0);
    }
}

/// The hash is of the stream of events: schedulers that never differ in an
/// answer share it, others do not.
#[test]
fn the_hash_tells_runs_apart() {
    let hashes = |name: &str, workload: &str| {
        let machine = machine(name);
        let workloads = [load(workload)];
        common::SCHEDULERS.map(|scheduler| {
            let run = Run {
                scheduler,
                ..Run::new(&machine, &workloads)
            };
            run.for_ms(60).go().expect("a run").hash
        })
    };
    // All its CPUs are alike: capacities decide nothing.
    let [base, feature] = hashes("ca9x4", "sysbench cpu --threads=3 --time=1 run");
    assert_eq!(base, feature);
    let [base, feature] = hashes("juno-r0", WORKLOADS[1]);
    assert_ne!(base, feature);
}

struct Counter(u64);

impl Sink for Counter {
    fn event(&mut self, _: u64, _: u32, _: Event<'_>) -> std::io::Result<()> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn a_trace_changes_nothing() {
    let machine = machine("juno-r0");
    for workload in WORKLOADS {
        let workloads = [load(workload)];
        let run = Run::new(&machine, &workloads).for_ms(60);
        let mut counter = Counter(0);
        let traced = run.traced(Some(&mut counter)).expect("a run");
        assert_eq!(traced, run.go().expect("a run"), "{workload}");
        assert!(counter.0 > 100, "{workload}: {} events", counter.0);
    }
}

/// So does asking why.
#[test]
fn an_explanation_changes_nothing() {
    let machine = machine("juno-r0");
    let workloads = [load(WORKLOADS[0])];
    let scheduler = alight_policy::Scheduler::parse("linux-5.5").expect("a base");
    let scenario = alight_sim::Scenario {
        duration_ns: Some(60 * common::MS),
        check: true,
        ..alight_sim::Scenario::new(&machine, &workloads, &scheduler)
    };
    let comm = workloads[0].tasks.last().expect("tasks").comm.clone();
    let watch = alight_sim::Watch {
        comm: Some(comm),
        at_ns: None,
    };
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let (explained, decisions) =
        alight_sim::explain(&scenario, &watch, 50, &cancel).expect("a run");
    let plain = alight_sim::run(&scenario, None, &cancel).expect("a run");
    assert_eq!(explained, plain);
    assert!(!decisions.is_empty() && decisions.len() <= 50);
    for decision in &decisions {
        assert!(!decision.notes.is_empty(), "{decision:?}");
    }
}

/// What a sink was told of decisions: of all, and of those that the base would have made otherwise.
#[derive(Default)]
struct Told {
    decided: u64,
    last: Option<u32>,
    other: u64,
    because: u64,
}

impl Sink for Told {
    fn wants_base_answers(&self) -> bool {
        true
    }

    fn event(&mut self, _: u64, _: u32, event: Event<'_>) -> std::io::Result<()> {
        if let Event::Decision { cpu, .. } = event {
            self.decided += 1;
            self.last = Some(cpu);
        }
        Ok(())
    }

    fn base_answer(&mut self, _: u64, _: u32, base: &BaseAnswer<'_>) -> std::io::Result<()> {
        let chosen = self.last.take().expect("a decision right before");
        self.other += u64::from(base.cpu != chosen);
        self.because += base.because.len() as u64;
        Ok(())
    }
}

/// A sink hears of the base's answers what an explanation counts of them, and the run is the same.
#[test]
fn base_answers_are_those_of_an_explanation() {
    let machine = machine("juno-r0");
    let workloads = [load(WORKLOADS[1])];
    let name = "linux-5.5+asym-capacity";
    let scheduler = alight_policy::Scheduler::parse(name).expect("a scheduler");
    let scenario = alight_sim::Scenario {
        duration_ns: Some(60 * common::MS),
        check: true,
        ..alight_sim::Scenario::new(&machine, &workloads, &scheduler)
    };
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let mut told = Told::default();
    let outcome = alight_sim::run(&scenario, Some(&mut told), &cancel).expect("a run");
    assert_eq!(
        outcome,
        alight_sim::run(&scenario, None, &cancel).expect("a run")
    );

    let everybody = alight_sim::Watch {
        comm: None,
        at_ns: None,
    };
    let (_, answers) = alight_sim::answers(&scenario, &everybody, &cancel).expect("a run");
    let because: u64 = answers.total.because.iter().map(|(_, count)| count).sum();
    assert!(told.other > 0 && told.because > 0);
    assert_eq!(
        (told.decided, told.other, told.because),
        (answers.total.all.count, answers.total.other.count, because)
    );
}

/// Ctrl-C ends a run early, with what there is.
#[test]
fn a_cancelled_run_says_so() {
    let machine = machine("juno-r0");
    let workloads = [load(
        "sysbench --test=threads --num-threads=6 --max-time=5 --max-requests=-1 run",
    )];
    let scheduler = alight_policy::Scheduler::parse("linux-5.5").expect("a base");
    let scenario = alight_sim::Scenario::new(&machine, &workloads, &scheduler);
    let outcome = alight_sim::run(&scenario, None, &std::sync::atomic::AtomicBool::new(true));
    let outcome = outcome.expect("what there is");
    assert!(outcome.interrupted);
    assert!(outcome.end_ns > 0 && outcome.end_ns < 5000 * common::MS);
}
