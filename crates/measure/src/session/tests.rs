// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn sizes_of_memory_are_of_the_cache_that_is_meant() {
    const MIB: usize = 1 << 20;
    for (cache, l2, inside) in [
        (32 * MIB, MIB, Some(4 * MIB)),
        (16 * MIB, MIB, Some(4 * MIB)),
        (8 * MIB, MIB, Some(2 * MIB)),
        // The L2 is the last level.
        (MIB, MIB, None),
        (2 * MIB, MIB, None),
    ] {
        assert_eq!(within(cache, l2), inside, "{cache} {l2}");
    }
    assert_eq!(beyond(0), 64 * MIB);
    assert_eq!(beyond(105 * MIB), 210 * MIB);
    assert_eq!(beyond(1024 * MIB), 512 * MIB);
}

#[test]
fn a_signal_ends_it_after_a_benchmark_and_leaves_the_host_as_it_was() {
    let affinity = usable().unwrap();
    let options = Options {
        root: "/".into(),
        rounds: 1,
    };
    let mut heard = 0;
    let ended = machine(&options, &AtomicBool::new(true), &mut |_| heard += 1);
    assert!(matches!(ended, Err(NotMeasured::Interrupted)), "{ended:?}");
    assert_eq!(heard, 1);
    assert_eq!(usable().unwrap(), affinity);
}

#[test]
fn tasks_that_run_are_those_of_loadavg() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(running(root.path()), None);
    std::fs::create_dir(root.path().join("proc")).unwrap();
    for (text, tasks) in [
        ("0.32 0.48 0.48 3/154 4242\n", Some(3)),
        ("0.32 0.48\n", None),
        ("\n", None),
    ] {
        std::fs::write(root.path().join("proc/loadavg"), text).unwrap();
        assert_eq!(running(root.path()), tasks, "{text}");
    }
}
