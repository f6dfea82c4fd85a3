// SPDX-License-Identifier: GPL-2.0-only
//! Tests of packing: which CPUs take part, which pull, which tasks are pushed, and which CPU
//! balances for the others.

use super::*;
use crate::balance::tests::{advance, attempt, put, running, under};
use crate::dispatch::Sim;
use crate::testbed::{MS, US, begin_on, machine, task, workload};
use alight_machine::Machine;
use alight_policy::Pelt13;
use alight_policy::pelt::update13;
use alight_workload::program::{Op, OptionalId, TimerMode, TimerOrigin};
use proptest::prelude::*;

const FULL: &str = "linux-3.9+pack=full";
const V5: &str = "linux-3.9+pack=full:level=80";

fn buddies(sim: &Sim) -> Vec<u32> {
    sim.core.cpus.iter().map(|cpu| cpu.buddy).collect()
}

/// Pretends that CPUs have been busy for these shares of their time, in 1/1000.
fn used(sim: &mut Sim, shares: &[u32]) {
    for (cpu, &sum) in shares.iter().enumerate() {
        sim.core.cpus[cpu].pelt13 = Pelt13 {
            last_runnable_update: sim.now,
            runnable_avg_sum: sum,
            runnable_avg_period: 1000,
        };
    }
}

/// The buddy of each CPU, with this activity of its domain.
fn found(sim: &Sim, activity: u64) -> Vec<u32> {
    let cpus = 0..sim.cpus.len();
    cpus.map(|cpu| sim.pack_follow().covering(cpu, activity))
        .collect()
}

// ---- (a) activity ----

#[test]
fn activity_is_the_share_of_the_capacity_that_was_used() {
    under(V5, "ca9x4", |sim| {
        put(sim, 3, 0..2);
        used(sim, &[0, 250, 1000, 1000]);
        let found: Vec<u64> = (0..4).map(|cpu| sim.pack_follow().activity(cpu)).collect();
        assert_eq!(
            found,
            [0, 256, 1024, 1025],
            "the last has a task that waits"
        );
        sim.core.cpus[1].pelt13 = Pelt13::default();
        assert_eq!(sim.pack_follow().activity(1), 0, "no history");
    });
}

#[test]
fn by_averages_it_is_utilization() {
    under("linux-6.5+pack=full", "ca9x4", |sim| {
        sim.core.cpus[1].cfs.util_avg = 300;
        sim.core.cpus[2].cfs.util_avg = 1024;
        let found: Vec<u64> = (0..3).map(|cpu| sim.pack_follow().activity(cpu)).collect();
        assert_eq!(found, [0, 300, 1024]);
    });
}

// ---- (b) buddies follow the activity ----

#[test]
fn cpus_are_taken_in_order_until_their_capacity_covers_the_activity() {
    // level, activity, buddies
    let table: [(&str, u64, [u32; 4]); 9] = [
        ("80", 1, [0, 0, 0, 0]),
        ("80", 819, [0, 0, 0, 0]),
        ("80", 820, [0, 1, 1, 1]),
        ("80", 1630, [0, 1, 1, 1]),
        ("80", 1640, [0, 1, 2, 2]),
        ("80", 4096, [0, 1, 2, 3]),
        ("100", 1025, [0, 1, 1, 1]),
        ("50", 600, [0, 1, 1, 1]),
        ("0", 0, [0, 1, 2, 3]),
    ];
    for (level, activity, expected) in table {
        under(&format!("{FULL}:level={level}"), "ca9x4", |sim| {
            // Without activity nothing changes.
            if level != "0" {
                assert_eq!(found(sim, 0), buddies(sim));
            }
            assert_eq!(found(sim, activity), expected, "level {level}, {activity}");
        });
    }
}

/// The A7s of TC2 come first, one by one, then the A15s.
#[test]
fn the_least_power_a_cpu_comes_first() {
    under(V5, "tc2", |sim| {
        let little = u64::from(sim.available_power(2));
        let need = |capacity: u64| capacity * 1024 / 1280;
        for (activity, of_0, of_2) in [
            (need(little) / 2, 2, 2),
            (need(little * 2) - 10, 3, 2),
            (need(little * 3) - 10, 4, 2),
            (need(little * 3) + 10, 0, 2),
        ] {
            assert_eq!(sim.pack_follow().covering(0, activity), of_0, "{activity}");
            assert_eq!(sim.pack_follow().covering(2, activity), of_2, "{activity}");
        }
    });
}

