// SPDX-License-Identifier: GPL-2.0-only
//! Feature uclamp-sum, how the sums are kept ("sched: uclamp sum aggregation",
//! RFC of October 2023 and its v2 of February 2024; "uclamp sum aggregation" v2
//! of March 2025). A CPU of capacity 1024 at its top frequency, so that time is
//! PELT time; a signal halves in 32 periods.

mod common;

use alight_policy::abi::{class, task_flag};
use alight_policy::{Cpu, NONE, Params, Scheduler, Task, rq};

const PERIOD: u64 = 1 << 20;
const V1: &str = "linux-6.5+uclamp-sum";
const V2: &str = "linux-6.5+uclamp-sum=v2";
const BIAS: &str = "linux-6.5+uclamp-sum=bias";
const FIX: &str = "linux-6.5+uclamp-sum=bias:fix";

/// A task of this utilization and these clamps, as if it had slept a moment.
fn task(id: u32, util: u32, clamps: (u32, u32)) -> Task {
    let mut task = Task {
        id,
        uclamp_min: clamps.0,
        uclamp_max: clamps.1,
        ..Task::default()
    };
    (task.pelt.util_avg, task.pelt.runnable_avg) = (util, util);
    task.pelt.uclamp = util as i32;
    task
}

/// The same where what clamping adds is kept.
fn biased(id: u32, util: u32, clamps: (u32, u32)) -> Task {
    let mut task = task(id, util, clamps);
    let clamped = util.max(clamps.0).min(clamps.1);
    task.pelt.uclamp = clamped as i32 - util as i32;
    task
}

struct Queue {
    k: Params,
    cpu: Cpu,
    now: u64,
}

impl Queue {
    fn new(scheduler: &str) -> Self {
        let mut queue = Queue {
            k: Scheduler::parse(scheduler).unwrap().params,
            cpu: Cpu {
                curr_is_idle: 0,
                ..Cpu::default()
            },
            now: 0,
        };
        queue.wait(1);
        queue.refresh();
        queue
    }

    /// Lets so many periods pass.
    fn wait(&mut self, periods: u64) {
        self.now += periods * PERIOD;
        rq::clock(&mut self.cpu, self.now);
    }

    fn refresh(&mut self) -> bool {
        rq::refresh(&self.k, &mut self.cpu, false)
    }

    /// True if the governor is told a second time.
    fn join(&mut self, task: &mut Task) -> bool {
        rq::enqueue(&self.k, &mut self.cpu, task, false);
        rq::clamped_joined(&self.k, &mut self.cpu, task)
    }

    fn sleep(&mut self, task: &mut Task) {
        rq::dequeue(&self.k, &mut self.cpu, task, true, true, true);
    }

    /// The task runs for so many periods.
    fn run(&mut self, task: &mut Task, periods: u64) {
        for _ in 0..periods {
            self.wait(1);
            rq::update_curr(&self.k, &mut self.cpu, task);
        }
    }

    /// Sum over the queued tasks, and the one that falls like PELT.
    fn sums(&self) -> (i32, u32) {
        (self.cpu.cfs.uclamp, self.cpu.root_cfs_util_uclamp)
    }

    /// What a frequency or a placement is chosen by.
    fn util(&self) -> u32 {
        rq::cpu_util_clamped(&self.k, &self.cpu, false)
    }
}

// ---- the sum: rises at once ----

#[test]
fn a_queue_needs_what_its_tasks_need_each_within_its_clamps() {
    for scheduler in [V1, V2] {
        let mut q = Queue::new(scheduler);
        let (mut hog, mut small, mut plain) = (
            task(1, 600, (0, 200)),
            task(2, 50, (300, 1024)),
            task(3, 100, (0, 1024)),
        );
        assert!(q.join(&mut hog), "the governor hears of every task");
        assert_eq!(q.sums(), (200, 200), "{scheduler}: 600 is capped");
        q.join(&mut small);
        assert_eq!(q.sums(), (500, 500), "{scheduler}: 50 counts 300");
        q.join(&mut plain);
        assert_eq!(q.sums(), (600, 600), "{scheduler}: no clamp");
        assert_eq!(q.cpu.cfs.util_avg, 750, "what they use is kept apart");
        assert_eq!(q.util(), 600);
    }
}

