// SPDX-License-Identifier: GPL-2.0-only
//! Tests of differences between kernels in balancing and moving tasks, rule by rule.

use super::super::imbalance::Imbalance;
use super::*;
use crate::balance::NewidleBalance;

#[test]
fn busy_cpus_balance_twice_as_often() {
    for (base, busy_ms, because) in [
        ("linux-5.5", 128, "4 ms times 32"),
        ("linux-5.10", 64, "times 16, and a jiffy earlier"),
        ("linux-6.1", 64, "times 16, and a jiffy earlier"),
        ("linux-7.2", 64, "the same"),
    ] {
        under(base, "hikey620", |sim| {
            sim.levels(1, 0).balance_interval = 4;
            let tick_ms = sim.tunables.tick / MS;
            let less = u64::from(base != "linux-5.5");
            let expected = busy_ms / tick_ms - less;
            assert_eq!(sim.balance_interval(1, 0, true), expected, "{because}");
            assert_eq!(sim.balance_interval(1, 0, false), 4u64.div_ceil(tick_ms));
        });
    }
}

#[test]
fn newidle_is_gated_by_what_it_costs() {
    // (average idle time, cost of the first domain in us, looks)
    for (base, avg_idle, cost, looks, because) in [
        ("linux-5.5", 400, 0, false, "less than half a millisecond"),
        ("linux-5.15", 400, 0, false, "as before"),
        ("linux-6.1", 400, 0, true, "it costs nothing as yet"),
        ("linux-6.5", 400, 399, true, "it costs less than that"),
        ("linux-6.5", 400, 401, false, "it costs more"),
        (
            "linux-5.5",
            501,
            502,
            false,
            "past the gate, but not affordable",
        ),
    ] {
        under(base, "hikey620", |sim| {
            put(sim, 0, 0..4);
            sim.core.cpus[2].avg_idle = avg_idle * 1000;
            sim.balance[2].levels[0].max_newidle_lb_cost = cost * 1000;
            // All draws lead to a search.
            for luck in &mut sim.balance[2].newidle {
                *luck = newidle::Luck::sure();
            }
            let before = sim.counts.attempts.seen();
            assert_eq!(sim.balance_newidle(2), looks, "{base}: {because}");
            assert_eq!(
                sim.counts.attempts.seen() != before,
                looks,
                "{base}: {because}"
            );
        });
    }
}

#[test]
fn nothing_is_pulled_where_a_task_is_on_its_way_from_5_15_on() {
    for (base, pulls) in [
        ("linux-5.10", true),
        ("linux-5.15", false),
        ("linux-6.5", false),
    ] {
        under(base, "hikey620", |sim| {
            put(sim, 0, 0..4);
            sim.core.cpus[2].avg_idle = MS;
            sim.core.cpus[2].ttwu_pending = 1;
            sim.rq_changed(2);
            assert_eq!(sim.balance_newidle(2), pulls, "{base}");
            assert_eq!(sim.core.cpus[2].idle_stamp, 0, "{base}");
            sim.core.cpus[2].ttwu_pending = 0;
            sim.rq_changed(2);
        });
    }
}

#[test]
fn blocked_load_is_left_for_the_idle_loop_by_the_ring() {
    // After a search that pulled a task: 5.5 refreshed the load of the CPUs that it compared.
    for (base, left) in [
        ("linux-5.5", false),
        ("linux-5.10", true),
        ("linux-5.15", true),
        ("linux-6.1", true),
    ] {
        under(base, "hikey620", |sim| {
            sim.nohz_enter_idle(5);
            sim.jiffy += 100;
            sim.core.cpus[2].avg_idle = MS;
            sim.occupancy.overload = true;
            sim.balance[2].nohz_flags = 0;
            assert!(!sim.balance_newidle(2));
            assert_eq!(sim.balance[2].nohz_flags != 0, left, "{base}");
        });
    }
}

#[test]
fn a_stopped_tick_has_the_next_round_found_out_anew_from_6_1_on() {
    for (base, kicks) in [
        ("linux-5.10", false),
        ("linux-5.15", false),
        ("linux-6.1", true),
    ] {
        under(base, "hikey620", |sim| {
            sim.nohz_enter_idle(5);
            let now = sim.jiffies();
            (sim.nohz.next_balance, sim.nohz.has_blocked) = (now + 100, false);
            sim.nohz_balancer_kick(0, now);
            assert_eq!(sim.balance[5].nohz_flags != 0, kicks, "{base}");
        });
    }
}

