// SPDX-License-Identifier: GPL-2.0-only
//! Tests of differences between kernels in the comparison of groups, rule by rule.

use super::super::contest::{Contest, greater};
use super::super::groups::{Rivals, Totals};
use super::super::imbalance::{self, Imbalance, Rules};
use super::*;
use crate::kernel::{
    BALANCE, BALANCE_5_10, BALANCE_5_15, BALANCE_6_1, BALANCE_6_5, BALANCE_7_0, BALANCE_7_1,
    BALANCE_7_2, Balance,
};

const BASES: [(&str, &Balance); 4] = [
    ("linux-5.5", &BALANCE),
    ("linux-6.1", &BALANCE_6_1),
    ("linux-6.5", &BALANCE_6_5),
    ("linux-7.2", &BALANCE_7_2),
];

/// A group of four CPUs of capacity 1024.
fn group(kind: Kind, nr_running: u32, idle_cpus: u32) -> GroupStats {
    GroupStats {
        capacity: 4096,
        min_capacity: 1024,
        max_capacity: 1024,
        weight: 4,
        cores: 4,
        nr_running,
        h_nr_running: nr_running,
        idle_cpus,
        kind,
        ..GroupStats::LEAST
    }
}

/// The contest as seen from an idle CPU of capacity 1024 in a group with room.
/// The same of `capacity`, one of which runs a misfit.
fn misfit(capacity: u32) -> GroupStats {
    GroupStats {
        misfit_load: 1000,
        max_capacity: capacity,
        min_capacity: capacity,
        ..group(Kind::Misfit, 1, 3)
    }
}

fn contest(rules: &'static Balance) -> Contest {
    Contest {
        local: group(Kind::HasSpare, 0, 4),
        asym: true,
        capacity: 1024,
        core_idle: true,
        rules,
    }
}

/// The same on behalf of a CPU of `capacity`, of a group of such CPUs.
fn on_smaller(capacity: u32, rules: &'static Balance) -> Contest {
    Contest {
        local: GroupStats {
            min_capacity: capacity,
            ..group(Kind::HasSpare, 0, 4)
        },
        capacity,
        ..contest(rules)
    }
}

