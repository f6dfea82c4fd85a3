// SPDX-License-Identifier: GPL-2.0-only
//! Tests of wakeups, up to the wakee's first work: the cost of each step, in order.

use crate::base::queue::NEVER;
use crate::testbed::{
    Given, MS, Record, US, begin, begin_on, begin_recorded, begin_under, machine, task, workload,
};
use alight_machine::{Costs, Governor, Machine};
use alight_workload::program::Op;

/// Every cost on the way, distinguished by its digits, ns.
const COSTS: Costs = Costs {
    switch_ns: 1_000_000,
    wakeup_clock_ns: 0,
    wakeup_ns: 200_000,
    select_ns: 30_000,
    wakelist_ns: 4_000,
    lock_ns: 500,
    lock_hold_ns: 60,
    ipi_send_ns: 7,
    ipi_receive_ns: 20_000_000,
    idle_exit_ns: 300_000_000,
    yield_ns: 0,
    futex_ns: 0,
    mutex_ns: 0,
    pipe_ns: 0,
    pipe_read_ns: 0,
    pipe_held_ns: 0,
    pipe_read_held_ns: 0,
    socket_ns: 0,
    socket_read_ns: 0,
    scan_local_ns: 0,
    scan_remote_ns: 0,
    slow_scan_ns: 0,
    newidle_ns: 0,
    newidle_cpu_ns: 0,
    tick_ns: 0,
    timer_ns: 0,
    fork_ns: 0,
    fork_mm_ns: 0,
    block_ns: 0,
    socket_new_ns: 0,
};
/// Exit latency of the idle state, ns.
const EXIT_NS: u64 = 40_000_000_000;
/// When the wakee is woken: long after both CPUs have stopped their ticks.
const WOKEN_AT: u64 = 1000 * 1000 * MS;

fn costly(mut machine: Machine) -> Machine {
    machine.core_types[0].costs = COSTS;
    machine.core_types[0].idle_states[0].exit_ns = EXIT_NS;
    machine
}

/// Task 0 on CPU 0 wakes task 1, which sleeps on CPU 1.
fn waker_and_wakee() -> [Given; 2] {
    let wakee = [
        Op::SemWait { semaphore: 0 },
        Op::Mark { mark: 1 },
        Op::Run { ns: MS },
    ];
    let waker = [
        Op::Mark { mark: 0 },
        Op::SemPost { semaphore: 0 },
        Op::Run { ns: 500_000 * MS },
    ];
    [task(WOKEN_AT, &waker).on(&[0]), task(0, &wakee).on(&[1])]
}

/// ns from the waker's call to the switch to the wakee, and from there to its
/// first work.
fn latency(machine: &Machine) -> (u64, u64) {
    let mut record = Record::default();
    let (called, works) =
        begin_recorded(machine, &workload(&waker_and_wakee()), &mut record, |sim| {
            sim.until(WOKEN_AT + 200_000 * MS);
            (sim.passed(0).0, sim.passed(1).0)
        });
    let switched = record.runs_of(1).last().expect("it ran").0;
    (switched - called, works - switched)
}

/// Every step of the way, in the order in which it comes; the wakee then pays
/// for the switch.
#[test]
fn waking_an_idle_cpu_of_the_same_cache() {
    let c = &COSTS;
    let here = c.select_ns + c.wakeup_ns + c.lock_ns + c.lock_hold_ns + c.ipi_send_ns;
    let there = c.ipi_receive_ns + c.idle_exit_ns;
    let expected = u64::from(here) + u64::from(there) + EXIT_NS;
    assert_eq!(
        latency(&costly(machine(2, 2))),
        (expected, u64::from(c.switch_ns))
    );
}

