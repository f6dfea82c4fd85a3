// SPDX-License-Identifier: GPL-2.0-only
//! Tests of requests for statistics and their answers.

use super::*;

fn desk() -> Desk {
    Desk::new(&Scheduler::parse("linux-7.2").unwrap(), None)
}

fn decided(times: u64) -> Vec<Counters> {
    vec![Counters {
        decisions: times,
        ..Counters::ZERO
    }]
}

#[test]
fn who_asks_is_answered() {
    let mut desk = desk();
    desk.loaded();
    let source = desk.source();
    let asking = thread::spawn(move || source());
    while !asking.is_finished() {
        desk.attend(Duration::from_millis(10), || decided(7));
    }
    let statistics = asking.join().unwrap().expect("an answer");
    assert_eq!((statistics.totals.decisions, statistics.loads), (7, 1));
    assert_eq!(statistics.scheduler, "linux-7.2");
}

#[test]
fn counts_of_earlier_loads_are_kept() {
    let mut desk = desk();
    desk.unloaded(decided(5));
    desk.unloaded(decided(6));
    assert_eq!(desk.statistics(&|| decided(1)).totals.decisions, 12);
    /* The second load may have met fewer CPUs. */
    assert_eq!(desk.statistics(&Vec::new).cpus.len(), 1);
}

#[test]
fn nobody_waits_for_a_loader_that_has_ended() {
    let desk = desk();
    let source = desk.source();
    drop(desk);
    let begin = Instant::now();
    assert!(source().is_none());
    assert!(begin.elapsed() < PATIENCE);
}

#[test]
fn attending_ends_in_time_whoever_asks() {
    let mut desk = desk();
    let source = desk.source();
    let asking = thread::spawn(move || (0..1000).filter(|_| source().is_some()).count());
    let begin = Instant::now();
    desk.attend(Duration::from_millis(100), || decided(1));
    assert!(begin.elapsed() < Duration::from_secs(2));
    drop(desk);
    assert!(asking.join().unwrap() > 0);
}