#[test]
fn a_task_joins_with_what_it_still_has_and_is_clamped_when_all_is_done() {
    let mut q = Queue::new(V1);
    let mut hog = task(1, 600, (0, 200));
    rq::enqueue(&q.k, &mut q.cpu, &mut hog, false);
    assert_eq!(q.sums(), (600, 0), "the governor is asked now");
    rq::clamped_joined(&q.k, &mut q.cpu, &mut hog);
    assert_eq!(q.sums(), (200, 200), "and now");
}

#[test]
fn the_clamp_holds_whenever_the_task_is_averaged() {
    let mut q = Queue::new(V1);
    let mut hog = task(1, 0, (50, 200));
    q.join(&mut hog);
    assert_eq!(q.sums(), (50, 50), "at least 50");
    rq::set_next(&q.k, &mut q.cpu, &mut hog);
    q.run(&mut hog, 5);
    assert_eq!(
        hog.pelt.uclamp, hog.pelt.util_avg as i32,
        "between its clamps"
    );
    assert_eq!(q.sums(), (hog.pelt.uclamp, hog.pelt.uclamp as u32));
    q.run(&mut hog, 500);
    assert!(hog.pelt.util_avg > 1000, "it never stops");
    assert_eq!(q.sums(), (200, 200), "at most 200");
}

#[test]
fn a_lower_clamp_above_the_cpu_is_cut_only_where_it_is_read() {
    let mut q = Queue::new(V1);
    q.cpu.capacity_orig = 383;
    q.join(&mut task(1, 10, (600, 1024)));
    assert_eq!(q.sums(), (600, 600));
    assert_eq!(q.util(), 383);
}

#[test]
fn other_clamps_count_at_once() {
    for scheduler in [V1, V2] {
        let mut q = Queue::new(scheduler);
        let mut hog = task(1, 600, (0, 200));
        q.join(&mut hog);
        hog.uclamp_max = 400;
        assert!(rq::clamps_changed(&q.k, &mut q.cpu, &mut hog));
        assert_eq!(q.sums(), (400, 400));
        hog.uclamp_max = 100;
        rq::clamps_changed(&q.k, &mut q.cpu, &mut hog);
        assert_eq!(q.sums(), (100, 400), "down like PELT");
    }
}

// ---- and falls like PELT ----

#[test]
fn who_leaves_leaves_the_sum_at_once_and_is_forgotten_like_pelt() {
    for scheduler in [V1, V2] {
        let mut q = Queue::new(scheduler);
        let (mut stays, mut goes) = (task(1, 600, (0, 200)), task(2, 50, (300, 1024)));
        q.join(&mut stays);
        q.join(&mut goes);
        q.sleep(&mut goes);
        assert_eq!(q.sums(), (200, 500), "{scheduler}");
        q.wait(32);
        q.refresh();
        assert_eq!(
            q.sums(),
            (200, 349),
            "{scheduler}: 200 and half of 300, rounded down"
        );
        q.wait(32);
        q.refresh();
        assert_eq!(q.sums(), (200, 273), "{scheduler}");
    }
}

#[test]
fn a_queue_without_tasks_sums_nothing() {
    let mut q = Queue::new(V1);
    let mut only = task(1, 50, (300, 1024));
    q.join(&mut only);
    q.cpu.cfs.uclamp += 7; // whatever went wrong
    q.sleep(&mut only);
    assert_eq!(q.sums(), (0, 307));
}

#[test]
fn less_than_a_period_changes_nothing() {
    let mut q = Queue::new(V1);
    let mut only = task(1, 50, (300, 1024));
    q.join(&mut only);
    q.sleep(&mut only);
    q.now += PERIOD - 1024;
    rq::clock(&mut q.cpu, q.now);
    q.refresh();
    assert_eq!(q.sums(), (0, 300));
    q.now += 1024;
    rq::clock(&mut q.cpu, q.now);
    q.refresh();
    assert_eq!(q.sums(), (0, 293), "300 * y");
}