/// The time at which the current task of CPU 1 gives way to one that CPU 0 wakes there, us after
/// the waker's call. The wakeup takes work of 500 us and an interrupt of 2 ms. `steps`: the
/// operations of the task on CPU 1, from 36 ms before the call on.
fn gives_way_after(base: &str, steps: &[Op]) -> u64 {
    let mut machine = machine(2, 2);
    let costs = &mut machine.core_types[0].costs;
    costs.wakeup_ns = 500 * US as u32;
    costs.wakeup_clock_ns = costs.wakeup_ns;
    costs.ipi_receive_ns = 2 * MS as u32;
    // 2599 us before a tick.
    let called = 41 * MS;
    let wakee = [Op::SemWait { semaphore: 0 }, Op::Run { ns: MS }];
    let waker = [Op::Mark { mark: 0 }, Op::SemPost { semaphore: 0 }];
    let tasks = [
        task(called, &waker).on(&[0]),
        task(0, &wakee).on(&[1]),
        task(5 * MS, steps).on(&[1]),
    ];
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    begin_under(rules, &machine, &workload(&tasks), &mut record, |sim| {
        sim.until(called + 20 * MS);
        assert_eq!(sim.passed(0).0, called);
    });
    (record.runs_of(1).last().expect("it ran").0 - called) / US
}

/// resched_curr() sets the flag under the lock of the queue, after the waker's work for that. A
/// task that returns from a system call before does not see it; one that returns afterwards gives
/// way before the interrupt. In user mode a task gives way at the interrupt. With lazy preemption
/// there is no interrupt: it gives way at the tick.
#[test]
fn who_runs_elsewhere_sees_that_it_should_give_way_when_the_waker_has_come_to_that() {
    let calls = [Op::Run { ns: 30 * US }, Op::SemPost { semaphore: 1 }].repeat(2000);
    let computes = [Op::Run { ns: 60 * MS }];
    for (base, steps, expected) in [
        ("linux-6.1", &calls[..], 510),
        ("linux-7.2", &calls[..], 510),
        ("linux-6.1", &computes[..], 2500),
        ("linux-7.2", &computes[..], 2599),
    ] {
        let found = gives_way_after(base, steps);
        assert_eq!(found, expected, "{base}, {} steps", steps.len());
    }
}

/// ttwu_queue_remote(): the task goes to another cache by the wake list; the target
/// takes the lock and enqueues it, after its interrupt.
#[test]
fn waking_an_idle_cpu_of_another_cache() {
    let c = &COSTS;
    let here = c.select_ns + c.wakelist_ns + c.ipi_send_ns;
    let there = c.ipi_receive_ns + c.idle_exit_ns;
    let (switched, works) = latency(&costly(machine(2, 1)));
    assert_eq!(switched, u64::from(here) + u64::from(there) + EXIT_NS);
    assert_eq!(
        works,
        u64::from(c.wakeup_ns + c.switch_ns),
        "it pays for its enqueue there"
    );
}

/// ttwu_queue_cond(): in later kernels an idle CPU queues its task itself, in any cache; the waker
/// queues a task for a busy CPU.
#[test]
fn waking_an_idle_cpu_by_its_list() {
    let c = &COSTS;
    let machine = costly(machine(2, 2));
    for (base, by_list) in [
        ("linux-5.4", false),
        ("linux-5.10", false),
        ("linux-5.15", true),
        ("linux-6.1", true),
        ("linux-6.5", true),
        ("linux-7.2", true),
    ] {
        let mut record = Record::default();
        let rules = (base, Governor::Performance);
        let tasks = workload(&waker_and_wakee());
        let called = begin_under(rules, &machine, &tasks, &mut record, |sim| {
            sim.until(WOKEN_AT + 200_000 * MS);
            sim.passed(0).0
        });
        let here = match by_list {
            true => c.wakelist_ns,
            false => c.wakeup_ns + c.lock_ns + c.lock_hold_ns,
        };
        let way = here + c.select_ns + c.ipi_send_ns + c.ipi_receive_ns + c.idle_exit_ns;
        let switched = record.runs_of(1).last().expect("it ran").0;
        assert_eq!(switched - called, u64::from(way) + EXIT_NS, "{base}");
    }
    begin_on(
        "linux-6.1",
        &machine,
        &workload(&waker_and_wakee()),
        |sim| {
            sim.until(WOKEN_AT - 1);
            assert!(sim.by_wake_list(0, 1), "idle");
            assert!(!sim.by_wake_list(1, 1), "its own");
            sim.core.cpus[1].nr_running = 1;
            assert!(!sim.by_wake_list(0, 1), "busy");
            sim.core.cpus[1].nr_running = 0;
        },
    );
}

