// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the imbalance between two groups.

use super::super::groups::Totals;
use super::*;
use crate::kernel::BALANCE;

const MC: Rules = Rules {
    pct: 117,
    prefer_sibling: false,
    idle: Idle::Yes,
    asym: true,
    shares_cache: true,
    imb_numa_nr: None,
    kernel: &BALANCE,
};
const PKG: Rules = Rules {
    pct: 125,
    prefer_sibling: true,
    shares_cache: false,
    ..MC
};

/// A group of `weight` CPUs, each with capacity 1024 and one task unless idle.
fn group(kind: Kind, weight: u32, nr_running: u32, idle_cpus: u32) -> GroupStats {
    GroupStats {
        capacity: u64::from(weight) * 1024,
        nr_running,
        h_nr_running: nr_running,
        idle_cpus,
        weight,
        kind,
        ..GroupStats::LEAST
    }
}

fn spare(weight: u32, nr_running: u32) -> GroupStats {
    group(
        Kind::HasSpare,
        weight,
        nr_running,
        weight.saturating_sub(nr_running),
    )
}

fn loaded(kind: Kind, load: u64) -> GroupStats {
    let capacity = 4096;
    GroupStats {
        load,
        avg_load: load * 1024 / capacity,
        capacity,
        ..group(kind, 4, 8, 0)
    }
}

fn used(util: u64) -> GroupStats {
    GroupStats {
        util,
        ..spare(4, 2)
    }
}

fn judge(local: GroupStats, busiest: GroupStats, rules: Rules) -> Option<(Migrate, i64)> {
    let totals = Totals {
        load: local.load + busiest.load,
        capacity: local.capacity + busiest.capacity,
    };
    find(
        &Rivals {
            local,
            busiest,
            group: 1,
            totals,
        },
        rules,
    )
    .map(|i| (i.what, i.amount))
}

#[test]
fn no_group_is_overloaded() {
    let busy = Rules {
        idle: Idle::No,
        ..MC
    };
    for (local, busiest, rules, expected, because) in [
        (
            spare(1, 0),
            spare(1, 2),
            MC,
            Some(1),
            "half of two waiting tasks",
        ),
        (
            spare(1, 0),
            spare(1, 1),
            MC,
            None,
            "its task has the CPU it needs",
        ),
        (
            spare(1, 0),
            spare(1, 3),
            MC,
            Some(1),
            "half of three, rounded down",
        ),
        (
            spare(1, 0),
            spare(1, 2),
            busy,
            None,
            "an idle CPU may come for it",
        ),
        (
            spare(4, 1),
            spare(4, 3),
            MC,
            Some(1),
            "half of two idle CPUs more",
        ),
        (
            spare(4, 2),
            spare(4, 3),
            MC,
            None,
            "one more would move the imbalance",
        ),
        (
            spare(4, 0),
            spare(4, 1),
            MC,
            None,
            "one task cannot be spread",
        ),
        (spare(4, 0), spare(4, 2), PKG, Some(1), "siblings share"),
        (
            spare(4, 1),
            spare(4, 2),
            PKG,
            None,
            "sharing would not get more even",
        ),
        (
            spare(4, 1),
            spare(4, 4),
            Rules {
                idle: Idle::No,
                ..PKG
            },
            Some(1),
            "so do busy ones",
        ),
        (
            group(Kind::FullyBusy, 4, 4, 0),
            spare(4, 3),
            MC,
            None,
            "worse off itself",
        ),
    ] {
        let expected = expected.map(|tasks| (Migrate::Task, tasks));
        assert_eq!(judge(local, busiest, rules), expected, "{because}");
    }
}

#[test]
fn spare_capacity_is_filled_from_an_overloaded_group() {
    let overloaded = loaded(Kind::Overloaded, 9000);
    for (local, idle, expected, because) in [
        (
            used(1000),
            Idle::Yes,
            Some((Migrate::Util, 3096)),
            "what is left of the capacity",
        ),
        (
            used(5000),
            Idle::Newly,
            Some((Migrate::Task, 1)),
            "none left, but a CPU idles",
        ),
        (used(5000), Idle::No, None, "none left"),
    ] {
        assert_eq!(
            judge(local, overloaded, Rules { idle, ..MC }),
            expected,
            "{because}"
        );
    }
}

#[test]
fn overloaded_groups_share_load() {
    let over = |load| loaded(Kind::Overloaded, load);
    let full = GroupStats {
        avg_load: 0,
        ..loaded(Kind::FullyBusy, 4096)
    };
    for (local, busiest, expected, because) in [
        (
            over(4096),
            over(8192),
            Some(2048),
            "to the average from both sides",
        ),
        (over(8192), over(4096), None, "has more"),
        (over(7200), over(8192), None, "differs by less than 17 %"),
        (full, over(8192), Some(2048), "will be overloaded"),
    ] {
        let expected = expected.map(|load| (Migrate::Load, load));
        assert_eq!(judge(local, busiest, MC), expected, "{because}");
    }
}

#[test]
fn a_fully_busy_group_above_the_average_takes_everything() {
    // Both unsigned differences wrap; Linux 5.8 fixed that.
    let full = GroupStats {
        avg_load: 0,
        ..loaded(Kind::FullyBusy, 8192)
    };
    let amount = judge(full, loaded(Kind::Overloaded, 4096), MC).map(|(_, amount)| amount);
    assert!(amount.is_some_and(|amount| amount > 1 << 50), "{amount:?}");
}

#[test]
fn affinity_and_misfits_come_before_sums() {
    let full = group(Kind::FullyBusy, 4, 4, 0);
    for (kind, expected) in [
        (Kind::Misfit, (Migrate::Misfit, 1)),
        (Kind::Imbalanced, (Migrate::Task, 1)),
    ] {
        let busiest = group(kind, 4, 4, 0);
        assert_eq!(judge(full, busiest, MC), Some(expected), "{kind:?}");
    }
}
