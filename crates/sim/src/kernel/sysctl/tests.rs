// SPDX-License-Identifier: GPL-2.0-only
//! Sysctls: which kernels have them, which values they accept, and their effect.

use super::{Sysctl, Sysctls};
use crate::kernel::KERNELS;
use crate::testbed::{MS, machine, task, with_sysctls, workload};
use alight_workload::program::{Attributes, Op, Policy};

fn parse(texts: &str) -> Vec<Sysctl> {
    texts
        .split_whitespace()
        .map(|text| text.parse().expect(text))
        .collect()
}

fn written(base: &str, texts: &str) -> Result<Sysctls, String> {
    let kernel = KERNELS
        .iter()
        .find(|kernel| kernel.name == base)
        .expect("a base");
    Sysctls::of(kernel, &parse(texts)).map_err(|error| error.to_string())
}

/// For each kernel and value: accepted, or the reason for a refusal.
#[test]
fn a_kernel_takes_what_it_has_within_its_range() {
    const ALL: [&str; 6] = [
        "linux-3.9",
        "linux-5.4",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-7.2",
    ];
    let from = |first: &str| {
        ALL.iter()
            .skip_while(|base| **base != first)
            .copied()
            .collect::<Vec<_>>()
    };
    for (text, bases) in [
        ("sched_rt_runtime_us=-1", from("linux-3.9")),
        ("sched_rt_runtime_us=0", from("linux-3.9")),
        ("sched_rt_runtime_us=1000000", from("linux-3.9")),
        ("sched_rt_period_us=2147483647", from("linux-3.9")),
        ("sched_util_clamp_min=0", from("linux-5.4")),
        (
            "kernel.sched_util_clamp_min=0 sched_util_clamp_max=512",
            from("linux-5.4"),
        ),
        ("sched_util_clamp_min_rt_default=0", from("linux-6.1")),
        ("sched_base_slice_ns=3000000", from("linux-7.2")),
    ] {
        for base in ALL {
            let found = written(base, text);
            assert_eq!(
                found.is_ok(),
                bases.contains(&base),
                "{base}, {text}: {found:?}"
            );
        }
    }
}

#[test]
fn what_the_kernel_refuses_is_refused() {
    for (base, text, words) in [
        ("linux-3.9", "sched_util_clamp_min=0", "came with Linux 5.3"),
        (
            "linux-5.5",
            "sched_util_clamp_min_rt_default=0",
            "came with Linux 5.8",
        ),
        (
            "linux-6.5",
            "sched_base_slice_ns=3000000",
            "came with Linux 6.6",
        ),
        (
            "linux-7.2",
            "sched_util_clamp_min=1025",
            "0 to 1024 (EINVAL)",
        ),
        ("linux-7.2", "sched_util_clamp_min=-1", "0 to 1024 (EINVAL)"),
        (
            "linux-7.2",
            "sched_util_clamp_max=512",
            "write the lower one first",
        ),
        (
            "linux-5.5",
            "sched_rt_runtime_us=-2",
            "or -1 for no limit (EINVAL)",
        ),
        (
            "linux-5.5",
            "sched_rt_runtime_us=1000001",
            "must not be above sched_rt_period_us",
        ),
        (
            "linux-5.5",
            "sched_rt_period_us=0",
            "1 to 2147483647 us (EINVAL)",
        ),
        (
            "linux-5.5",
            "sched_rt_period_us=2147483648",
            "1 to 2147483647 us (EINVAL)",
        ),
        (
            "linux-5.5",
            "sched_rt_period_us=500000 sched_rt_runtime_us=400000",
            "write them in an order that keeps",
        ),
        ("linux-7.2", "sched_base_slice_ns=0", "not simulated"),
        (
            "linux-7.2",
            "sched_base_slice_ns=4294967296",
            "1 to 4294967295 ns (EINVAL)",
        ),
        (
            "linux-7.2",
            "sched_base_slice_ns=5 sched_base_slice_ns=5",
            "given twice",
        ),
        (
            "linux-5.5",
            "sched_rt_runtime_us=5 kernel.sched_rt_runtime_us=6",
            "given twice",
        ),
    ] {
        let error = written(base, text).expect_err(text);
        assert!(
            error.contains(words) && error.contains(base),
            "{base}, {text}: {error}"
        );
    }
    assert!(
        written(
            "linux-5.5",
            "sched_rt_runtime_us=400000 sched_rt_period_us=500000"
        )
        .is_ok()
    );
}

/// Runtime of a SCHED_FIFO hog within a second on the only CPU beside a fair hog, ms.
fn fifo_ms(base: &str, sysctls: &str) -> u64 {
    let hog = |policy| {
        task(0, &[Op::Run { ns: 10_000 * MS }])
            .on(&[0])
            .policy(policy)
    };
    let workload = workload(&[hog(Policy::Fifo), hog(Policy::Normal)]);
    let mut ran = 0;
    with_sysctls(&machine(1, 1), &workload, base, &parse(sysctls), |sim| {
        sim.until(4_000 * MS);
        ran = sim.tasks[0].sum_exec / 4 / MS;
    });
    ran
}

