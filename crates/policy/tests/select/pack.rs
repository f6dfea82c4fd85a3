// SPDX-License-Identifier: GPL-2.0-only
//! Feature pack: buddies, and what a wakeup does with them ("sched: packing small
//! tasks" v4, April 2013).

use crate::common::duo::Duo;
use crate::common::machines::{caches, clusters, flat, gated, smt, tc2};
use crate::common::world::{MS, World};
use alight_policy::topology::{CpuDescription, Description, LevelKind, build};
use alight_policy::{Cpu, NONE, Pelt13, Scheduler, pelt};

const PACK: &str = "linux-3.9+pack";
const CACHE: LevelKind = LevelKind::Cache;
const PACKAGE: LevelKind = LevelKind::Package;
/// Limit of the sums of 2013.
const MAX: u32 = 47742;

/// Runnable time of a task or a CPU with a long history.
fn share(sum: u32, period: u32) -> Pelt13 {
    Pelt13 {
        last_runnable_update: MS,
        runnable_avg_sum: sum,
        runnable_avg_period: period,
    }
}

/// TC2, no CPU of which has had a task for long; a light task.
fn board(scheduler: &str) -> World {
    let mut w = World::new(&gated(tc2(), &[CACHE, PACKAGE]), scheduler);
    for cpu in &mut w.core.cpus {
        cpu.pelt13 = share(0, MAX);
    }
    w.wakee.pelt13 = share(1000, MAX);
    w
}

// ---- step 1: the buddy of each CPU ----

#[test]
fn buddies_by_topology_and_what_can_be_gated() {
    let n = NONE;
    let table = [
        (
            "2 x 2, all gated",
            caches(4, 2),
            vec![CACHE, PACKAGE],
            vec![0, 0, 0, 2],
        ),
        (
            "2 x 2, clusters gated",
            caches(4, 2),
            vec![PACKAGE],
            vec![0, 1, 0, 0],
        ),
        (
            "2 x 2, nothing gated",
            caches(4, 2),
            vec![],
            vec![n, n, n, n],
        ),
        // The walk ends where groups can only be gated together.
        (
            "2 x 2, CPUs gated",
            caches(4, 2),
            vec![CACHE],
            vec![0, 0, 2, 2],
        ),
        ("quad A9", flat(4), vec![CACHE], vec![0, 0, 0, 0]),
        ("TC2", tc2(), vec![CACHE, PACKAGE], vec![2, 0, 2, 2, 2]),
        (
            "TC2, clusters gated",
            tc2(),
            vec![PACKAGE],
            vec![2, 2, 2, 3, 4],
        ),
        // Littles first though they have the higher power in all.
        (
            "4 + 4",
            clusters(),
            vec![CACHE, PACKAGE],
            vec![0, 0, 0, 0, 0, 4, 4, 4],
        ),
        // Cores are CPUs 0 and 2, 1 and 3; a core is compared with the CPU, not with its first.
        (
            "cores of 2 threads",
            smt(2, 2),
            vec![CACHE],
            vec![0, 0, 1, 0],
        ),
    ];
    for (name, machine, levels, buddies) in table {
        let params = Scheduler::parse(PACK).unwrap().params;
        let core = build(&gated(machine, &levels), &params).unwrap();
        let found: Vec<u32> = core.cpus.iter().map(|cpu| cpu.buddy).collect();
        assert_eq!(found, buddies, "{name}");
    }
}

/// Fewest capacity a CPU, not fewest capacity: two littles beat one big of less than both.
#[test]
fn power_is_compared_a_cpu() {
    let capacities = [700, 400, 400];
    let machine = Description {
        cpus: (capacities.iter())
            .map(|&capacity| CpuDescription { capacity, node: 0 })
            .collect(),
        levels: vec![
            alight_policy::topology::Level::by_key(CACHE, &[0, 1, 1]),
            alight_policy::topology::Level::by_key(PACKAGE, &[0, 0, 0]).gated(),
        ],
    };
    let core = build(&machine, &Scheduler::parse(PACK).unwrap().params).unwrap();
    let found: Vec<u32> = core.cpus.iter().map(|cpu| cpu.buddy).collect();
    assert_eq!(found, [1, 1, 2]);
}

