// SPDX-License-Identifier: GPL-2.0-only
//! Tests of 3.9's balancing: groups of four CPUs with power 1024 each, unless said otherwise;
//! weights are those of nice 0, 1024.

use super::*;
use crate::balance::tests::{MS, advance, attempt, bind, pretend, put, running, under};
use crate::balance::{MIGRATION_COST, NewidleBalance, detach};
use crate::dispatch::Sim;
use proptest::prelude::*;

const PACKAGE: Terms = Terms {
    pct: 125,
    idle: Idle::Yes,
    dst_per_task: 0,
};
const NEWLY: Terms = Terms {
    idle: Idle::Newly,
    ..PACKAGE
};
const BUSY: Terms = Terms {
    idle: Idle::No,
    ..PACKAGE
};

fn side_of(cpus: u64, nr: u64, weight: u64) -> Side {
    Side {
        load: weight,
        weight,
        power: cpus * 1024,
        nr_running: nr,
        capacity: cpus,
        idle_cpus: cpus.saturating_sub(nr),
        cpus,
        uneven: false,
        has_capacity: cpus > nr,
    }
}

fn side(nr: u64) -> Side {
    side_of(4, nr, 1024 * nr)
}

fn one(nr: u64) -> Side {
    side_of(1, nr, 1024 * nr)
}

/// The amount that `local` takes from `busiest`; the domain has no other groups.
fn judge(local: Side, busiest: Side, terms: &Terms) -> Option<u64> {
    let average = 1024 * (local.load + busiest.load) / (local.power + busiest.power);
    find(&local, &busiest, average, terms)
}

#[test]
fn the_busiest_has_more_tasks_than_capacity_and_most_load() {
    let uneven = Side {
        uneven: true,
        ..side(4)
    };
    for (group, most, expected, because) in [
        (side(5), 0, true, "five tasks on four CPUs"),
        (side(4), 0, false, "one each"),
        (uneven, 0, true, "one each, but two on one CPU"),
        (side(5), 1280, false, "as much load as the other: the first"),
        (side_of(4, 5, 0), 0, false, "no load"),
    ] {
        assert_eq!(group.busier_than(most), expected, "{because}");
    }
    let mut node = side(2);
    node.spread(&side(4));
    assert!(!node.busier_than(0), "no room here");
    node.spread(&side(3));
    assert!(node.busier_than(0), "nodes: more than one task is too many");
}

#[test]
fn when_it_is_worth_it() {
    for (local, busiest, terms, expected, because) in [
        (side(2), side(5), PACKAGE, true, "somebody waits there"),
        (side(5), side(5), PACKAGE, false, "as much here"),
        (side(6), side(5), NEWLY, false, "more here"),
        (
            side_of(4, 4, 4096),
            side_of(4, 5, 5000),
            BUSY,
            false,
            "less than a quarter more",
        ),
        (
            side_of(4, 4, 4000),
            side_of(4, 5, 5100),
            BUSY,
            true,
            "more than a quarter",
        ),
        (
            side_of(4, 3, 5000),
            side_of(4, 5, 5120),
            NEWLY,
            true,
            "there is a CPU for a task that has none, whatever the load",
        ),
        (
            side_of(4, 3, 5000),
            side_of(4, 5, 5120),
            BUSY,
            false,
            "not for a busy CPU",
        ),
    ] {
        assert_eq!(
            judge(local, busiest, &terms).is_some(),
            expected,
            "{because}"
        );
    }
    // No task waits, and one more idle CPU would only move between groups.
    let uneven = Side {
        uneven: true,
        ..side(4)
    };
    let spread = Side {
        capacity: 1,
        ..side(3)
    };
    for (local, busiest, expected) in [
        (side(2), spread, false),
        (side(1), spread, true),
        (side(3), uneven, true),
    ] {
        assert_eq!(judge(local, busiest, &PACKAGE).is_some(), expected);
    }
}

