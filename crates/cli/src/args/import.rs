// SPDX-License-Identifier: GPL-2.0-only
//! Traces of other tools: `import`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use alight_import::Moment;
use clap::Args;

use super::values::count;
use alight_ask::duration;

pub const EXAMPLES: &str = "\
Formats, known by their content:
  perf.data   of `perf sched record` and `perf record -e 'sched:*'`, also with -z and through a pipe
  trace.dat   of `trace-cmd record`, versions 6 and 7
  Perfetto    .pftrace, with the data source linux.ftrace
  text        of tracefs (trace), `trace-cmd report` and `perf script`

Exit codes:
  0  the recording is written
  1  it cannot be written
  2  the trace is damaged, is of another format, or does not hold what was asked for

Examples:
  alight import perf.data --inspect
  alight import perf.data -o app.alight --pid 4321
  alight import trace.dat --from 2s --to 12s
  alight import trace.pftrace --from @81.25 --to @83";

#[derive(Args)]
pub struct ImportArgs {
    /// The trace
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the recording to this file [default: FILE with the ending .alight]
    #[arg(short, long, value_name = "OUT", conflicts_with = "inspect")]
    pub output: Option<PathBuf>,
    /// Write nothing; print what the trace holds and what a replay of it will lack
    #[arg(long)]
    pub inspect: bool,
    /// Leave out events before this moment: a time behind the first event, like 2s or 1500ms, or '@'
    /// and seconds of the trace's clock, like @24.215206
    #[arg(long, value_name = "T", value_parser = moment)]
    pub from: Option<Moment>,
    /// Leave out events behind this moment
    #[arg(long, value_name = "T", value_parser = moment)]
    pub to: Option<Moment>,
    /// The workload is this task or process with its descendants; may be repeated. Other tasks stay in
    /// the recording as background [default: all tasks are the workload]
    #[arg(long = "pid", value_name = "PID", value_parser = count::<NonZeroU32>)]
    pub pids: Vec<NonZeroU32>,
    /// The workload is the tasks of this cgroup and of those below it; may be repeated
    #[arg(long = "cgroup", value_name = "PATH")]
    pub cgroups: Vec<String>,
}

/// A time behind the first event, or of the trace's clock.
fn moment(text: &str) -> Result<Moment, String> {
    match text.strip_prefix('@') {
        None => duration::parse(text).map(Moment::AfterFirst),
        Some(clock) => alight_import::seconds(clock)
            .map(Moment::At)
            .ok_or_else(|| {
                "expected seconds of the trace's clock behind '@', such as @24.215206".to_owned()
            }),
    }
}
