// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the properties of the fair class under every base: shares by weight, lag that
//! balances, no task lost.

use crate::dispatch::Sim;
use crate::kernel::KERNELS;
use crate::testbed::{MS, US, begin_on, machine, task, workload};
use alight_workload::program::{Op, Policy};
use proptest::prelude::*;

fn bases() -> impl Iterator<Item = &'static str> {
    KERNELS.iter().map(|kernel| kernel.name)
}

/// Two tasks that compute share a CPU by weight, whatever the tick does to
/// single slices (`sched_prio_to_weight`).
#[test]
fn a_second_is_shared_by_weight() {
    for base in bases() {
        for (a, b) in [(0, 0), (0, 5), (0, -5), (-5, 5), (19, 19), (-20, 0)] {
            let hog = task(0, &[Op::Run { ns: u64::MAX }]);
            let tasks = [hog.clone().nice(a), hog.nice(b)];
            begin_on(base, &machine(1, 1), &workload(&tasks), |sim| {
                sim.until(1000 * MS);
                let (wa, wb) = (sim.views[0].weight as f64, sim.views[1].weight as f64);
                let share = sim.ran(0) as f64 / (1000.0 * MS as f64);
                let due = wa / (wa + wb);
                assert!(
                    (share - due).abs() < 0.015,
                    "{base}, nice {a} and {b}: {share:.4}, not {due:.4}"
                );
            });
        }
    }
}

/// A SCHED_IDLE task gets 3 of 1027 parts, not nothing.
#[test]
fn sched_idle_gets_what_its_weight_is_worth() {
    for base in bases() {
        let hog = task(0, &[Op::Run { ns: u64::MAX }]);
        let tasks = [hog.clone(), hog.policy(Policy::Idle)];
        begin_on(base, &machine(1, 1), &workload(&tasks), |sim| {
            sim.until(10_000 * MS);
            let share = sim.ran(1) as f64 / (10_000.0 * MS as f64);
            assert!((0.001..0.006).contains(&share), "{base}: {share}");
        });
    }
}

/// A task that needs a tenth of a CPU gets it beside one that takes all it can.
#[test]
fn a_sleeper_gets_what_it_needs_beside_a_hog() {
    for base in bases() {
        let light = task(
            0,
            &[
                Op::LoopBegin {
                    slot: 0,
                    count: u64::MAX,
                    end: 4,
                },
                Op::Run { ns: MS },
                Op::Sleep { ns: 9 * MS },
                Op::LoopEnd { slot: 0, begin: 1 },
            ],
        );
        let hog = task(0, &[Op::Run { ns: u64::MAX }]);
        begin_on(base, &machine(1, 1), &workload(&[light, hog]), |sim| {
            sim.until(1000 * MS);
            let share = sim.ran(0) as f64 / (1000.0 * MS as f64);
            assert!((0.06..0.101).contains(&share), "{base}: {share}");
        });
    }
}

/// The shorter the slice that it asks for, the sooner a task runs that wakes among
/// hogs, nine times of ten; under CFS the wish changes nothing.
#[test]
fn a_short_slice_buys_latency() {
    let waits = |base: &str, slice: u64| {
        let wakee = task(
            0,
            &[
                Op::LoopBegin {
                    slot: 0,
                    count: u64::MAX,
                    end: 4,
                },
                Op::Run { ns: 500 * US },
                Op::Sleep { ns: 20 * MS },
                Op::LoopEnd { slot: 0, begin: 1 },
            ],
        )
        .slice(slice);
        let hog = task(0, &[Op::Run { ns: u64::MAX }]).slice(20 * MS);
        let tasks = [wakee, hog.clone(), hog.clone(), hog];
        begin_on(base, &machine(1, 1), &workload(&tasks), |sim: &mut Sim| {
            sim.until(2000 * MS);
            (
                sim.stats.wake_latency.quantile_us(900).expect("it woke"),
                sim.ran(0),
            )
        })
    };
    let ((short, ..), (long, ..)) = (waits("linux-7.2", 200 * US), waits("linux-7.2", 50 * MS));
    assert!(short < long, "{short} us, {long} us");
    assert_eq!(waits("linux-6.5", 200 * US), waits("linux-6.5", 50 * MS));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Tasks of any weight, slice and rhythm on two CPUs: the testbed proves the
    /// invariants after every event, among them that lag balances (EEVDF) or that
    /// no queue's time goes back (CFS), and that time is conserved.
    #[test]
    fn any_mix_keeps_the_invariants(
        mix in prop::collection::vec(
            (-20i32..20, 0u64..3, 1u64..4000, 0u64..4000, any::<bool>(), 100u64..5000),
            1..8,
        ),
    ) {
        let given: Vec<_> = mix
            .iter()
            .map(|&(nice, policy, run, sleep, yields, slice)| {
                let rest = match yields {
                    true => Op::Yield,
                    false => Op::Sleep { ns: sleep * US },
                };
                let given = task(
                    sleep * US,
                    &[
                        Op::LoopBegin { slot: 0, count: u64::MAX, end: 4 },
                        Op::Run { ns: run * US },
                        rest,
                        Op::LoopEnd { slot: 0, begin: 1 },
                    ],
                );
                let policy = [Policy::Normal, Policy::Batch, Policy::Idle][policy as usize];
                given.nice(nice).policy(policy).slice(slice * US)
            })
            .collect();
        for base in bases() {
            begin_on(base, &machine(2, 2), &workload(&given), |sim| {
                sim.until(120 * MS);
                let ran: u64 = (0..given.len()).map(|task| sim.ran(task)).sum();
                let busy: u64 = sim.cpus.iter().map(|c| c.stats.busy_ns).sum();
                assert_eq!(ran, busy, "{base}");
                assert!(busy <= 240 * MS, "{base}: {busy}");
            });
        }
    }
}