/// If cores can only be gated together, all of them follow the first.
#[test]
fn who_is_gated_together_takes_part_together() {
    let mut tc2 = Machine::load("tc2").expect("built in");
    tc2.levels[0].power_gated = false;
    begin_on(V5, &tc2, &workload(&[task(0, &[])]), |sim| {
        assert_eq!(buddies(sim), [2, 2, 2, 3, 4]);
        let all = u64::from(sim.available_power(2)) * 3;
        for (activity, expected) in [(all / 2, 3), (all * 2, 0)] {
            // The first of the A15s decides; the other follows.
            let first = sim.pack_follow().covering(0, activity);
            sim.core.cpus[0].buddy = first;
            let other = sim.pack_follow().covering(1, activity);
            assert_eq!(first, expected);
            assert_eq!(other, if first == 0 { 1 } else { first });
        }
    });
}

#[test]
fn buddies_change_at_load_balance_only() {
    under(V5, "ca9x4", |sim| {
        used(sim, &[1000; 4]);
        let now = sim.jiffies();
        assert_eq!(buddies(sim), [0; 4]);
        sim.balance[1].levels[0].last_balance = now;
        sim.pack_rebalance(1, Idle::Yes, now);
        assert_eq!(buddies(sim), [0; 4], "its domain is not due");
        sim.pack_rebalance(1, Idle::Yes, now + 100);
        assert_eq!(buddies(sim), [0, 1, 0, 0]);
    });
}

// ---- (c) to (g) ----

#[test]
fn a_cpu_that_takes_no_part_is_worth_next_to_nothing() {
    under(FULL, "ca9x4", |sim| {
        let powers: Vec<u32> = (0..4).map(|cpu| sim.packed_power(cpu, 1024)).collect();
        assert_eq!(powers, [1024, 1, 1, 1]);
    });
    under("linux-6.5+pack=full", "tc2", |sim| {
        let groups = |sim: &Sim| -> Vec<u32> {
            let place = &sim.core.places[2];
            let top = &sim.core.domains[place.domain[1] as usize];
            let groups = top.first_group..top.first_group + top.nr_groups;
            groups
                .map(|group| sim.packed_capacity(group as usize))
                .collect()
        };
        assert_eq!(groups(sim), [2, 432], "A15s, and one A7 of three");
    });
    under("linux-3.9+pack", "ca9x4", |sim| {
        assert_eq!(sim.packed_power(3, 1024), 1024, "default leaves it");
    });
}

#[test]
fn who_takes_no_part_pulls_nothing_at_any_level() {
    for base in [
        "linux-3.9",
        "linux-5.4",
        "linux-5.5",
        "linux-6.5",
        "linux-7.2",
    ] {
        under(&format!("{base}+pack=full"), "ca9x4", |sim| {
            put(sim, 0, 0..6);
            for idle in [Idle::Yes, Idle::Newly, Idle::No] {
                assert_eq!(attempt(sim, 2, 0, idle), 0, "{base}: {idle:?}");
            }
            sim.core.cpus[2].buddy = 2;
            assert_ne!(attempt(sim, 2, 0, Idle::Yes), 0, "{base}");
        });
    }
}

#[test]
fn a_single_task_is_pushed_to_a_cpu_that_takes_part() {
    for base in ["linux-3.9", "linux-5.5", "linux-6.5", "linux-7.2"] {
        under(&format!("{base}+pack=full"), "ca9x4", |sim| {
            put(sim, 2, 0..1);
            advance(sim, MS / 10);
            assert_eq!(running(sim), [0, 0, 1, 0], "{base}");
            attempt(sim, 0, 0, Idle::Yes);
            assert_eq!(running(sim), [1, 0, 0, 0], "{base}");
            assert_eq!(sim.counts.active.seen(), 1, "{base}");
        });
    }
}

