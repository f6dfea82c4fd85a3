// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps: those of a queue, of groups, and whether a task fits.

use super::*;
use crate::testbed::{
    Given, MS, Record, begin_grouped, begin_under, big_little, machine, task, workload, writing,
};
use alight_machine::Governor;
use alight_workload::program::{Attributes, Op, Workload};

const FIXED: (&str, Governor) = ("linux-6.5", Governor::Performance);

fn hog(start_ns: u64, cpu: u32) -> Given {
    task(start_ns, &[Op::Run { ns: 1000 * MS }]).on(&[cpu])
}

/// Runs for `ms` from `start_ns` on, within clamps.
fn clamped(start_ns: u64, ms: u64, min: u32, max: u32) -> Given {
    let mut given = task(start_ns, &[Op::Run { ns: ms * MS }]).on(&[0]);
    given.attributes.uclamp_min = Some(min);
    given.attributes.uclamp_max = Some(max);
    given
}

#[test]
fn the_largest_clamp_counts_until_its_bucket_is_empty() {
    let (mut counts, mut queue) = (Counts::default(), 0);
    for (joins, clamp, expected, because) in [
        (true, 300, 300, "the first"),
        (true, 250, 300, "no more than that"),
        (false, 300, 300, "the bucket from 205 to 409 is not empty"),
        (true, 100, 300, "another bucket"),
        (false, 250, 100, "the bucket is empty: the next below"),
        (true, 1024, 1024, "the last bucket is wider"),
        (true, 820, 1024, "in the same"),
        (false, 1024, 1024, "which keeps its largest"),
        (false, 820, 100, "until it is empty"),
    ] {
        queue = match joins {
            true => counts.join(queue, clamp),
            false => counts.leave(queue, clamp).expect("others are left"),
        };
        assert_eq!(queue, expected, "{because}");
    }
    assert_eq!(counts.leave(queue, 100), None, "the last one");
}

#[test]
fn a_queue_is_clamped_as_its_least_clamped_task_is() {
    // Two tasks share CPU 0 from 10 ms on; the first is done after 10 + 20 ms.
    let tasks = [clamped(0, 20, 100, 300), clamped(10 * MS, 20, 50, 700)];
    let mut record = Record::default();
    begin_under(
        FIXED,
        &machine(1, 1),
        &workload(&tasks),
        &mut record,
        |sim| {
            let clamps = |sim: &crate::dispatch::Sim| {
                let queue = &sim.core.cpus[0];
                (queue.uclamp_min, queue.uclamp_max, queue.uclamp_idle)
            };
            assert_eq!(clamps(sim), (0, 1024, 1), "nobody was there yet");
            sim.until(5 * MS);
            assert_eq!(clamps(sim), (100, 300, 0));
            sim.until(15 * MS);
            assert_eq!(clamps(sim), (100, 700, 0), "the larger of each");
            sim.until(60 * MS);
            assert_eq!(
                clamps(sim),
                (0, 700, 1),
                "the last leaves its upper clamp behind"
            );
        },
    );
}

#[test]
fn whoever_was_queued_before_the_first_clamp_is_not_counted() {
    let asks = [
        Op::Run { ns: 10 * MS },
        Op::SetAttributes { attributes: 0 },
        Op::Run { ns: 100 * MS },
    ];
    let workload = Workload {
        attributes: vec![Attributes {
            uclamp_max: Some(200),
            ..Attributes::default()
        }],
        ..workload(&[task(0, &asks).on(&[0]), hog(MS, 0)])
    };
    for (base, before, after) in [("linux-6.5", 0, 200), ("linux-5.5", 1, 1024)] {
        let rules = (base, Governor::Performance);
        let mut record = Record::default();
        begin_under(rules, &machine(1, 1), &workload, &mut record, |sim| {
            sim.until(2 * MS);
            assert_eq!(sim.core.root.uclamp_used, before, "{base}");
            sim.until(60 * MS);
            assert_eq!(sim.core.root.uclamp_used, 1, "{base}");
            assert_eq!(sim.core.cpus[0].uclamp_max, after, "{base}");
        });
    }
}

