// SPDX-License-Identifier: GPL-2.0-only
//! Tests of preemption at wakeups: whether the wakee preempts the running task, and when.

use super::*;

/// wakeup_preempt_fair().
#[test]
fn a_wakee_preempts_if_it_is_what_is_picked() {
    use Policy::{Batch, Idle, Normal};
    struct Case {
        current: Policy,
        wakee: Policy,
        lag_us: i64,
        slice: u64,
        protected: bool,
        preempts: bool,
        because: &'static str,
    }
    let usual = Case {
        current: Normal,
        wakee: Normal,
        lag_us: 0,
        slice: 0,
        protected: false,
        preempts: true,
        because: "at the mean, with an earlier deadline",
    };
    for case in [
        Case { ..usual },
        Case {
            lag_us: -1000,
            preempts: false,
            because: "not due",
            ..usual
        },
        Case {
            protected: true,
            preempts: false,
            because: "the current one is protected",
            ..usual
        },
        Case {
            protected: true,
            slice: 200 * US,
            because: "a shorter slice breaks the protection",
            ..usual
        },
        Case {
            lag_us: -1000,
            slice: 200 * US,
            preempts: false,
            because: "a shorter slice, but not due",
            ..usual
        },
        Case {
            wakee: Batch,
            preempts: false,
            because: "SCHED_BATCH does not preempt",
            ..usual
        },
        Case {
            wakee: Idle,
            preempts: false,
            because: "nor does SCHED_IDLE",
            ..usual
        },
        Case {
            current: Idle,
            protected: true,
            lag_us: -1000,
            because: "SCHED_IDLE gives way at once",
            ..usual
        },
        Case {
            current: Idle,
            wakee: Batch,
            because: "to SCHED_BATCH too",
            ..usual
        },
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(case.current);
        tasks[1] = tasks[1].clone().policy(case.wakee);
        if case.slice != 0 {
            tasks[1] = tasks[1].clone().slice(case.slice);
        }
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[(10_000, 10_700)]);
            sim.entity_mut(0).deadline = 11 * MS;
            if case.protected {
                sim.entity_mut(0).protected_until = 11 * MS;
            }
            put(sim, 1, case.lag_us * US as i64);
            sim.check_preempt(0, 1);
            let c = &sim.cpus[0];
            assert!(!c.need_resched, "{}: never at once", case.because);
            assert_eq!(c.resched_lazy, case.preempts, "{}", case.because);
        });
    }
}

/// wakeup_preempt_fair(), update_protect_slice(): a wakee that does not preempt
/// shortens the current task's protection to one slice from now.
#[test]
fn a_wakee_that_waits_shortens_the_protection() {
    let mut tasks = hogs(2);
    tasks[0] = tasks[0].clone().slice(10 * MS);
    tasks[1] = tasks[1].clone().slice(20 * MS);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(5000, 15_000)]);
        sim.entity_mut(0).protected_until = 50 * MS;
        put(sim, 1, 0);
        sim.check_preempt(0, 1);
        assert!(!sim.cpus[0].resched_lazy);
        assert_eq!(sim.entity(0).protected_until, 15 * MS);
    });
}

/// __resched_curr() with PREEMPT_LAZY: a task that computes is preempted only at
/// its next tick, or by a wakeup on its own CPU, which is an interrupt.
#[test]
fn a_wakeup_elsewhere_preempts_at_the_next_tick() {
    // On CPU 1, which is task 0's, task 1 sleeps until 2.5 ms; task 2 wakes it there
    // or, by a semaphore, from CPU 0.
    let hog = task(100 * US, &[Op::Run { ns: u64::MAX }]).on(&[1]);
    let by_timer = task(0, &[Op::Sleep { ns: 2500 * US }, Op::Run { ns: MS }]).on(&[1]);
    let waits = task(0, &[Op::SemWait { semaphore: 0 }, Op::Run { ns: MS }]).on(&[1]);
    let posts = task(
        0,
        &[Op::Sleep { ns: 2500 * US }, Op::SemPost { semaphore: 0 }],
    )
    .on(&[0]);
    for (tasks, ipis, because) in [
        (vec![hog.clone(), by_timer], false, "an interrupt here"),
        (vec![hog, waits, posts], true, "no interrupt is sent"),
    ] {
        let mut record = Record::default();
        let (woken, tick) = begin_under(
            (BASE, Governor::Performance),
            &machine(2, 2),
            &workload(&tasks),
            &mut record,
            |sim| {
                sim.until(2400 * US);
                let tick = sim.next_tick();
                sim.until(20 * MS);
                (2500 * US + TIMER_SLACK, tick)
            },
        );
        let ran = record
            .runs_of(1)
            .iter()
            .map(|r| r.0)
            .find(|&at| at >= woken);
        let expected = if ipis { tick } else { woken };
        let at = ran.expect("it runs");
        assert!(
            at.abs_diff(expected) < 10 * US,
            "{because}: {at}, not {expected}"
        );
    }
}
