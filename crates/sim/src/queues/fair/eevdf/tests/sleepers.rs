// SPDX-License-Identifier: GPL-2.0-only
//! Tests of sleepers that stay queued until their debt is paid.

use super::*;

/// dequeue_entity(), DELAY_DEQUEUE: a sleeper ahead of the mean stays queued, with
/// its weight, but is not runnable; one behind it leaves with its lag.
#[test]
fn a_sleeper_in_debt_stays_queued() {
    for (stands, delayed, lag_us, because) in [
        (&[(1100, 1700), (1000, 1700)][..], true, -50, "ahead"),
        (&[(1000, 1700), (1100, 1700)], false, 50, "behind"),
        (&[(1000, 1700), (1000, 1700)], false, 0, "at the mean"),
        (&[(1000, 1700)], false, 0, "alone"),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, stands);
            sim.sleep_current(0);
            assert_eq!(sim.is_delayed(0), delayed, "{because}");
            assert_eq!(sim.entity(0).lag, lag_us * US as i64, "{because}");
            let others = stands.len() as u32 - 1;
            let still = u32::from(delayed);
            let view = &sim.core.cpus[0];
            assert_eq!(view.nr_running, others + still, "{because}");
            assert_eq!(view.h_nr_running, others + still, "{because}");
            assert_eq!(u32::from(view.h_nr_delayed), still, "{because}");
            assert_eq!(view.weight, (others + still) * 1024, "{because}");
            sim.schedule(0);
            let next = if others == 0 { NONE } else { 1 };
            assert_eq!(sim.cpus[0].curr, next, "{because}");
            assert_eq!(sim.fair_queued(0), still, "{because}");
        });
    }
}

/// __pick_next_entity(): the debt of a sleeper is paid when it is picked: then it is dequeued, with
/// no positive lag (DELAY_ZERO).
#[test]
fn a_sleeper_that_is_picked_leaves() {
    on_one_cpu(&hogs(2), |sim| {
        queue(sim, &[(1100, 1700), (1000, 1700)]);
        sim.sleep_current(0);
        sim.schedule(0);
        sim.entity_mut(1).vruntime = 1090 * US;
        assert_eq!(sim.pick_fair(0, true), 1, "the mean is 1095: not due");
        assert!(sim.is_delayed(0));
        sim.entity_mut(1).vruntime = 2000 * US;
        assert_eq!(sim.pick_fair(0, true), 1, "due and first: not any more");
        assert!(!sim.is_delayed(0));
        assert_eq!(sim.entity(0).lag, 0);
        assert_eq!(sim.core.cpus[0].nr_running, 1);
        assert_eq!(sim.core.cpus[0].h_nr_delayed, 0);
        assert_eq!(sim.fair_queued(0), 0);
    });
}

/// requeue_delayed_entity(): a sleeper woken in debt keeps its place; one
/// that the others have overtaken starts again at the mean.
#[test]
fn a_sleeper_woken_in_debt_was_never_away() {
    for (own, other_at, vruntime, moved, because) in [
        (1100, 1020, 1100, false, "it still owes"),
        (1100, 1300, 1300, true, "it would have 100 us of credit"),
        (
            21_000,
            1000,
            10_400,
            true,
            "it owes 10 ms, more than a turn and a tick, which is stretched to 9.4 ms",
        ),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, &[(own, 1700), (1000, 1700)]);
            sim.sleep_current(0);
            sim.schedule(0);
            sim.entity_mut(1).vruntime = other_at * US;
            let now = sim.now;
            sim.wake(0, 0, false);
            assert_eq!(sim.tasks[0].life, Life::Runnable, "{because}");
            assert!(!sim.is_delayed(0), "{because}");
            assert_eq!(sim.core.cpus[0].h_nr_delayed, 0, "{because}");
            assert_eq!(sim.entity(0).vruntime, vruntime * US, "{because}");
            let deadline = if moved {
                vruntime * US + SLICE
            } else {
                1700 * US
            };
            assert_eq!(sim.entity(0).deadline, deadline, "{because}");
            let selections: u64 = sim.counted_steps().iter().sum();
            assert_eq!(
                (sim.now, selections),
                (now, 0),
                "{because}: no CPU is chosen"
            );
        });
    }
}