#[test]
fn a_task_fits_with_its_clamps_by_the_rule_of_the_base() {
    // A small CPU has 512, of which 409 fit.
    for (base, util, min, max, fits, because) in [
        ("linux-5.4", 400, 900, 1024, true, "clamps do not count yet"),
        ("linux-5.5", 400, 900, 1024, false, "900 in place of 400"),
        ("linux-5.5", 900, 0, 300, true, "300 in place of 900"),
        ("linux-6.5", 400, 0, 1024, true, "no clamps"),
        (
            "linux-6.5",
            410,
            0,
            1024,
            false,
            "four fifths of 512 is 409",
        ),
        (
            "linux-6.5",
            900,
            0,
            512,
            true,
            "limited to what the CPU has",
        ),
        (
            "linux-6.5",
            400,
            600,
            1024,
            false,
            "the lower clamp is out of reach",
        ),
        ("linux-6.5", 400, 512, 1024, true, "this one is not"),
        ("linux-5.10", 400, 600, 1024, false, "out of reach"),
        ("linux-5.10", 400, 512, 1024, true, "this one is not"),
        ("linux-5.15", 900, 0, 512, true, "limited to what it has"),
        (
            "linux-5.15",
            900,
            600,
            512,
            true,
            "a cap counts above a floor",
        ),
    ] {
        let rules = (base, Governor::Performance);
        let mut record = Record::default();
        begin_under(
            rules,
            &big_little(2),
            &workload(&[hog(0, 0)]),
            &mut record,
            |sim| {
                sim.core.root.uclamp_used = 1;
                let mut task = sim.views[0];
                task.pelt.util_avg = util;
                (task.uclamp_min, task.uclamp_max) = (min, max);
                assert_eq!(sim.task_fits(&task, 0), fits, "{base}: {because}");
            },
        );
    }
}

#[test]
fn all_of_the_biggest_cpu_is_no_limit() {
    let mut record = Record::default();
    begin_under(FIXED, &big_little(2), &workload(&[]), &mut record, |sim| {
        sim.core.root.uclamp_used = 1;
        assert_eq!(sim.util_fits(1, 1000, 0, 1024), Fits::No);
        assert_eq!(sim.util_fits(1, 1000, 0, 1023), Fits::Yes);
        assert_eq!(sim.util_fits(0, 100, 600, 1024), Fits::ButForMin);
    });
}

/// util_fits_cpu() of 5.10.262 and 5.15.215: there is no third answer. The biggest CPU reaches any
/// lower clamp, and an inverted CPU counts with its remaining capacity.
#[test]
fn the_last_updates_of_5_10_and_5_15_say_yes_or_no() {
    // CPU, capacity inverted, utilization, clamps, fits
    let table = [
        (0, 0, 100, (600, 1024), false),
        (0, 0, 100, (512, 1024), true),
        (1, 0, 100, (1024, 1024), true),
        (1, 0, 1000, (0, 1024), false),
        (1, 400, 100, (500, 1024), false),
        (1, 400, 100, (400, 1024), true),
        (1, 400, 900, (0, 500), false),
        (1, 400, 900, (0, 400), true),
    ];
    for base in ["linux-5.10", "linux-5.15"] {
        let rules = (base, Governor::Performance);
        let mut record = Record::default();
        let none = workload(&[]);
        begin_under(rules, &big_little(2), &none, &mut record, |sim| {
            sim.core.root.uclamp_used = 1;
            sim.core.cpus[1].hw_pressure = 300;
            for (cpu, inverted, util, (min, max), fits) in table {
                sim.core.cpus[1].capacity_inverted = inverted;
                let expected = if fits { Fits::Yes } else { Fits::No };
                let found = sim.util_fits(cpu, util, min, max);
                assert_eq!(found, expected, "{base}: CPU {cpu}, {util}, {min}, {max}");
            }
        });
    }
}

/// 20 % of 1024, as in `cpu.uclamp.min` (`capacity_from_percent`).
const PERCENT_20: u32 = 205;
const PERCENT_40: u32 = 410;
const PERCENT_50: u32 = 512;
const PERCENT_60: u32 = 614;
const PERCENT_80: u32 = 819;

