// SPDX-License-Identifier: GPL-2.0-only
//! The idlest CPU of the idlest group, level by level: fork, exec, and wakeups
//! where a domain carries BALANCE_WAKE (5.5: find_idlest_cpu()).

use crate::common::machines::{caches, clusters, flat, no_cache, nodes, of_capacities};
use crate::common::world::World;
use alight_policy::abi::{domain_flag, task_flag};
use alight_policy::{Kind, NONE};

const BASE: &str = "linux-5.5";

/// The rules of 5.5 without its two slips in the statistics of groups.
fn repaired(w: &mut World) -> &mut World {
    w.core.params.idlest_load_inverted = 0;
    w.core.params.idlest_weight_unset = 0;
    w
}

// ---- which level the search starts at ----

#[test]
fn a_new_task_searches_and_flips_and_recent_cpus_stay() {
    let mut w = World::new(&flat(4), BASE);
    w.waker.last_wakee = 9;
    w.waker.recent_used_cpu = 3;
    let answer = w.busy([0]).forks(0).expect(1, "slow_idle");
    assert_eq!((answer.slow, answer.affine), (1, 0));
    assert_eq!((w.waker.last_wakee, w.waker.recent_used_cpu), (9, 3));
}

#[test]
fn on_equal_cpus_a_wakeup_never_searches_so() {
    let mut w = World::new(&caches(8, 4), BASE);
    let answer = w.util(1024).busy(0..8).flips(1000, 8).wakes(0, 5).ask();
    assert_eq!(answer.slow, 0);
}

#[test]
fn a_far_node_is_not_forked_to_and_an_affinity_there_ends_the_search() {
    let mut w = World::new(&nodes(4, 40), BASE);
    w.busy(0..4).forks(0).expect(0, "slow_local");
    // No allowed CPU in the domain: the previous CPU, be it allowed or not.
    w.forks(0).wakee.prev_cpu = 6;
    w.allow([5, 6]).expect(6, "slow_prev");
    w.forks(0).expect(5, "fallback");
}

#[test]
fn without_a_domain_there_is_nothing_to_search() {
    World::new(&flat(1), BASE)
        .forks(0)
        .allow([0])
        .expect(0, "pinned");
    let mut w = World::new(&flat(1), BASE);
    w.wakee.nr_cpus_allowed = 2;
    w.busy([0]).forks(0).expect(0, "no_search");
}

// ---- groups with room: most idle CPUs ----

#[test]
fn the_group_with_most_idle_cpus_wins() {
    let mut w = World::new(&caches(12, 4), BASE);
    w.busy([0, 1, 2, 4, 5, 8]).forks(0).expect(9, "slow_idle");
    w.busy([9, 10]).expect(6, "slow_idle");
}

#[test]
fn the_local_group_must_have_fewer_idle_cpus_to_be_left() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0, 4]).forks(0).expect(1, "slow_idle");
    w.busy([1]).expect(5, "slow_idle");
}

#[test]
fn a_cpu_with_a_remote_wakeup_under_way_is_not_idle() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0, 1, 2, 4, 5]).forks(0);
    w.core.cpus[6].ttwu_pending = 1;
    w.expect(3, "slow_idle");
    w.core.cpus[6].ttwu_pending = 0;
    w.expect(6, "slow_idle");
}

#[test]
fn of_equal_groups_the_next_in_the_ring_wins() {
    // The kernel's list of groups starts at the CPU's own.
    for (this, group) in [(0, 1), (5, 2), (9, 3), (14, 0)] {
        let mut w = World::new(&caches(16, 4), BASE);
        let own = this / 4 * 4;
        let answer = w.busy(own..own + 4).forks(this).ask();
        assert_eq!(answer.cpu / 4, group, "from CPU {this}: {}", w.explain());
    }
    for this in 0..4 {
        World::new(&flat(4), BASE)
            .busy([this])
            .forks(this)
            .expect((this + 1) % 4, "slow_idle");
    }
}

#[test]
fn an_idle_cpu_forks_to_itself() {
    World::new(&flat(4), BASE).forks(2).expect(2, "slow_local");
}

