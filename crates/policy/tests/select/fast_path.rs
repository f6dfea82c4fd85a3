// SPDX-License-Identifier: GPL-2.0-only
//! The search near the target, step by step (5.5: select_idle_sibling()).

use crate::common::machines::{caches, clusters, flat, no_cache, nodes, smt};
use crate::common::world::{NO_CPU, World};

const BASE: &str = "linux-5.5";

// ---- 1: the target ----

#[test]
fn an_idle_target_answers_at_once() {
    let mut w = World::new(&flat(4), BASE);
    let answer = w.wakes(2, 2).expect(2, "target_idle");
    assert_eq!(
        (answer.looked_near, answer.looked_far, answer.found_idle),
        (1, 0, 1)
    );
}

#[test]
fn a_target_that_runs_only_sched_idle_tasks_is_as_good() {
    World::new(&flat(4), BASE)
        .sched_idle([2])
        .wakes(2, 2)
        .expect(2, "target_idle");
}

#[test]
fn one_normal_or_real_time_task_makes_a_cpu_busy() {
    let mut w = World::new(&flat(4), BASE);
    w.sched_idle([2]).core.cpus[2].nr_running = 2;
    w.wakes(2, 2).expect(3, "llc_scan");
    w.realtime([2]).wakes(2, 2).expect(3, "llc_scan");
}

// ---- 2: the previous CPU ----

#[test]
fn then_the_previous_cpu_if_it_shares_the_cache() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0]).sync().wakes(0, 3).expect(3, "prev_idle");
    w.sched_idle([3]).expect(3, "prev_idle");
    w.wakes(0, 7).expect(1, "llc_scan");
}

// ---- 3: the recently used CPU ----

#[test]
fn then_the_recently_used_cpu() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([0, 1]).sync().wakes(0, 1);
    w.wakee.recent_used_cpu = 3;
    w.expect(3, "recent_idle");
    assert_eq!(
        w.wakee.recent_used_cpu, 1,
        "the previous CPU is the next candidate"
    );
    w.sched_idle([3]).wakee.recent_used_cpu = 3;
    w.expect(3, "recent_idle");
}

#[test]
fn a_recently_used_cpu_must_be_another_allowed_idle_cpu_of_the_cache() {
    for (name, recent) in [
        ("none", NO_CPU),
        ("the target", 0),
        ("the previous CPU", 1),
        ("busy", 2),
        ("in another cache", 9),
        ("not allowed", 6),
    ] {
        let mut w = World::new(&caches(16, 8), BASE);
        w.busy([0, 1, 2])
            .sync()
            .wakes(0, 1)
            .allow([0, 1, 2, 3, 5, 7, 9]);
        w.wakee.recent_used_cpu = recent;
        w.expect(3, "llc_scan");
        assert_eq!(w.wakee.recent_used_cpu, recent, "{name}: kept");
    }
}

// ---- 4: a whole idle core ----

/// Four cores of two threads: core c is CPUs c and c + 4. The target is CPU 0.
fn cores() -> World {
    let mut w = World::new(&smt(4, 2), BASE);
    w.busy([0]).wakes(0, 0);
    w
}

#[test]
fn a_whole_idle_core_beats_a_nearer_idle_thread() {
    let mut w = cores();
    w.busy([5]).expect(2, "idle_core");
    w.busy([2]).expect(3, "idle_core");
    w.busy([0, 4]).busy([7]).sched_idle([6]);
    w.runs(1, 0).runs(5, 0).expect(1, "idle_core");
}

#[test]
fn cores_are_taken_in_ring_order_from_the_target() {
    let mut w = cores();
    w.busy([6]).wakes(6, 6).expect(7, "idle_core");
    w.busy([3]).expect(1, "idle_core");
}

#[test]
fn a_core_answers_with_its_first_allowed_thread() {
    let mut w = cores();
    w.busy([1, 2]).allow([0, 5, 6, 7]).expect(7, "idle_core");
    // A thread that the task must not use still makes its core busy.
    w.busy([3]).expect(5, "llc_scan");
}

#[test]
fn a_sched_idle_thread_does_not_make_an_idle_core() {
    let mut w = cores();
    w.sched_idle([5, 6, 7]).expect(1, "llc_scan");
}

#[test]
fn a_vain_search_for_a_core_is_not_repeated_until_one_is_known() {
    let mut w = cores();
    w.busy([5, 6, 7]);
    assert_eq!(w.core.llcs[0].has_idle_cores, 1);
    let first = w.expect(1, "llc_scan");
    assert_eq!(w.core.llcs[0].has_idle_cores, 0);
    let second = w.expect(1, "llc_scan");
    assert!(second.looked_near < first.looked_near);
    // An idle core that nobody announced is not found.
    w.runs(5, 0)
        .runs(1, 0)
        .runs(6, 0)
        .busy([1])
        .expect(2, "llc_scan");
    w.idle_cores(true).expect(2, "idle_core");
}