/// The example of Documentation/scheduler/sched-util-clamp.rst, "cgroup", and the rule up to Linux
/// 5.7.
#[test]
fn a_group_limits_what_its_tasks_ask_for_from_both_sides() {
    let none = SystemClamps::default();
    let low = SystemClamps {
        min: 300,
        max: 500,
        ..none
    };
    let cgroup0 = Some((PERCENT_20, PERCENT_60));
    let cgroup1 = Some((PERCENT_60, PERCENT_80));
    let p0 = (None, None);
    let p1 = (Some(PERCENT_40), Some(PERCENT_50));
    for (base, asked, group, system, effective, because) in [
        (
            "6.1",
            p0,
            cgroup0,
            none,
            (PERCENT_20, PERCENT_60),
            "the group's",
        ),
        ("6.1", p1, cgroup0, none, (PERCENT_40, PERCENT_50), "intact"),
        (
            "6.1",
            p1,
            cgroup1,
            none,
            (PERCENT_60, PERCENT_60),
            "lifted to the protection",
        ),
        (
            "7.2",
            p1,
            cgroup1,
            none,
            (PERCENT_60, PERCENT_60),
            "as before",
        ),
        (
            "6.1",
            p0,
            None,
            low,
            (0, 500),
            "asks for no more than it needs",
        ),
        (
            "6.1",
            p1,
            None,
            low,
            (300, 500),
            "the system's are ceilings",
        ),
        ("6.1", p1, cgroup1, low, (300, 500), "of groups, too"),
        (
            "5.5",
            p0,
            cgroup0,
            none,
            (PERCENT_20, PERCENT_60),
            "who asks for nothing gets all",
        ),
        (
            "5.5",
            p1,
            cgroup1,
            none,
            (PERCENT_40, PERCENT_50),
            "no protection is enforced",
        ),
        (
            "5.5",
            p1,
            cgroup0,
            none,
            (PERCENT_20, PERCENT_50),
            "a ceiling, even of the lower clamp",
        ),
    ] {
        let groups: Vec<Cgroup> = (group.iter())
            .map(|&(uclamp_min, uclamp_max)| Cgroup {
                uclamp_min,
                uclamp_max,
                ..Cgroup::new("/g")
            })
            .collect();
        let mut given = hog(0, 0);
        (given.attributes.uclamp_min, given.attributes.uclamp_max) = asked;
        given.attributes.group = group.map(|_| "/g".to_owned());
        let base = format!("linux-{base}");
        let sysctls = writing(system);
        let limits = (&groups[..], &sysctls[..]);
        begin_grouped(limits, &base, &machine(1, 1), &workload(&[given]), |sim| {
            sim.until(MS);
            let view = &sim.views[0];
            let found = (view.uclamp_min, view.uclamp_max);
            assert_eq!(found, effective, "{base}, {asked:?}: {because}");
            let queue = &sim.core.cpus[0];
            let counted = (queue.uclamp_min.into(), queue.uclamp_max.into());
            assert_eq!(counted, effective, "{base}: as counted on the queue");
        });
    }
}

#[test]
fn real_time_tasks_that_ask_for_nothing_get_the_systems_default() {
    let fifo = || hog(0, 0).policy(alight_workload::program::Policy::Fifo);
    for (min_rt_default, asked, expected) in
        [(1024, None, 1024), (200, None, 200), (200, Some(900), 900)]
    {
        let mut given = fifo();
        given.attributes.rt_priority = Some(1);
        given.attributes.uclamp_min = asked;
        let system = SystemClamps {
            min_rt_default,
            ..SystemClamps::default()
        };
        let machine = machine(1, 1);
        begin_grouped(
            (&[], &writing(system)),
            "linux-6.5",
            &machine,
            &workload(&[given]),
            |sim| {
                sim.until(MS);
                assert_eq!(
                    sim.views[0].uclamp_min, expected,
                    "{min_rt_default}, {asked:?}"
                );
            },
        );
    }
}