#[test]
fn a_group_without_an_allowed_cpu_is_skipped_even_the_local_one() {
    let mut w = World::new(&caches(12, 4), BASE);
    w.busy([8]).allow(4..12).forks(0).expect(4, "slow_idle");
    w.busy([5, 6]).expect(9, "slow_idle");
    w.allow([11]).wakee.nr_cpus_allowed = 2;
    w.expect(11, "slow_idle");
}

// ---- NUMA ----

#[test]
fn a_node_with_an_idle_cpu_keeps_its_tasks() {
    let mut w = World::new(&nodes(4, 20), BASE);
    w.busy([0, 1, 2]).forks(0).expect(3, "slow_idle");
    w.busy([3]).expect(4, "slow_idle");
}

#[test]
fn an_overloaded_node_is_left_only_for_one_that_is_lighter_by_the_margin() {
    // Level NUMA: imbalance_pct 125, so the margin is 256, on the load per capacity.
    for (here, there, leaves) in [(600, 400, false), (600, 344, false), (600, 343, true)] {
        let mut w = World::new(&nodes(4, 20), BASE);
        repaired(&mut w).used(0..8, 1024).forks(0);
        for cpu in 0..8 {
            w.runs(cpu, 2).load(cpu, if cpu < 4 { here } else { there });
        }
        let answer = w.ask();
        assert_eq!(answer.cpu >= 4, leaves, "{here} {there}: {}", w.explain());
    }
}

// ---- group types ----

/// Two caches of two CPUs: this one with `here` tasks a CPU, and the other.
fn two_groups(here: u32, there: u32) -> World {
    let mut w = World::new(&caches(4, 2), BASE);
    w.forks(0);
    for (cpu, nr) in [(0, here), (1, here), (2, there), (3, there)] {
        w.runs(cpu, nr).load(cpu, 1024 * nr);
    }
    w
}

#[test]
fn a_fuller_type_of_group_loses() {
    // 1024 * 2 capacity against 125 % of the utilization: room below 1638.
    let table = [
        ("room here, none there", (1, 800), (3, 1000), false),
        ("none here, room there", (3, 1000), (1, 800), true),
        (
            "fully busy here, overloaded there",
            (1, 1000),
            (2, 1000),
            false,
        ),
        (
            "overloaded here, fully busy there",
            (2, 1000),
            (1, 1000),
            true,
        ),
    ];
    for (name, here, there, leaves) in table {
        let mut w = two_groups(here.0, there.0);
        repaired(&mut w).used(0..2, here.1).used(2..4, there.1);
        // Of equal load: only the type can decide.
        (0..4).for_each(|cpu| _ = w.load(cpu, 1000));
        let answer = w.ask();
        assert_eq!(answer.cpu >= 2, leaves, "{name}: {}", w.explain());
    }
}

#[test]
fn a_group_used_to_its_limit_is_full_but_not_overloaded() {
    // 2000 * 100 against 2 * 800 * 125: neither room nor too much.
    let leaves = |here: u32, there: (u32, u32)| {
        let mut w = two_groups(here, there.0);
        for group in 0..w.core.groups.len() {
            let of = w.core.groups[group];
            let (least, most) = (of.min_capacity, of.max_capacity);
            w.core.set_group_capacity(group, 2000, least, most);
        }
        repaired(&mut w).used(0..2, 800).used(2..4, there.1);
        (0..4).for_each(|cpu| _ = w.load(cpu, 1000));
        w.ask().cpu >= 2
    };
    assert!(leaves(1, (1, 799)), "there is room there");
    assert!(!leaves(2, (1, 800)), "more tasks alone do not overload it");
    assert!(!leaves(1, (2, 801)), "an overloaded one is no better");
}

#[test]
fn of_equally_loaded_groups_the_next_in_the_ring_wins() {
    let mut w = World::new(&caches(8, 2), BASE);
    repaired(&mut w).used(0..8, 1024).forks(2);
    for cpu in 0..8 {
        let load = if cpu / 2 == 1 { 9000 } else { 2000 };
        w.runs(cpu, 2).load(cpu, load);
    }
    w.expect(4, "slow_least_loaded");
}

