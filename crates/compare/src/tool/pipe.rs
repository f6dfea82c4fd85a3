// SPDX-License-Identifier: GPL-2.0-only
//! `perf bench sched pipe` (Linux 6.1, tools/perf/bench/sched-pipe.c).

use alight_sim::Figures;
use alight_workload::report::{PerfFormat, Pipe};

use super::{elapsed_us, seconds_and_ms};

pub(super) fn perf(pipe: &Pipe, format: PerfFormat, figures: &Figures) -> Option<String> {
    let us = elapsed_us(pipe.elapsed, figures)?;
    let time = seconds_and_ms(us);
    if format == PerfFormat::Simple {
        return Some(format!("{time}\n"));
    }
    let loops = pipe.loops;
    let kind = match pipe.threads {
        true => "threads",
        false => "processes",
    };
    let us_per_op = us as f64 / f64::from(loops);
    let ops_per_s = f64::from(loops) / (us as f64 / 1e6);
    Some(format!(
        "# Running 'sched/pipe' benchmark:\n\
         # Executed {loops} pipe operations between two {kind}\n\n \
         {:>14}: {time} [sec]\n\n \
         {us_per_op:>14.6} usecs/op\n \
         {:>14} ops/sec\n",
        "Total time", ops_per_s as i32
    ))
}