#[test]
fn a_full_cpu_draws_nobody() {
    under(FULL, "ca9x4", |sim| {
        put(sim, 2, 0..1);
        advance(sim, MS / 10);
        used(sim, &[980, 0, 0, 0]);
        attempt(sim, 0, 0, Idle::Yes);
        assert_eq!(running(sim), [0, 0, 1, 0]);
    });
}

#[test]
fn the_first_idle_cpu_near_the_buddy_balances_for_the_others() {
    for mode in ["default", "full"] {
        under(&format!("linux-3.9+pack={mode}"), "tc2", |sim| {
            advance(sim, 200 * MS);
            assert_eq!(sim.pack_ilb(0), Some(2), "the buddy's own cache");
            assert_eq!(sim.pack_ilb(1), Some(0));
            put(sim, 2, 0..1);
            assert_eq!(sim.pack_ilb(0), Some(3));
            put(sim, 3, 1..2);
            put(sim, 4, 2..3);
            assert_eq!(sim.pack_ilb(0), Some(0), "the next larger domain");
            sim.core.cpus[0].buddy = NONE;
            assert_eq!(sim.pack_ilb(0), Some(0), "the first of all");
        });
    }
}

#[test]
fn full_packing_asks_for_help_sooner() {
    under(V5, "ca9x4", |sim| {
        used(sim, &[799, 0, 0, 0]);
        assert!(sim.pack_kicks(1), "takes no part");
        assert!(!sim.pack_kicks(0), "used to less than 80 %");
        used(sim, &[801, 0, 0, 0]);
        assert!(sim.pack_kicks(0));
    });
    under(FULL, "ca9x4", |sim| {
        used(sim, &[1000, 0, 0, 0]);
        put(sim, 0, 0..1);
        assert!(!sim.pack_kicks(0), "v4: its buddy, itself, does not idle");
    });
    under("linux-3.9+pack", "ca9x4", |sim| assert!(!sim.pack_kicks(1)));
}

// ---- whole runs ----

/// `nr` tasks that run `run` of every 20 ms, `apart` ms from each other.
fn periodic(nr: u64, run: u64, apart: u64) -> alight_workload::program::Workload {
    let tasks: Vec<_> = (0..nr)
        .map(|i| {
            let ops = [
                Op::LoopBegin {
                    slot: 0,
                    count: 100_000,
                    end: 4,
                },
                Op::Run { ns: run },
                Op::Timer {
                    slot: 0,
                    period_ns: 20 * MS,
                    mode: TimerMode::Absolute,
                    origin: TimerOrigin::TaskStart,
                    histogram: OptionalId::NONE,
                },
                Op::LoopEnd { slot: 0, begin: 1 },
            ];
            task(i * apart * MS, &ops)
        })
        .collect();
    workload(&tasks)
}

/// Time that each CPU has run tasks from the first second on, in ms a second.
fn busy(
    scheduler: &str,
    machine: &Machine,
    workload: &alight_workload::program::Workload,
) -> Vec<u64> {
    begin_on(scheduler, machine, workload, |sim| {
        let busy = |sim: &mut Sim| -> Vec<u64> {
            for cpu in 0..sim.cpus.len() {
                sim.clock(cpu);
                sim.update_curr(cpu);
            }
            sim.cpus.iter().map(|cpu| cpu.stats.busy_ns).collect()
        };
        sim.until(1000 * MS);
        let before = busy(sim);
        sim.until(3000 * MS);
        let after = busy(sim);
        let time = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        time.map(|ns| ns / (2 * MS)).collect()
    })
}

fn gated(cpus: usize) -> Machine {
    let mut machine = machine(cpus, cpus);
    machine.levels[0].power_gated = true;
    machine
}

#[test]
fn light_tasks_end_up_on_the_buddy() {
    // Six tasks of 2.5 % each, which would wake up where they ran before.
    for base in ["linux-3.9", "linux-5.5", "linux-6.5", "linux-7.2"] {
        let tasks = periodic(6, 500 * US, 3);
        let spread = busy(base, &gated(4), &tasks);
        let packed = busy(&format!("{base}+pack"), &gated(4), &tasks);
        assert_eq!(packed[1..], [0, 0, 0], "{base}");
        assert_eq!(packed[0], spread.iter().sum::<u64>().max(150), "{base}");
    }
}

