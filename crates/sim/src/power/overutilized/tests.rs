// SPDX-License-Identifier: GPL-2.0-only
//! When a CPU and the root domain are overutilized, and when that ends.

use crate::dispatch::exec::TIMER_SLACK;
use crate::testbed::{Given, MS, Record, begin_under, big_little, task, workload};
use alight_machine::Governor;
use alight_workload::program::{Attributes, Op, Workload};

const EAS: (&str, Governor) = ("linux-5.5", Governor::Schedutil);

/// Work that takes `ms` on a big CPU.
fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn hog(cpu: u32) -> Given {
    task(0, &[run(1000)]).on(&[cpu])
}

#[test]
fn a_cpu_is_overutilized_from_four_fifths_on() {
    let mut record = Record::default();
    begin_under(EAS, &big_little(4), &workload(&[]), &mut record, |sim| {
        for (cpu, util, expected) in [
            (0, 409, false), // 409 * 1280 < 512 * 1024
            (0, 410, true),
            (2, 819, false), // 819 * 1280 < 1024 * 1024
            (2, 820, true),
        ] {
            sim.core.root.overutilized = 0;
            sim.core.cpus[cpu].cfs.util_avg = util;
            sim.overutilized_update(cpu);
            let found = sim.core.root.overutilized != 0;
            assert_eq!(found, expected, "CPU {cpu}, utilization {util}");
        }
    });
}

/// cpu_overutilized(): where util_fits_cpu() answers yes or no, a lower clamp above the CPU's
/// capacity gives no.
#[test]
fn a_lower_clamp_out_of_reach_overutilizes_up_to_5_15() {
    for (base, expected) in [
        ("linux-5.10", true),
        ("linux-5.15", true),
        ("linux-6.1", false),
        ("linux-7.2", false),
    ] {
        let rules = (base, Governor::Schedutil);
        let mut record = Record::default();
        begin_under(rules, &big_little(4), &workload(&[]), &mut record, |sim| {
            sim.core.root.uclamp_used = 1;
            (sim.core.cpus[0].uclamp_min, sim.core.cpus[0].uclamp_idle) = (600, 0);
            sim.core.root.overutilized = 0;
            sim.overutilized_update(0);
            let found = sim.core.root.overutilized != 0;
            assert_eq!(found, expected, "{base}");
            (sim.core.cpus[0].uclamp_min, sim.core.cpus[0].uclamp_idle) = (0, 1);
        });
    }
}

#[test]
fn a_hog_on_a_small_cpu_is_noticed_at_a_tick() {
    // A new task starts with half of the CPU: 256. The difference to 1024 halves every 32 ms, or
    // every 64 ms on a CPU of half speed: 410 is passed after 21 ms.
    let mut record = Record::default();
    begin_under(
        EAS,
        &big_little(4),
        &workload(&[hog(0)]),
        &mut record,
        |sim| {
            sim.until(20 * MS);
            assert_eq!(sim.core.root.overutilized, 0);
            sim.until(25 * MS);
            assert_eq!(sim.core.root.overutilized, 1);
        },
    );
}

#[test]
fn a_wakeup_notices_too_but_not_a_fork() {
    let wakes = [run(1), Op::Sleep { ns: MS / 10 }, run(1)];
    let tasks = [task(0, &wakes).on(&[0])];
    let mut record = Record::default();
    begin_under(EAS, &big_little(4), &workload(&tasks), &mut record, |sim| {
        // Less capacity than the task's estimate needs.
        sim.core.cpus[0].capacity = 300;
        sim.until(0);
        assert_eq!(sim.core.cpus[0].cfs.util_avg, 256);
        assert_eq!(sim.core.root.overutilized, 0, "forked");
        sim.until(2 * MS + MS / 10 + TIMER_SLACK);
        assert_eq!(sim.core.root.overutilized, 1, "woken");
    });
}

#[test]
fn only_a_look_at_all_cpus_clears_it() {
    let mut record = Record::default();
    begin_under(EAS, &big_little(4), &workload(&[]), &mut record, |sim| {
        for (util, cpus, topmost, expected, because) in [
            (900, 0..2, false, 0, "not the CPU that is"),
            (900, 2..4, false, 1, "part of the CPUs is enough to set it"),
            (800, 2..4, false, 1, "but not to clear it"),
            (800, 0..4, true, 0, "all of them are"),
            (900, 0..4, true, 1, "CPU 2"),
        ] {
            sim.core.cpus[2].cfs.util_avg = util;
            sim.overutilized_seen(&cpus.collect(), topmost);
            assert_eq!(sim.core.root.overutilized, expected, "{because}");
        }
    });
}

/// Two tasks that each use a tenth of CPU 2 for 200 ms, then all that they can get. The second may
/// then move to CPU 3.
fn crowd() -> Workload {
    let tenth = [
        Op::LoopBegin {
            slot: 0,
            count: 20,
            end: 4,
        },
        run(1),
        Op::Sleep { ns: 9 * MS },
        Op::LoopEnd { slot: 0, begin: 1 },
    ];
    let stays = [&tenth[..], &[run(1000)]].concat();
    let goes = [
        &tenth[..],
        &[Op::SetAttributes { attributes: 0 }, run(1000)],
    ]
    .concat();
    Workload {
        attributes: vec![Attributes {
            affinity: Some(vec![2, 3]),
            ..Attributes::default()
        }],
        ..workload(&[task(0, &stays).on(&[2]), task(0, &goes).on(&[2])])
    }
}

#[test]
fn nothing_is_pulled_while_no_cpu_is_overutilized() {
    // The difference to 1024 halves every 32 ms: 820 is passed after some 60 ms.
    for (governor, soon) in [(Governor::Performance, 3), (Governor::Schedutil, 2)] {
        let rules = ("linux-5.5", governor);
        let mut record = Record::default();
        begin_under(rules, &big_little(4), &crowd(), &mut record, |sim| {
            sim.until(240 * MS);
            assert_eq!(sim.tasks[1].cpu, soon, "{governor:?}");
            sim.until(320 * MS);
            assert_eq!(sim.tasks[1].cpu, 3, "{governor:?}");
        });
    }
}
