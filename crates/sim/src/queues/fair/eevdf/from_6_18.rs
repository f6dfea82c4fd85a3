// SPDX-License-Identifier: GPL-2.0-only
//! Tests of differences between kernels from 6.18 on: given a queue, the result under each base.

use super::tests::{SLICE, go, hogs, put, queue};
use super::*;
use crate::dispatch::Sim;
use crate::face::api::Cgroup;
use crate::testbed::{Given, MS, US, begin_grouped, begin_on, machine, workload};
use alight_workload::program::Policy;

fn on(base: &str, tasks: &[Given], test: impl FnOnce(&mut Sim)) {
    begin_on(base, &machine(1, 1), &workload(tasks), test);
}

/// entity_lag(): ticks come every 4 ms, the usual slice is 0.7 ms.
#[test]
fn how_long_a_lag_may_be() {
    for (base, slices, limit, because) in [
        (
            "linux-6.18",
            (0, 0),
            4 * MS,
            "two slices are less than a tick",
        ),
        ("linux-6.18", (5 * MS, 0), 10 * MS, "two slices"),
        ("linux-6.18", (0, 20 * MS), 4 * MS, "its own"),
        ("linux-7.0", (0, 0), SLICE + 4 * MS, "a slice and a tick"),
        ("linux-7.0", (0, 20 * MS), 24 * MS, "the longest"),
        ("linux-7.3", (0, 20 * MS), 24 * MS, "the longest"),
    ] {
        let mut tasks = hogs(2);
        for (task, slice) in tasks.iter_mut().zip([slices.0, slices.1]) {
            if slice != 0 {
                *task = task.clone().slice(slice);
            }
        }
        on(base, &tasks, |sim| {
            queue(sim, &[(0, 700), (100_000, 100_700)]);
            assert_eq!(sim.lag(0, 0), limit as i64, "{base}: {because}");
        });
    }
}

/// requeue_delayed_entity(), update_entity_lag().
#[test]
fn what_a_sleeper_makes_of_its_time_on_the_queue() {
    // us: lag when it fell asleep, lag by its place now; resulting lag, and whether it moves.
    for (base, then, now, counts, moves, because) in [
        ("linux-6.18", -300, -500, -500, false, "its debt has grown"),
        ("linux-7.0", -300, -500, -500, false, "its debt has grown"),
        ("linux-7.1", -300, -500, -300, true, "a debt does not grow"),
        ("linux-7.2", -300, -500, -300, true, "a debt does not grow"),
        ("linux-7.3", -300, -500, -300, true, "a debt does not grow"),
        ("linux-7.0", -300, 200, 0, true, "what it gained is lost"),
        ("linux-7.2", -300, 200, 0, true, "what it gained is lost"),
        ("linux-7.0", -300, -100, -100, false, "a part is paid"),
        ("linux-7.2", -300, -100, -100, false, "a part is paid"),
    ] {
        on(base, &hogs(2), |sim| {
            // The mean lies half way between the two.
            queue(sim, &[(5000, 5700), ((5000 - 2 * now) as u64, 9000)]);
            sim.entity_mut(1).lag = then * US as i64;
            assert_eq!(sim.lag_of_delayed(0, 1), moves, "{base}: {because}");
            assert_eq!(sim.entity(1).lag, counts * US as i64, "{base}: {because}");
        });
    }
}

/// requeue_delayed_entity(): the current task has run for 100 us since it was last charged. A
/// sleeper whose debt is paid starts at the mean. If that mean lacks the 100 us, the charge that
/// follows makes the current task ineligible, and the sleeper preempts it.
#[test]
fn a_woken_sleeper_starts_where_the_current_task_was_last_charged_before_7_2() {
    for (base, vruntime, preempts) in [
        ("linux-7.0", 1300, true),
        ("linux-7.1", 1300, true),
        ("linux-7.2", 1400, false),
        ("linux-7.3", 1400, false),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(1100, 1700), (1000, 1700)]);
            sim.sleep_current(0);
            sim.schedule(0);
            sim.entity_mut(1).vruntime = 1300 * US;
            sim.now += 100 * US;
            sim.wake(0, 0, false);
            assert_eq!(sim.entity(0).vruntime, vruntime * US, "{base}");
            assert_eq!(sim.cpus[0].resched_lazy, preempts, "{base}");
        });
    }
}