#[test]
fn a_sleeper_decays_from_what_it_counted_and_rises_when_it_wakes() {
    let mut q = Queue::new(V1);
    let mut t = task(1, 50, (300, 1024));
    q.join(&mut t);
    q.sleep(&mut t);
    assert_eq!(t.pelt.uclamp, 300, "kept");
    q.wait(32);
    rq::enqueue(&q.k, &mut q.cpu, &mut t, false);
    assert_eq!(
        (t.pelt.uclamp, q.cpu.cfs.uclamp),
        (149, 149),
        "half, rounded down"
    );
    rq::clamped_joined(&q.k, &mut q.cpu, &mut t);
    assert_eq!(q.sums(), (300, 300));
}

#[test]
fn an_estimate_is_made_of_the_clamped_utilization() {
    for (scheduler, expected) in [
        ("linux-6.5", 600),
        (V1, 200),
        (V2, 200),
        ("linux-7.2+uclamp-sum", 200),
        ("linux-5.5+uclamp-sum", 201), // bit 0
        (BIAS, 600),
    ] {
        let mut q = Queue::new(scheduler);
        let mut hog = task(1, 600, (0, 200));
        q.join(&mut hog);
        // An averaging makes the estimate stale.
        hog.flags &= !task_flag::EST_UNCHANGED;
        q.sleep(&mut hog);
        let est = hog.util_est_ewma.max(hog.util_est_enqueued);
        assert_eq!(est, expected, "{scheduler}");
    }
}

// ---- tasks that go elsewhere ----

#[test]
fn a_task_that_wakes_elsewhere_leaves_its_old_queue_at_the_next_averaging() {
    let mut q = Queue::new(V1);
    let (mut stays, mut goes) = (task(1, 600, (0, 200)), task(2, 50, (300, 1024)));
    q.join(&mut stays);
    q.join(&mut goes);
    q.sleep(&mut goes);
    q.wait(32);
    q.refresh();
    assert_eq!(q.sums(), (200, 349));
    rq::remove(&q.k, &mut q.cpu, &mut goes);
    assert_eq!(goes.pelt.uclamp, 149, "decayed up to now");
    assert_eq!(
        (q.sums().1, q.cpu.root_cfs_util_uclamp_removed),
        (349, 149),
        "pending"
    );
    assert!(q.refresh(), "the governor hears of it");
    assert_eq!(
        (q.sums(), q.cpu.root_cfs_util_uclamp_removed),
        ((200, 200), 0)
    );
}

#[test]
fn with_v2_at_once() {
    let mut q = Queue::new(V2);
    let (mut stays, mut goes) = (task(1, 600, (0, 200)), task(2, 50, (300, 1024)));
    q.join(&mut stays);
    q.join(&mut goes);
    q.sleep(&mut goes);
    rq::remove(&q.k, &mut q.cpu, &mut goes);
    assert_eq!(
        (q.sums(), q.cpu.root_cfs_util_uclamp_removed),
        ((200, 200), 0)
    );
}

#[test]
fn what_is_left_is_never_less_than_the_queued_tasks() {
    for scheduler in [V1, V2] {
        let mut q = Queue::new(scheduler);
        let (mut stays, mut goes) = (task(1, 600, (0, 200)), task(2, 50, (300, 1024)));
        q.join(&mut goes);
        q.sleep(&mut goes);
        q.join(&mut stays);
        q.cpu.root_cfs_util_uclamp = 250; // less than both
        rq::remove(&q.k, &mut q.cpu, &mut goes);
        q.refresh();
        assert_eq!(q.sums(), (200, 200), "{scheduler}");
    }
}

#[test]
fn a_newcomer_adds_to_what_is_not_forgotten_yet_only_with_v2() {
    for (scheduler, expected) in [(V1, 300), (V2, 500)] {
        let mut q = Queue::new(scheduler);
        let mut sleeper = task(1, 50, (300, 1024));
        q.join(&mut sleeper);
        q.sleep(&mut sleeper);
        q.join(&mut task(2, 600, (0, 200)));
        assert_eq!(q.sums(), (200, expected), "{scheduler}");
    }
}

#[test]
fn one_who_comes_back_does_not() {
    let mut q = Queue::new(V2);
    let mut t = task(1, 50, (300, 1024));
    for _ in 0..3 {
        q.join(&mut t);
        assert_eq!(q.sums(), (300, 300));
        assert_eq!(t.flags & task_flag::JUST_ATTACHED, 0);
        q.sleep(&mut t);
    }
}

