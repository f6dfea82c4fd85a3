// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the fair server: the time that fair tasks get beside real-time ones that never
//! sleep. Ticks come every 4 ms, and all costs are 0.

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, begin_under, big_little, machine, task, workload};
use alight_machine::{Governor, Opp};
use alight_workload::program::{Attributes, Op, Policy};

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn fifo(start_ns: u64, ops: &[Op]) -> Given {
    let mut given = task(start_ns, ops).policy(Policy::Fifo);
    given.attributes.rt_priority = Some(50);
    given
}

/// One CPU under `base`.
fn alone<R>(base: &str, tasks: &[Given], test: impl FnOnce(&mut Sim) -> R) -> (R, Record) {
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    let given = workload(tasks);
    let result = begin_under(rules, &machine(1, 1), &given, &mut record, test);
    (result, record)
}

/// ms that fair task 1 has run at each of these times beside the hog 0.
fn served(base: &str, times_ms: &[u64]) -> Vec<u64> {
    let tasks = [fifo(0, &[run(9000)]), task(0, &[run(9000)])];
    let ran = |sim: &mut Sim| {
        let at = |&ms: &u64| {
            sim.until(ms * MS);
            sim.ran(1) / MS
        };
        times_ms.iter().map(at).collect()
    };
    alone(base, &tasks, ran).0
}

/// With 7.2 a fair task that real-time ones starve waits until 50 ms are left of its second, gets
/// them, and again 50 ms a second later. The server's periods begin when it first ran
/// (`replenish_dl_entity`: the remaining runtime exceeds its share), and it does not wait in them
/// (`dl_defer_running`). Up to 6.8 throttling leaves fair tasks the same time at the end of each
/// second, unless CPUs lend runtime.
#[test]
fn fifty_milliseconds_a_second() {
    let found = served("linux-7.2", &[940, 1010, 1940, 2010, 3010]);
    for (ran, expected) in found.iter().zip([0, 50, 50, 100, 150]) {
        assert!(ran.abs_diff(expected) <= 8, "{found:?}");
    }
    let throttled = served("linux-6.5", &[940, 1040]);
    assert!(
        throttled[0] == 0 && throttled[1].abs_diff(50) <= 8,
        "{throttled:?}"
    );
}

/// It preempts the hog when its time has come and gives way when it is over.
#[test]
fn the_server_goes_before_real_time() {
    let tasks = [fifo(0, &[run(9000)]), task(0, &[run(9000)])];
    let (_, record) = alone("linux-7.2", &tasks, |sim| sim.until(1100 * MS));
    let fair = record.runs_of(1);
    let begin = fair.first().expect("it ran").0;
    assert!(begin.abs_diff(950 * MS) <= 5 * MS, "{fair:?}");
    let back = record.runs_of(0).last().expect("it ran").0;
    assert!(back.abs_diff(begin + 50 * MS) <= 5 * MS, "{back}");
}

/// Fair tasks that ran without the server have had their share: the server goes on waiting
/// (`update_curr_dl_se`: a new period begins when 50 ms were run).
#[test]
fn what_ran_anyhow_counts() {
    // 60 ms of fair time, then the hog: 50 ms are served at about 50 ms.
    let tasks = [task(0, &[run(9000)]), fifo(60 * MS, &[run(9000)])];
    let (_, record) = alone("linux-7.2", &tasks, |sim| sim.until(1200 * MS));
    let fair = record.runs_of(0);
    assert_eq!(fair[0], (0, 0));
    let again = fair.get(1).expect("it ran again").0;
    // The period began at 52 ms, and 8 of its 50 ms were run.
    assert!((1000 * MS..1020 * MS).contains(&again), "{fair:?}");
}

/// Idle time counts as served too. After a period of idle time only, the
/// server stops until a fair task comes (`dl_defer_idle`).
#[test]
fn idle_time_counts() {
    let tasks = [
        task(0, &[run(1), Op::Sleep { ns: 5000 * MS }, run(900)]),
        fifo(5000 * MS, &[run(3000)]),
    ];
    let (ran, _) = alone("linux-7.2", &tasks, |sim| {
        sim.until(5940 * MS);
        let before = sim.ran(0);
        sim.until(6010 * MS);
        (before, sim.ran(0))
    });
    assert_eq!(ran.0, MS, "its second began when it woke");
    assert!((ran.1 - ran.0).abs_diff(50 * MS) <= 8 * MS, "{ran:?}");
}

/// A fair task ends the idleness together with a hog: the server does not stop, because a CPU
/// with a task is not idle (`idle_rq`).
#[test]
fn who_wakes_beside_a_hog_is_served() {
    let tasks = [
        task(0, &[run(1), Op::Sleep { ns: 299 * MS }, run(900)]),
        fifo(300 * MS, &[run(9000)]),
    ];
    let (ran, _) = alone("linux-7.2", &tasks, |sim| {
        sim.until(1400 * MS);
        sim.ran(0)
    });
    // A period began when it woke; in its last 50 ms it runs.
    assert!(ran.abs_diff(51 * MS) <= 8 * MS, "{ran}");
}

