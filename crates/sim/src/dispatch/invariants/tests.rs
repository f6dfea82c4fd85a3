// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the check of the invariants: it finds the damage, and names it.

use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::testbed::{MS, begin, machine, task, workload};
use crate::world::state::{Life, Phase};
use alight_policy::abi::task_flag;
use alight_workload::program::Op;

/// The message of the check after `damage`. CPU 0 runs one of tasks 0 and 1 and queues the other;
/// task 2 sleeps.
fn said_after(damage: fn(&mut Sim)) -> String {
    let hog = task(0, &[Op::Run { ns: 100 * MS }]).on(&[0]);
    let sleeper = task(0, &[Op::Sleep { ns: 100 * MS }]).on(&[1]);
    begin(
        &machine(2, 2),
        &workload(&[hog.clone(), hog, sleeper]),
        |sim| {
            sim.until(5 * MS);
            assert!(sim.check_invariants().is_ok());
            damage(sim);
            match sim.check_invariants() {
                Ok(()) => "nothing".into(),
                Err(error) => error.to_string(),
            }
        },
    )
}

#[test]
fn each_kind_of_damage_is_found() {
    type Damage = (fn(&mut Sim), &'static str);
    let damages: [Damage; 16] = [
        (|_| {}, "nothing"),
        (
            |sim| sim.tasks[0].life = Life::Asleep,
            "is Asleep but on_rq is true",
        ),
        (
            |sim| sim.views[2].flags |= task_flag::ON_RQ,
            "is Asleep but on_rq is true",
        ),
        (|sim| sim.tasks[2].life = Life::Dead, "lost a task"),
        (
            |sim| {
                let affinity = sim.tasks[0].affinity as usize;
                sim.masks[affinity] = [1].into_iter().collect();
            },
            "outside its affinity",
        ),
        (|sim| sim.views[0].prev_cpu = 1, "its view says CPU 1"),
        (|sim| sim.views[1].pelt.util_avg = 1025, "has util_avg 1025"),
        (|sim| sim.core.cpus[0].weight += 1, "there are 2 of 2048"),
        (
            |sim| {
                sim.core.cpus[1].h_nr_running = 1;
                sim.signals_changed(1);
            },
            "there are 0 of 0",
        ),
        (
            |sim| {
                let queued = sim.cpus[0].fair.tree.first();
                let world = sim.world();
                world.cpus[0].fair.tree.remove(&mut world.nodes, queued);
            },
            "queues 0 and runs 1 of 2",
        ),
        (|sim| sim.overloaded.remove(0), "its overload bit is wrong"),
        (|sim| sim.cpus[0].phase = Phase::Idle, "is Idle with task"),
        (
            |sim| {
                sim.cpus[0].stats.busy_ns += sim.now;
                sim.tasks[0].sum_exec += sim.now;
            },
            "was busy for",
        ),
        (|sim| sim.cpus[0].stats.busy_ns += 1, "tasks ran for"),
        (
            |sim| sim.core.cpus[0].util_est_enqueued = 1 << 20,
            "has an estimate of",
        ),
        (
            |sim| sim.core.cpus[0].curr_is_idle = 1,
            "is Running with task",
        ),
    ];
    for (damage, expected) in damages {
        let said = said_after(damage);
        assert!(
            said.contains(expected),
            "'{said}' does not say '{expected}'"
        );
    }
}

/// The message contains the time.
#[test]
fn the_place_is_named() {
    let said = said_after(|sim| sim.overloaded.remove(0));
    assert!(
        said.starts_with("invariant broken at 5000000 ns, event "),
        "{said}"
    );
}

/// A CPU that idles on tasks without an interrupt on its way would do so for ever.
#[test]
fn a_forgotten_cpu_is_found() {
    begin(
        &machine(2, 2),
        &workload(&[task(0, &[Op::Run { ns: MS }])]),
        |sim| {
            sim.cpus[1].timers = Default::default();
            let world = sim.world();
            world.cpus[0].timers.remove(&mut world.nodes, 0);
            sim.tasks[0].life = Life::Runnable;
            sim.enqueue_new(1, 0, None);
            let said = sim
                .check_invariants()
                .expect_err("nobody told it")
                .to_string();
            assert!(
                said.ends_with("CPU 1 is idle with 1 queued tasks and no pending interrupt"),
                "{said}"
            );
            sim.kick(0, 1);
            assert!(sim.check_invariants().is_ok());
            assert_eq!(sim.cpus[1].curr, NONE);
        },
    );
}
