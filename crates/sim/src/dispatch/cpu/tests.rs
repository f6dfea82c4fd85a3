// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the events of a CPU: timers, ticks, switches, idle.

use crate::base::queue::NEVER;
use crate::dispatch::exec::TIMER_SLACK;
use crate::testbed::{
    Given, MS, Record, US, begin, begin_recorded, begin_under, machine, task, with_channels,
    workload,
};
use crate::world::state::Phase;
use alight_machine::Governor;
use alight_workload::program::{Attributes, ChannelKind, Op, Policy};

fn hog() -> Given {
    task(0, &[Op::Run { ns: u64::MAX }])
}

/// A timer stays on the CPU that its task slept on, and that CPU handles it,
/// whichever CPU runs the task then (no timer migration).
#[test]
fn a_timer_fires_on_the_cpu_slept_on() {
    let mut record = Record::default();
    let sleeper = task(
        0,
        &[
            Op::Run { ns: MS },
            Op::Sleep { ns: 50 * MS },
            Op::Run { ns: MS },
        ],
    );
    // A hog on CPU 0 from 20 ms on: the sleeper will rather run elsewhere.
    let late_hog = Given {
        start_ns: Some(20 * MS),
        ..hog()
    }
    .on(&[0]);
    let tasks = [sleeper.on(&[0, 1]), late_hog];
    begin_recorded(&machine(2, 2), &workload(&tasks), &mut record, |sim| {
        sim.until(100 * MS)
    });
    let runs = record.runs_of(0);
    assert_eq!(runs[0].1, 0, "it begins on CPU 0");
    let waking = record.wakings.last().expect("its timer");
    assert_eq!(*waking, (51 * MS + TIMER_SLACK, 0, 0), "woken on CPU 0");
    assert_eq!(
        *runs.last().expect("it ran"),
        (51 * MS + TIMER_SLACK, 1),
        "and runs on the idle CPU 1"
    );
}

/// When tasks of these policies wake, us, that sleep on the same CPU from 0 on for these times.
fn woken(sleepers: &[(Policy, u64)], others: &[Given]) -> Vec<u64> {
    let sleeper = |&(policy, us): &(Policy, u64)| {
        let mut sleeper = task(0, &[Op::Sleep { ns: us * US }]).policy(policy);
        if policy == Policy::Deadline {
            sleeper.attributes = Attributes {
                slice_ns: Some(MS),
                dl_period_deadline_ns: Some((10 * MS, 10 * MS)),
                ..sleeper.attributes
            };
        }
        sleeper
    };
    let mut tasks: Vec<Given> = sleepers.iter().map(sleeper).collect();
    tasks.extend_from_slice(others);
    let mut record = Record::default();
    begin_recorded(&machine(1, 1), &workload(&tasks), &mut record, |sim| {
        sim.until(1000 * MS)
    });
    (0..sleepers.len())
        .map(|task| record.wakings_of(task)[0] / US)
        .collect()
}

/// A timer of the fair class has a slack of 50 us, and expires after all of it if no other timer
/// interrupts before; the other classes have no slack (`hrtimer_nanosleep`).
#[test]
fn a_lone_timer_takes_its_slack() {
    use Policy::*;
    for policy in [Normal, Batch, Idle] {
        assert_eq!(woken(&[(policy, 100)], &[]), [150], "{policy:?}");
    }
    for policy in [Fifo, RoundRobin, Deadline] {
        assert_eq!(woken(&[(policy, 100)], &[]), [100], "{policy:?}");
    }
}

/// An interrupt lets all timers expire that may: those whose requested time has come, in the order
/// in which they would have interrupted.
#[test]
fn a_timer_takes_others_along() {
    use Policy::{Fifo, Normal};
    let both = |a, b| woken(&[a, b], &[]);
    assert_eq!(both((Normal, 100), (Normal, 120)), [150, 150]);
    assert_eq!(both((Normal, 100), (Normal, 150)), [150, 150]);
    assert_eq!(both((Normal, 100), (Normal, 151)), [150, 201]);
    assert_eq!(both((Normal, 100), (Fifo, 120)), [120, 120]);
    assert_eq!(both((Normal, 100), (Fifo, 90)), [150, 90]);
    // The second cannot at 110, and would come before the first.
    let sleepers = [(Normal, 100), (Fifo, 120), (Fifo, 110)];
    assert_eq!(woken(&sleepers, &[]), [120, 120, 110]);
}