#[test]
fn balancing_takes_a_task_out_of_the_sum_and_with_v2_out_of_all() {
    for (scheduler, expected) in [(V1, (200, 500)), (V2, (200, 200))] {
        let mut q = Queue::new(scheduler);
        let (mut stays, mut goes) = (task(1, 600, (0, 200)), task(2, 50, (300, 1024)));
        q.join(&mut stays);
        q.join(&mut goes);
        rq::detach(&q.k, &mut q.cpu, &mut goes, false);
        assert_eq!(q.sums(), expected, "{scheduler}");
        let mut other = Queue::new(scheduler);
        other.join(&mut goes);
        assert_eq!(other.sums(), (300, 300), "{scheduler}");
    }
}

#[test]
fn a_new_task_begins_with_its_first_utilization() {
    let q = Queue::new(V1);
    let mut new = Task::default();
    rq::init_util(&q.k, &q.cpu, &mut new);
    assert_eq!((new.pelt.util_avg, new.pelt.uclamp), (512, 512));
}

#[test]
fn a_sleeper_that_stays_queued_counts_until_it_leaves() {
    for scheduler in ["linux-7.2+uclamp-sum", "linux-7.2+uclamp-sum=bias"] {
        let mut q = Queue::new(scheduler);
        let mut t = task(1, 50, (300, 1024));
        t.pelt.uclamp = if scheduler.ends_with("bias") { 250 } else { 50 };
        q.join(&mut t);
        let counted = q.sums().0;
        rq::delay(&q.k, &mut q.cpu, &mut t);
        assert_eq!(q.sums().0, counted, "{scheduler}: delayed");
        rq::requeue(&q.k, &mut q.cpu, &mut t, false);
        assert_eq!(q.sums().0, counted, "{scheduler}: woken");
        rq::delay(&q.k, &mut q.cpu, &mut t);
        rq::dequeue_delayed(&q.k, &mut q.cpu, &mut t, false);
        assert_eq!(q.sums().0, 0, "{scheduler}: picked");
    }
}

// ---- waiting as utilization ----

#[test]
fn the_wait_counts_unless_the_cpu_is_capped() {
    // form, util_avg of the queue, clamped sum, what waited; what a frequency is chosen by
    for (scheduler, util, sum, waits, expected) in [
        (V1, 280, 200, 900, 900), // no more than 80 beyond: not capped
        (V1, 281, 200, 900, 200),
        ("linux-6.5+uclamp-sum:margin=0", 201, 200, 900, 200),
        (V2, 201, 200, 900, 200), // no margin
        (V2, 200, 200, 900, 900),
        ("linux-6.1+uclamp-sum", 200, 200, 900, 200), // waiting does not count yet
    ] {
        let mut q = Queue::new(scheduler);
        (q.cpu.cfs.util_avg, q.cpu.cfs.runnable_avg) = (util, waits);
        q.cpu.root_cfs_util_uclamp = sum;
        let found = rq::cpu_util_clamped(&q.k, &q.cpu, true);
        assert_eq!(found, expected, "{scheduler}: {util} against {sum}");
        assert_eq!(q.util(), sum, "placement does not ask");
    }
}

#[test]
fn with_biases_it_counts_in_the_proportion_of_the_clamped_utilization() {
    let mut q = Queue::new(BIAS);
    (q.cpu.cfs.util_avg, q.cpu.cfs.runnable_avg, q.cpu.cfs.uclamp) = (400, 800, -300);
    assert_eq!(
        rq::cpu_util_clamped(&q.k, &q.cpu, true),
        200,
        "100 * 800 / 400"
    );
    q.cpu.cfs.util_avg = 0;
    q.cpu.cfs.uclamp = 70;
    assert_eq!(rq::cpu_util_clamped(&q.k, &q.cpu, true), 70);
}

// ---- biases ----

