// SPDX-License-Identifier: GPL-2.0-only
//! Tests of HRTICK on one CPU of Linux 7.2: slices of 0.7 ms, ticks every 4 ms.

use super::ENTRY;
use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, US, begin_under, machine, task, workload};
use alight_machine::Governor;
use alight_workload::program::Op;

const SLICE: u64 = 700 * US;

fn hog(start: u64) -> Given {
    task(start, &[Op::Run { ns: u64::MAX }])
}

/// Runs `tasks` under `base` on one CPU of a machine whose kernel may use the timer, or not.
fn on(base: &str, hrtick: bool, tasks: &[Given], test: impl FnOnce(&mut Sim)) -> Record {
    let mut machine = machine(1, 1);
    machine.hrtick = hrtick;
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    begin_under(rules, &machine, &workload(tasks), &mut record, test);
    record
}

/// The times of all switches, us.
fn switches(record: &Record) -> Vec<u64> {
    record.switches.iter().map(|(at, ..)| at / US).collect()
}

/// hrtick_start_fair() at each switch: two hogs change places at their deadlines.
#[test]
fn turns_end_at_their_deadlines() {
    let record = on("linux-7.2", true, &[hog(0), hog(0)], |sim| {
        sim.until(20 * MS);
        let (a, b) = (sim.ran(0), sim.ran(1));
        assert!(a.abs_diff(b) <= SLICE, "{a} and {b}");
    });
    let at = switches(&record);
    let turns: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The first two have half a slice: they are new (PLACE_DEADLINE_INITIAL).
    let whole = turns.iter().filter(|&&turn| turn == 700).count();
    assert!(whole >= turns.len() - 3, "{turns:?}");
    assert!(
        turns.len() >= 26,
        "28 turns of 0.7 ms fit into 20 ms: {turns:?}"
    );
}

/// hrtick_schedule_exit(): the time of a turn begins when the switch is over.
#[test]
fn the_switch_is_not_part_of_the_turn() {
    let mut machine = machine(1, 1);
    machine.hrtick = true;
    machine.core_types[0].costs.switch_ns = 3000;
    let mut record = Record::default();
    let rules = ("linux-7.2", Governor::Performance);
    let hogs = workload(&[hog(0), hog(0)]);
    begin_under(rules, &machine, &hogs, &mut record, |sim| {
        sim.until(20 * MS)
    });
    let at = switches(&record);
    let whole = at.windows(2).filter(|pair| pair[1] - pair[0] == 703);
    assert!(whole.count() >= 20, "{at:?}");
}

/// Three hogs of nice 0, 5 and -5 in Linux 7.2.13: with any weight the deadline has passed when the
/// timer expires. The lightest is not picked twice in a row: all its turns end by the timer, none
/// at a tick.
#[test]
fn the_timer_does_not_come_before_the_deadline() {
    let hogs = [hog(0), hog(0).nice(5), hog(0).nice(-5)];
    let record = on("linux-7.2", true, &hogs, |sim| sim.until(1000 * MS));
    let turns: Vec<u64> = (record.switches.windows(2))
        .filter(|pair| pair[0].2 == Some(1))
        .map(|pair| (pair[1].0 - pair[0].0) / US)
        .collect();
    assert!(turns.len() > 80, "{} turns", turns.len());
    assert!(turns.iter().all(|&turn| turn <= 700), "{turns:?}");
}

/// Without the feature, and before 7.2, only ticks end turns.
#[test]
fn without_it_ticks_end_turns() {
    for (base, hrtick) in [
        ("linux-7.2", false),
        ("linux-6.5", true),
        ("linux-5.5", true),
    ] {
        let record = on(base, hrtick, &[hog(0), hog(0)], |sim| {
            sim.until(40 * MS);
            assert_eq!(sim.cpus[0].hrtick_at, NEVER, "{base}");
        });
        let turns = switches(&record).len();
        assert!(turns <= 13, "{base}: {turns} turns in 10 ticks");
    }
}

/// h_nr_queued <= 1: no task waits, and no timer is set; hrtick_update() sets it when a task joins.
#[test]
fn the_timer_is_set_when_somebody_waits() {
    on("linux-7.2", true, &[hog(0), hog(2 * MS)], |sim| {
        sim.until(MS);
        assert_eq!(sim.cpus[0].hrtick_at, NEVER, "alone");
        sim.until(2 * MS);
        let at = sim.cpus[0].hrtick_at;
        assert!(
            at > sim.now && at <= sim.now + SLICE + ENTRY,
            "{at} at {}",
            sim.now
        );
    });
}

/// hrtick_schedule_exit() with an idle queue cancels the timer.
#[test]
fn an_idle_cpu_has_no_timer() {
    let short = || task(0, &[Op::Run { ns: 100 * US }]);
    on(
        "linux-7.2",
        true,
        &[short(), short(), hog(10 * MS)],
        |sim| {
            sim.until(50 * US);
            assert_ne!(sim.cpus[0].hrtick_at, NEVER, "one runs, one waits");
            sim.until(5 * MS);
            assert_eq!(sim.cpus[0].hrtick_at, NEVER, "both have gone");
        },
    );
}

/// max_t(s64, delay, 10000): a deadline that is almost reached causes no storm of timers.
#[test]
fn no_turn_is_shorter_than_10_us() {
    on("linux-7.2", true, &[hog(0), hog(0)], |sim| {
        sim.until(MS);
        for left in [0, 1, 9 * US, 50 * US] {
            sim.clock(0);
            sim.update_curr(0);
            sim.stand_before_deadline(0, left);
            sim.cpus[0].hrtick_at = NEVER;
            sim.hrtick_start(0);
            let at = sim.cpus[0].hrtick_at - sim.now;
            assert_eq!(at, left.max(10 * US) + ENTRY, "{left} ns left");
            // The timer is not moved by 5 us or less (hrtick_needs_rearm).
            sim.stand_before_deadline(0, left.max(10 * US) + 5 * US);
            sim.hrtick_start(0);
            assert_eq!(sim.cpus[0].hrtick_at - sim.now, at, "{left} ns left");
        }
    });
}

impl Sim<'_> {
    /// The current task of `cpu`, of nice 0, has `left` ns to its deadline.
    fn stand_before_deadline(&mut self, cpu: usize, left: u64) {
        let task = self.cpus[cpu].curr;
        self.set_until_deadline(task, left);
    }
}