/// The tick is a timer like others, while it runs.
#[test]
fn a_tick_takes_timers_along() {
    use Policy::{Fifo, Normal};
    let hog = [Given {
        start_ns: Some(MS),
        ..hog()
    }];
    let tick = begin(&machine(1, 1), &workload(&hog), |sim| {
        sim.until(900 * MS);
        sim.next_tick() / US
    });
    assert_eq!(woken(&[(Normal, tick - 20)], &hog), [tick]);
    assert_eq!(woken(&[(Normal, tick - 20)], &[]), [tick + 30], "idle");
    // Interrupts of other timers do not let it pass one that would interrupt before it.
    let sleepers = [(Normal, tick - 20), (Fifo, tick - 10)];
    assert_eq!(woken(&sleepers, &hog), [tick, tick - 10]);
}

/// The interrupt of a timer costs its time on the CPU, in front of the wakeup.
#[test]
fn a_timer_interrupt_takes_its_time() {
    let mut plain = machine(1, 1);
    plain.core_types[0].costs.timer_ns = 30_000;
    let sleeper = task(0, &[Op::Sleep { ns: 50 * MS }, Op::Mark { mark: 0 }]);
    begin(&plain, &workload(&[sleeper]), |sim| {
        sim.until(100 * MS);
        // A timer also started the task.
        assert_eq!(sim.passed(0).0, 50 * MS + TIMER_SLACK + 2 * 30 * US);
    });
}

/// CONFIG_NO_HZ_IDLE: all CPUs tick together; a CPU that idles for long does not tick, a CPU that
/// runs a task does, even if the task is alone.
#[test]
fn ticks_come_while_a_task_runs() {
    begin(&machine(2, 2), &workload(&[hog().on(&[0])]), |sim| {
        sim.until(1000 * MS);
        assert_eq!(sim.cpus[1].tick_at, NEVER, "idle");
        let next = sim.next_tick();
        assert_eq!(sim.cpus[0].tick_at, next, "busy");
        let before = sim.stats.ticks.seen();
        sim.until(2000 * MS);
        assert_eq!(sim.stats.ticks.seen() - before, 250, "one CPU, 4 ms each");
    });
}

/// A tick takes time from the task that runs.
#[test]
fn ticks_cost_time() {
    let mut plain = machine(1, 1);
    plain.core_types[0].costs.tick_ns = 40_000;
    let worker = task(0, &[Op::Run { ns: 990 * MS }, Op::Mark { mark: 0 }]);
    begin(&plain, &workload(&[worker]), |sim| {
        sim.until(2000 * MS);
        // 1 % of the time: 250 ticks a second, 40 us each.
        let took = sim.passed(0).0;
        assert!(took.abs_diff(1000 * MS) <= 80 * US, "{took}");
    });
}

/// A switch costs its time at the start of the next task's turn.
#[test]
fn switches_cost_the_next_task() {
    let mut plain = machine(1, 1);
    plain.core_types[0].costs.switch_ns = 100_000;
    let worker = |mark| task(0, &[Op::Run { ns: MS }, Op::Mark { mark }]);
    begin(&plain, &workload(&[worker(0), worker(1)]), |sim| {
        sim.until(100 * MS);
        let mut done = [sim.passed(0).0, sim.passed(1).0];
        done.sort_unstable();
        assert_eq!(done, [MS + 100 * US, 2 * (MS + 100 * US)]);
    });
}

/// The tasks have run for as long as the CPUs were busy: no time is lost or gained.
#[test]
fn busy_time_is_what_tasks_ran() {
    let tasks: Vec<Given> = (0..5)
        .map(|i| {
            task(
                i * MS,
                &[
                    Op::Run { ns: (7 + i) * MS },
                    Op::Sleep { ns: 3 * MS },
                    Op::Run { ns: 5 * MS },
                ],
            )
        })
        .collect();
    begin(&machine(2, 2), &workload(&tasks), |sim| {
        sim.until(500 * MS);
        let ran: u64 = (0..5).map(|t| sim.ran(t)).sum();
        let busy: u64 = sim.cpus.iter().map(|c| c.stats.busy_ns).sum();
        assert_eq!(ran, (7 + 8 + 9 + 10 + 11 + 5 * 5) * MS);
        assert_eq!(ran, busy);
    });
}

/// An interrupt that finds a CPU on its way out of idle waits until it is out,
/// and the task that it brings runs then.
#[test]
fn interrupts_wait_for_the_way_out_of_idle() {
    let mut plain = machine(2, 2);
    plain.core_types[0].idle_states[0].exit_ns = 500 * US;
    let mut record = Record::default();
    let wait = |semaphore| task(0, &[Op::SemWait { semaphore }, Op::Run { ns: MS }]).on(&[1]);
    let waker = task(
        500 * MS,
        &[
            Op::SemPost { semaphore: 0 },
            Op::Run { ns: 100 * US },
            Op::SemPost { semaphore: 1 },
            Op::Run { ns: MS },
        ],
    );
    let tasks = [waker.on(&[0]), wait(0), wait(1)];
    begin_recorded(&plain, &workload(&tasks), &mut record, |sim| {
        sim.until(600 * MS)
    });
    let out = record.wakings_of(1)[0] + 500 * US;
    assert_eq!(
        record.wakings_of(2)[0],
        out - 400 * US,
        "while it comes out"
    );
    let mut runs = [1, 2].map(|task| record.runs_of(task).last().copied());
    runs.sort_unstable();
    assert_eq!(
        runs,
        [Some((out, 1)), Some((out + MS, 1))],
        "one after the other"
    );
}