#[test]
fn a_bias_is_what_clamping_adds() {
    let mut q = Queue::new(BIAS);
    let (mut hog, mut small, mut plain) = (
        biased(1, 600, (0, 200)),
        biased(2, 50, (300, 1024)),
        biased(3, 100, (0, 1024)),
    );
    assert!(!q.join(&mut hog), "less than the governor knows already");
    assert_eq!((q.cpu.cfs.util_avg, q.sums().0, q.util()), (600, -400, 200));
    assert!(q.join(&mut small), "more");
    assert_eq!((q.cpu.cfs.util_avg, q.sums().0, q.util()), (650, -150, 500));
    assert!(!q.join(&mut plain));
    assert_eq!((q.cpu.cfs.util_avg, q.sums().0, q.util()), (750, -150, 600));
    assert_eq!(q.cpu.root_cfs_util_uclamp, 0, "PELT decays by itself");
}

#[test]
fn it_follows_each_averaging_awake_and_asleep() {
    let mut q = Queue::new(BIAS);
    let mut hog = biased(1, 0, (50, 200));
    q.join(&mut hog);
    rq::set_next(&q.k, &mut q.cpu, &mut hog);
    q.run(&mut hog, 500);
    assert_eq!(hog.pelt.uclamp, 200 - hog.pelt.util_avg as i32);
    assert_eq!(q.sums().0, hog.pelt.uclamp);
    q.sleep(&mut hog);
    q.wait(200);
    q.refresh();
    rq::remove(&q.k, &mut q.cpu, &mut hog);
    assert!(hog.pelt.util_avg < 5);
    assert_eq!(hog.pelt.uclamp, 50 - hog.pelt.util_avg as i32);
    assert_eq!(q.sums().0, 0, "the queue has none of it");
}

#[test]
fn a_capped_task_that_sleeps_leaves_the_queue_no_fuller_than_it_was() {
    let mut q = Queue::new(BIAS);
    let mut hog = biased(1, 600, (0, 200));
    q.join(&mut hog);
    q.sleep(&mut hog);
    assert_eq!((hog.pelt.util_avg, hog.pelt.uclamp), (200, 0));
    assert_eq!((q.cpu.cfs.util_avg, q.sums().0, q.util()), (200, 0, 200));
    for a in [hog.pelt, q.cpu.cfs] {
        assert!(
            a.util_sum >= a.util_avg * (47742 - 1024),
            "its sum too: {a:?}"
        );
        assert!(a.util_sum <= (a.util_avg + 1) * 47742, "its sum too: {a:?}");
    }
}

#[test]
fn a_boosted_task_that_sleeps_takes_its_boost_along() {
    let mut q = Queue::new(BIAS);
    let mut small = biased(1, 50, (300, 1024));
    q.join(&mut small);
    q.sleep(&mut small);
    assert_eq!((small.pelt.util_avg, small.pelt.uclamp), (50, 250));
    assert_eq!((q.cpu.cfs.util_avg, q.util()), (50, 50));
}

#[test]
fn one_that_is_moved_takes_its_bias_along() {
    let mut q = Queue::new(BIAS);
    let mut hog = biased(1, 600, (0, 200));
    q.join(&mut hog);
    rq::detach(&q.k, &mut q.cpu, &mut hog, false);
    assert_eq!((hog.pelt.util_avg, hog.pelt.uclamp), (600, -400));
    assert_eq!((q.cpu.cfs.util_avg, q.sums().0), (0, 0));
    let mut other = Queue::new(BIAS);
    other.join(&mut hog);
    assert_eq!(other.util(), 200);
}

#[test]
fn the_clamped_estimate_is_the_estimate_within_the_clamps() {
    for (util, clamps, est, clamped) in [
        (600, (0, 200), 600, 200),
        (50, (300, 1024), 50, 300),
        (100, (0, 1024), 100, 100),
    ] {
        for scheduler in [BIAS, "linux-7.2+uclamp-sum=bias"] {
            let mut q = Queue::new(scheduler);
            let mut t = biased(1, util, clamps);
            q.join(&mut t);
            assert_eq!(q.cpu.util_est_uclamp, 0, "no estimate yet");
            q.sleep(&mut t);
            assert_eq!(
                (t.util_est_ewma, t.util_est_uclamp),
                (est, clamped),
                "{scheduler}"
            );
            q.join(&mut t);
            assert_eq!(q.cpu.util_est_uclamp, clamped);
            q.sleep(&mut t);
            assert_eq!(q.cpu.util_est_uclamp, 0);
        }
    }
}

// ---- the fix of 2025 ----