/// set_nr_if_polling(): a CPU that watches need_resched needs no interrupt.
#[test]
fn waking_a_polling_cpu_needs_no_ipi() {
    let c = &COSTS;
    let mut machine = costly(machine(2, 2));
    // A hardware state that is entered by mwait, not the kernel's polling loop.
    machine.core_types[0].idle_states[0].residency_ns = 1;
    let with_ipi = latency(&machine).0;
    machine.core_types[0].idle_states[0].polling = true;
    let saved = with_ipi - latency(&machine).0;
    assert_eq!(saved, u64::from(c.ipi_send_ns + c.ipi_receive_ns));

    begin(&machine, &workload(&waker_and_wakee()), |sim| {
        sim.until(WOKEN_AT - 1);
        let before = sim.stats.ipis.seen();
        sim.until(WOKEN_AT + 200_000 * MS);
        assert_eq!(sim.stats.ipis.seen(), before);
    });
}

/// At half the clock work takes twice as long; the exit from an idle state and
/// memory do not.
#[test]
fn costs_stretch_with_the_clock() {
    let fast = costly(machine(2, 2));
    let mut slow = fast.clone();
    slow.freq_domains[0].opps[0].capacity = 512;
    let (switched, works) = latency(&fast);
    let (switched_slow, works_slow) = latency(&slow);
    assert_eq!(switched_slow - EXIT_NS, 2 * (switched - EXIT_NS));
    assert_eq!(works_slow, 2 * works);
}

/// A task that wakes on the waker's own CPU is queued behind it; no CPU is interrupted.
#[test]
fn waking_on_this_cpu_needs_no_ipi() {
    let tasks = waker_and_wakee().map(|task| task.on(&[0]));
    begin(&costly(machine(1, 1)), &workload(&tasks), |sim| {
        sim.until(WOKEN_AT + 400_000 * MS);
        assert_eq!(sim.stats.ipis.seen(), 0);
        assert!(sim.passed(1).0 > sim.passed(0).0);
    });
}

/// The wake list belongs to the target. From the first entry on, selections see a CPU that is no
/// longer idle (`ttwu_pending`), and one interrupt queues all entries.
#[test]
fn a_wake_list_is_seen_at_once_and_interrupts_once() {
    let sleeper = task(0, &[Op::SemWait { semaphore: 0 }, Op::Run { ns: MS }]).on(&[1]);
    let post = Op::SemPost { semaphore: 0 };
    let waker = task(100 * MS, &[post, post, Op::Run { ns: 9 * MS }]).on(&[0]);
    let mut plain = machine(2, 1);
    plain.core_types[0].costs.ipi_receive_ns = 10_000;
    begin(
        &plain,
        &workload(&[waker, sleeper.clone(), sleeper]),
        |sim| {
            sim.until(100 * MS - 1);
            let before = sim.stats.ipis.seen();
            sim.until(100 * MS + 5 * US);
            assert_eq!(sim.core.cpus[1].ttwu_pending, 1);
            assert_eq!(sim.core.cpus[1].nr_running, 0, "nothing is enqueued yet");
            assert_eq!(sim.stats.ipis.seen(), before + 1);
            sim.until(100 * MS + 10 * US);
            assert_eq!(sim.core.cpus[1].ttwu_pending, 0);
            assert_eq!(sim.core.cpus[1].nr_running, 2, "the interrupt enqueues all");
        },
    );
}

