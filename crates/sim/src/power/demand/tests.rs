// SPDX-License-Identifier: GPL-2.0-only
//! The performance that schedutil wants, by version and class.

use super::*;
use alight_policy::Scheduler;

fn params(base: &str) -> Params {
    Scheduler::parse(base).expect("a base").params
}

/// A CPU of capacity 446 whose fair tasks use `util_avg`.
fn cpu(util_avg: u32) -> Cpu {
    let mut view = Cpu {
        capacity_orig: 446,
        ..Cpu::default()
    };
    view.cfs.util_avg = util_avg;
    view
}

/// Frequency for a CPU of at most 850 MHz, kHz; `clamps`: a task uses them.
fn khz(base: &str, view: &Cpu, clamps: bool) -> u32 {
    let params = params(base);
    of_all(&params, view, clamps).frequency(&params, 850_000)
}

#[test]
fn a_quarter_more_than_is_used() {
    for (base, util, expected) in [
        ("linux-5.5", 188, 447_869), // 1062500 * 188 / 446
        ("linux-5.5", 189, 450_252),
        ("linux-6.1", 189, 449_775), // 850000 * (189 + 47) / 446: rounded before
        ("linux-7.2", 189, 449_775),
        ("linux-5.5", 446, 1_062_500),
        ("linux-6.1", 446, 1_061_547),
        ("linux-7.2", 446, 850_000), // no more than the CPU has
    ] {
        assert_eq!(khz(base, &cpu(util), false), expected, "{base}, {util}");
    }
}

#[test]
fn clamps_hold_before_or_after_the_quarter() {
    let clamped_to = |min, max| Cpu {
        uclamp_min: min,
        uclamp_max: max,
        ..cpu(200)
    };
    for (base, view, expected, because) in [
        ("linux-6.1", clamped_to(0, 100), 125, "100 and a quarter"),
        ("linux-7.2", clamped_to(0, 100), 100, "no more than 100"),
        ("linux-6.1", clamped_to(300, 1024), 375, "300 and a quarter"),
        ("linux-7.2", clamped_to(300, 1024), 300, "at least 300"),
        (
            "linux-7.2",
            clamped_to(230, 1024),
            250,
            "200 and a quarter is more",
        ),
        ("linux-6.1", clamped_to(0, 1024), 250, "200 and a quarter"),
    ] {
        let perf = khz(base, &view, true);
        let exactly = (850_000 * u64::from(expected as u32) / 446) as u32;
        assert_eq!(perf, exactly, "{base}: {because}");
        let unused = khz(base, &view, false);
        assert_eq!(unused, khz(base, &cpu(200), false), "nobody uses clamps");
    }
}

#[test]
fn tasks_that_wait_count_from_6_5_on() {
    let mut view = cpu(100);
    view.cfs.runnable_avg = 300;
    for (base, util) in [
        ("linux-5.5", 100),
        ("linux-6.1", 100),
        ("linux-6.5", 300),
        ("linux-7.2", 300),
    ] {
        assert_eq!(fair_util(&params(base), &view, true), util, "{base}");
    }
    view.util_est_enqueued = 400;
    assert_eq!(
        fair_util(&params("linux-6.5"), &view, true),
        400,
        "the estimate"
    );
    view.util_est_enqueued = 500;
    assert_eq!(
        fair_util(&params("linux-6.5"), &view, true),
        446,
        "the whole CPU"
    );
}

#[test]
fn real_time_tasks_get_all_unless_clamps_are_used() {
    let view = Cpu {
        rt_nr_running: 1,
        rt_util: 50,
        ..cpu(100)
    };
    for base in ["linux-5.5", "linux-6.1", "linux-7.2"] {
        let params = params(base);
        let (old, new) = (
            clamped(&params, &view, false),
            clamped_last(&params, &view, false),
        );
        assert_eq!((old, new), (446, 446), "{base}");
    }
    // Clamps are in use, and those of the queue do not ask for the top.
    assert_eq!(clamped(&params("linux-6.1"), &view, true), 150);
    assert_eq!(clamped_last(&params("linux-7.2"), &view, true), 187);
}

#[test]
fn deadlines_add_their_bandwidth_then_guarantee_it() {
    let view = Cpu {
        dl_util: 20,
        dl_bandwidth: 90,
        ..cpu(100)
    };
    assert_eq!(
        clamped(&params("linux-6.1"), &view, false),
        190,
        "in place of 20"
    );
    assert_eq!(
        clamped_last(&params("linux-7.2"), &view, false),
        150,
        "120 and a quarter"
    );
    let idle = Cpu {
        cfs: Default::default(),
        ..view
    };
    assert_eq!(
        clamped_last(&params("linux-7.2"), &idle, false),
        90,
        "not less"
    );
}

#[test]
fn interrupts_take_their_part() {
    let view = Cpu {
        irq_util: 46,
        ..cpu(223)
    };
    // 223 of 446 at 400 of 446 of the time is 200, and 46.
    assert_eq!(clamped(&params("linux-6.1"), &view, false), 246);
    assert_eq!(clamped_last(&params("linux-7.2"), &view, false), 246 + 61);
    let all = Cpu {
        irq_util: 446,
        ..view
    };
    assert_eq!(clamped(&params("linux-6.1"), &all, false), 446);
    assert_eq!(clamped_last(&params("linux-7.2"), &all, false), 446);
}

#[test]
fn the_cpu_that_needs_the_highest_clock_decides() {
    let all = [(100, 446), (300, 1024), (220, 446), (0, 446)];
    let highest = all
        .map(|(perf, max)| Demand { perf, max })
        .into_iter()
        .fold(Demand::NONE, Demand::or_higher);
    assert_eq!((highest.perf, highest.max), (220, 446));
}

/// With fair tasks only and without clamps, the shortcut gives the same result.
#[test]
fn of_fair_tasks_alone_the_governor_wants_the_same() {
    let steps = [0, 1, 7, 200, 356, 357, 445, 446, 447, 1024];
    for base in [
        "linux-3.9",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-6.8",
        "linux-7.2",
    ] {
        let params = params(base);
        let boosts = params.util_boost != rule::BOOST_NONE;
        for (util_avg, util_est, runnable) in triples(&steps) {
            for dl_bandwidth in [0, 22, 400, 446, 1024] {
                let mut view = Cpu {
                    util_est_enqueued: util_est,
                    dl_bandwidth,
                    ..cpu(util_avg)
                };
                view.cfs.runnable_avg = runnable;
                assert!(only_fair(&view));
                let (short, long) = (
                    of_fair(&view, params.performance, boosts),
                    of_all(&params, &view, false),
                );
                let found = (short.perf, short.max);
                assert_eq!(found, (long.perf, long.max), "{base} {view:?}");
            }
        }
    }
}

/// All triples of `of`.
fn triples(of: &[u32]) -> impl Iterator<Item = (u32, u32, u32)> {
    let pairs = of.iter().flat_map(|&a| of.iter().map(move |&b| (a, b)));
    pairs.flat_map(|(a, b)| of.iter().map(move |&c| (a, b, c)))
}