#[test]
fn a_search_that_finds_a_core_keeps_the_flag() {
    let mut w = cores();
    w.expect(1, "idle_core");
    assert_eq!(w.core.llcs[0].has_idle_cores, 1);
}

#[test]
fn without_smt_no_core_is_looked_for() {
    let mut w = World::new(&flat(4), BASE);
    w.busy([0]).wakes(0, 0).expect(1, "llc_scan");
    assert_eq!(w.core.llcs[0].has_idle_cores, 1, "untouched");
}

// ---- 5: an idle CPU of the cache ----

#[test]
fn the_cache_is_scanned_in_ring_order_from_the_target() {
    for (target, busy, found) in [
        (2, vec![2], 3),
        (2, vec![2, 3], 0),
        (3, vec![3], 0),
        (0, vec![0, 1, 2], 3),
        (3, vec![0, 1, 3], 2),
    ] {
        let mut w = World::new(&caches(8, 4), BASE);
        w.busy(busy).wakes(target, target).expect(found, "llc_scan");
    }
}

#[test]
fn only_the_targets_cache_is_scanned() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([4, 5, 6, 7]).wakes(6, 6).expect(6, "target_busy");
    w.runs(4, 0).expect(4, "llc_scan");
}

#[test]
fn cpus_that_are_not_allowed_are_passed_over() {
    let mut w = World::new(&flat(4), BASE);
    w.busy([0]).wakes(0, 0).allow([0, 3]).expect(3, "llc_scan");
}

// ---- SIS_PROP: how many CPUs a scan may cost ----

/// Eight CPUs of which only the one `at` places behind the target is idle.
fn one_idle(at: u32) -> World {
    let mut w = World::new(&flat(8), BASE);
    w.busy((0..8).filter(|cpu| *cpu != at)).wakes(0, 0);
    w
}

#[test]
fn a_scan_looks_at_one_cpu_less_than_its_budget_and_at_three_at_least() {
    // (mean idle ns, mean scan ns) -> CPUs looked at
    let table = [
        ((0, 0), 3),
        ((512 * 5, 9), 3),      // 8 * 5 = 40 is not above 4 * 10
        ((512 * 6, 9), 3),      // 48 / 10 = 4
        ((512 * 7, 9), 4),      // 56 / 10 = 5
        ((512 * 10, 9), 7),     // 80 / 10 = 8
        ((512 * 12, 9), 8),     // 9: the whole cache
        ((512 * 10 - 1, 9), 6), // the idle average loses its rest: 72 / 10 = 7
    ];
    for ((avg_idle, avg_scan_cost), looked) in table {
        for at in 1..8 {
            let mut w = one_idle(at);
            let here = &mut w.core.cpus[0];
            (here.avg_idle, here.avg_scan_cost) = (avg_idle, avg_scan_cost);
            let answer = if at < looked {
                w.expect(at, "llc_scan")
            } else {
                w.expect(0, "target_busy")
            };
            assert_eq!(
                answer.cut == 1,
                at >= looked,
                "idle {avg_idle}, cost {avg_scan_cost}"
            );
        }
    }
}

#[test]
fn the_budget_is_the_waking_cpus_not_the_targets() {
    let mut w = one_idle(7);
    w.core.cpus[1].avg_idle = 0;
    w.wakes(0, 1).flips(1000, 8).expect(7, "llc_scan");
    w.core.cpus[0].avg_idle = 0;
    let answer = w.expect(1, "target_busy");
    assert_eq!(answer.cut, 1);
}

#[test]
fn cpus_that_are_not_allowed_use_up_the_budget() {
    let mut w = one_idle(3);
    w.core.cpus[0].avg_idle = 0;
    w.allow([0, 3]).expect(0, "target_busy");
    w.core.cpus[0].avg_idle = 1_000_000;
    w.expect(3, "llc_scan");
}

#[test]
fn without_sis_prop_the_whole_cache_is_scanned() {
    let mut w = one_idle(7);
    w.core.cpus[0].avg_idle = 0;
    w.core.params.sis_prop = 0;
    let answer = w.expect(7, "llc_scan");
    assert_eq!(answer.cut, 0);
}

#[test]
fn a_scan_that_was_not_cut_teaches_its_cost() {
    // (CPUs looked at, mean before) -> mean after, at 100 ns a CPU
    for (at, before, after) in [(4, 0, 62), (1, 1000, 900), (4, 501, 501), (4, 493, 493)] {
        let mut w = one_idle(at);
        w.core.params.scan_cpu_ns = 100;
        w.core.cpus[0].avg_scan_cost = before;
        w.expect(at, "llc_scan");
        assert_eq!(w.core.cpus[0].avg_scan_cost, after, "{at} after {before}");
    }
    let mut w = one_idle(7);
    (w.core.params.scan_cpu_ns, w.core.cpus[0].avg_idle) = (100, 0);
    w.expect(0, "target_busy");
    assert_eq!(w.core.cpus[0].avg_scan_cost, 0, "cut: nothing learnt");
}

