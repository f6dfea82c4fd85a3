// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking against a second implementation: plain arithmetic in 128
//! bits, a power of y by the definition, over random histories; and what must
//! hold of every history.

use alight_policy::{Cpu, Params, Pelt, Pelt13, Task, pelt, rq};
use proptest::prelude::*;

/// The window of 2013 is derived from the decayed period itself, so a call may
/// decay once for nearly two periods of time: the limit is soft.
const MAX_2013: u32 = 2 * 47742;

/// 2^32 * y^n, rounded as in the kernel's table (kernel/sched/sched-pelt.h).
fn y_power(n: u32) -> u128 {
    let exact = f64::from(u32::MAX) * 0.5f64.powf(f64::from(n) / 32.0);
    exact as u128
}

fn decayed(v: u128, periods: u128) -> u128 {
    if periods > 63 * 32 {
        return 0;
    }
    ((v >> (periods / 32)) * y_power((periods % 32) as u32)) >> 32
}

/// One signal set in units of 1024 ns.
#[derive(Default)]
struct Reference {
    last_ns: u128,
    into_period: u128,
    load: u128,
    runnable: u128,
    running: u128,
}

impl Reference {
    fn pass(&mut self, now_ns: u64, load: u64, runnable: u64, running: u64) -> bool {
        let now_ns = u128::from(now_ns);
        if now_ns < self.last_ns {
            self.last_ns = now_ns;
            return false;
        }
        let units = (now_ns - self.last_ns) / 1024;
        self.last_ns += units * 1024;
        let ended = (self.into_period + units) / 1024;
        let weighed = if ended == 0 {
            units
        } else {
            let oldest = decayed(1024 - self.into_period, ended);
            let full = 47742 - decayed(47742, ended) - 1024;
            oldest + full + (self.into_period + units) % 1024
        };
        let (runnable, running) = if load == 0 {
            (0, 0)
        } else {
            (runnable, running)
        };
        for (sum, held) in [
            (&mut self.load, u128::from(load)),
            (&mut self.runnable, u128::from(runnable) * 1024),
            (&mut self.running, u128::from(running) * 1024),
        ] {
            if ended > 0 {
                *sum = decayed(*sum, ended);
            }
            *sum += held * weighed;
        }
        self.into_period = (self.into_period + units) % 1024;
        ended > 0
    }

    fn averages(&self, weight: u64) -> (u128, u128, u128) {
        let divisor = 46718 + self.into_period;
        (
            u128::from(weight) * self.load / divisor,
            self.runnable / divisor,
            self.running / divisor,
        )
    }
}

