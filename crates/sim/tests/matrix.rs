// SPDX-License-Identifier: GPL-2.0-only
//! Machines of every shape with every workload and scheduler, the invariants proved after
//! each event: time conserved, no task lost, one CPU per running task, affinity
//! kept, sums equal to their members.

mod common;

use alight_workload::Workload;
use common::{MACHINES, MORE_MACHINES, MS, Run, SCHEDULERS, load, machine, metric};

/// Runs `workload` everywhere. To its end, or for `ms` of simulated time; on
/// machines of hundreds of CPUs, whose checks take long, for `ms_when_large`.
fn everywhere(workload: &str, ms: Option<u64>, ms_when_large: u64) {
    let workloads = [load(workload)];
    for name in MACHINES.into_iter().chain(MORE_MACHINES) {
        let machine = machine(name);
        let large = machine.cpus.len() > 64;
        for scheduler in SCHEDULERS {
            let mut run = Run::new(&machine, &workloads);
            run.scheduler = scheduler;
            run = match if large { Some(ms_when_large) } else { ms } {
                Some(ms) => run.for_ms(ms),
                None => run,
            };
            let outcome = run
                .go()
                .unwrap_or_else(|error| panic!("{name}, {workload}, {scheduler}: {error}"));
            assert!(outcome.events > 0 && !outcome.interrupted);
            assert!(
                metric(&outcome, "context_switches") > 0.0,
                "{name}, {workload}, {scheduler}: nothing ran"
            );
        }
    }
}

#[test]
fn schbench_locks_and_preempts() {
    everywhere("schbench -m 2 -t 6 -r 1 -n 1", None, 60);
}

#[test]
fn perf_bench_pipe() {
    everywhere("perf bench sched pipe -l 200", None, 30);
}

#[test]
fn adrestia() {
    everywhere("adrestia -l 20 -t 4", None, 20);
}

#[test]
fn frames() {
    everywhere("frames --duration 1", Some(300), 40);
}

#[test]
fn hackbench_over_pipes() {
    everywhere("hackbench -g 2 -f 3 -l 40 --pipe --threads", None, 30);
}

#[test]
fn hackbench_over_sockets() {
    everywhere("hackbench -g 1 -f 4 -l 40", None, 30);
}

#[test]
fn sysbench_threads() {
    everywhere(
        "sysbench --test=threads --num-threads=6 --max-time=1 --max-requests=8 run",
        None,
        13,
    );
}

#[test]
fn sysbench_cpu() {
    everywhere("sysbench cpu --threads=4 --time=0 --events=8 run", None, 40);
}

#[test]
fn cyclictest() {
    everywhere("cyclictest -t 8 -q -i 3000 -D 1", Some(100), 20);
}

#[test]
fn the_projects_workloads() {
    let mut files: Vec<String> =
        std::fs::read_dir(format!("{}/../../workloads", env!("CARGO_MANIFEST_DIR")))
            .expect("workloads/")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .filter(|name| name.ends_with(".json"))
            .collect();
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        everywhere(&file, Some(80), 15);
    }
}

/// Several at once share the machine, not their locks, pipes and counters.
#[test]
fn workloads_run_side_by_side() {
    let hackbench = "hackbench -g 1 -f 2 -l 20 --pipe --threads";
    let workloads = [
        load(hackbench),
        load(hackbench),
        load("sysbench cpu --threads=2 --time=0 --events=2 run"),
    ];
    let juno = machine("juno-r0");
    let outcome = Run::new(&juno, &workloads).go().expect("they end");
    let elapsed = outcome
        .results
        .iter()
        .filter(|m| m.name.starts_with("elapsed_s"));
    assert!(elapsed.clone().count() >= 2);
    assert!(elapsed.into_iter().all(|m| m.value > 0.0));
    assert_eq!(metric(&outcome, "events"), 2.0);
}

#[test]
fn housekeeping() {
    everywhere("housekeeping", Some(600), 60);
}

/// It neither ends a run nor holds up its end; alone it needs a duration.
#[test]
fn housekeeping_goes_on_as_long_as_others() {
    let juno = machine("juno-r0");
    let (work, beside) = (
        load("sysbench cpu --threads=1 --time=1 run"),
        load("housekeeping"),
    );
    let end = |seed, workloads: &[Workload]| {
        let run = Run::new(&juno, workloads);
        let outcome = Run { seed, ..run }.go().expect("it ends");
        (outcome.end_ns / MS, metric(&outcome, "wakeups"))
    };
    let alone = end(1, std::slice::from_ref(&work));
    let both = [work, beside];
    let (first, second) = (end(1, &both), end(2, &both));
    assert!(first.0 - alone.0 <= 5, "{first:?}, {alone:?}: in ms");
    // Eight tasks that sleep for a quarter of a second in the mean.
    assert!(
        (20.0..80.0).contains(&(first.1 - alone.1)),
        "{first:?}, {alone:?}"
    );
    assert_ne!(
        first, second,
        "where the tasks begin comes from the seed of the run"
    );

    let error = Run::new(&juno, &both[1..]).go().expect_err("it has no end");
    assert!(error.to_string().contains("--duration"), "{error}");
    let outcome = Run::new(&juno, &both[1..])
        .for_ms(700)
        .go()
        .expect("it ends");
    assert_eq!(outcome.end_ns, 700 * MS);
}
