// SPDX-License-Identifier: GPL-2.0-only
//! Whole runs of the tools that measure by themselves: what they note is what must have happened.

mod common;

use alight_sim::{Figures, Tally};
use common::{Run, load, machine};

/// Of the tool's own work a request of schbench is 16.9 ms on the biggest CPU.
const REQUEST_US: u64 = 16_861;

fn figures(name: &str, line: &str) -> Figures {
    let (machine, workloads) = (machine(name), [load(line)]);
    let run = || {
        let run = Run::new(&machine, &workloads).go();
        run.unwrap_or_else(|error| panic!("{line} on {name}: {error}"))
    };
    let (first, again) = (run(), run());
    assert_eq!(first, again, "{line} on {name} is the same each time");
    let [figures] = &first.figures[..] else {
        panic!("one workload has one set of figures");
    };
    assert!(figures.over, "{line} on {name} ends");
    figures.clone()
}

/// Of a request the sleep and the work; only calibration leaves the sleep out.
#[test]
fn requests_of_schbench_take_at_least_their_work() {
    for (options, least) in [("", REQUEST_US + 100), ("-C", REQUEST_US)] {
        let figures = figures("juno-r0", &format!("schbench -t 2 -r 1 {options}"));
        let [wakeup, request, rps] = &figures.tallies[..] else {
            panic!("three tallies");
        };
        assert!(request.min() >= Some(least), "{options}: {request:?}");
        assert!(
            request.min() < Some(least + 200),
            "{options}: {:?}",
            request.min()
        );
        assert_eq!(request.count(), figures.counters[0], "{options}");
        let waits = figures.counters[0].abs_diff(wakeup.count());
        assert!(waits <= 2, "each request asks once: {waits}");
        assert_eq!(rps.count(), 2, "at the start and after a second");
        assert_eq!(rps.min(), Some(0), "nothing is done at the start");
    }
}

/// With more workers than CPUs some are preempted with the lock: others spin, and requests take longer.
#[test]
fn locking_costs_an_overloaded_machine_requests() {
    let done = |options: &str| {
        let line = format!("schbench -m 2 -t 9 -r 1 {options}");
        figures("juno-r0", &line).counters[0]
    };
    let (locked, free) = (done(""), done("-L"));
    assert!(
        locked > 0 && locked < free,
        "{locked} with locks, {free} without"
    );
}

#[test]
fn adrestia_notes_each_round() {
    let figures = figures("juno-r0", "adrestia -l 50 -t 3");
    let counts: Vec<u64> = figures.tallies.iter().map(Tally::count).collect();
    assert_eq!(counts, [150, 50]);
    assert!(
        figures
            .tallies
            .iter()
            .all(|t| t.max() > 0 && t.max() < 20_000)
    );
}

/// Half the period is plenty on an idle phone; three periods a frame are never enough.
#[test]
fn frames_are_late_when_they_are_too_long() {
    let late = |options: &str| {
        let figures = figures("gs101", &format!("frames --duration 3 {options}"));
        assert_eq!(figures.tallies[0].count(), figures.counters[0]);
        (figures.counters[1], figures.counters[0])
    };
    let (none, frames) = late("--ui 1000 --render 1000 --background 0");
    assert!(none * 20 < frames, "{none} of {frames}");
    let (all, frames) = late("--ui 50000 --render 50000");
    assert_eq!(all, frames);
}

#[test]
fn cyclictest_and_sysbench_note_what_they_report() {
    let cyclic = figures("juno-r0", "cyclictest -t 2 -D 1");
    let cycles: Vec<u64> = cyclic.tallies.iter().map(Tally::count).collect();
    assert!(
        (900..=1010).contains(&cycles[0]) && (600..=675).contains(&cycles[1]),
        "{cycles:?}"
    );
    let sysbench = figures(
        "juno-r0",
        "sysbench cpu --threads=2 --time=0 --events=9 run",
    );
    let [_, events, first, second, ..] = sysbench.counters[..] else {
        panic!("counters of all and of each");
    };
    assert_eq!((events, first + second), (9, 9));
    assert_eq!(sysbench.tallies[0].count(), 9);
    assert!(sysbench.tallies[0].min() >= Some(20_000));
}
