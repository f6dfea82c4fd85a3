// SPDX-License-Identifier: GPL-2.0-only
//! What 5.4 does otherwise than 5.5: the load of queued tasks only, and groups
//! compared by spare capacity, then by load (`find_idlest_group()`).

use crate::common::machines::caches;
use crate::common::world::World;
use alight_policy::Kind;

fn world() -> World {
    World::new(&caches(8, 4), "linux-5.4")
}

/// Load of the queued tasks of these CPUs, which are busy.
fn queued(w: &mut World, cpus: impl IntoIterator<Item = u32>, load: u32) -> &mut World {
    for cpu in cpus {
        w.runs(cpu, 1);
        w.core.cpus[cpu as usize].runnable_load_avg = load;
        w.core.cpus[cpu as usize].cfs.load_avg = load;
    }
    w
}

#[test]
fn the_load_that_pulls_is_that_of_the_queued_tasks() {
    let mut w = world();
    queued(&mut w, [0], 100);
    queued(&mut w, [4], 2000).load(0, 9000);
    w.wakes(0, 4).expect_target(0, "weight_this");
    let mut w = World::new(&caches(8, 4), "linux-5.5");
    queued(&mut w, [0], 100);
    queued(&mut w, [4], 2000).load(0, 9000);
    w.wakes(0, 4).expect_target(4, "weight_prev");
}

#[test]
fn an_exec_goes_where_a_cpu_has_most_room() {
    let mut w = world();
    w.used(0..4, 900).used(4..8, 600).used([6], 100).util(100);
    w.wakes(0, 0).kind = Kind::Exec;
    assert!((4..8).contains(&w.ask().cpu));
    // Enough room here, and not much less than there: stay.
    w.used([1], 150);
    assert!(w.ask().cpu < 4);
}

#[test]
fn spare_capacity_does_not_count_at_fork() {
    let mut w = world();
    w.used(0..4, 900);
    queued(&mut w, 0..8, 500);
    w.forks(0).expect(0, "slow_local");
}

#[test]
fn fork_goes_by_the_queued_load_and_where_that_is_close_by_the_blocked_one() {
    let mut w = world();
    queued(&mut w, 0..4, 1000);
    // 1000 against 700 for each 1024 of capacity: 256 apart or more is far.
    queued(&mut w, 4..8, 700);
    w.forks(0).expect(4, "slow_least_loaded");
    queued(&mut w, 4..8, 900);
    w.forks(0).expect(0, "slow_local");
    // Close, but the blocked load there is much less than here.
    for cpu in 0..4 {
        w.load(cpu, 3000);
    }
    w.forks(0).expect(4, "slow_least_loaded");
    for cpu in 4..8 {
        w.load(cpu, 3900);
    }
    w.forks(0).expect(0, "slow_local");
}

#[test]
fn estimates_rise_by_quarters() {
    use alight_policy::{Cpu, Scheduler, Task, rq};
    let sleep_at = |base: &str, before: (u32, u32), util: u32| {
        let k = Scheduler::parse(base).unwrap().params;
        let mut cpu = Cpu {
            weight: 1024,
            nr_running: 1,
            h_nr_running: 1,
            ..Cpu::default()
        };
        let mut task = Task {
            util_est_enqueued: before.0,
            util_est_ewma: before.1,
            ..Task::default()
        };
        rq::clock(&mut cpu, 1 << 20);
        (task.pelt.last_update_time, cpu.cfs.last_update_time) = (1 << 20, 1 << 20);
        (task.pelt.util_avg, task.pelt.runnable_avg) = (util, util);
        rq::dequeue(&k, &mut cpu, &mut task, true, true, true);
        (task.util_est_enqueued, task.util_est_ewma)
    };
    // base, pair before, utilization at sleep, pair after
    let table = [
        ("linux-5.4", (1, 201), 600, (601, 301)),
        ("linux-5.5", (1, 201), 600, (601, 601)),
        ("linux-5.5", (100, 401), 395, (100, 401)),
        ("linux-6.1", (100, 400), 395, (395, 400)),
        ("linux-6.1", (390, 400), 395, (390, 400)),
        ("linux-6.1", (100, 400), 200, (200, 350)),
        ("linux-7.2", (0, 400), 395, (0, 400)),
        ("linux-7.2", (0, 400), 200, (0, 350)),
        ("linux-7.2", (0, 400), 600, (0, 600)),
        ("linux-3.9", (0, 0), 600, (0, 0)),
    ];
    for (base, before, util, after) in table {
        assert_eq!(
            sleep_at(base, before, util),
            after,
            "{base}: {before:?} at {util}"
        );
    }
}
