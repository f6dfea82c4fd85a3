// SPDX-License-Identifier: GPL-2.0-only

use super::descriptors::sleeps;
use super::interrupts::{PERIOD, SETTLES, TIMERS, gaps_of, timers};
use super::*;

#[test]
fn every_cost_is_measured_here_too() {
    let measured = measure(Path::new("/")).expect("pipes and threads are to be had");
    for (name, ns) in &measured.costs {
        assert!(*ns < 100_000_000, "{name}: {ns} ns");
    }
    let cost = |name: &str| {
        let found = measured.costs.iter().find(|(known, _)| *known == name);
        found.expect("measured").1
    };
    // A system call is not free, and a switch is dearer than a lock that nobody has.
    assert!(cost("pipe_ns") > 0 && cost("yield_ns") > 0 && cost("timer_ns") > 0);
    assert!(cost("switch_ns") > cost("mutex_ns"));
}

/// Interrupts of 2.6 us, one in 500 looks at the clock, are all found, whether a look takes 30 ns or,
/// as at HPET's, 1.5 us with a fifth more now and then.
#[test]
fn an_interrupt_is_a_gap_however_slow_the_clock_is() {
    for (look, uneven) in [(30, 0), (30, 6), (1500, 0), (1500, 300)] {
        let (mut now, mut looks) = (0, 0);
        let clock = || {
            looks += 1;
            now += look + looks % 7 * uneven / 6;
            if looks % 500 == 0 {
                now += 2600;
            }
            now
        };
        let found = gaps_of(clock, 10_000 * look);
        assert_eq!(found.len() as u64, looks / 500, "{look}, {uneven}");
        let told = found.iter().all(|gap| (2600..=2900).contains(gap));
        assert!(told, "{look}, {uneven}: {found:?}");
    }
}

#[test]
fn each_timer_that_is_looked_at_interrupts() {
    let timers = timers().unwrap();
    assert_eq!(timers.len(), TIMERS as usize);
    thread::sleep(SETTLES + PERIOD * (TIMERS + 1));
    for timer in timers {
        let mut expired = [0; 8];
        assert_eq!(rustix::io::read(&timer, &mut expired).unwrap(), 8);
        assert_eq!(u64::from_ne_bytes(expired), 1);
    }
}

/// Whatever the scheduler thinks of the two: else half a wakeup is taken for a whole one.
#[test]
fn a_hop_is_to_a_sleeper() {
    let usable = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU)
        .find(|&cpu| usable.is_set(cpu))
        .expect("a CPU");
    std::thread::spawn(move || {
        let before = sleeps().unwrap();
        hop(only(&[first]), only(&[first])).unwrap();
        let rounds = i64::from(BATCHES as u32 * (CALLS / 4));
        let slept = sleeps().unwrap() - before;
        assert!(slept >= rounds * 3 / 4, "{slept} of {rounds}");
    })
    .join()
    .unwrap();
}

/// What of it a thread's fork takes may be all, where this machine is busy.
#[test]
fn a_shells_forks_take_time_where_the_kernel_counts() {
    let counts = Path::new("/proc/self/schedstat").exists();
    assert_eq!(fork_process().is_some_and(|ns| ns > 1000), counts);
}

#[test]
fn what_the_config_says_is_read_from_boot() {
    let root = tempfile::tempdir().unwrap();
    for directory in ["proc/sys/kernel", "boot"] {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    assert_eq!(super::config(root.path()), None);
    std::fs::write(root.path().join("proc/sys/kernel/osrelease"), "7.2.1\n").unwrap();
    let text = "CONFIG_HZ_250=y\nCONFIG_HZ=250\n";
    std::fs::write(root.path().join("boot/config-7.2.1"), text).unwrap();
    assert_eq!(super::config(root.path()).as_deref(), Some(text));
}

#[test]
fn the_config_says_how_time_is_counted() {
    for (config, rate, irq) in [
        ("", None, false),
        ("CONFIG_HZ_250=y\nCONFIG_HZ=250\n", Some(250), false),
        (
            "# CONFIG_IRQ_TIME_ACCOUNTING is not set\nCONFIG_HZ=1000\n",
            Some(1000),
            false,
        ),
        ("CONFIG_IRQ_TIME_ACCOUNTING=y\n", None, true),
    ] {
        assert_eq!(
            (hz(config), irq_time_accounting(config)),
            (rate, irq),
            "{config}"
        );
    }
}

#[test]
fn a_feature_that_is_off_begins_with_no() {
    let root = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("proc/sys/kernel/osrelease", "7.2.13+deb14-amd64\n");
    assert_eq!(hrtick(root.path()), None, "debugfs is not mounted");
    let off = "PLACE_LAG NO_HRTICK HRTICK_DL\n";
    let on = "A HRTICK B\n";
    for (release, features, says) in [
        ("7.2.13+deb14-amd64\n", off, Some(false)),
        ("7.1.3\n", on, Some(true)),
        ("7.2-rc1\n", on, Some(true)),
        ("10.0.1\n", on, Some(true)),
        // Off is the default of these on every machine.
        ("7.0.14\n", off, None),
        ("6.1.0-50-amd64\n", off, None),
        ("6.18.15\n", on, None),
        ("custom\n", off, None),
    ] {
        write("proc/sys/kernel/osrelease", release);
        write("sys/kernel/debug/sched/features", features);
        assert_eq!(hrtick(root.path()), says, "{release} {features}");
    }
}

#[test]
fn the_tick_is_one_of_the_usual_ones() {
    let hz = running_hz();
    assert!([100, 250, 300, 1000].map(Some).contains(&hz), "{hz:?}");
}
