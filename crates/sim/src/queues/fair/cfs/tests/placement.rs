// SPDX-License-Identifier: GPL-2.0-only
//! Tests of placement: the virtual time of tasks that join a queue.

use super::*;

/// place_entity(), GENTLE_FAIR_SLEEPERS: a sleeper gets credit for half a latency
/// period at most, and keeps a virtual time that is beyond the queue's.
#[test]
fn a_sleeper_is_placed_half_a_period_back_at_most() {
    for (slept_at, min_vruntime, placed, because) in [
        (0, 100 * MS, 97 * MS, "slept for long"),
        (96 * MS, 100 * MS, 97 * MS, "just beyond the bonus"),
        (98 * MS, 100 * MS, 98 * MS, "slept shortly"),
        (105 * MS, 100 * MS, 105 * MS, "it had run ahead"),
        (
            0,
            MS,
            0,
            "virtual time wraps below 0, and 0 lies behind that",
        ),
    ] {
        on_one_cpu(&hogs(1), |sim| {
            sim.cpus[0].fair.min_vruntime = min_vruntime;
            put(sim, 0, slept_at);
            assert_eq!(sim.tasks[0].vruntime, placed, "{because}");
        });
    }
}

/// task_fork_fair(), place_entity() with START_DEBIT: a child begins one slice of its own beyond
/// the queue's time, as if it had just had its turn, and not before its parent's virtual time.
#[test]
fn a_child_begins_a_slice_late() {
    for (vruntimes, nice, expected, because) in [
        (&[0.0][..], 0, 3 * MS, "two share 6 ms"),
        (
            &[0.0],
            5,
            4_520_971,
            "6 ms * 335 / 1359, stretched by 1024 / 335",
        ),
        (
            &[0.0],
            -5,
            1_482_268,
            "6 ms * 3121 / 4145, shrunk by 1024 / 3121",
        ),
        (
            &[1.0, 0.0],
            0,
            2 * MS,
            "a third of 6 ms behind the queue, not behind the parent",
        ),
        (
            &[4.0, 0.0],
            0,
            4 * MS,
            "the parent stands further ahead than that",
        ),
    ] {
        let mut tasks = hogs(3);
        tasks[2] = child(&[Op::Run { ns: MS }]).nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, vruntimes);
            sim.wake_new(0, 2);
            let placed = sim.tasks[2].vruntime;
            assert!(
                placed.abs_diff(expected) <= 3,
                "{because}: {placed}, not {expected}"
            );
        });
    }
}

/// The debit is a slice in the parent's queue, whichever CPU the child goes to:
/// task_fork_fair() comes before select_task_rq().
#[test]
fn the_debit_is_by_the_parents_queue() {
    let mut tasks = hogs(2);
    tasks[1] = child(&[Op::Run { ns: MS }]).on(&[1]);
    begin(&machine(2, 2), &workload(&tasks), |sim| {
        sim.cpus[1].fair.min_vruntime = 50 * MS;
        queue(sim, &[0.0]);
        sim.wake_new(0, 1);
        let slice = sim.tunables.latency / 2;
        assert_eq!(sim.tunables.latency, 12 * MS, "doubled on two CPUs");
        let placed = sim.tasks[1].vruntime - 50 * MS;
        assert!(placed.abs_diff(slice) <= 3, "{placed}, not {slice}");
    });
}

/// migrate_task_rq_fair(), enqueue_entity(): virtual time is taken along as the
/// distance to the queue's time; dequeue_entity() for a queued task likewise.
#[test]
fn a_migrating_task_keeps_its_distance_to_the_queue() {
    begin(&machine(2, 2), &workload(&hogs(2)), |sim| {
        sim.cpus[0].fair.min_vruntime = 1000 * MS;
        sim.cpus[1].fair.min_vruntime = 10 * MS;
        put(sim, 0, 1000 * MS);
        put(sim, 1, 1002 * MS);
        sim.detach_task(0, 1);
        assert_eq!(sim.tasks[1].vruntime, 2 * MS);
        sim.attach_task(1, 1, 1);
        assert_eq!(sim.tasks[1].vruntime, 12 * MS);
    });
    // Task 0 sleeps on CPU 0; task 1 wakes it from CPU 1, where it may only run then.
    begin(&machine(2, 2), &workload(&hogs(2)), |sim| {
        let world = sim.world();
        world.cpus[0].timers.remove(&mut world.nodes, 0);
        sim.tasks[0].life = Life::Asleep;
        sim.tasks[0].vruntime = 1001 * MS;
        sim.cpus[0].fair.min_vruntime = 1000 * MS;
        sim.cpus[1].fair.min_vruntime = 10 * MS;
        sim.masks[0] = [1].into_iter().collect();
        sim.wake(1, 0, false);
        assert_eq!(sim.tasks[0].vruntime, 11 * MS);
    });
}
