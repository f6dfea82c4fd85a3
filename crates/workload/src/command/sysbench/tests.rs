// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// What the tool's loop does, literally.
fn divisions_counted(max_prime: u64) -> u64 {
    let mut divisions = 0;
    for c in 3..max_prime {
        let mut l = 2;
        while l * l <= c {
            divisions += 1;
            if c % l == 0 {
                break;
            }
            l += 1;
        }
    }
    divisions
}

#[test]
fn divisions_are_those_of_the_loop() {
    for max_prime in [1, 2, 3, 4, 5, 9, 10, 26, 100, 1000, 10_000] {
        assert_eq!(
            divisions(max_prime),
            divisions_counted(u64::from(max_prime)),
            "up to {max_prime}"
        );
    }
}

#[test]
fn work_of_an_event_follows_the_divisions() {
    assert_eq!(cpu_event_ns(10_000), CPU_EVENT_NS);
    assert_eq!(cpu_event_ns(1), 1);
    let doubled = cpu_event_ns(20_000) as f64 / CPU_EVENT_NS as f64;
    assert!(
        (2.5..2.7).contains(&doubled),
        "grows with about the power 1.4: {doubled}"
    );
}