/// The lock of a runqueue is first come first served.
#[test]
fn wakers_queue_for_the_targets_lock() {
    let mut plain = machine(4, 4);
    plain.core_types[0].costs.lock_hold_ns = 10_000;
    let post = |cpu: u32| {
        task(
            100 * MS,
            &[Op::SemPost { semaphore: cpu }, Op::Mark { mark: cpu }],
        )
        .on(&[cpu])
    };
    let wait = |semaphore| task(0, &[Op::SemWait { semaphore }, Op::Run { ns: MS }]).on(&[3]);
    let tasks = [post(0), post(1), post(2), wait(0), wait(1), wait(2)];
    begin(&plain, &workload(&tasks), |sim| {
        sim.until(200 * MS);
        // Each starts 10 us late: its own fork took a lock as well.
        let start = 100 * MS + 10 * US;
        let done: Vec<u64> = (0..3).map(|cpu| sim.passed(cpu).0 - start).collect();
        assert_eq!(done, [10 * US, 20 * US, 30 * US]);
        assert_eq!(sim.stats.lock_wait_ns.seen(), (10 + 20) * US);
        assert_eq!(sim.stats.lock_contended.seen(), 2);
    });
}

/// The delay that is reported runs from the start of the wakeup to the switch.
#[test]
fn run_delay_is_from_the_wakeup_to_the_switch() {
    begin(
        &costly(machine(2, 2)),
        &workload(&waker_and_wakee()),
        |sim| {
            sim.until(WOKEN_AT - 1);
            sim.stats.wake_latency = Default::default();
            sim.until(WOKEN_AT + 200_000 * MS);
            let delays: Vec<_> = sim
                .mechanism()
                .into_iter()
                .filter(|m| m.name == "run_delay_mean_us")
                .collect();
            let expected = latency(&costly(machine(2, 2))).0 as f64 / 1e3;
            // The other one is the start of the waker, on a CPU that first leaves idle.
            let own = delays[0].value * 2.0 - expected;
            assert!(own >= 0.0 && own < expected, "{own} us");
        },
    );
}

/// A task that sleeps belongs to no wake list and waits for no interrupt.
#[test]
fn nothing_is_left_behind() {
    begin(
        &costly(machine(2, 1)),
        &workload(&waker_and_wakee()),
        |sim| {
            sim.until(2 * WOKEN_AT);
            for cpu in &sim.cpus {
                assert_eq!(
                    (cpu.ipi_at, cpu.wake_list.head),
                    (NEVER, crate::base::timeline::NONE)
                );
            }
            assert!(sim.workloads.iter().all(|w| w.alive == 0));
        },
    );
}

/// A task that slept on a CPU which has been idle since takes along the utilization that it had at
/// the last update of that queue. With 6.1 and later it decays for the idle time
/// (`migrate_se_pelt_lag`, which 5.10 does not have). In both, the queue removes its part of it.
#[test]
fn the_idle_time_of_a_sleeper_is_not_lost_when_it_moves() {
    let tasks = [task(0, &[Op::Run { ns: 30 * MS }, Op::Sleep { ns: 1000 * MS }]).on(&[0])];
    for (base, decays) in [
        ("linux-3.9", false),
        ("linux-5.4", false),
        ("linux-5.5", false),
        ("linux-6.1", true),
        ("linux-6.5", true),
        ("linux-7.2", true),
    ] {
        let rules = (base, Governor::Performance);
        let (given, mut record) = (workload(&tasks), Record::default());
        begin_under(rules, &machine(2, 2), &given, &mut record, |sim| {
            sim.until(30 * MS);
            let before = sim.views[0].pelt.util_avg;
            assert!(before > 100, "{base}: {before}");
            // Two half-lives, of 32.8 ms.
            sim.until(94 * MS);
            assert_eq!(sim.views[0].pelt.util_avg, before, "{base}: nobody looked");
            let rq = &sim.core.cpus[0];
            let updated = rq.cfs.last_update_time;
            assert!(
                rq.curr_is_idle != 0 && updated < 60 * MS,
                "{base}: {updated}"
            );
            sim.remove_sleeper(0, 0);
            let util = sim.views[0].pelt.util_avg;
            let expected = if decays { before * 26 / 100 } else { before };
            assert!(
                util.abs_diff(expected) <= 8,
                "{base}: {before} became {util}"
            );
            // 7.2 updates the queue once more after it went idle.
            let given_up = sim.core.cpus[0].removed_util;
            assert!(
                given_up == before || decays && given_up > 2 * util,
                "{base}: of {before} the queue gives up {given_up}"
            );
            assert_eq!(
                sim.views[0].pelt.last_update_time, 0,
                "{base}: to be attached elsewhere"
            );
        });
    }
}

