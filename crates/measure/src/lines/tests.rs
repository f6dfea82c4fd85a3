// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_circle_goes_through_all() {
    for length in [2, 3, 128, 1000] {
        let next = circle(length);
        let mut seen = vec![false; length];
        let mut at = 0;
        for _ in 0..length {
            assert!(!seen[at], "{length}");
            seen[at] = true;
            at = next[at] as usize;
        }
        assert_eq!(at, 0, "{length}");
    }
}

#[test]
fn a_load_from_more_memory_takes_no_less() {
    let cpu = crate::usable().unwrap()[0];
    let near = load(cpu, 16 << 10).unwrap();
    let far = load(cpu, 64 << 20).unwrap();
    assert!(near <= far, "{near} and {far}");
}

#[test]
fn a_fetch_ends_however_busy_the_cpus_are() {
    // On one CPU the two never run at the same time.
    let cpu = crate::usable().unwrap()[0];
    let start = Instant::now();
    let _ = fetch(cpu, cpu);
    assert!(start.elapsed() < 100 * PATIENCE);
    assert!(fetch(1023, cpu).is_err());
}