#[test]
fn among_overloaded_groups_the_load_decides_by_a_margin() {
    // Package: imbalance_pct 125. Left if lighter by more than a quarter.
    for (here, there, leaves) in [
        (4000, 3201, false),
        (4000, 3200, false),
        (4000, 3199, true),
        (300, 260, false),
        (300, 100, true),
    ] {
        let mut w = two_groups(2, 2);
        repaired(&mut w).used(0..4, 1024);
        w.load(0, here).load(1, here).load(2, there).load(3, there);
        let answer = w.ask();
        assert_eq!(answer.cpu >= 2, leaves, "{here} {there}: {}", w.explain());
    }
}

#[test]
fn in_5_5_overloaded_groups_have_no_load_to_compare() {
    let mut w = two_groups(2, 2);
    w.used(0..4, 1024)
        .load(0, 9000)
        .load(1, 9000)
        .load(2, 1)
        .load(3, 1);
    assert!(w.ask().cpu < 2, "{}", w.explain());
    w.core.params.idlest_load_inverted = 0;
    assert!(w.ask().cpu >= 2, "{}", w.explain());
}

#[test]
fn in_5_5_one_task_makes_a_well_used_group_overloaded() {
    // One idle CPU here; three there, but blocked utilization too.
    let ask = |unset| {
        let mut w = World::new(&caches(8, 4), BASE);
        w.core.params.idlest_weight_unset = unset;
        w.busy([0, 1, 2, 4]).used(4..8, 1000).forks(0);
        w
    };
    assert_eq!(ask(1).expect(3, "slow_idle").cpu, 3);
    assert_eq!(ask(0).expect(5, "slow_idle").cpu, 5);
}

#[test]
fn real_time_tasks_fill_a_group_too() {
    let mut w = World::new(&caches(8, 4), BASE);
    repaired(&mut w)
        .forks(0)
        .runs(0, 5)
        .realtime(1..4)
        .busy(4..8);
    // 8 tasks on 4 CPUs of little use: room. Of much use: overloaded, and they go.
    w.used(0..8, 700).expect(0, "slow_local");
    w.used(0..4, 1024).ask();
    assert!(w.ask().cpu >= 4, "{}", w.explain());
}

#[test]
fn an_imbalanced_group_loses_to_one_with_room_and_never_wins_its_like() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0]).forks(0);
    for group in 0..w.core.groups.len() {
        let whole = w.core.groups[group].weight == 4;
        w.core.set_group_imbalance(group, whole.into());
    }
    w.expect(1, "slow_idle");
    let top = w.core.domains[w.core.places[0].domain[1] as usize].first_group as usize;
    w.core.set_group_imbalance(top + 1, 0);
    assert!(w.ask().cpu >= 4, "{}", w.explain());
}

// ---- asymmetric machines: wakeups of big tasks ----

#[test]
fn a_task_goes_where_it_fits() {
    let mut w = World::new(&clusters(), BASE);
    let answer = w.util(500).wakes(0, 1).expect(4, "slow_idle");
    assert_eq!(answer.slow, 1);
    // Even where all are busy: room without an idle CPU is a lower type than misfit.
    let mut w = World::new(&clusters(), BASE);
    w.busy(4..8).util(500).wakes(0, 1);
    assert!(w.ask().cpu >= 4, "{}", w.explain());
}

#[test]
fn a_task_that_fits_nowhere_goes_to_the_biggest() {
    let mut w = World::new(&clusters(), BASE);
    w.util(900).wakes(0, 1).expect(4, "slow_idle");
    w.wakes(4, 1).expect(4, "slow_local");
    w.busy([4]).expect(5, "slow_idle");
}

#[test]
fn of_cpus_too_small_the_biggest_wins_but_only_over_a_smaller_one() {
    for (capacities, biggest) in [([446, 897, 1024], 2), ([446, 1024, 897], 1)] {
        let mut w = World::new(&of_capacities(&capacities), BASE);
        w.util(900).wakes(0, 0).expect(biggest, "slow_idle");
    }
    let mut w = World::new(&of_capacities(&[1024, 1024, 446]), BASE);
    w.util(900).busy([0]).wakes(0, 2).expect(0, "slow_local");
}

#[test]
fn a_sleeper_is_decayed_before_it_is_compared() {
    let mut w = World::new(&clusters(), BASE);
    w.util(600).flips(1000, 8).wakes(0, 1);
    w.wakee.pelt.last_update_time = 1 << 20;
    w.wakee.pelt.util_sum = 600 * 46718;
    w.core.cpus[1].cfs.last_update_time = 1 << 20;
    w.expect(4, "slow_idle");
    w.core.cpus[1].cfs.last_update_time = 33 << 20;
    w.expect(0, "slow_local");
}