#[test]
fn every_second_look_is_left_out_at_first() {
    for (base, expected) in [
        ("linux-5.5", 200..=200),
        ("linux-6.1", 60..=140),
        ("linux-6.5", 200..=200),
        ("linux-7.2", 60..=140),
    ] {
        under(base, "ca9x4", |sim| {
            sim.occupancy.overload = true;
            let looks = (0..200)
                .filter(|_| {
                    sim.core.cpus[2].avg_idle = MS;
                    sim.balance[2].levels[0].max_newidle_lb_cost = 0;
                    sim.occupancy.overload = true;
                    let before = sim.counts.attempts.seen();
                    assert!(!sim.balance_newidle(2));
                    sim.counts.attempts.seen() != before
                })
                .count();
            assert!(expected.contains(&looks), "{base}: {looks}");
        });
    }
}

#[test]
fn costs_are_forgotten_by_newidle_too() {
    for (base, expected) in [("linux-5.5", 256_000_000), ("linux-6.5", 253_000_000)] {
        under(base, "hikey620", |sim| {
            let second = sim.nohz.hz;
            sim.core.cpus[2].avg_idle = u64::MAX / 2;
            sim.occupancy.overload = true;
            let own = sim.levels(2, 0);
            own.max_newidle_lb_cost = 256_000_000;
            own.next_decay = 0;
            sim.jiffy += 2 * second;
            assert!(!sim.balance_newidle(2));
            assert_eq!(sim.levels(2, 0).max_newidle_lb_cost, expected, "{base}");
        });
    }
}

#[test]
fn a_lone_task_is_pushed_to_more_capacity_only() {
    for (base, taken) in [
        ("linux-5.5", true),
        ("linux-5.10", true),
        ("linux-5.15", false),
        ("linux-6.1", false),
        ("linux-7.2", false),
    ] {
        under(base, "juno-r0", |sim| {
            // Littles 0 and 3 to 5, bigs 1 and 2: a CPU that is as big looks for work.
            pretend(sim, 3, (1, 446, 1024, false));
            let imbalance = Imbalance {
                what: Migrate::Task,
                amount: 1,
            };
            let top = sim.core.places[0].nr_domains as usize - 1;
            let scope = Scope::new(0, top, Idle::Yes, sim.jiffies());
            let own = sim.core.places[3].group[top] as usize;
            let found = sim.busiest_queue(&scope, own, imbalance);
            assert_eq!(found.is_some(), taken, "{base}");
            let scope = Scope::new(1, top, Idle::Yes, sim.jiffies());
            let found = sim.busiest_queue(&scope, own, imbalance);
            assert_eq!(found, Some(3), "{base}: a big one comes for it");
        });
    }
}

#[test]
fn what_is_too_much_halves_with_each_failure() {
    // `needed`: number of failures after which a task moves; `counts` is its size, `amount` the
    // amount to move.
    for (base, what, counts, amount, needed, because) in [
        (
            "linux-5.5",
            Migrate::Load,
            1024,
            512,
            0,
            "half of it is not too much",
        ),
        (
            "linux-5.5",
            Migrate::Load,
            1024,
            511,
            2,
            "until hot tasks would go",
        ),
        ("linux-5.10", Migrate::Load, 1024, 512, 1, "a half"),
        ("linux-5.15", Migrate::Util, 500, 250, 1, "a half"),
        ("linux-6.1", Migrate::Load, 1024, 512, 1, "a half"),
        ("linux-6.1", Migrate::Load, 5000, 160, 5, "a 32nd"),
        ("linux-7.2", Migrate::Load, 5000, 160, 5, "a 32nd"),
        ("linux-6.1", Migrate::Util, 500, 250, 1, "a half"),
        ("linux-7.2", Migrate::Util, 500, 250, 1, "a half"),
    ] {
        under(base, "hikey620", |sim| {
            put(sim, 0, 0..3);
            for view in sim.views.iter_mut().take(3) {
                match what {
                    Migrate::Load => view.pelt.load_avg = counts,
                    _ => view.pelt.util_avg = counts,
                }
            }
            let moved_after = (0..9).find(|&failed| {
                sim.levels(1, 0).nr_balance_failed = failed;
                let mut take = detach::Take::new(0, 1, Imbalance { what, amount }, 3);
                let scope = Scope::new(1, 0, Idle::Yes, sim.jiffies());
                sim.move_tasks(1, &scope, &mut take) != 0
            });
            assert_eq!(moved_after, Some(needed), "{base} {what:?}: {because}");
        });
    }
    for (base, stays) in [
        ("linux-5.5", true),
        ("linux-5.10", false),
        ("linux-6.1", false),
        ("linux-6.5", true),
    ] {
        under(base, "hikey620", |sim| {
            put(sim, 0, 0..2);
            for view in sim.views.iter_mut().take(2) {
                view.pelt.util_avg = 500;
            }
            sim.levels(1, 0).nr_balance_failed = 9;
            let imbalance = Imbalance {
                what: Migrate::Util,
                amount: 250,
            };
            let mut take = detach::Take::new(0, 1, imbalance, 2);
            let scope = Scope::new(1, 0, Idle::Yes, sim.jiffies());
            let moved = sim.move_tasks(1, &scope, &mut take);
            assert_eq!(moved == 0, stays, "{base}: utilization as it is");
        });
    }
}