#[test]
fn a_single_cpu_has_no_buddy_and_without_the_feature_none_has() {
    let alone = build(
        &gated(flat(1), &[CACHE]),
        &Scheduler::parse(PACK).unwrap().params,
    );
    assert_eq!(alone.unwrap().cpus[0].buddy, NONE);
    for scheduler in ["linux-3.9", "linux-3.9+pack=none"] {
        let w = World::new(&gated(flat(4), &[CACHE]), scheduler);
        assert!(
            w.core.cpus.iter().all(|cpu| cpu.buddy == NONE),
            "{scheduler}"
        );
    }
}

// ---- step 2: a light task goes to a buddy that is not busy ----

#[test]
fn a_light_task_wakes_on_the_buddy_of_its_previous_cpu() {
    board(PACK).wakes(0, 1).expect(0, "pack_buddy");
    board(PACK).wakes(3, 4).expect(2, "pack_buddy");
    // Though that CPU sleeps, and target and previous CPU are awake and idle.
    let mut w = board(PACK);
    w.idles(2, 2_000_000, 1).wakes(0, 0).expect(2, "pack_buddy");
    board("linux-3.9+pack=none")
        .wakes(0, 0)
        .expect(0, "target_idle");
    board("linux-3.9").wakes(0, 0).expect(0, "target_idle");
}

/// A task of an A15 comes to the A7s in two wakeups.
#[test]
fn a_task_walks_the_chain_over_several_wakeups() {
    let mut w = board(PACK);
    for (prev, buddy) in [(1, 0), (0, 2), (2, 2), (2, 2)] {
        w.wakes(3, prev).expect(buddy, "pack_buddy");
    }
}

#[test]
fn light_is_less_than_a_fifth_of_the_time() {
    for (sum, period, light) in [
        (9548, MAX, true),
        (9549, MAX, false),
        (199, 1000, true),
        (200, 1000, false),
        (0, 1, true),
        // A new task has no history, and is not light.
        (0, 0, false),
    ] {
        let mut w = board(PACK);
        w.wakee.pelt13 = share(sum, period);
        w.wakes(1, 1);
        match light {
            true => w.expect(0, "pack_buddy"),
            false => w.expect(1, "target_idle"),
        };
    }
}

#[test]
fn what_is_light_is_a_tunable_in_percent() {
    for (percent, most) in [(25, 249), (1, 9), (100, 999)] {
        let mut w = board(&format!("linux-3.9+pack:light={percent}"));
        w.wakee.pelt13 = share(most, 1000);
        w.wakes(1, 1).expect(0, "pack_buddy");
        w.wakee.pelt13 = share(most + 1, 1000);
        w.wakes(1, 1).expect(1, "target_idle");
    }
    board("linux-3.9+pack:light=0")
        .wakes(1, 1)
        .expect(1, "target_idle");
}

#[test]
fn busy_is_more_than_a_half_idle_a_third_with_a_task_a_quarter_with_two() {
    for (tasks, least) in [(0, 500), (1, 333), (2, 250), (3, 200)] {
        for (sum, busy) in [(least, false), (least + 1, true)] {
            let mut w = board(PACK);
            w.core.cpus[0].pelt13 = share(sum, 1000);
            w.runs(0, tasks).wakes(1, 1);
            match busy {
                true => w.expect(1, "target_idle"),
                false => w.expect(0, "pack_buddy"),
            };
        }
    }
}

/// The two sums are read without a lock: the first may be newer than the second.
#[test]
fn a_torn_pair_counts_as_all_of_its_time_and_no_more() {
    let mut w = board("linux-3.9+pack=full");
    w.core.cpus[2].pelt13 = share(2000, 1000);
    w.wakes(2, 2).expect(2, "target_idle");
}

