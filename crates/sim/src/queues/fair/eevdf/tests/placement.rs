// SPDX-License-Identifier: GPL-2.0-only
//! Tests of placement: the virtual time of tasks that join a queue, or change their weight on it.

use super::*;

/// place_entity(): a task is placed so that it has its lag from the mean once it has joined.
#[test]
fn a_task_keeps_its_lag_through_a_sleep() {
    for (lag, others, nice, because) in [
        (0, 1, 0, "none"),
        (300, 1, 0, "behind"),
        (-300, 1, 0, "ahead"),
        (-300, 3, 0, "among more"),
        (300, 2, -5, "a heavy one"),
        (-300, 2, 5, "a light one"),
    ] {
        let mut tasks = hogs(5);
        tasks[4] = tasks[4].clone().nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[(1000, 2000), (1100, 1800), (900, 1500)][..others]);
            put(sim, 4, lag * US as i64);
            let found = sim.lag(0, 4);
            assert!(
                (found - lag * US as i64).abs() <= 2,
                "{because}: {found} of {lag} us"
            );
            let e = *sim.entity(4);
            let wanted = sim.virtual_of(4, SLICE);
            assert_eq!(e.deadline - e.vruntime, wanted, "{because}");
        });
    }
    on_one_cpu(&hogs(1), |sim| {
        put(sim, 0, 500 * US as i64);
        assert_eq!(sim.lag(0, 0), 0, "nobody there: nothing to be behind of");
    });
}

/// entity_lag(): at most the longest slice and a tick, in the task's own time.
#[test]
fn lag_is_bounded_by_a_turn_and_a_tick() {
    let mut tasks = hogs(2);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(0, 700), (100_000, 100_700)]);
        assert_eq!(sim.lag(0, 0), (SLICE + 4 * MS) as i64);
        assert_eq!(sim.lag(0, 1), -((SLICE + 4 * MS) as i64));
    });
    tasks[1] = tasks[1].clone().slice(20 * MS);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(0, 700), (100_000, 100_700)]);
        assert_eq!(sim.lag(0, 0), 24 * MS as i64, "the other's slice counts");
    });
}

/// __setparam_fair(): 0.1 to 100 ms.
#[test]
fn slices_may_be_asked_for_within_limits() {
    for (asked, got) in [
        (1, 100 * US),
        (100 * US, 100 * US),
        (3 * MS, 3 * MS),
        (1000 * MS, 100 * MS),
    ] {
        on_one_cpu(&[hogs(1)[0].clone().slice(asked)], |sim| {
            put(sim, 0, 0);
            assert_eq!(sim.entity(0).slice, got, "{asked} ns");
        });
    }
}

/// place_entity(), PLACE_DEADLINE_INITIAL; wakeup_preempt_fair() with WF_FORK: a
/// child has half a slice to its deadline, and does not preempt its parent.
#[test]
fn a_child_waits_for_its_turn_which_comes_soon() {
    let mut tasks = hogs(2);
    tasks[1] = child(&[Op::Run { ns: MS }]);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(1000, 1700)]);
        sim.wake_new(0, 1);
        let e = *sim.entity(1);
        assert_eq!(e.vruntime, MS, "at the mean");
        assert_eq!(e.deadline - e.vruntime, SLICE / 2);
        let c = &sim.cpus[0];
        assert!(!c.need_resched && !c.resched_lazy);
        assert_eq!(sim.pick_fair(0, true), 1, "yet it is first");
    });
}

/// dequeue_entity() without sleep, PLACE_REL_DEADLINE: a task that moves keeps its
/// lag and the rest of its turn.
#[test]
fn a_migrating_task_goes_on_with_its_turn() {
    begin_on(BASE, &machine(2, 2), &workload(&hogs(2)), |sim| {
        queue(sim, &[(1000, 1700), (1200, 1500)]);
        sim.eevdf.queues[1].zero = 77 * MS;
        let lag = sim.lag(0, 1);
        assert_eq!(lag, -100 * US as i64);
        sim.detach_task(0, 1);
        assert_eq!(sim.entity(1).lag, lag);
        sim.attach_task(1, 1, 1);
        let e = *sim.entity(1);
        assert_eq!(e.vruntime, 77 * MS, "nobody there: at the queue's time");
        assert_eq!(e.deadline - e.vruntime, 300 * US);
    });
}

/// reweight_entity(): a change of weight keeps the time that a task owes the queue, or is owed, and
/// therefore the mean; it also keeps the task's part of the turn.
#[test]
fn a_new_weight_leaves_the_mean_where_it_is() {
    on_one_cpu(&hogs(2), |sim| {
        queue(sim, &[(1000, 1700), (1200, 1900)]);
        let last = sim.pretend_attributes(crate::world::asked::Attributes {
            nice: Some(5),
            ..Default::default()
        });
        sim.set_attributes(0, 0, last);
        assert_eq!(sim.views[0].weight, 335);
        assert!(sim.mean_vruntime(0).abs_diff(1100 * US) <= 1);
        let e = *sim.entity(0);
        let (lag, rest) = (100 * US * 1024 / 335, 700 * US * 1024 / 335);
        assert!((1100 * US - e.vruntime).abs_diff(lag) <= 2, "{e:?}");
        assert_eq!(e.deadline - e.vruntime, rest, "{e:?}");
    });
}