#[test]
fn a_misfit_that_stays_is_no_failure() {
    for (base, failures) in [("linux-5.5", 1), ("linux-6.5", 1), ("linux-7.2", 0)] {
        under(base, "juno-r0", |sim| {
            bind(sim, 0..1, &[3, 4]);
            put(sim, 3, 0..1);
            advance(sim, 3 * MS);
            pretend(sim, 3, (1, 446, 1024, true));
            let top = sim.core.places[1].nr_domains as usize - 1;
            assert_eq!(attempt(sim, 1, top, Idle::Yes), 0);
            let failed = sim.levels(1, top).nr_balance_failed;
            assert_eq!(failed, failures, "{base}: it may not run there");
            // Restore the real state.
            sim.set_misfit(3, 0);
        });
    }
}

/// Busy CPUs balance rarely, and a task that is too big for one is taken from it: a CPU that lost
/// its task to the stopper balances as an idle one.
#[test]
fn a_cpu_that_its_task_was_pushed_off_is_newly_idle() {
    for base in ["linux-5.5", "linux-6.1", "linux-7.2"] {
        under(base, "juno-r0", |sim| {
            let (little, big) = (3, 1);
            put(sim, little, 0..1);
            advance(sim, 3 * MS);
            let now = sim.jiffies();
            sim.cpus[little].next_balance = now + 1000;
            sim.set_misfit(little, 1024);
            sim.push_running(little, big);
            let balance = &sim.balance[little];
            assert_eq!(balance.misfit_load, 0, "{base}: nothing is left there");
            let interval = sim.balance_interval(little, 0, false);
            assert!(
                sim.cpus[little].next_balance <= now + interval,
                "{base}: as early as an idle CPU"
            );
        });
    }
}

#[test]
fn which_task_is_a_misfit() {
    for (base, cpus, expected, because) in [
        ("linux-5.5", &[3][..], true, "any that is too big"),
        ("linux-5.10", &[3], false, "not one that is pinned"),
        (
            "linux-6.1",
            &[3],
            false,
            "not one that may run nowhere else",
        ),
        ("linux-6.1", &[3, 4], true, "but one that may"),
        ("linux-7.2", &[3, 4], false, "only where it would gain"),
        ("linux-7.2", &[3, 1], true, "as it would there"),
    ] {
        under(base, "juno-r0", |sim| {
            bind(sim, 0..1, cpus);
            sim.views[0].nr_cpus_allowed = cpus.len() as u32;
            put(sim, 3, 0..1);
            advance(sim, 3 * MS);
            sim.views[0].pelt.util_avg = 440;
            sim.misfit_update(3);
            assert_eq!(sim.nohz.nr_misfit != 0, expected, "{base}: {because}");
        });
    }
}

#[test]
fn an_idle_core_balances_before_an_idle_thread() {
    for (base, balances) in [("linux-5.5", 0), ("linux-6.5", 0), ("linux-7.2", 1)] {
        under(base, "epyc-9654-2s", |sim| {
            // Threads of a core are n and n + 192: the first core is half busy.
            pretend(sim, 192, (1, 1024, 1024, false));
            let cores = |cpu: usize| sim.core.places[cpu].smt_domain;
            assert_eq!(cores(0), cores(192));
            let own = |cpu: usize| {
                let level = sim.core.places[cpu].nr_domains as usize - 1;
                Scope::new(cpu, level, Idle::Yes, 0)
            };
            let first = (0..384).find(|&cpu| sim.should_we_balance(&own(cpu)));
            assert_eq!(first, Some(balances), "{base}");
        });
    }
}