#[test]
fn fork_exec_and_tasks_of_one_cpu_are_placed_as_ever() {
    let mut w = board(PACK);
    let base = board("linux-3.9").forks(1).ask();
    assert_eq!(w.forks(1).ask(), base);
    w.kind = alight_policy::Kind::Exec;
    let mut plain = board("linux-3.9");
    plain.forks(1).kind = alight_policy::Kind::Exec;
    assert_eq!(w.ask(), plain.ask());
    board(PACK).allow([1]).wakes(1, 1).expect(1, "pinned");
}

#[test]
fn a_buddy_that_is_not_allowed_is_none() {
    board(PACK)
        .allow([1, 2, 3])
        .wakes(1, 1)
        .expect(1, "target_idle");
    let mut w = board(PACK);
    w.core.cpus[1].buddy = NONE;
    w.wakes(1, 1).expect(1, "target_idle");
}

#[test]
fn a_waker_that_asks_for_its_own_cpu_comes_first() {
    let mut w = World::new(&gated(caches(4, 2), &[CACHE, PACKAGE]), "linux-7.2+pack");
    w.wakes(3, 1).expect(0, "pack_buddy");
    w.flags = alight_policy::abi::wake_flag::CURRENT_CPU;
    w.expect(3, "current_cpu");
}

// ---- the signals of 2013 ----

/// A task that runs `run` of every 5 ms, for long.
fn steady(k: &str, run_us: u64) -> Duo {
    let mut duo = Duo::new(Cpu::default());
    duo.k = Scheduler::parse(k).unwrap().params;
    for _ in 0..400 {
        duo.run_for(run_us * 1000);
        duo.wait(5 * MS - run_us * 1000);
    }
    duo
}

/// "1 ms every 5 ms" is small in the words of the mail; in its arithmetic the
/// share right after the run is more than a fifth.
#[test]
fn a_millisecond_in_five_is_not_light_when_it_falls_asleep() {
    for (run, share, light) in [(1000, 208, false), (950, 198, true)] {
        let duo = steady(PACK, run);
        let a = duo.task.pelt13;
        let rounded =
            (a.runnable_avg_sum * 1000 + a.runnable_avg_period / 2) / a.runnable_avg_period;
        assert_eq!(rounded, share, "{run} us");
        assert_eq!(
            a.runnable_avg_sum * 5 < a.runnable_avg_period,
            light,
            "{run} us"
        );
    }
}

#[test]
fn judged_at_the_wakeup_a_task_has_decayed_by_its_sleep() {
    for (at, sleep, light) in [
        ("sleep", 0, false),
        ("sleep", 1000, false),
        ("wake", 0, false),
        ("wake", 4, true),
    ] {
        let mut w = board(&format!("{PACK}:at={at}"));
        w.wakee.pelt13 = steady(PACK, 1000).task.pelt13;
        w.now = w.wakee.pelt13.last_runnable_update + sleep * MS;
        let before = w.wakee.pelt13;
        w.wakes(1, 1);
        match light {
            true => w.expect(0, "pack_buddy"),
            false => w.expect(1, "target_idle"),
        };
        assert_eq!(w.wakee.pelt13, before, "it is decayed at the enqueue");
    }
}

/// After a long sleep a task stays light for 10.8 ms: 10.3 periods, 1 - y^10.3 is a fifth.
#[test]
fn a_task_that_slept_for_long_is_light_for_ten_milliseconds() {
    let mut duo = Duo::new(Cpu::default());
    duo.k = Scheduler::parse(PACK).unwrap().params;
    duo.run_for(MS);
    duo.wait(2000 * MS);
    duo.wake();
    for (run, light) in [(10_700_000, true), (10_900_000, false)] {
        let mut task = duo.task.pelt13;
        pelt::update13(&mut task, duo.now + run, true);
        assert_eq!(
            task.runnable_avg_sum * 5 < task.runnable_avg_period,
            light,
            "{run} ns"
        );
    }
}

