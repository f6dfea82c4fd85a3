// SPDX-License-Identifier: GPL-2.0-only
//! `schbench` (24e32b8): the report at its end. Those of each `-i` seconds are left out.

use alight_sim::{Figures, Tally};
use alight_workload::report::Schbench;

/// Percentiles that are computed, in thousandths.
const PERCENTILES: [u32; 5] = [200, 500, 900, 990, 999];
/// Of these the ones that are printed, for latencies and for the requests a second.
const OF_LATENCIES: [u32; 4] = [500, 900, 990, 999];
const OF_RPS: [u32; 3] = [200, 500, 900];

pub(super) fn print(schbench: &Schbench, figures: &Figures) -> Option<String> {
    if !figures.over {
        return None;
    }
    let show = |label: &str, units: &str, tally: u32, printed: &[u32], starred: u32| {
        let tally = &figures.tallies[tally as usize];
        let runtime = schbench.runtime_s;
        let count = tally.count();
        format!("{label} percentiles ({units}) runtime {runtime} (s) ({count} total samples)\n")
            + &percentiles(tally, printed, starred)
    };
    let mut text = show(
        "Wakeup Latencies",
        "usec",
        schbench.wakeup,
        &OF_LATENCIES,
        990,
    );
    text += &show(
        "Request Latencies",
        "usec",
        schbench.request,
        &OF_LATENCIES,
        990,
    );
    text += &show("RPS", "requests", schbench.rps, &OF_RPS, 500);
    let loops = figures.counters[schbench.loops as usize];
    let average = loops as f64 / f64::from(schbench.runtime_s);
    text += &format!("average rps: {average:.2}\n");
    // The tool reads the schedstat files of threads that are gone by then, and finds nothing.
    text += "sched delay: message 0 (usec) worker 0 (usec)\n";
    Some(text)
}

/// `show_latencies`: behind a percentile stand the samples between it and the one before, among all
/// that are computed.
fn percentiles(tally: &Tally, printed: &[u32], starred: u32) -> String {
    let mut text = String::new();
    let mut before = 0;
    for per_mille in PERCENTILES {
        let (value, below) = tally.percentile(per_mille).unwrap_or((0, 0));
        if printed.contains(&per_mille) {
            let star = if per_mille == starred { "* " } else { "  " };
            let (percent, tenth) = (per_mille / 10, per_mille % 10);
            let samples = below - before;
            text += &format!("\t{star}{percent}.{tenth}th: {value:<10} ({samples} samples)\n");
        }
        before = below;
    }
    text + &format!("\t  min={}, max={}\n", tally.lowest_seen(), tally.max())
}
