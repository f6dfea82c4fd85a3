// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the logs of passes, by rt-app's definitions, to the microsecond. All costs are 0.

use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::face::answers::Latency;
use crate::testbed::{Given, MS, begin, machine, task, workload};
use alight_workload::program::{Logged, Op, OptionalId, TimerMode, TimerOrigin};

const END: u64 = 10_000 * MS;
/// The time by which the timer of a fair task expires late, us.
const SLACK_US: f64 = TIMER_SLACK as f64 / 1e3;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn timer(mode: TimerMode) -> Op {
    Op::Timer {
        slot: 0,
        period_ns: 10 * MS,
        mode,
        origin: TimerOrigin::TaskStart,
        histogram: OptionalId::some(0),
    }
}

fn pass(cumulative_slack: bool) -> Op {
    Op::Pass {
        counter: 0,
        log: 0,
        computes: true,
        cumulative_slack,
    }
}

/// Runs `tasks`, which write to one log, on one CPU.
fn logged<R>(tasks: &[Given], test: impl FnOnce(&mut Sim) -> R) -> R {
    let mut workload = workload(tasks);
    workload.logs = 1;
    begin(&machine(1, 1), &workload, |sim| {
        sim.until(END);
        test(sim)
    })
}

fn value(sim: &Sim, what: Logged) -> f64 {
    sim.logged(0, what).unwrap_or(f64::NAN)
}

/// A pass of 35 ms and four of 1 ms, with a timer of 10 ms after each.
#[test]
fn a_late_task_does_not_sleep_and_is_not_woken() {
    // An absolute timer has missed its points 10, 20 and 30 at 35, 36 and 37 ms. A relative one
    // begins anew at 35.
    let woken = SLACK_US;
    let absolute = [-25_000.0, -16_000.0, -7_000.0, 2_000.0, 9_000.0 - woken];
    let late = 9_000.0 - woken;
    let relative = [-25_000.0, 9_000.0, late, late, late];
    for (mode, slacks, missed) in [
        (TimerMode::Absolute, absolute, 3),
        (TimerMode::Relative, relative, 1),
    ] {
        let mut ops = vec![run(35), timer(mode), pass(false)];
        for _ in 0..4 {
            ops.extend([run(1), timer(mode), pass(false)]);
        }
        logged(&[task(0, &ops)], |sim| {
            let slept = 5 - missed;
            assert_eq!(value(sim, Logged::Missed), f64::from(missed), "{mode:?}");
            assert_eq!(value(sim, Logged::Run), (35_000.0 + 4_000.0) / 5.0);
            assert_eq!(value(sim, Logged::Slack), slacks.iter().sum::<f64>() / 5.0);
            assert_eq!(value(sim, Logged::LeastSlack), -25_000.0);
            assert_eq!(
                value(sim, Logged::WakeupLatency),
                woken * f64::from(slept) / 5.0,
                "{mode:?}: 0 in passes that did not sleep"
            );
            let wakeups = &Latency::of(&sim.histograms[0]);
            assert_eq!(wakeups.samples, slept as u64, "{mode:?}");
            assert_eq!(wakeups.mean_us, woken, "{mode:?}: of those that slept");
        });
    }
}

/// Two uses of a timer in a pass: one that sleeps until 10 ms, one that comes 5 ms late to 20.
#[test]
fn several_timers_of_a_pass() {
    let t = timer(TimerMode::Absolute);
    let (first, second) = (10_000.0, -5_000.0 - SLACK_US);
    for (cumulative, slack) in [(false, second), (true, first + second)] {
        let ops = [t, run(15), t, pass(cumulative)];
        logged(&[task(0, &ops)], |sim| {
            assert_eq!(value(sim, Logged::Slack), slack, "cumulative {cumulative}");
            let wu_lat = value(sim, Logged::WakeupLatency);
            assert_eq!(wu_lat, 0.0, "a missed timer makes it 0");
            assert_eq!(value(sim, Logged::Period), 25_000.0 + SLACK_US);
        });
    }
}

/// `run` is wall time: it contains time that other tasks run. `period` is the whole pass.
#[test]
fn run_is_wall_time_and_period_is_the_whole_pass() {
    let sleep = Op::Sleep { ns: 5 * MS };
    let wall = Op::RunWall { ns: 3 * MS };
    for (ops, run_us, period_us) in [
        (vec![run(4), sleep, pass(false)], 4_000.0, 9_000.0),
        (vec![run(4), sleep, run(2), pass(false)], 6_000.0, 11_000.0),
        (
            vec![run(4), run(2), wall, sleep, pass(false)],
            9_000.0,
            14_000.0,
        ),
        (
            vec![wall, run(0), sleep, wall, pass(false)],
            6_000.0,
            11_000.0,
        ),
    ] {
        logged(&[task(0, &ops)], |sim| {
            assert_eq!(value(sim, Logged::Run), run_us, "{ops:?}");
            let period = period_us + SLACK_US;
            assert_eq!(value(sim, Logged::Period), period, "{ops:?}");
        });
    }
    let hog = task(0, &[run(100)]);
    logged(&[task(0, &[run(20), pass(false)]), hog], |sim| {
        let (run, period) = (value(sim, Logged::Run), value(sim, Logged::Period));
        assert!((36_000.0..48_000.0).contains(&run), "half of a CPU: {run}");
        assert!(period >= run, "{period}");
    });
}

/// Two tasks of one log share a CPU with one that does not log.
#[test]
fn cpu_time_is_that_of_all_tasks_of_a_log() {
    let logs = task(0, &[run(30), pass(false)]);
    let other = task(0, &[run(40)]);
    logged(&[logs.clone(), logs, other], |sim| {
        assert_eq!(value(sim, Logged::CpuTime), 0.06);
        assert_eq!(value(sim, Logged::CpuShare), 60.0);
    });
}

/// CPU time counts from the start of counting; rt-app's logs go on.
#[test]
fn cpu_time_counts_anew() {
    let mut workload = workload(&[task(0, &[run(100), pass(false)])]);
    workload.logs = 1;
    begin(&machine(1, 1), &workload, |sim| {
        sim.until(40 * MS);
        assert_eq!(value(sim, Logged::CpuTime), 0.04);
        sim.count_anew();
        sim.until(END);
        assert_eq!(value(sim, Logged::CpuTime), 0.06);
        assert_eq!(value(sim, Logged::CpuShare), 100.0);
        assert_eq!(value(sim, Logged::Run), 100_000.0);
    });
}