/// 950 ms per second on CPUs up to 6.5. From 6.12 on fair tasks have a server instead, regardless
/// of the sysctl.
#[test]
fn the_limit_of_real_time_tasks_is_what_was_written() {
    for (base, sysctls, ms) in [
        ("linux-5.5", "", 950),
        ("linux-5.5", "sched_rt_runtime_us=-1", 1000),
        ("linux-5.5", "sched_rt_runtime_us=0", 1000),
        ("linux-5.5", "sched_rt_runtime_us=500000", 500),
        ("linux-6.5", "sched_rt_runtime_us=1000000", 1000),
        (
            "linux-6.5",
            "sched_rt_runtime_us=30000 sched_rt_period_us=100000",
            300,
        ),
        ("linux-3.9", "sched_rt_runtime_us=250000", 250),
        ("linux-7.2", "", 950),
        ("linux-7.2", "sched_rt_runtime_us=-1", 950),
    ] {
        let ran = fifo_ms(base, sysctls);
        assert!(ran.abs_diff(ms) <= 6, "{base}, {sysctls}: {ran}");
    }
}

/// What SCHED_DEADLINE refuses a task that asks for `percent` of a CPU, on a machine of `cpus`, maybe
/// bound to one of them; empty: it admits it.
fn refused(base: &str, sysctls: &str, cpus: usize, percent: u64, bound: bool) -> String {
    let given = task(0, &[Op::Run { ns: MS }]).policy(Policy::Deadline);
    let mut workload = workload(&[if bound { given.on(&[0]) } else { given }]);
    workload.tasks[0].attributes = Attributes {
        slice_ns: Some(percent * 100_000),
        dl_period_deadline_ns: Some((10 * MS, 10 * MS)),
        ..workload.tasks[0].attributes.clone()
    };
    let mut refusal = String::new();
    let machine = machine(cpus, cpus);
    with_sysctls(&machine, &workload, base, &parse(sysctls), |sim| {
        sim.until(50 * MS);
        refusal = sim.take_refusal().unwrap_or_default();
    });
    refusal
}

/// With -1 SCHED_DEADLINE admits anything, also tasks that are bound to fewer CPUs than there are.
#[test]
fn the_limit_admits_tasks_of_sched_deadline() {
    for (base, sysctls, percent, bound, admitted) in [
        ("linux-5.5", "", 94, false, true),
        ("linux-5.5", "", 96, false, true),
        ("linux-5.5", "sched_rt_runtime_us=400000", 79, false, true),
        ("linux-5.5", "sched_rt_runtime_us=400000", 81, false, false),
        ("linux-5.5", "sched_rt_runtime_us=-1", 100, false, true),
        ("linux-5.5", "", 10, true, false),
        ("linux-5.5", "sched_rt_runtime_us=-1", 10, true, true),
        ("linux-7.2", "sched_rt_runtime_us=0", 1, false, false),
        ("linux-7.2", "sched_rt_runtime_us=-1", 10, true, true),
    ] {
        let found = refused(base, sysctls, 2, percent, bound);
        assert_eq!(
            found.is_empty(),
            admitted,
            "{base}, {sysctls}, {percent} %: {found}"
        );
    }
}

/// The limit is 95 % of a CPU, from 7.2 on 100 %. From 6.12 on the fair server has 5 % of it.
#[test]
fn the_limit_by_default() {
    for (base, most) in [
        ("linux-5.5", 95),
        ("linux-6.5", 95),
        ("linux-6.12", 90),
        ("linux-7.1", 90),
        ("linux-7.2", 95),
        ("linux-7.3", 95),
    ] {
        for (percent, admitted) in [(most - 1, true), (most + 1, false)] {
            let found = refused(base, "", 1, percent, false);
            assert_eq!(found.is_empty(), admitted, "{base}, {percent} %: {found}");
        }
    }
}

/// Two hogs on one CPU alternate, a slice each: the longer the slice, the fewer switches.
#[test]
fn turns_are_as_long_as_the_slice() {
    let hog = || task(0, &[Op::Run { ns: 10_000 * MS }]).on(&[0]);
    let workload = workload(&[hog(), hog()]);
    for (sysctls, ms) in [
        ("sched_base_slice_ns=8000000", 8),
        ("sched_base_slice_ns=20000000", 20),
    ] {
        with_sysctls(
            &machine(1, 1),
            &workload,
            "linux-7.2",
            &parse(sysctls),
            |sim| {
                sim.until(2_000 * MS);
                let turns = sim.stats.switches.seen();
                // A slice ends at the tick behind it; ticks come every 4 ms at most.
                let (most, least) = (2_000 / ms, 2_000 / (ms + 8));
                assert!((least..=most + 5).contains(&turns), "{sysctls}: {turns}");
            },
        );
    }
}
