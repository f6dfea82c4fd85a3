// SPDX-License-Identifier: GPL-2.0-only
//! Tests of wakeup preemption: which task preempts, which become buddies, and which is picked.

use super::*;

/// check_preempt_wakeup(), wakeup_preempt_entity(): the wakee must be behind the
/// current task by more than 1 ms of its own virtual time.
#[test]
fn a_wakee_far_enough_behind_preempts() {
    use Policy::{Batch, Idle, Normal};
    // A nice -5 task's 1 ms is 0.328 ms of virtual time, a nice 5 task's 3.056 ms.
    for (current, wakee, behind_us, preempts, because) in [
        ((Normal, 0), (Normal, 0), 999, false, "too little"),
        (
            (Normal, 0),
            (Normal, 0),
            1000,
            false,
            "not more than the granularity",
        ),
        ((Normal, 0), (Normal, 0), 1001, true, "more"),
        ((Normal, 0), (Normal, 0), -500, false, "it is ahead"),
        (
            (Normal, 0),
            (Normal, -5),
            329,
            true,
            "heavy tasks preempt sooner",
        ),
        ((Normal, 0), (Normal, -5), 327, false, "but not at once"),
        ((Normal, 0), (Normal, 5), 3050, false, "light ones later"),
        ((Normal, 0), (Normal, 5), 3060, true, "and then they do"),
        (
            (Normal, 5),
            (Normal, 0),
            1001,
            true,
            "the current task's weight does not count",
        ),
        (
            (Normal, 0),
            (Batch, 0),
            100_000,
            false,
            "SCHED_BATCH does not preempt",
        ),
        (
            (Normal, 0),
            (Idle, 0),
            100_000,
            false,
            "nor does SCHED_IDLE",
        ),
        ((Idle, 0), (Idle, 0), 100_000, false, "not even each other"),
        (
            (Idle, 0),
            (Normal, 0),
            -100_000,
            true,
            "SCHED_IDLE gives way to all others",
        ),
        ((Idle, 0), (Batch, 0), -100_000, true, "to SCHED_BATCH too"),
        (
            (Batch, 0),
            (Normal, 0),
            1001,
            true,
            "SCHED_BATCH is preempted by the rule",
        ),
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(current.0).nice(current.1);
        tasks[1] = tasks[1].clone().policy(wakee.0).nice(wakee.1);
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[500.0, 500.0]);
            let at = 500 * MS as i64 - behind_us * US as i64;
            sim.tasks[1].vruntime = at as u64;
            sim.check_preempt(0, 1);
            assert_eq!(sim.cpus[0].need_resched, preempts, "{because}");
        });
    }
}

/// check_preempt_wakeup(): the task that preempts becomes the next buddy, and gets the CPU even if
/// others are further left. The task that is preempted, among eight or more, becomes the last
/// buddy, and gets the CPU back. SCHED_IDLE tasks never become buddies.
#[test]
fn buddies_are_who_preempts_and_who_was_preempted() {
    for (others, policy, next, last, because) in [
        (2, Policy::Normal, 1, NONE, "few tasks"),
        (7, Policy::Normal, 1, NONE, "seven"),
        (8, Policy::Normal, 1, 0, "eight tasks and more"),
        (
            8,
            Policy::Idle,
            NONE,
            NONE,
            "SCHED_IDLE gives way, and gets nothing for it",
        ),
    ] {
        let mut tasks = hogs(8);
        tasks[0] = tasks[0].clone().policy(policy);
        on_one_cpu(&tasks, |sim| {
            let mut vruntimes = vec![10.0; others];
            vruntimes[1] = 5.0;
            queue(sim, &vruntimes);
            sim.check_preempt(0, 1);
            assert!(sim.cpus[0].need_resched);
            let buddies = (sim.cpus[0].fair.next, sim.cpus[0].fair.last);
            assert_eq!(buddies, (next, last), "{because}");
        });
    }
}

/// pick_next_entity(): the leftmost; the second if the first has just yielded;
/// then the last and the next buddy, each if it is not unfair by more than 1 ms.
#[test]
fn picking_goes_by_virtual_time_then_by_buddies() {
    struct Buddies {
        skip: u32,
        last: u32,
        next: u32,
    }
    let none = Buddies {
        skip: NONE,
        last: NONE,
        next: NONE,
    };
    for (vruntimes, buddies, pick, because) in [
        (
            &[1.0, 2.0, 3.0][..],
            Buddies { ..none },
            0,
            "the current task is leftmost",
        ),
        (&[2.0, 1.0, 3.0], Buddies { ..none }, 1, "a queued one is"),
        (
            &[2.0, 2.0],
            Buddies { ..none },
            1,
            "at equal times the queued one",
        ),
        (
            &[1.0, 1.9, 3.0],
            Buddies { skip: 0, ..none },
            1,
            "the second",
        ),
        (
            &[1.0, 2.1, 3.0],
            Buddies { skip: 0, ..none },
            0,
            "the second is too far ahead",
        ),
        (
            &[1.5, 1.0, 1.2],
            Buddies { skip: 1, ..none },
            2,
            "the second of the queue",
        ),
        (
            &[1.1, 1.0, 1.2],
            Buddies { skip: 1, ..none },
            0,
            "the second is the current task",
        ),
        (
            &[1.1, 1.0],
            Buddies { skip: 1, ..none },
            0,
            "nobody else is queued",
        ),
        (
            &[1.5, 1.0, 1.2],
            Buddies { skip: 0, ..none },
            1,
            "who is not first is not skipped",
        ),
        (
            &[3.0, 1.0, 1.9],
            Buddies { last: 2, ..none },
            2,
            "last, within reach",
        ),
        (
            &[3.0, 1.0, 2.1],
            Buddies { last: 2, ..none },
            1,
            "last, too far ahead",
        ),
        (
            &[3.0, 1.0, 1.9],
            Buddies { next: 2, ..none },
            2,
            "next, within reach",
        ),
        (
            &[3.0, 1.0, 2.1],
            Buddies { next: 2, ..none },
            1,
            "next, too far ahead",
        ),
        (
            &[3.0, 1.0, 1.5, 1.6],
            Buddies {
                last: 2,
                next: 3,
                ..none
            },
            3,
            "next before last",
        ),
        (
            &[3.0, 1.0, 1.5, 2.6],
            Buddies {
                last: 2,
                next: 3,
                ..none
            },
            2,
            "unless it is too far",
        ),
        (
            &[1.0, 1.2, 1.9],
            Buddies {
                skip: 0,
                next: 2,
                ..none
            },
            2,
            "a buddy before the second",
        ),
    ] {
        on_one_cpu(&hogs(4), |sim| {
            queue(sim, vruntimes);
            sim.cpus[0].fair.skip = buddies.skip;
            sim.cpus[0].fair.last = buddies.last;
            sim.cpus[0].fair.next = buddies.next;
            assert_eq!(sim.pick_fair(0, true), pick, "{because}");
            let c = &sim.cpus[0].fair;
            assert!(
                ![c.skip, c.last, c.next].contains(&pick),
                "{because}: it is a buddy still"
            );
        });
    }
}

/// clear_buddies() at each pick: the task that runs is no buddy, even if it is alone.
#[test]
fn a_task_alone_does_not_stay_its_own_buddy() {
    on_one_cpu(&hogs(1), |sim| {
        queue(sim, &[1.0]);
        sim.cpus[0].fair.last = 0;
        assert_eq!(sim.pick_fair(0, true), 0);
        assert_eq!(sim.cpus[0].fair.last, NONE);
    });
}