/// Two tasks that share a CPU: one of this weight and utilization, and one at
/// nice 0 that uses 512 and may count 1; both are averaged, then the CPU's
/// clamped utilization.
fn beside(scheduler: &str, weight: u32, class: u32, util: u32) -> Queue {
    let mut q = Queue::new(scheduler);
    let (mut free, mut capped) = (biased(1, util, (0, 1024)), biased(2, 512, (0, 1)));
    (free.weight, free.class) = (weight, class);
    q.join(&mut free);
    q.join(&mut capped);
    q.wait(1);
    rq::update_curr(&q.k, &mut q.cpu, &mut free);
    rq::set_next(&q.k, &mut q.cpu, &mut capped);
    q
}

#[test]
fn a_strong_cap_hides_how_much_another_task_could_use() {
    let q = beside(BIAS, 1024, class::NORMAL, 512);
    let free = q.cpu.cfs.util_avg - 501;
    assert!(q.util().abs_diff(free + 1) <= 13, "{} of 513", q.util());
}

#[test]
fn with_the_fix_a_cap_yields_to_an_equal_share() {
    let q = beside(FIX, 1024, class::NORMAL, 512);
    assert!(q.util() > 1000, "{}: both count 512", q.util());
    assert_eq!(q.cpu.max_uclamp_factor_owner, 1);
}

#[test]
fn a_factor_is_clamped_utilization_per_weight_in_the_kernels_integers() {
    // sched_prio_to_wmult[] of these nice levels
    for (weight, class, inverse) in [
        (88761, class::NORMAL, 48388),
        (1024, class::NORMAL, 4194304),
        (335, class::NORMAL, 12820798),
        (15, class::NORMAL, 286331153),
        (3, class::IDLE, 4194304), // its nice level is 0
    ] {
        let mut q = Queue::new(FIX);
        let mut t = biased(7, 512, (300, 300));
        (t.weight, t.class) = (weight, class);
        q.join(&mut t);
        rq::set_next(&q.k, &mut q.cpu, &mut t);
        q.run(&mut t, 1);
        assert_eq!(q.cpu.max_uclamp_factor, 300 * inverse, "weight {weight}");
        assert_eq!(q.cpu.max_uclamp_factor_owner, 7);
    }
}

#[test]
fn less_weight_makes_a_cap_yield_less() {
    // The capped one has nice 0: beside a weight of 3121 it may have a third as much.
    let q = beside(FIX, 3121, class::NORMAL, 600);
    let found = q.util() - (q.cpu.cfs.util_avg - 501);
    assert!((180..=215).contains(&found), "{found} of 600 * 1024 / 3121");
}

#[test]
fn the_factor_goes_with_its_owner() {
    let mut q = Queue::new(FIX);
    let (mut owner, mut capped) = (biased(1, 512, (0, 1024)), biased(2, 512, (0, 1)));
    q.join(&mut owner);
    q.join(&mut capped);
    q.wait(1);
    rq::update_curr(&q.k, &mut q.cpu, &mut owner);
    assert_eq!(q.cpu.max_uclamp_factor_owner, 1);
    q.sleep(&mut owner);
    assert_eq!(
        (q.cpu.max_uclamp_factor_owner, q.cpu.max_uclamp_factor),
        (NONE, 0)
    );
    q.wait(1);
    rq::update_curr(&q.k, &mut q.cpu, &mut capped);
    assert_eq!(q.cpu.max_uclamp_factor_owner, 2, "the next to be averaged");
    assert_eq!(capped.pelt.util_avg as i32 + capped.pelt.uclamp, 1);
}

// ---- off ----

#[test]
fn without_the_feature_nothing_of_it_is_kept() {
    let mut q = Queue::new("linux-6.5");
    let mut t = task(1, 600, (0, 200));
    t.pelt.uclamp = 0;
    rq::enqueue(&q.k, &mut q.cpu, &mut t, false);
    q.run(&mut t, 100);
    rq::dequeue(&q.k, &mut q.cpu, &mut t, true, true, true);
    rq::remove(&q.k, &mut q.cpu, &mut t);
    q.refresh();
    assert_eq!((t.pelt.uclamp, t.util_est_uclamp), (0, 0));
    assert_eq!(
        (q.sums(), q.cpu.util_est_uclamp, q.cpu.max_uclamp_factor),
        ((0, 0), 0, 0)
    );
}