/// Task 0 begins at 100 ms on the idle CPU and runs on, task 1 wakes there at 120 ms.
#[test]
fn a_new_task_ends_no_idle_phase_before_7_2() {
    let newcomer = [Op::Run { ns: 50 * MS }];
    let sleeper = [Op::Sleep { ns: 110 * MS }, Op::Run { ns: MS }];
    for (base, counted) in [
        ("linux-3.9", false),
        ("linux-5.5", false),
        ("linux-6.5", false),
        ("linux-7.2", true),
    ] {
        let tasks = workload(&[task(100 * MS, &newcomer), task(10 * MS, &sleeper)]);
        begin_on(base, &machine(1, 1), &tasks, |sim| {
            sim.until(90 * MS);
            let idle_since = sim.core.cpus[0].idle_stamp;
            assert_ne!(idle_since, 0, "{base}");
            sim.until(110 * MS);
            let left = if counted { 0 } else { idle_since };
            assert_eq!(sim.core.cpus[0].idle_stamp, left, "{base}");
            sim.until(125 * MS);
            assert_eq!(sim.core.cpus[0].idle_stamp, 0, "{base}: by the wakeup");
        });
    }
}

/// Wakeups by the context of the waker: in a task, or in the hard interrupt of a timer that comes
/// while a task or the idle task is current.
#[test]
fn wakeups_are_told_apart_by_the_wakers_context() {
    use alight_workload::program::Op;
    let sleep = Op::Sleep { ns: 10 * MS };
    let hog = Op::Run { ns: 100 * MS };
    let cases: [(&str, Vec<Given>, [f64; 4]); 4] = [
        (
            "none: tasks that start are no wakeups",
            vec![task(0, &[hog])],
            [0.0; 4],
        ),
        (
            "its own timer wakes it on an idle CPU",
            vec![task(0, &[sleep, sleep]).on(&[0])],
            [2.0, 0.0, 0.0, 2.0],
        ),
        (
            "a task runs where the timer expires",
            vec![task(0, &[sleep]).on(&[0]), task(MS, &[hog]).on(&[0])],
            [1.0, 0.0, 1.0, 0.0],
        ),
        (
            "woken by a timer, it wakes another",
            vec![
                task(0, &[sleep, Op::SemPost { semaphore: 0 }]).on(&[0]),
                task(0, &[Op::SemWait { semaphore: 0 }]).on(&[1]),
            ],
            [2.0, 1.0, 0.0, 1.0],
        ),
    ];
    for (because, tasks, expected) in cases {
        begin(&machine(2, 2), &workload(&tasks), |sim| {
            sim.until(1000 * MS);
            let all = sim.mechanism();
            let value = |name: &str| all.iter().find(|m| m.name == name).map(|m| m.value);
            let names = [
                "wakeups",
                "wakeups_in_task",
                "wakeups_in_hardirq_task",
                "wakeups_in_hardirq_idle",
            ];
            assert_eq!(names.map(value), expected.map(Some), "{because}");
        });
    }
}