#[test]
fn loads_meet_in_the_middle() {
    let uneven = |side: Side| Side {
        uneven: true,
        ..side
    };
    for (local, busiest, expected, because) in [
        (side(0), side(8), 4096, "half; no CPU there goes idle"),
        (side(0), side(5), 1024, "one waits: the others have CPUs"),
        (side(0), uneven(side(6)), 3072, "half, if CPUs are uneven"),
        (one(0), one(2), 1024, "one of two"),
        (one(1), one(2), 1024, "the difference is a task"),
        (
            side_of(1, 1, 1500),
            one(2),
            274,
            "less than a task, and no gain: what it is",
        ),
        (
            side_of(1, 1, 3000),
            Side {
                uneven: true,
                ..one(2)
            },
            2048,
            "more here than there: below the average, one task of its mean load",
        ),
    ] {
        let found = judge(local, busiest, &NEWLY);
        let found = found.unwrap_or_else(|| amount(&local, &busiest, 1774, &NEWLY));
        let expected = match because.starts_with("more here") {
            true => amount(&local, &busiest, 2524, &NEWLY),
            false => expected,
        };
        assert_eq!(found, expected, "{because}");
    }
}

/// Load indices of the levels, for a CPU that is busy, idle and newly idle.
#[test]
fn a_busy_cpu_looks_back_further() {
    for (machine, cpu, expected) in [
        ("hikey620", 0, vec![[2, 0, 0], [2, 1, 0]]),
        (
            "epyc-9654-2s",
            0,
            vec![[0, 0, 0], [2, 0, 0], [2, 1, 0], [3, 2, 0]],
        ),
    ] {
        under("linux-3.9", machine, |sim| {
            let levels = 0..sim.core.places[cpu].nr_domains as usize;
            let found: Vec<[usize; 3]> = levels
                .map(|level| {
                    [Idle::No, Idle::Yes, Idle::Newly]
                        .map(|idle| sim.load_index(&Scope::new(cpu, level, idle, 0)))
                })
                .collect();
            assert_eq!(found, expected, "{machine}");
        });
    }
}

#[test]
fn what_comes_and_goes_moves_nobody() {
    under("linux-3.9", "hikey620", |sim| {
        put(sim, 0, 0..3);
        sim.index_tick(0);
        // By index 2 half of the three tasks counts, because the lower of average and now is
        // taken; in the local group the higher is.
        let loads = [0, 1, 2].map(|index| sim.indexed_load(0, index, false));
        assert_eq!(loads, [3072, 3072, 1536]);
        assert_eq!(sim.indexed_load(0, 2, true), 3072);
        for _ in 0..20 {
            sim.index_tick(0);
        }
        assert_eq!(
            sim.indexed_load(0, 2, false),
            3072,
            "they have been there for a while"
        );
    });
}

