// SPDX-License-Identifier: GPL-2.0-only
//! `hackbench` (rt-tests 2.4, src/hackbench/hackbench.c) and `perf bench sched messaging`
//! (Linux 6.1, tools/perf/bench/sched-messaging.c).

use alight_sim::Figures;
use alight_workload::report::{Messaging, PerfFormat};

use super::{elapsed_us, seconds_and_ms};

pub(super) fn hackbench(messaging: &Messaging, figures: &Figures) -> Option<String> {
    let Messaging {
        groups,
        fds,
        loops,
        datasize,
        ..
    } = messaging;
    let mode = match messaging.threads {
        true => "threaded",
        false => "process",
    };
    let descriptors = 2 * fds;
    let tasks = groups * descriptors;
    let time = seconds_and_ms(elapsed_us(messaging.elapsed, figures)?);
    Some(format!(
        "Running in {mode} mode with {groups} groups using {descriptors} file descriptors each \
         (== {tasks} tasks)\n\
         Each sender will pass {loops} messages of {datasize} bytes\n\
         Time: {time}\n"
    ))
}

pub(super) fn perf(messaging: &Messaging, format: PerfFormat, figures: &Figures) -> Option<String> {
    let time = seconds_and_ms(elapsed_us(messaging.elapsed, figures)?);
    if format == PerfFormat::Simple {
        return Some(format!("{time}\n"));
    }
    let Messaging { groups, fds, .. } = messaging;
    let kind = match messaging.threads {
        true => "threads",
        false => "processes",
    };
    let tasks = groups * 2 * fds;
    Some(format!(
        "# Running 'sched/messaging' benchmark:\n\
         # {fds} sender and receiver {kind} per group\n\
         # {groups} groups == {tasks} {kind} run\n\n \
         {:>14}: {time} [sec]\n",
        "Total time"
    ))
}
