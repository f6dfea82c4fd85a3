// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn the_tunnel_is_between_maxima_and_minima() {
    assert_eq!(
        tunnel(&[100, 300, 300, 100, 310, 90, 200]),
        (305.0 + 95.0) / 2.0
    );
    assert_eq!(tunnel(&[7, 7, 7]), 7.0);
}

#[test]
fn one_cpu_that_is_right_everywhere_shows_frequency_invariance() {
    let settled = [(0, 1, true), (0, 9, false), (4, 3, true), (4, 2, false)];
    let measured = invariance(&settled);
    let of = |test| measured.iter().filter(move |m| m.test == test);
    assert_eq!(of(CPU_INVARIANCE).map(|m| m.milli).max(), Some(3));
    assert_eq!(
        of(FREQ_INVARIANCE).map(|m| m.milli).collect::<Vec<_>>(),
        [3]
    );
}

/// A task of which the kernel's signal is the filter's own, and one that is off.
#[test]
fn a_signal_that_does_not_follow_the_filter_is_found() {
    let (period, run, speed) = (16_000_000, 8_000_000, 0.5);
    let mut task = TaskSeen::default();
    let mut value = 300.0;
    let sample = |at, util: f64| Sample {
        at,
        cpu: 0,
        util: util.round() as u32,
        load: util.round() as u32 + 60,
        enqueued: 0,
        ewma: 0,
        queue_util: 0,
        queue_load: 0,
        sleeps: false,
    };
    for k in 0..50 {
        let from = k * period;
        task.samples.push(sample(from, value));
        value = pelt::after(value, run as f64 * speed, 1.0);
        task.samples.push(sample(from + run, value));
        value = pelt::after(value, period as f64 - run as f64 * speed, 0.0);
        task.slices.push(Slice {
            from,
            to: from + run,
            cpu: 0,
            sleeps: true,
            next: None,
        });
    }
    let good = errors(&task, speed, |sample| sample.util).unwrap();
    assert!(good.max < 200, "{}", good.max);
    // Faster or slower than it is: the filter must not fit.
    let wrong = errors(&task, 1.0, |sample| sample.util).unwrap();
    assert!(wrong.max > 5000, "{}", wrong.max);
    let off = errors(&task, speed, |sample| sample.load).unwrap();
    assert!(off.mean > 0);
}