/// A stretch of time: mostly around a period, sometimes hours.
fn stretch() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..3_000u64,
        8 => 0..4_000_000u64,
        4 => 0..400_000_000u64,
        1 => 0..100_000_000_000_000u64,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_arithmetic_is_the_references(
        steps in prop::collection::vec((stretch(), any::<bool>(), 0..200_000_000u64, 0..3_000u64, 0..2u64), 1..60),
        weight in 1..100_000u64,
    ) {
        let (mut a, mut reference, mut now) = (Pelt::default(), Reference::default(), 0u64);
        for (ns, back, load, runnable, running) in steps {
            now = if back && ns < 3_000 { now.saturating_sub(ns) } else { now + ns };
            let due = pelt::accumulate(&mut a, now, load, runnable, running);
            prop_assert_eq!(due, reference.pass(now, load, runnable, running));
            prop_assert_eq!(u128::from(a.last_update_time), reference.last_ns);
            prop_assert_eq!(u128::from(a.period_contrib), reference.into_period);
            prop_assert_eq!(u128::from(a.load_sum), reference.load);
            prop_assert_eq!(u128::from(a.runnable_sum), reference.runnable);
            prop_assert_eq!(u128::from(a.util_sum), reference.running);
            // An average must fit its field to be compared: weights as of a task.
            if load <= 1 && runnable <= 1_000_000 {
                pelt::average(&mut a, weight);
                let (load_avg, runnable_avg, util_avg) = reference.averages(weight);
                prop_assert_eq!(u128::from(a.load_avg), load_avg & u128::from(u32::MAX));
                prop_assert_eq!(u128::from(a.runnable_avg), runnable_avg);
                prop_assert_eq!(u128::from(a.util_avg), util_avg);
            }
        }
    }

    #[test]
    fn decay_is_exact_for_every_width(v: u64, n in 0..2_100u64) {
        prop_assert_eq!(u128::from(pelt::decay(v, n)), decayed(v.into(), n.into()));
    }

    #[test]
    fn signals_stay_within_what_was_held(
        steps in prop::collection::vec((stretch(), any::<bool>(), any::<bool>()), 1..80),
        weight in 1..90_000u64,
    ) {
        let (mut a, mut now) = (Pelt::default(), 0);
        for (ns, queued, running) in steps {
            now += ns;
            let queued = u64::from(queued);
            if pelt::accumulate(&mut a, now, queued, queued, u64::from(running)) {
                pelt::average(&mut a, weight);
            }
            prop_assert!(a.util_avg <= 1024 && a.util_avg <= a.runnable_avg && a.runnable_avg <= 1024);
            prop_assert!(u64::from(a.load_avg) <= weight);
            prop_assert!(a.period_contrib < 1024);
        }
    }

    #[test]
    fn running_raises_and_idling_lowers(
        busy in prop::collection::vec(1..20_000_000u64, 1..60),
        idle in prop::collection::vec(1..20_000_000u64, 1..60),
    ) {
        let (mut a, mut now) = (Pelt::default(), 0);
        for ns in busy {
            let before = a.util_avg;
            now += ns;
            pelt::accumulate(&mut a, now, 1, 1, 1);
            pelt::average(&mut a, 1024);
            // Rounding may cost one; the sum itself is rounded at every period.
            prop_assert!(a.util_avg + 1 >= before, "{} after {before}", a.util_avg);
        }
        for ns in idle {
            let before = a.util_avg;
            now += ns;
            pelt::accumulate(&mut a, now, 0, 0, 0);
            pelt::average(&mut a, 1024);
            prop_assert!(a.util_avg <= before);
        }
    }

    #[test]
    fn no_input_is_refused(last: u64, now: u64, load: u64, runnable: u64, running: u64, weight: u64) {
        let mut a = Pelt { last_update_time: last, ..Pelt::default() };
        pelt::accumulate(&mut a, now, load, runnable, running);
        pelt::average(&mut a, weight);
        prop_assert!(a.period_contrib < 1024);
        let mut b = Pelt13 { last_runnable_update: last, ..Pelt13::default() };
        pelt::update13(&mut b, now, running & 1 != 0);
        prop_assert!(b.runnable_avg_sum <= b.runnable_avg_period && b.runnable_avg_period <= MAX_2013);
        prop_assert!(pelt::full13(load) <= 47742);
    }

    #[test]
    fn the_sum_of_2013_never_exceeds_its_period(
        steps in prop::collection::vec((stretch(), any::<bool>()), 1..100),
    ) {
        let (mut a, mut now) = (Pelt13::default(), 0);
        for (ns, runnable) in steps {
            now += ns;
            let before = a;
            pelt::update13(&mut a, now, runnable);
            prop_assert!(a.runnable_avg_sum <= a.runnable_avg_period && a.runnable_avg_period <= MAX_2013);
            if !runnable {
                prop_assert!(a.runnable_avg_sum <= before.runnable_avg_sum);
            }
        }
    }

    /// Tasks come, run, go and leave; what a queue holds stays what its members are.
    #[test]
    fn a_queue_counts_its_members(
        events in prop::collection::vec((0..4usize, 0..30_000_000u64), 1..120),
        capacity in 1..=1024u32,
        freq_scale in 1..=1024u32,
    ) {
        let k = Params { est_lsb: 1, ..Params::default() };
        let mut cpu = Cpu { capacity_orig: capacity, freq_scale, ..Cpu::default() };
        let mut tasks = [Task::default(); 4];
        let mut queued = [false; 4];
        let mut now = 0;
        for (who, ns) in events {
            now += ns;
            rq::clock(&mut cpu, now);
            prop_assert!(cpu.clock_pelt <= cpu.clock);
            let any = queued.iter().any(|q| *q);
            if queued[who] {
                rq::dequeue(&k, &mut cpu, &mut tasks[who], true, true, true);
                queued[who] = false;
            } else {
                rq::enqueue(&k, &mut cpu, &mut tasks[who], any);
                queued[who] = true;
            }
            let members = queued.iter().filter(|q| **q).count() as u32;
            if members == 0 {
                rq::clock_idle(&mut cpu, 0);
            }
            cpu.curr_is_idle = u8::from(members == 0);
            prop_assert_eq!((cpu.nr_running, cpu.h_nr_running, cpu.weight), (members, members, members * 1024));
            let estimates: u32 = (tasks.iter().zip(&queued))
                .filter(|(_, q)| **q)
                .map(|(t, _)| t.util_est_enqueued.max(t.util_est_ewma) | 1)
                .sum();
            prop_assert_eq!(cpu.util_est_enqueued, estimates);
            prop_assert!(cpu.lost_idle_time <= cpu.clock);
            prop_assert!(tasks.iter().all(|t| t.pelt.util_avg <= 1024));
        }
    }
}