#[test]
fn a_scan_that_saw_all_in_vain_teaches_its_cost_too() {
    let mut w = World::new(&flat(8), BASE);
    w.core.params.scan_cpu_ns = 100;
    w.busy(0..8).wakes(0, 0).expect(0, "target_busy");
    assert_eq!(w.core.cpus[0].avg_scan_cost, 100);
}

// ---- SCHED_IDLE in the scans: 5.4 and 5.5 keep such a CPU in reserve ----

#[test]
fn until_5_5_an_idle_cpu_beats_an_earlier_sched_idle_one() {
    let mut w = World::new(&flat(8), BASE);
    w.busy([0])
        .sched_idle([1, 2])
        .wakes(0, 0)
        .expect(3, "llc_scan");
}

#[test]
fn until_5_5_the_first_sched_idle_cpu_answers_only_when_the_budget_ends() {
    let mut w = World::new(&flat(8), BASE);
    w.busy(0..8).sched_idle([1, 2, 5]).wakes(0, 0);
    w.expect(0, "target_busy");
    w.core.cpus[0].avg_idle = 0;
    w.expect(1, "llc_scan");
}

#[test]
fn since_5_6_a_sched_idle_cpu_answers_on_sight() {
    let mut w = World::new(&flat(8), BASE);
    w.core.params.sched_idle = 0;
    w.busy(0..8)
        .sched_idle([2])
        .runs(3, 0)
        .wakes(0, 0)
        .expect(2, "llc_scan");
}

// ---- 6: a thread of the target's core ----

#[test]
fn when_the_scan_is_cut_a_sibling_may_still_be_idle() {
    let mut w = World::new(&smt(8, 2), BASE);
    w.busy(0..16).runs(8, 0).wakes(0, 0);
    w.core.cpus[0].avg_idle = 0;
    let answer = w.expect(8, "smt_scan");
    assert_eq!(answer.cut, 1);
    w.allow(0..8).expect(0, "target_busy");
}

#[test]
fn of_siblings_until_5_5_an_idle_one_beats_a_sched_idle_one() {
    // Threads of the target's core: CPUs 0, 8, 16, 24.
    let ask = |sched_idle, idle| {
        let mut w = World::new(&smt(8, 4), BASE);
        w.core.params.sched_idle = sched_idle;
        w.busy(0..32).sched_idle([8]).wakes(0, 0);
        w.core.cpus[0].avg_idle = 0;
        if idle {
            w.runs(16, 0);
        }
        w
    };
    ask(1, true).expect(16, "smt_scan");
    ask(1, false).expect(8, "smt_scan");
    ask(0, true).expect(8, "smt_scan");
}

// ---- 7: the target, and what may be wrong with it ----

#[test]
fn with_nothing_idle_the_target_answers() {
    let mut w = World::new(&smt(4, 2), BASE);
    let answer = w.busy(0..8).wakes(3, 3).expect(3, "target_busy");
    assert_eq!(answer.found_idle, 0);
}

#[test]
fn cpus_without_a_cache_domain_are_searched_no_further() {
    let mut w = World::new(&no_cache(4), BASE);
    w.busy([0]).wakes(0, 0).expect(0, "target_busy");
}

#[test]
fn an_answer_outside_the_affinity_is_replaced_within_the_node_if_possible() {
    let mut w = World::new(&nodes(4, 20), BASE);
    w.wakes(6, 6).allow([1, 5, 7]).expect(5, "fallback");
    w.allow([1, 2]).expect(1, "fallback");
}

#[test]
fn a_pinned_task_has_no_choice_and_leaves_no_trace() {
    let mut w = World::new(&clusters(), BASE);
    w.busy([3]).util(1024).wakes(0, 5).allow([3]);
    w.waker.last_wakee = 9;
    w.expect(3, "pinned");
    assert_eq!((w.waker.wakee_flips, w.waker.last_wakee), (0, 9));
}

#[test]
fn counts_say_what_was_looked_at() {
    let mut w = World::new(&caches(8, 4), BASE);
    w.busy([4, 5, 6]).flips(1000, 8).wakes(0, 4);
    let answer = w.expect(7, "llc_scan");
    // The target, then CPUs 4 to 7 of the scan, all far from CPU 0.
    assert_eq!(
        (answer.looked_near, answer.looked_far, answer.summed),
        (0, 5, 0)
    );
    assert_eq!(answer.found_idle, 1);
}