#[test]
fn the_pairs_follow_what_runs_and_are_kept_for_packing_only() {
    let duo = steady(PACK, 1000);
    let (task, cpu) = (duo.task.pelt13, duo.cpu.pelt13);
    let permille =
        |a: Pelt13| (a.runnable_avg_sum * 1000 + a.runnable_avg_period / 2) / a.runnable_avg_period;
    assert_eq!(permille(task), permille(cpu), "it is alone there");
    assert!(task.runnable_avg_period > MAX * 9 / 10 && task.runnable_avg_period <= MAX);
    let mut idle = duo.cpu;
    alight_policy::rq::clock(&mut idle, duo.now + 1000 * MS);
    alight_policy::rq::update13(&duo.k, &mut idle);
    assert_eq!(
        idle.pelt13.runnable_avg_sum, 0,
        "an idle CPU forgets, when somebody looks"
    );
    for without in ["linux-3.9", "linux-3.9+pack=none", "linux-6.5+pack"] {
        let duo = steady(without, 1000);
        assert_eq!(duo.task.pelt13, Pelt13::default(), "{without}");
        assert_eq!(duo.cpu.pelt13, Pelt13::default(), "{without}");
    }
    let modern = steady("linux-6.5+pack:signals=2013", 1000);
    assert_eq!(modern.task.pelt13, task);
}

// ---- the same by the signals of later kernels ----

/// Clusters of 4 little CPUs (446) and 4 big ones; a task of the little CPU 1.
fn modern(scheduler: &str) -> World {
    let mut w = World::new(&gated(clusters(), &[CACHE, PACKAGE]), scheduler);
    w.wakee.pelt.last_update_time = 1;
    w.wakes(1, 1);
    w
}

#[test]
fn by_averages_light_is_a_fifth_of_the_cpu_that_it_ran_on() {
    for base in [
        "linux-5.4",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-7.2",
    ] {
        let scheduler = format!("{base}+pack");
        for (prev, most, buddy) in [(1, 89, 0), (5, 204, 4)] {
            let mut w = modern(&scheduler);
            w.wakee.pelt.runnable_avg = most;
            w.wakes(prev, prev).expect(buddy, "pack_buddy");
            w.wakee.pelt.runnable_avg = most + 1;
            w.wakes(prev, prev);
            assert_ne!(w.ask().cpu, buddy, "{scheduler}");
        }
    }
}

#[test]
fn by_averages_busy_is_a_share_of_the_buddys_own_capacity() {
    for (tasks, most) in [(0, 223), (1, 148), (2, 111)] {
        let mut w = modern("linux-6.5+pack");
        w.runs(0, tasks).used([0], most).expect(0, "pack_buddy");
        w.used([0], most + 1).wakes(1, 1);
        assert_ne!(w.ask().cpu, 0);
    }
}

#[test]
fn by_averages_too_a_task_may_be_judged_at_its_wakeup() {
    for (at, light) in [("sleep", false), ("wake", true)] {
        let mut w = modern(&format!("linux-6.5+pack:at={at}"));
        let div = 47742 - 1024;
        w.wakee.pelt.runnable_avg = 100;
        w.wakee.pelt.runnable_sum = 100 * div;
        w.core.cpus[1].cfs.last_update_time = 32 * MS;
        w.expect(
            if light { 0 } else { 1 },
            if light { "pack_buddy" } else { "target_idle" },
        );
    }
}

// ---- off means off ----

#[test]
fn where_nothing_can_be_gated_every_answer_is_the_bases() {
    for base in ["linux-3.9", "linux-5.5", "linux-6.5", "linux-7.2"] {
        for machine in [flat(8), caches(8, 4), clusters(), smt(4, 2)] {
            for mode in ["default", "full", "full:level=0"] {
                let packs = format!("{base}+pack={mode}");
                for (this, prev) in [(0, 0), (0, 7), (3, 5)] {
                    let ask = |scheduler: &str, forks: bool| {
                        let mut w = World::new(&machine, scheduler);
                        w.busy([0, 3, 6]).wakes(this, prev);
                        if forks {
                            w.forks(this);
                        }
                        w.ask()
                    };
                    for forks in [false, true] {
                        assert_eq!(ask(&packs, forks), ask(base, forks), "{packs}");
                    }
                }
            }
        }
    }
}