#[test]
fn the_newest_task_goes_first() {
    under("linux-3.9", "hikey620", |sim| {
        put(sim, 0, 0..4);
        assert!(sim.balance_newidle(2));
        assert_eq!(running(sim), [3, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(sim.tasks[3].cpu, 2, "the one that came last");
        assert_eq!(sim.core.cpus[2].idle_stamp, 0, "it does not go idle");
    });
    under("linux-3.9", "hikey620", |sim| {
        put(sim, 0, 0..8);
        advance(sim, 600 * MS);
        assert_eq!(running(sim), [1; 8], "one CPU each, in the end");
    });
}

#[test]
fn newidle_asks_for_idle_time_alone() {
    for (avg_idle, cost, looks, because) in [
        (MIGRATION_COST - 1, 0, false, "idle phases are short"),
        (MIGRATION_COST, 9 * MS, true, "costs are not remembered"),
    ] {
        under("linux-3.9", "hikey620", |sim| {
            put(sim, 0, 0..4);
            sim.occupancy.overload = false;
            sim.core.cpus[2].avg_idle = avg_idle;
            sim.levels(2, 0).max_newidle_lb_cost = cost;
            // Its tick is stopped, and its balance is overdue: set one that is not due yet.
            let due = sim.jiffies() + 1000;
            sim.cpus[2].next_balance = due;
            assert_eq!(sim.balance_newidle(2), looks, "{because}");
            assert!(sim.cpus[2].next_balance <= due);
        });
    }
    // A long phase counts as the limit at once; in later kernels by an eighth.
    for (base, expected) in [("linux-3.9", 2 * MIGRATION_COST), ("linux-5.5", 925_000)] {
        under(base, "hikey620", |sim| {
            advance(sim, 10 * MS);
            sim.core.cpus[2].avg_idle = 200_000;
            sim.core.cpus[2].idle_stamp = sim.now - 6 * MS;
            sim.end_idle_phase(2);
            assert_eq!(sim.core.cpus[2].avg_idle, expected, "{base}");
        });
    }
}

#[test]
fn intervals_are_short_and_busy_cpus_wait_64_of_them() {
    under("linux-3.9", "epyc-9654-2s", |sim| {
        let bounds: Vec<(u32, u32)> = (0..4).map(|level| sim.bounds(0, level)).collect();
        assert_eq!(bounds, [(1, 2), (1, 4), (1, 4), (384, 768)]);
        let first: Vec<u32> = (0..4)
            .map(|level| sim.levels(0, level).balance_interval)
            .collect();
        assert_eq!(first, [1, 1, 1, 384]);
        sim.levels(0, 3).balance_interval = 100;
        let jiffies = |ms: u64| ms / (sim.tunables.tick / MS);
        assert_eq!(sim.balance_interval(0, 1, true), jiffies(64));
        assert_eq!(sim.balance_interval(0, 3, true), jiffies(3200), "nodes: 32");
    });
    under("linux-3.9", "hikey620", |sim| {
        sim.levels(1, 0).balance_interval = 1;
        for expected in [2, 4, 4] {
            attempt(sim, 1, 0, Idle::Yes);
            assert_eq!(sim.levels(1, 0).balance_interval, expected, "balanced");
        }
        put(sim, 0, 0..4);
        attempt(sim, 1, 0, Idle::Yes);
        assert_eq!(sim.levels(1, 0).balance_interval, 1);
    });
}

/// The size of a task is tested before its affinity: no task of the queue was found to be free, and
/// the queue counts as pinned.
#[test]
fn a_queue_of_tasks_that_are_too_big_counts_as_pinned() {
    under("linux-3.9", "hikey620", |sim| {
        put(sim, 0, 0..2);
        let scope = Scope::new(1, 0, Idle::Yes, sim.jiffies());
        for (amount, moved, pinned) in [(511, 0, true), (512, 1, false)] {
            let imbalance = Imbalance {
                what: Migrate::Load,
                amount,
            };
            let mut take = detach::Take::new(0, 1, imbalance, 2);
            assert_eq!(sim.move_tasks(1, &scope, &mut take), moved, "{amount}");
            assert_eq!(take.all_pinned, pinned, "{amount}");
        }
    });
}

#[test]
fn a_running_task_is_pushed_after_failures_only() {
    under("linux-3.9", "juno-r0", |sim| {
        // A task alone on a little CPU is not pulled: 3.9 has no misfits.
        put(sim, 3, 0..1);
        advance(sim, 400 * MS);
        assert_eq!((sim.tasks[0].cpu, sim.counts.active.seen()), (3, 0));
    });
    under("linux-3.9", "hikey620", |sim| {
        bind(sim, 0..2, &[0]);
        put(sim, 0, 0..3);
        advance(sim, 3 * MS);
        let level = sim.levels(1, 0);
        level.nr_balance_failed = 3;
        let scope = Scope::new(1, 0, Idle::Yes, 0);
        assert!(!sim.voluntary_active_balance(&scope, 0, Migrate::Load));
        assert!(!sim.kernel.balance.active.voluntary);
    });
}

#[test]
fn a_pinned_task_goes_to_another_cpu_even_for_a_newly_idle_one() {
    for (base, moved) in [("linux-3.9", true), ("linux-5.5", false)] {
        under(base, "hikey620", |sim| {
            bind(sim, 0..4, &[0, 6]);
            put(sim, 0, 0..4);
            let scope = Scope::new(4, 1, Idle::Newly, sim.jiffies());
            let imbalance = Imbalance {
                what: Migrate::Load,
                amount: 2048,
            };
            let mut take = detach::Take::new(0, 4, imbalance, 4);
            assert_eq!(sim.move_tasks(4, &scope, &mut take), 0);
            assert_eq!(take.other_dst == Some(6), moved, "{base}");
        });
    }
}

#[test]
fn an_idle_cpu_is_kicked_for_two_tasks_or_two_busy_threads() {
    under("linux-3.9", "epyc-9654-2s", |sim| {
        let now = sim.jiffies();
        sim.nohz.next_balance = now;
        for cpu in 0..384 {
            sim.counts_as_idle(cpu);
        }
        let ask = |sim: &mut Sim, cpu: usize, nr: u32| {
            pretend(sim, cpu, (nr, 1024, 1024, false));
            sim.counts_as_busy(cpu);
            let kicks = sim.kick_needed(cpu, now);
            sim.core.cpus[cpu].nr_running = 1;
            kicks
        };
        // Threads of a core are n and n + 192.
        assert!(!ask(sim, 0, 1), "alone");
        assert!(!ask(sim, 1, 1), "nor for two cores of a cache");
        assert!(ask(sim, 192, 1), "its core's other thread is busy");
        assert!(ask(sim, 5, 2), "somebody waits");
        sim.nohz.next_balance = now + 1;
        assert!(!sim.kick_needed(5, now), "it is not time");
        // Restore the real state.
        for cpu in [0, 1, 5, 192] {
            pretend(sim, cpu, (0, 0, 0, false));
        }
    });
}

#[test]
fn the_first_cpu_without_a_tick_balances_or_none() {
    under("linux-3.9", "hikey620", |sim| {
        for cpu in [2, 5] {
            sim.nohz_enter_idle(cpu);
        }
        let first = sim.first_tickless();
        let nohz = &sim.nohz;
        assert_eq!(first, nohz.idle.iter().next());
        let first = first.expect("in the set") as usize;
        pretend(sim, first, (1, 0, 0, false));
        assert_eq!(sim.first_tickless(), None, "it has got work");
        pretend(sim, first, (0, 0, 0, false));
    });
}

#[test]
fn a_thread_is_worth_half_a_core_and_a_bit() {
    under("linux-3.9", "epyc-9654-2s", |sim| {
        let power = |level: usize, sim: &Sim| {
            let group = sim.core.places[0].group[level] as usize;
            sim.nohz.early.groups[group]
        };
        assert_eq!(power(0, sim), 589, "a thread");
        assert_eq!(power(1, sim), 1178, "a core: one task");
        let own = sim.core.places[0].group[1] as usize;
        sim.update_cpu_power(0, own);
        assert_eq!(power(1, sim), 1178);
        // Two threads busy, and a core idle next to them.
        for cpu in [0, 192] {
            put(sim, cpu, cpu as u32 % 191 * 8..cpu as u32 % 191 * 8 + 1);
        }
        let other = sim.core.domains[sim.core.places[0].domain[1] as usize]
            .span
            .iter()
            .find(|&cpu| cpu != 0 && cpu != 192)
            .expect("a cache has several cores");
        let scope = Scope::new(other as usize, 1, Idle::Yes, sim.jiffies());
        assert_eq!(sim.find_by_index(&scope).map(|(group, _)| group), Some(own));
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Leaving groups out that cannot be the busiest changes no outcome.
    #[test]
    fn counting_finds_what_summing_finds(
        machine in prop::sample::select(vec!["juno-r0", "hikey620", "tc2", "epyc-9654-2s"]),
        most in 1u32..4,
        queues in prop::collection::vec((0u32..4, 0u32..3000), 384),
        dst in any::<prop::sample::Index>(),
    ) {
        under("linux-3.9", machine, |sim| {
            let nr = sim.cpus.len();
            for (cpu, &(tasks, weight)) in queues.iter().enumerate().take(nr) {
                pretend(sim, cpu, (tasks.min(most), 0, 0, false));
                sim.core.cpus[cpu].weight = weight * tasks.min(most);
            }
            let dst = dst.index(nr);
            for level in 0..sim.core.places[dst].nr_domains as usize {
                for idle in [Idle::No, Idle::Yes, Idle::Newly] {
                    let scope = Scope::new(dst, level, idle, sim.jiffies());
                    let all = Scope { excluded: Some(Mask::EMPTY), ..scope };
                    let (found, expected) = (sim.find_by_index(&scope), sim.find_by_index(&all));
                    assert_eq!(found, expected, "{machine} CPU {dst} level {level} {idle:?}");
                }
            }
        });
    }
}