/// Does the current task have to give way, and until when is it protected, us?
fn outcome(sim: &Sim) -> (bool, u64) {
    (
        sim.cpus[0].resched_lazy || sim.cpus[0].need_resched,
        sim.entity(0).protected_until / US,
    )
}

/// wakeup_preempt_fair() with WF_FORK.
#[test]
fn who_is_new_waits_from_6_19_on() {
    for (base, preempts) in [
        ("linux-6.18", true),
        ("linux-7.0", false),
        ("linux-7.2", false),
        ("linux-7.3", false),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(10_000, 11_000)]);
            put(sim, 1, 0);
            sim.check_preempt_new(0, 1);
            assert_eq!(outcome(sim).0, preempts, "{base}");
        });
    }
}

/// update_protect_slice(): the current task is at 5 ms with a slice of 10 ms, and is protected up
/// to 50 ms. The mean is at 4 ms, and so is the wakee; a task with an earlier deadline waits.
#[test]
fn a_wakeup_that_does_not_preempt_shortens_protection() {
    use Policy::{Batch, Normal};
    for (base, policy, until, because) in [
        ("linux-6.18", Normal, 50, "its slice is longer"),
        ("linux-7.0", Normal, 15, "a slice from where it stands"),
        ("linux-7.2", Normal, 15, "a slice from where it stands"),
        ("linux-7.3", Normal, 14, "a slice from the mean"),
        ("linux-7.2", Batch, 50, "SCHED_BATCH is not asked"),
        ("linux-7.3", Batch, 14, "it counts all the same"),
    ] {
        let mut tasks = hogs(3);
        for (task, slice) in tasks.iter_mut().zip([10, 10, 20]) {
            *task = task.clone().slice(slice * MS);
        }
        tasks[2] = tasks[2].clone().policy(policy);
        on(base, &tasks, |sim| {
            queue(sim, &[(5000, 15_000), (3000, 3500)]);
            sim.entity_mut(0).protected_until = 50 * MS;
            put(sim, 2, 0);
            sim.check_preempt(0, 2);
            assert_eq!(outcome(sim), (false, until * 1000), "{base}: {because}");
        });
    }
}

/// wakeup_preempt_fair(), set_short_buddy(): an eligible wakee with a slice of 0.2 ms, while a task
/// with an earlier deadline waits.
#[test]
fn a_short_slice_that_is_due_is_next_in_7_3() {
    for (base, preempts, until, next, because) in [
        ("linux-6.18", false, 10_200, 2, "one of its slices from now"),
        ("linux-7.0", false, 10_200, 2, "one of its slices from now"),
        ("linux-7.2", false, 10_200, 2, "one of its slices from now"),
        ("linux-7.3", true, 10_000, 1, "at once, and it is next"),
    ] {
        let mut tasks = hogs(3);
        tasks[1] = tasks[1].clone().slice(200 * US);
        on(base, &tasks, |sim| {
            queue(sim, &[(10_000, 12_000), (10_000, 10_200), (10_000, 10_050)]);
            let stand = sim.entity(0).vruntime;
            sim.entity_mut(0).protected_until = 11 * MS;
            sim.check_preempt(0, 1);
            assert_eq!(outcome(sim), (preempts, until), "{base}: {because}");
            sim.entity_mut(0).protected_until = stand;
            assert_eq!(sim.pick_fair(0, true), next, "{base}: {because}");
        });
    }
}

/// wakeup_preempt_fair(): a pending reschedule ends the test up to 7.2 (TIF_NEED_RESCHED).
#[test]
fn a_pending_reschedule_does_not_end_the_test_in_7_3() {
    for (base, until) in [("linux-7.2", 50_000), ("linux-7.3", 15_000)] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().slice(10 * MS);
        tasks[1] = tasks[1].clone().slice(20 * MS);
        on(base, &tasks, |sim| {
            queue(sim, &[(5000, 15_000)]);
            sim.entity_mut(0).protected_until = 50 * MS;
            put(sim, 1, 0);
            sim.cpus[0].need_resched = true;
            sim.check_preempt(0, 1);
            assert_eq!(outcome(sim), (true, until), "{base}");
        });
    }
}