#[test]
fn heavy_tasks_are_left_alone_by_default_and_packed_by_full() {
    // Two tasks of 30 % each.
    let tasks = periodic(2, 6 * MS, 10);
    for base in ["linux-3.9", "linux-6.5"] {
        let plain = busy(base, &gated(4), &tasks);
        let default = busy(&format!("{base}+pack"), &gated(4), &tasks);
        assert_eq!(default, plain, "{base}");
        let full = busy(&format!("{base}+pack=full"), &gated(4), &tasks);
        assert_eq!(full, [600, 0, 0, 0], "{base}");
    }
}

#[test]
fn hogs_get_as_many_cpus_as_they_need() {
    let hogs = |nr| workload(&vec![task(0, &[Op::Run { ns: 100_000 * MS }]); nr]);
    for scheduler in [FULL, V5, "linux-6.5+pack=full", "linux-7.2+pack=full"] {
        for nr in [1, 2, 4] {
            let busy = busy(scheduler, &gated(4), &hogs(nr));
            let total: u64 = busy.iter().sum();
            assert!(total >= 980 * nr as u64, "{scheduler}: {nr} hogs: {busy:?}");
            // As many tasks as use the CPUs to 80 %.
            let needed = (nr + nr.div_ceil(4)).min(4);
            assert!(
                busy[needed..].iter().all(|&ms| ms == 0),
                "{scheduler}: {busy:?}"
            );
        }
    }
}

#[test]
fn where_nothing_can_be_gated_runs_are_the_bases() {
    for base in ["linux-3.9", "linux-5.5", "linux-6.5", "linux-7.2"] {
        for mode in ["none", "default", "full", "full:level=0"] {
            let tasks = periodic(6, 3 * MS, 2);
            let hash = |scheduler: &str| {
                begin_on(scheduler, &machine(4, 2), &tasks, |sim| {
                    sim.until(500 * MS);
                    (sim.hash, sim.events)
                })
            };
            assert_eq!(
                hash(&format!("{base}+pack={mode}")),
                hash(base),
                "{base} {mode}"
            );
        }
    }
}

#[test]
fn buddies_follow_cpus_that_go_and_come() {
    begin_on(FULL, &gated(4), &periodic(3, MS, 5), |sim| {
        sim.hotplug.used = true;
        sim.until(100 * MS);
        sim.cpu_down(0);
        sim.check_invariants().expect("sound");
        assert_eq!(buddies(sim)[1..], [1, 1, 1]);
        assert_eq!(buddies(sim)[0], NONE);
        sim.until(200 * MS);
        sim.cpu_up(0);
        assert_eq!(buddies(sim), [0; 4]);
        sim.until(300 * MS);
    });
}

#[test]
fn a_broken_packer_is_found() {
    begin_on(FULL, &gated(4), &periodic(1, MS, 5), |sim| {
        sim.core.cpus[2].buddy = 7;
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sim.pack_check()));
        assert!(!matches!(broken, Ok(Ok(()))));
        sim.core.cpus[2].buddy = 0;
        sim.pack_check().expect("sound");
        sim.pack_pulled(2);
        assert!(sim.pack_check().unwrap_err().contains("takes no part"));
    });
}

#[test]
fn the_period_of_2013_comes_close_to_its_bound() {
    // 1000 periods and almost one more, then up to where the sum would end one.
    let mut pair = Pelt13::default();
    update13(&mut pair, (1000 * 1024 + 1023) << 10, true);
    assert_eq!(
        pair.runnable_avg_period % 1024,
        48_765 % 1024,
        "all periods and almost one more"
    );
    update13(&mut pair, (1000 * 1024 + 1023 + 386) << 10, true);
    assert_eq!(pair.runnable_avg_period, LONGEST_PERIOD - 1);
}

proptest! {
    #[test]
    fn and_stays_below_it(steps in prop::collection::vec(0u64..400_000_000, 1..200)) {
        let (mut pair, mut now) = (Pelt13::default(), 0);
        for step in steps {
            now += step;
            update13(&mut pair, now, step % 3 != 0);
            prop_assert!(pair.runnable_avg_sum <= pair.runnable_avg_period && pair.runnable_avg_period < LONGEST_PERIOD, "{:?}", pair);
        }
    }
}