#[test]
fn a_domain_that_does_not_balance_is_passed_over_on_the_way_down() {
    for (balances, expected) in [(true, 6), (false, 5)] {
        let mut w = World::new(&clusters(), BASE);
        w.core.params.sched_idle = 0;
        let cache = w.core.places[5].domain[0] as usize;
        if !balances {
            let domain = w.core.domains[cache];
            let flags = domain.flags & !domain_flag::BALANCE_WAKE;
            w.core
                .set_domain(cache, flags, domain.imbalance_pct, domain.imb_numa_nr);
        }
        w.busy([4]).sched_idle([5]).util(500).wakes(0, 1);
        let answer = w.ask();
        assert_eq!(answer.cpu, expected, "{}", w.explain());
    }
}

#[test]
fn an_overloaded_big_cluster_is_avoided_even_by_big_tasks() {
    let mut w = World::new(&clusters(), BASE);
    w.busy(4..8).used(4..8, 1000).util(500).wakes(0, 1);
    assert!(w.ask().cpu < 4, "{}", w.explain());
}

#[test]
fn with_one_cache_for_all_single_cpus_are_compared() {
    let mut w = World::new(&of_capacities(&[446, 446, 1024, 1024]), BASE);
    w.util(500).busy([2]).wakes(0, 1).expect(3, "slow_idle");
}

#[test]
fn a_domain_of_both_prevents_the_slow_path_if_pulling_is_wanted() {
    let mut w = World::new(&clusters(), BASE);
    let answer = w.util(100).wakes(0, 5).ask();
    assert_eq!(answer.slow, 0);
}

#[test]
fn wide_wakeups_take_the_slow_path_on_asymmetric_machines() {
    let mut w = World::new(&clusters(), BASE);
    let answer = w.util(100).flips(1000, 8).wakes(0, 5).ask();
    assert_eq!(answer.slow, 1);
}

#[test]
fn the_wakee_is_taken_from_the_sums_of_its_old_cpu() {
    // CPU 4 looks fully used, but by the wakee that just left it.
    let ask = |last| {
        let mut w = World::new(&clusters(), BASE);
        w.busy(4..8).used(4..8, 850).util(700).wakes(0, 4);
        w.core.cpus[4].cfs.last_update_time = last;
        w.wakee.pelt.last_update_time = last;
        w.ask()
    };
    assert!(ask(1 << 30).cpu >= 4, "3 * 850 + 150 leave room");
    assert!(ask(0).cpu < 4, "a task that is not attached is nobody's");
}

// ---- exec: the task itself runs here ----

#[test]
fn a_task_that_execs_does_not_count_itself() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0]).forks(0);
    w.kind = Kind::Exec;
    w.wakee.pelt.last_update_time = 1;
    w.core.cpus[0].cfs.last_update_time = 1;
    w.wakee.flags |= task_flag::ON_RQ;
    // Four idle CPUs here without it, four there: it stays, on its own CPU.
    w.expect(0, "slow_local");
    w.runs(0, 2).busy([4]).expect(1, "slow_idle");
}

#[test]
fn a_task_that_execs_does_not_count_its_estimate() {
    let ask = |on_rq: bool| {
        let mut w = World::new(&caches(4, 2), BASE);
        repaired(&mut w)
            .runs(0, 2)
            .runs(1, 2)
            .runs(2, 2)
            .runs(3, 2)
            .forks(0);
        w.kind = Kind::Exec;
        for cpu in &mut w.core.cpus {
            (cpu.util_est_enqueued, cpu.cfs.last_update_time) = (900, 1);
        }
        w.core.cpus[2].util_est_enqueued = 600;
        w.wakee.pelt.last_update_time = 1;
        (w.wakee.util_est_enqueued, w.wakee.util_est_ewma) = (801, 801);
        if on_rq {
            w.wakee.flags |= task_flag::ON_RQ;
        }
        w.ask()
    };
    assert!(ask(true).cpu < 2, "this group has room without it");
    assert!(ask(false).cpu >= 2);
}

// ---- the CPU of the group ----

/// A fork from a full cache to CPUs 4 to 7.
fn into_group() -> World {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy(0..4).forks(0);
    w
}