/// The answer of each base, oldest first.
fn asked<T>(ask: impl Fn(&'static Balance) -> T) -> Vec<T> {
    BASES.iter().map(|(_, rules)| ask(rules)).collect()
}

#[test]
fn tasks_that_wait_make_a_group_full() {
    // 4096 * 117 < 4800 * 100, though a third of the time is left.
    let waiting = |nr_running| GroupStats {
        util: 2700,
        runnable: 4800,
        ..group(Kind::HasSpare, nr_running, 0)
    };
    for (nr_running, kind) in [(5, Kind::Overloaded), (4, Kind::FullyBusy)] {
        let answers = asked(|rules| waiting(nr_running).classify(117, false, rules));
        assert_eq!(answers, [Kind::HasSpare, kind, kind, kind]);
    }
    let spared = GroupStats {
        spared: true,
        ..waiting(5)
    };
    let answer = spared.classify(117, false, &BALANCE_7_2);
    assert_eq!(
        answer,
        Kind::FullyBusy,
        "with an energy model and no CPU overutilized"
    );
}

#[test]
fn a_misfit_goes_where_there_is_noticeably_more() {
    for (a, b, expected) in [(1024, 972, true), (1024, 973, false), (446, 1024, false)] {
        assert_eq!(greater(a, b), expected, "a 20th more: {a} and {b}");
    }
    let all = [true; 4];
    for (capacity, core_idle, expected, because) in [
        (446, true, all, "much more here"),
        (
            900,
            true,
            [false, true, true, true],
            "4/5 of what is here is not needed",
        ),
        (1000, true, [false; 4], "about the same"),
        (
            446,
            false,
            [true, false, true, false],
            "a sibling is busy here",
        ),
    ] {
        let answers = asked(|rules| {
            let contest = Contest {
                core_idle,
                ..contest(rules)
            };
            misfit(capacity).busier_than(&GroupStats::LEAST, &contest)
        });
        assert_eq!(answers, expected, "{because}");
    }
}

#[test]
fn tasks_are_better_off_on_bigger_cpus() {
    let big = group(Kind::FullyBusy, 4, 0);
    let answers = asked(|rules| big.busier_than(&GroupStats::LEAST, &on_smaller(446, rules)));
    // In kernels where the test comes last, a busier kind decides before it.
    assert_eq!(answers, [true, false, true, false]);
}

/// update_sd_pick_busiest(): 7.0.14 took over from 7.2 that a misfit goes to an idle core only, and
/// that a group of bigger CPUs is left alone whatever its kind. 7.1.13 did not.
#[test]
fn two_fixes_of_7_2_are_in_7_0_and_not_in_7_1() {
    for (rules, fixed) in [
        (&BALANCE_7_0, true),
        (&BALANCE_7_1, false),
        (&BALANCE_7_2, true),
    ] {
        let beside_busy = Contest {
            core_idle: false,
            ..contest(rules)
        };
        let on_small = on_smaller(446, rules);
        let big = group(Kind::FullyBusy, 4, 0);
        for (group, contest) in [(misfit(446), beside_busy), (big, on_small)] {
            assert_eq!(group.busier_than(&GroupStats::LEAST, &contest), !fixed);
        }
    }
}

/// update_sd_pick_busiest() of 5.10.262 and 5.15.215: among groups of one kind, a group whose CPUs
/// are bigger by a tenth is left alone if it is compared with the CPU that balances, with a margin
/// of 5 %; not if groups are compared, with a margin of 20 %.
#[test]
fn what_is_bigger_is_a_question_of_groups_in_5_10_of_the_cpu_in_5_15() {
    for (rules, taken) in [(&BALANCE_5_10, true), (&BALANCE_5_15, false)] {
        let contest = on_smaller(930, rules);
        let (big, busiest) = (group(Kind::HasSpare, 3, 1), group(Kind::HasSpare, 2, 2));
        assert_eq!(big.busier_than(&busiest, &contest), taken);
        let misfit = GroupStats {
            misfit_load: 9,
            max_capacity: 860,
            ..group(Kind::Misfit, 1, 3)
        };
        // 930 is more than 860 by 8 %.
        assert_eq!(misfit.busier_than(&busiest, &contest), !taken);
    }
}

#[test]
fn groups_of_one_kind() {
    let spare = |nr_running, idle_cpus| group(Kind::HasSpare, nr_running, idle_cpus);
    let core = |nr_running| GroupStats {
        smt: true,
        weight: 2,
        cores: 1,
        ..group(Kind::HasSpare, nr_running, 2 - nr_running.min(2))
    };
    let full = group(Kind::FullyBusy, 4, 0);
    let full_core = GroupStats { smt: true, ..full };
    let misfit = GroupStats {
        misfit_load: 9,
        max_capacity: 446,
        ..group(Kind::Misfit, 1, 3)
    };
    for (group, busiest, expected, because) in [
        (spare(2, 2), spare(2, 3), [true; 4], "fewer idle CPUs"),
        (
            spare(3, 2),
            spare(2, 2),
            [false, true, true, true],
            "as many, but more tasks",
        ),
        (full, full, [false, false, true, true], "the later one"),
        (
            full,
            full_core,
            [false; 4],
            "unless the first is a core with siblings",
        ),
        (misfit, misfit, [true, true, true, false], "the same load"),
        (
            core(1),
            spare(1, 0),
            [false, false, false, false],
            "a core has a CPU for its task",
        ),
        (
            core(2),
            spare(1, 0),
            [false, true, true, true],
            "two share a core",
        ),
    ] {
        let answers = asked(|rules| {
            let contest = Contest {
                asym: group.kind == Kind::Misfit,
                ..contest(rules)
            };
            group.busier_than(&busiest, &contest)
        });
        assert_eq!(answers, expected, "{because}");
    }
}

/// An imbalance of a domain that spans nodes and spreads tasks, unless told otherwise.
fn judge(local: GroupStats, busiest: GroupStats, rules: Rules) -> Option<(Migrate, i64)> {
    let rivals = Rivals {
        local,
        busiest,
        group: 1,
        totals: Totals {
            load: local.load + busiest.load,
            capacity: local.capacity + busiest.capacity,
        },
    };
    imbalance::find(&rivals, rules).map(|Imbalance { what, amount }| (what, amount))
}

fn package(kernel: &'static Balance) -> Rules {
    Rules {
        pct: 117,
        prefer_sibling: true,
        idle: Idle::Yes,
        asym: false,
        shares_cache: false,
        imb_numa_nr: None,
        kernel,
    }
}

#[test]
fn nodes_tolerate_a_small_imbalance() {
    let tasks = |n| Some((Migrate::Task, n));
    for (here, there, imb_numa_nr, expected, because) in [
        (1, 3, 4, None, "two more, with room for four"),
        (1, 4, 4, tasks(1), "three more are too many"),
        (4, 6, 4, tasks(1), "no room left"),
        (3, 5, 4, None, "the last that there is room for"),
    ] {
        let (local, busiest) = (
            group(Kind::HasSpare, here, 4),
            group(Kind::HasSpare, there, 0),
        );
        let answers = asked(|kernel| {
            let rules = Rules {
                imb_numa_nr: Some(imb_numa_nr),
                ..package(kernel)
            };
            judge(local, busiest, rules)
        });
        let everywhere = tasks(i64::from(there - here) / 2);
        assert_eq!(
            answers,
            [everywhere, expected, expected, expected],
            "{because}"
        );
    }
}

/// adjust_numa_imbalance() of 5.10.262 and 5.15.215: the difference is halved first.
#[test]
fn up_to_5_17_nodes_tolerate_by_two_tasks_or_a_quarter_of_the_cpus() {
    let tasks = |n| Some((Migrate::Task, n));
    for (rules, here, there, weight, expected, because) in [
        (&BALANCE_5_10, 0, 2, 16, None, "two run there"),
        (&BALANCE_5_10, 0, 3, 16, tasks(1), "three do"),
        (&BALANCE_5_15, 0, 5, 16, None, "one of 16, and two to move"),
        (&BALANCE_5_15, 0, 6, 16, tasks(3), "three to move"),
        (&BALANCE_5_15, 2, 6, 16, None, "three of 16"),
        (&BALANCE_5_15, 3, 7, 16, tasks(2), "four of 16 is a quarter"),
        (&BALANCE_5_15, 0, 2, 4, tasks(1), "one of 4 is a quarter"),
    ] {
        let node = |nr_running: u32| GroupStats {
            weight,
            ..group(Kind::HasSpare, nr_running, weight - nr_running)
        };
        let rules = Rules {
            imb_numa_nr: Some(1),
            ..package(rules)
        };
        let found = judge(node(here), node(there), rules);
        assert_eq!(found, expected, "{because}");
    }
}

#[test]
fn siblings_share_by_cores_and_for_idle_cpus() {
    let cores = |cores, nr_running, idle_cpus| GroupStats {
        cores,
        ..group(Kind::HasSpare, nr_running, idle_cpus)
    };
    let one = Some((Migrate::Task, 1));
    for (local, busiest, idle, expected, because) in [
        (
            cores(4, 0, 4),
            cores(4, 2, 2),
            Idle::Yes,
            [one; 4],
            "as many cores",
        ),
        (
            cores(4, 0, 0),
            cores(4, 2, 2),
            Idle::No,
            [one, one, one, None],
            "a busy CPU leaves it to idle ones",
        ),
        (
            cores(2, 2, 0),
            cores(4, 5, 0),
            Idle::Yes,
            [one, one, one, None],
            "a task a core here, hardly more there",
        ),
        (
            cores(4, 2, 0),
            cores(2, 4, 0),
            Idle::Yes,
            [one, one, one, Some((Migrate::Task, 2))],
            "two a core there, one in two here",
        ),
        (
            cores(1, 0, 1),
            cores(4, 2, 2),
            Idle::Yes,
            [one; 4],
            "nobody here, so one comes, few as they are for their cores",
        ),
    ] {
        let answers = asked(|kernel| {
            judge(
                local,
                busiest,
                Rules {
                    idle,
                    ..package(kernel)
                },
            )
        });
        assert_eq!(answers, expected, "{because}");
    }
}

#[test]
fn a_full_group_with_its_share_takes_no_load() {
    let local = GroupStats {
        load: 8192,
        ..group(Kind::FullyBusy, 4, 0)
    };
    let busiest = GroupStats {
        load: 4096,
        avg_load: 1024,
        ..group(Kind::Overloaded, 6, 0)
    };
    let answers = asked(|kernel| judge(local, busiest, package(kernel)).is_some());
    assert_eq!(
        answers,
        [true, false, false, false],
        "the difference wrapped"
    );
}

#[test]
fn inside_a_cache_tasks_are_counted() {
    let busiest = GroupStats {
        util: 4096,
        load: 9000,
        ..group(Kind::Overloaded, 8, 0)
    };
    let local = group(Kind::HasSpare, 2, 2);
    let answers = asked(|kernel| {
        let rules = Rules {
            shares_cache: true,
            ..package(kernel)
        };
        judge(local, busiest, rules)
    });
    let tasks = Some((Migrate::Task, 3));
    assert_eq!(answers, [Some((Migrate::Util, 4096)), tasks, tasks, tasks]);
}

#[test]
fn a_core_with_two_tasks_is_relieved() {
    let shared = |kind| GroupStats {
        smt: true,
        smt_balance: true,
        weight: 2,
        cores: 1,
        ..group(kind, 2, 0)
    };
    let kinds = asked(|rules| shared(Kind::HasSpare).classify(117, false, rules));
    assert_eq!(kinds[3], Kind::SmtBalance);
    let alone = GroupStats {
        weight: 1,
        cores: 1,
        ..group(Kind::HasSpare, 0, 1)
    };
    let rules = Rules {
        prefer_sibling: false,
        ..package(&BALANCE_7_2)
    };
    let answer = judge(alone, shared(Kind::SmtBalance), rules);
    assert_eq!(
        answer,
        Some((Migrate::Task, 1)),
        "by a CPU without siblings"
    );
    let core = GroupStats {
        smt: true,
        weight: 2,
        ..group(Kind::HasSpare, 0, 2)
    };
    let answer = judge(core, shared(Kind::SmtBalance), rules);
    assert_eq!(answer, Some((Migrate::Task, 1)), "by an idle core");
    let half = GroupStats {
        idle_cpus: 1,
        ..core
    };
    assert_eq!(
        judge(half, shared(Kind::SmtBalance), rules),
        None,
        "not by half of one"
    );
}