/// A deadline task that is admitted beside the servers keeps its deadlines.
#[test]
fn deadline_tasks_come_first_by_deadline() {
    let mut dl = task(0, &[run(9000)]);
    dl.attributes = Attributes {
        policy: Some(Policy::Deadline),
        slice_ns: Some(50 * MS),
        dl_period_deadline_ns: Some((100 * MS, 100 * MS)),
        ..Attributes::default()
    };
    let tasks = [dl, fifo(0, &[run(9000)]), task(0, &[run(9000)])];
    let (ran, _) = alone("linux-7.2", &tasks, |sim| {
        sim.until(1990 * MS);
        [0, 1, 2].map(|task| sim.ran(task) / MS)
    });
    assert!(ran[0].abs_diff(1000) <= 60, "{ran:?}");
    assert!(ran[2].abs_diff(100) <= 12, "{ran:?}");
    assert_eq!(ran.iter().sum::<u64>().div_ceil(10), 199, "{ran:?}");
}

/// Deadline tasks that are too slow at a low frequency delay the server until after its deadline.
/// It then waits for the next deadline, as after any other overrun. It is not deferred to the last
/// 50 ms before that (`update_curr_dl_se` begins a new period; `dl_defer_running` stays set, so
/// that it does not wait for its zero laxity again).
#[test]
fn an_overrun_behind_the_deadline_waits_for_the_next() {
    let half = |opp: &Opp| Opp {
        khz: opp.khz / 2,
        capacity: opp.capacity / 2,
        ..opp.clone()
    };
    let mut slow = machine(1, 1);
    let opps = &mut slow.freq_domains[0].opps;
    opps.insert(0, half(&opps[0]));
    // 45 of 100 ms at full speed are 90 at half.
    let hog = || {
        let mut hog = task(0, &[run(9000)]);
        hog.attributes = Attributes {
            policy: Some(Policy::Deadline),
            slice_ns: Some(45 * MS),
            dl_period_deadline_ns: Some((100 * MS, 100 * MS)),
            ..Attributes::default()
        };
        hog
    };
    let given = workload(&[task(0, &[run(9000)]), hog(), hog()]);
    let rules = ("linux-7.2", Governor::Powersave);
    let mut record = Record::default();
    begin_under(rules, &slow, &given, &mut record, |sim| {
        sim.until(4000 * MS)
    });
    // Its zero laxity comes at 950 ms. Its deadline is then 1950 ms, and it comes last until
    // that is the nearest. After it has served, its deadline is a second away; the deadlines
    // of the others, which are late, are up to a period nearer.
    let served: Vec<u64> = record.runs_of(0).iter().map(|run| run.0 / MS).collect();
    let &[first, second] = &served[..] else {
        panic!("{served:?}");
    };
    assert!((1950..2050).contains(&first), "{served:?}");
    assert!((1050..1150).contains(&(second - first)), "{served:?}");
}

/// The server's bandwidth is in use from the arrival of a fair task: 52428 of 1048576, 51 of
/// 1024. It stays in use until the server's timer stops the server, because no fair task was
/// there for the last period.
#[test]
fn its_bandwidth_counts_while_it_is_active() {
    let tasks = [task(5 * MS, &[run(1), Op::Sleep { ns: 2500 * MS }, run(1)])];
    let mut record = Record::default();
    let given = workload(&tasks);
    let rules = ("linux-7.2", Governor::Schedutil);
    begin_under(rules, &machine(1, 1), &given, &mut record, |sim| {
        // Its period begins with the task. 49 ms before the end the idle time counts as served:
        // the server stops, and its 0-lag time is now.
        for (at, bandwidth) in [(4, 0), (6, 51), (900, 51), (954, 51), (957, 0), (2400, 0)] {
            sim.until(at * MS);
            let found = sim.core.cpus[0].dl_bandwidth;
            assert_eq!(found, bandwidth, "at {at} ms");
        }
        sim.until(2507 * MS);
        assert_eq!(sim.core.cpus[0].dl_bandwidth, 51, "the task is back");
    });
    // A run that does not read the bandwidth does not keep it.
    let rules = ("linux-7.2", Governor::Performance);
    begin_under(rules, &machine(1, 1), &given, &mut record, |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.core.cpus[0].dl_bandwidth, 0);
    });
    // Kernels before 6.12 have no servers.
    let rules = ("linux-6.5", Governor::Schedutil);
    begin_under(rules, &machine(1, 1), &given, &mut record, |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.core.cpus[0].dl_bandwidth, 0);
    });
}

/// schedutil asks for at least the server's bandwidth (`sugov_effective_cpu_perf`: `min`), whatever
/// the capacity of the CPU: a tenth of a CPU with half of the biggest capacity. Tasks that need
/// more determine the frequency.
#[test]
fn schedutil_asks_for_its_bandwidth_at_least() {
    let tasks = [task(0, &[run(1), Op::Sleep { ns: 300 * MS }, run(1)]).on(&[0])];
    for (base, floor) in [("linux-6.5", 0), ("linux-7.2", 51)] {
        let mut record = Record::default();
        let given = workload(&tasks);
        let rules = (base, Governor::Schedutil);
        begin_under(rules, &big_little(2), &given, &mut record, |sim| {
            sim.until(299 * MS);
            (
                sim.core.cpus[0].cfs.util_avg,
                sim.core.cpus[0].cfs.runnable_avg,
            ) = (1, 1);
            sim.core.cpus[0].util_est_enqueued = 0;
            let demand = sim.highest_demand(&[0]);
            assert_eq!(demand.max, 512, "{base}");
            assert_eq!(demand.perf.max(2), floor.max(2), "{base}: {demand:?}");
            sim.core.cpus[0].cfs.util_avg = 400;
            assert_eq!(
                sim.highest_demand(&[0]).perf,
                500,
                "{base}: a quarter more, nothing besides"
            );
        });
    }
}