/// set_protect_slice(): the task's slice is 5 ms; a task 0.3 ms ahead of it waits with the usual
/// slice.
#[test]
fn protection_beside_a_shorter_slice() {
    for (base, until, because) in [
        ("linux-6.18", SLICE, "the shorter slice"),
        ("linux-7.2", SLICE, "the shorter slice"),
        ("linux-7.3", 300 * US + 1, "until it is ahead of the others"),
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().slice(5 * MS);
        on(base, &tasks, |sim| {
            queue(sim, &[(1000, 6000), (1300, 2000)]);
            sim.protect(0, 0);
            assert_eq!(
                sim.entity(0).protected_until,
                MS + until,
                "{base}: {because}"
            );
        });
    }
}

/// set_next_entity(): not a first pick.
#[test]
fn another_weight_protects_anew_up_to_6_18() {
    for (base, protected) in [
        ("linux-6.18", true),
        ("linux-7.0", false),
        ("linux-7.3", false),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(1000, 1700), (1000, 1700)]);
            sim.entity_mut(0).protected_until = 500 * US;
            sim.reweight_current(0, 5);
            assert_eq!(sim.protected(0), protected, "{base}");
        });
    }
}

/// pick_next_entity(), __pick_eevdf(), pick_eevdf(): does a group whose turn is not over precede a
/// wakee?
#[test]
fn when_a_buddy_goes_first() {
    // Without the buddy the wakee would run: does it, with protection heeded and without?
    for (base, expected) in [
        ("linux-6.18", [true, true]),
        ("linux-7.0", [false, false]),
        ("linux-7.2", [false, true]),
    ] {
        let mut tasks = hogs(3);
        tasks[2].attributes.group = Some("/a".to_owned());
        let groups = [Cgroup::new("/a")];
        let limits = (&groups[..], &[][..]);
        begin_grouped(limits, base, &machine(1, 1), &workload(&tasks), |sim| {
            put(sim, 0, 0);
            go(sim);
            put(sim, 2, 0);
            put(sim, 1, 0);
            let group = 3;
            for (entity, deadline) in [(0, 9), (1, 2), (group, 3)] {
                let stand = sim.entity(0).vruntime;
                let queued = entity != 0;
                if queued {
                    sim.eevdf.remove(0, entity);
                }
                let e = sim.entity_mut(entity);
                (e.vruntime, e.deadline) = (stand, stand + deadline * MS);
                e.protected_until = stand;
                if queued {
                    let weight = sim.exact_weight(entity);
                    sim.eevdf.insert(0, entity, weight);
                }
            }
            sim.fair_queue_mut(0).next = group;
            let found = [true, false].map(|protect| sim.wakee_is_picked(0, 1, protect));
            assert_eq!(found, expected, "{base}");
            assert_eq!(sim.pick_at_switch(0), group, "{base}: at a switch");
        });
    }
}

/// __pick_eevdf(), pick_next_entity(): in 6.18.15 a sleeper that is picked first keeps a wakee from
/// preempting.
#[test]
fn sleepers_leave_when_a_wakee_is_compared() {
    for (base, preempts) in [
        ("linux-6.18", false),
        ("linux-7.0", true),
        ("linux-7.2", true),
        ("linux-7.3", true),
    ] {
        on(base, &hogs(3), |sim| {
            queue(sim, &[(1000, 9000), (1000, 3000), (1000, 2000)]);
            // It sleeps, and its debt is paid.
            sim.entity_mut(2).delayed = true;
            sim.tasks[2].life = Life::Asleep;
            sim.core.cpus[0].h_nr_delayed += 1;
            sim.check_preempt(0, 1);
            assert_eq!(outcome(sim).0, preempts, "{base}");
            assert_eq!(sim.eevdf.is_delayed(2), !preempts, "{base}: it has left");
        });
    }
}
