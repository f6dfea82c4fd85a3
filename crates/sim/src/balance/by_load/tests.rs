// SPDX-License-Identifier: GPL-2.0-only
//! Tests of 5.4's balancing: groups of four CPUs with capacity 1024 each, unless said otherwise.

use super::*;

const PACKAGE: Terms = Terms {
    pct: 125,
    idle: Idle::Yes,
    prefer_sibling: false,
    asym: false,
    dst: (0, 0),
};

fn stats(nr: u32, load: u64, util: u64) -> GroupStats {
    GroupStats {
        load,
        util,
        capacity: 4096,
        min_capacity: 1024,
        max_capacity: 1024,
        weight: 4,
        nr_running: nr,
        h_nr_running: nr,
        idle_cpus: 4u32.saturating_sub(nr),
        ..GroupStats::LEAST
    }
}

fn side(nr: u32, load: u64, util: u64) -> Side {
    Side::new(stats(nr, load, util), false, &PACKAGE)
}

/// The amount that `local` takes from `busiest`; the domain has no other groups.
fn judge(local: &Side, busiest: &Side, terms: &Terms) -> Option<(Migrate, i64)> {
    let load = local.stats.load + busiest.stats.load;
    let capacity = local.stats.capacity + busiest.stats.capacity;
    find(local, busiest, 1024 * load / capacity, terms).map(|i| (i.what, i.amount))
}

#[test]
fn more_tasks_than_cpus_and_no_time_left_is_overloaded() {
    for (nr, util, kind, because) in [
        (4, 4096, Kind::Other, "as many tasks as CPUs"),
        (5, 3276, Kind::Other, "a fifth of the time is left"),
        (5, 3277, Kind::Overloaded, "less than that"),
    ] {
        assert_eq!(side(nr, 1024, util).kind, kind, "{because}");
    }
    let misfit = GroupStats {
        misfit_load: 9,
        ..stats(1, 1024, 900)
    };
    assert_eq!(Side::new(misfit, false, &PACKAGE).kind, Kind::Misfit);
    assert_eq!(Side::new(misfit, true, &PACKAGE).kind, Kind::Imbalanced);
}

#[test]
fn siblings_with_two_tasks_more_count_as_overloaded() {
    let terms = Terms {
        prefer_sibling: true,
        ..PACKAGE
    };
    for (here, there, kind) in [
        (0, 2, Kind::Overloaded),
        (1, 2, Kind::Other),
        (3, 5, Kind::Overloaded),
    ] {
        let local = side(here, 0, 0);
        let mut other = side(there, 1024, 100);
        other.spread(&local, &terms);
        assert_eq!(other.kind, kind, "{here} here, {there} there");
    }
    let mut other = side(6, 1024, 100);
    other.spread(&side(4, 4096, 4096), &terms);
    assert_eq!(other.kind, Kind::Other, "no room here");
}

#[test]
fn the_busiest_has_the_most_load() {
    let local = side(0, 0, 0);
    let asym = Terms {
        asym: true,
        ..PACKAGE
    };
    let small = Side {
        stats: GroupStats {
            min_capacity: 446,
            max_capacity: 446,
            ..local.stats
        },
        ..local
    };
    let light = side(1, 1000, 100);
    let heavy = side(1, 2000, 100);
    for (group, busiest, local, terms, expected, because) in [
        (heavy, Some(light), local, PACKAGE, true, "more load"),
        (
            light,
            Some(light),
            local,
            PACKAGE,
            false,
            "as much: the first",
        ),
        (side(1, 0, 0), None, local, PACKAGE, false, "no load at all"),
        (
            side(5, 100, 4000),
            Some(heavy),
            local,
            PACKAGE,
            true,
            "overloaded comes first",
        ),
        (
            heavy,
            None,
            small,
            asym,
            false,
            "nobody waits there, on bigger CPUs",
        ),
        (
            side(5, 9000, 100),
            None,
            small,
            asym,
            true,
            "somebody waits",
        ),
    ] {
        let found = group.busier_than(busiest.as_ref(), &local, &terms);
        assert_eq!(found, expected, "{because}");
    }
}

#[test]
fn when_it_is_worth_it() {
    let newly = Terms {
        idle: Idle::Newly,
        ..PACKAGE
    };
    for (local, busiest, terms, expected, because) in [
        (
            side(1, 1000, 0),
            side(4, 4000, 0),
            PACKAGE,
            true,
            "two CPUs idle more",
        ),
        (
            side(3, 1000, 0),
            side(4, 4000, 0),
            PACKAGE,
            false,
            "one more",
        ),
        (
            side(3, 3000, 0),
            side(4, 3700, 0),
            newly,
            false,
            "less than a quarter more",
        ),
        (
            side(3, 3000, 0),
            side(4, 3800, 0),
            newly,
            true,
            "more than a quarter",
        ),
        (
            side(4, 4000, 0),
            side(3, 3000, 0),
            newly,
            false,
            "more here",
        ),
        (
            side(3, 3000, 0),
            side(6, 3100, 4000),
            PACKAGE,
            true,
            "fills a group that is too full",
        ),
    ] {
        assert_eq!(
            judge(&local, &busiest, &terms).is_some(),
            expected,
            "{because}"
        );
    }
}

#[test]
fn loads_meet_in_the_middle() {
    let load = |amount| Some((Migrate::Load, amount));
    let taken = judge(&side(0, 0, 0), &side(8, 8192, 4096), &PACKAGE);
    assert_eq!(taken, load(4096), "half");
    // Both are overloaded: no more moves than exceeds the capacity.
    let taken = judge(&side(5, 1024, 4096), &side(6, 12_288, 4096), &PACKAGE);
    assert_eq!(taken, load(2048), "two tasks of six");
    let misfit = GroupStats {
        misfit_load: 700,
        ..stats(1, 700, 440)
    };
    let misfit = Side::new(misfit, false, &PACKAGE);
    let taken = judge(&side(0, 0, 0), &misfit, &PACKAGE);
    assert_eq!(taken, Some((Migrate::Misfit, 700)), "all of it");
}

#[test]
fn a_task_moves_where_that_uses_more_capacity() {
    let one = |nr, load| Side {
        stats: GroupStats {
            weight: 1,
            capacity: 1024,
            ..stats(nr, load, 0)
        },
        ..side(nr, load, 0)
    };
    let newly = Terms {
        idle: Idle::Newly,
        ..PACKAGE
    };
    let load = |amount| Some((Migrate::Load, amount));
    for (local, busiest, expected, because) in [
        (
            one(1, 1024),
            one(2, 2048),
            load(1024),
            "the difference is a task",
        ),
        (
            one(1, 1500),
            one(2, 2048),
            load(274),
            "it makes things no better",
        ),
        (one(0, 0), one(2, 2048), load(1024), "one of two"),
        (
            one(0, 0),
            one(1, 1024),
            load(1024),
            "the only one, which its queue keeps",
        ),
    ] {
        assert_eq!(judge(&local, &busiest, &newly), expected, "{because}");
    }
}