#[test]
fn a_cache_in_use_is_worth_fewer_looks() {
    // y = 8 * (1 - (117 % of 512 / 1024)^2), with rounding down
    for (util, expected) in [(0, 4), (512, 2), (820, 0), (1024, 0)] {
        under("linux-6.1", "ca9x4", |sim| {
            for cpu in 0..4 {
                pretend(sim, cpu, (u32::from(util != 0), util, 0, false));
            }
            let level = sim.core.places[0].nr_domains as usize - 1;
            attempt(sim, 0, level, Idle::Newly);
            assert_eq!(sim.core.llcs[0].nr_idle_scan, 4, "newidle does not tell");
            attempt(sim, 0, level, Idle::No);
            assert_eq!(sim.core.llcs[0].nr_idle_scan, expected, "{util}");
            for cpu in 0..4 {
                pretend(sim, cpu, (0, 0, 0, false));
            }
        });
    }
}

#[test]
fn load_evens_out_under_5_4_too() {
    under("linux-5.4", "hikey620", |sim| {
        put(sim, 0, 0..4);
        assert!(sim.balance_newidle(2));
        assert_eq!(running(sim), [3, 0, 1, 0, 0, 0, 0, 0]);
    });
    under("linux-5.4", "hikey620", |sim| {
        put(sim, 0, 0..8);
        advance(sim, 600 * MS);
        assert_eq!(running(sim), [1; 8], "one CPU each");
    });
    under("linux-5.4", "juno-r0", |sim| {
        put(sim, 3, 0..1);
        advance(sim, 200 * MS);
        let cpu = sim.tasks[0].cpu as usize;
        assert_eq!(sim.core.cpus[cpu].capacity_orig, 1024, "a misfit is pushed");
    });
}

/// The source in 5.4: the biggest misfit, else the most load per capacity; tasks of all classes
/// count.
#[test]
fn the_queue_that_5_4_takes_from() {
    let from = |base: &str, what: Migrate, amount: i64, queues: [(usize, u32, u32, u32); 2]| {
        let mut found = None;
        under(base, "juno-r0", |sim| {
            for (cpu, nr, fair, load) in queues {
                pretend(sim, cpu, (nr, 400, load, what == Migrate::Misfit));
                sim.core.cpus[cpu].h_nr_running = fair;
                sim.core.cpus[cpu].runnable_load_avg = load;
            }
            sim.sums_refresh();
            let top = sim.core.places[0].nr_domains as usize - 1;
            let scope = Scope::new(0, top, Idle::Yes, sim.jiffies());
            // Littles 0 and 3 to 5, bigs 1 and 2.
            let group = sim.core.places[queues[0].0].group[top] as usize;
            found = sim.busiest_queue(&scope, group, Imbalance { what, amount });
            for (cpu, ..) in queues {
                pretend(sim, cpu, (0, 0, 0, false));
            }
        });
        found
    };
    let cases = [
        (
            Migrate::Misfit,
            1,
            [(1, 1, 1, 700), (2, 1, 1, 900)],
            [Some(2), None],
            "a misfit is taken off a bigger CPU too",
        ),
        (
            Migrate::Load,
            500,
            [(1, 2, 1, 900), (2, 2, 2, 800)],
            [Some(1), Some(2)],
            "its one fair task is too much, but a real-time task makes two",
        ),
        (
            Migrate::Load,
            2000,
            [(1, 1, 1, 900), (2, 2, 2, 800)],
            [Some(2), Some(2)],
            "a lone task stays on a bigger CPU",
        ),
    ];
    for (what, amount, queues, expected, because) in cases {
        let found = ["linux-5.4", "linux-5.5"].map(|base| from(base, what, amount, queues));
        assert_eq!(found, expected, "{because}");
    }
}

/// update_sg_lb_stats() and others: sleepers that are still queued count in 6.12 (`h_nr_queued`),
/// and do not from 6.14 on (`h_nr_runnable`).
#[test]
fn sleepers_count_as_tasks_in_6_12() {
    for (base, tasks) in [("linux-6.12", 3), ("linux-6.18", 2), ("linux-7.2", 2)] {
        under(base, "juno-r0", |sim| {
            let view = &mut sim.core.cpus[1];
            (view.h_nr_running, view.h_nr_delayed) = (3, 1);
            assert_eq!(sim.fair_runnable(1), tasks, "{base}");
            let view = &mut sim.core.cpus[1];
            (view.h_nr_running, view.h_nr_delayed) = (0, 0);
        });
    }
}