/// What a SCHED_IDLE waker that is always preempted and a reader are charged for a message whose
/// wakeup takes 1 ms, of which 0.4 ms before the queue's clock is read, ms / 10.
fn charged(base: &str) -> [u64; 2] {
    let (channel, bytes) = (0, 100);
    let mut costly = machine(1, 1);
    costly.core_types[0].costs.wakeup_ns = MS as u32;
    costly.core_types[0].costs.wakeup_clock_ns = 400 * US as u32;
    let waker = task(
        10 * MS,
        &[Op::Write { channel, bytes }, Op::Run { ns: 5 * MS }],
    );
    let reader = task(0, &[Op::Read { channel, bytes }, Op::Run { ns: 2 * MS }]);
    let workload = with_channels(&[ChannelKind::Pipe], &[waker.policy(Policy::Idle), reader]);
    let rules = (base, Governor::Performance);
    begin_under(rules, &costly, &workload, &mut Record::default(), |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.workloads[0].alive, 0, "{base}");
        [0, 1].map(|task| sim.tasks[task].sum_exec / (100 * US))
    })
}

/// check_preempt_curr(): if the woken task preempts on its waker's CPU, the switch uses the clock
/// that was read when the task was queued, and the woken task pays for the rest. A lazy request to
/// give way is another flag.
#[test]
fn a_waker_that_gives_way_pays_up_to_where_the_clock_was_read() {
    for (base, expected) in [
        ("linux-3.9", [54, 26]),
        ("linux-5.5", [54, 26]),
        ("linux-6.1", [54, 26]),
        ("linux-6.5", [54, 26]),
        ("linux-7.2", [60, 20]),
    ] {
        assert_eq!(charged(base), expected, "{base}");
    }
}

/// A task that a tick makes give way pays for the tick: the switch comes after its work.
#[test]
fn a_tick_is_paid_by_whom_it_interrupts() {
    let mut costly = machine(1, 1);
    costly.core_types[0].costs.tick_ns = 100 * US as u32;
    let mut record = Record::default();
    let tick = MS * 1000 / u64::from(costly.hz);
    let phase = begin_recorded(&costly, &workload(&[hog(), hog()]), &mut record, |sim| {
        sim.until(200 * MS);
        sim.jiffy_end % tick
    });
    // The first two are begun.
    let turns = &record.switches[2..];
    assert!(turns.len() > 5, "{turns:?}");
    for (at, ..) in turns {
        assert_eq!(at % tick, (phase + 100 * US) % tick, "{turns:?}");
    }
}

/// A task on CPU 1 that goes to sleep at 10 ms, and is woken from CPU 2 while its CPU still searches
/// for other tasks, which takes 400 us: when it runs again, us after its sleep, and the number of
/// wakeups for which no CPU was chosen.
fn woken_on_its_way_to_sleep(base: &str) -> (u64, u64) {
    let mut machine = machine(3, 3);
    machine.core_types[0].costs.newidle_ns = 400 * US as u32;
    let sleeper = task(
        0,
        &[
            Op::Run { ns: 10 * MS },
            Op::SemWait { semaphore: 0 },
            Op::Run { ns: MS },
        ],
    );
    let waker = task(10 * MS + 100 * US, &[Op::SemPost { semaphore: 0 }]);
    // With two tasks on a CPU it pays to search.
    let tasks = [
        sleeper.on(&[1]),
        waker.on(&[2]),
        hog().on(&[0]),
        hog().on(&[0]),
    ];
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    let still = begin_under(rules, &machine, &workload(&tasks), &mut record, |sim| {
        sim.until(10 * MS + 300 * US);
        let (phase, idle) = (sim.cpus[1].phase, sim.core.cpus[1].curr_is_idle);
        assert_eq!((phase, idle), (Phase::Searching, 0), "{base}");
        sim.until(20 * MS);
        sim.stats.still_queued.seen()
    });
    let again = record.runs_of(0).last().expect("it ran").0;
    ((again - 10 * MS) / US, still)
}

/// try_to_wake_up() chooses no CPU for a task that is still on one (`p->on_cpu`), and a CPU that
/// searches for tasks is not idle. The task waits until the search is over.
#[test]
fn who_is_woken_before_the_switch_stays_where_it_was() {
    for base in ["linux-5.4", "linux-5.10", "linux-6.5", "linux-7.2"] {
        assert_eq!(woken_on_its_way_to_sleep(base), (400, 1), "{base}");
    }
}