#[test]
fn the_shallowest_idle_cpu_wins_of_equals_the_last_to_idle() {
    const US: u32 = 1000;
    let table = [
        (
            "shallowest",
            [(50 * US, 9), (10 * US, 1), (50 * US, 20), (70 * US, 30)],
            5,
        ),
        (
            "latest of equals",
            [(10 * US, 5), (10 * US, 7), (10 * US, 6), (10 * US, 7)],
            5,
        ),
        (
            "first of all equal",
            [(10 * US, 5), (10 * US, 5), (10 * US, 5), (10 * US, 5)],
            4,
        ),
        (
            "unknown: the latest",
            [(NONE, 5), (NONE, 8), (NONE, 7), (NONE, 1)],
            5,
        ),
        (
            "known beats unknown",
            [(NONE, 90), (10 * US, 5), (NONE, 4), (70 * US, 99)],
            5,
        ),
        (
            "a later unknown one beats known",
            [(10 * US, 5), (NONE, 6), (70 * US, 9), (70 * US, 9)],
            5,
        ),
    ];
    for (name, states, expected) in table {
        let mut w = into_group();
        for (cpu, (latency, since)) in (4..).zip(states) {
            w.idles(cpu, latency, since);
        }
        eprintln!("{name}");
        w.expect(expected, "slow_idle");
    }
}

#[test]
fn cpus_whose_idle_start_is_unknown_are_not_chosen_without_a_depth() {
    let mut w = into_group();
    for cpu in 4..8 {
        w.idles(cpu, NONE, 0);
    }
    w.expect(0, "slow_local");
}

#[test]
fn only_allowed_cpus_of_the_group_count() {
    let mut w = into_group();
    w.idles(4, 1, 9)
        .idles(5, 2, 9)
        .idles(6, 3, 9)
        .idles(7, 4, 9);
    w.allow([0, 1, 6, 7]).expect(6, "slow_idle");
}

#[test]
fn until_5_5_a_sched_idle_cpu_comes_after_idle_ones() {
    let mut w = into_group();
    w.sched_idle([4, 5]).busy([6]).expect(7, "slow_idle");
}

#[test]
fn until_5_5_a_sched_idle_cpu_comes_before_the_least_loaded() {
    // A group that is lower in type, but without an idle CPU.
    let mut w = into_group();
    repaired(&mut w)
        .runs(0, 2)
        .used(0..4, 1024)
        .busy(4..8)
        .sched_idle([5, 6]);
    for cpu in 4..8 {
        w.load(cpu, 10 * (8 - cpu));
    }
    w.expect(5, "slow_sched_idle");
}

#[test]
fn since_5_6_the_first_sched_idle_cpu_hides_idle_ones() {
    // Until 5.5 the shallowest. Since then the group is entered at CPU 5, and
    // among single CPUs the next idle one has more idle CPUs than CPU 5 itself.
    for (last, expected) in [(1, 7), (0, 6)] {
        let mut w = into_group();
        w.core.params.sched_idle = last;
        w.busy([4])
            .sched_idle([5])
            .idles(6, 50_000, 9)
            .idles(7, 1_000, 9);
        w.expect(expected, "slow_idle");
    }
}

#[test]
fn without_an_idle_cpu_the_least_loaded_one_wins() {
    let mut w = into_group();
    repaired(&mut w).runs(0, 2).used(0..4, 1024).busy(4..8);
    w.load(4, 700).load(5, 300).load(6, 300).load(7, 500);
    w.expect(5, "slow_least_loaded");
}

#[test]
fn the_search_goes_down_level_by_level() {
    // A node without an idle CPU, another with one in its second half.
    let mut w = World::new(&nodes(4, 20), BASE);
    w.busy(0..7).forks(2).expect(7, "slow_idle");
    // Groups of single CPUs at the bottom.
    let mut w = World::new(&no_cache(4), BASE);
    w.busy([0, 1, 2]).forks(0).expect(3, "slow_idle");
}

#[test]
fn sums_are_counted_for_their_cost() {
    let mut w = World::new(&caches(8, 4), BASE);
    let answer = w.busy(0..4).forks(0).ask();
    // All 8 at the package, then the 4 single CPUs of the chosen cache.
    assert_eq!(answer.summed, 12);
}
