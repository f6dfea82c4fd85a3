// SPDX-License-Identifier: GPL-2.0-only
//! `schbench` (24e32b8, and 99faedc where the line has its `-c`): the report at its end. Those of each
//! `-i` seconds are left out.

use alight_sim::{Figures, Tally};
use alight_workload::report::{Schbench, SchbenchForm};

/// Percentiles that are computed, in thousandths.
const PERCENTILES: [u32; 5] = [200, 500, 900, 990, 999];
/// Of these the ones that are printed, for latencies and for the requests a second.
const OF_LATENCIES: [u32; 4] = [500, 900, 990, 999];
const OF_RPS: [u32; 3] = [200, 500, 900];

pub(super) fn print(schbench: &Schbench, figures: &Figures) -> Option<String> {
    if !figures.over {
        return None;
    }
    Some(match schbench.form {
        SchbenchForm::Requests => requests(schbench, figures),
        SchbenchForm::Pipe { bytes, workers } => {
            wakeups(schbench, figures, &PERCENTILES) + &transfers(schbench, figures, workers, bytes)
        }
        SchbenchForm::Old {
            workers,
            pipe_bytes,
        } => {
            let latencies = old_latencies(&figures.tallies[schbench.wakeup as usize]);
            match pipe_bytes {
                0 => latencies,
                bytes => latencies + &transfers(schbench, figures, workers, bytes),
            }
        }
    })
}

fn wakeups(schbench: &Schbench, figures: &Figures, printed: &[u32]) -> String {
    show(
        schbench,
        figures,
        ("Wakeup Latencies", "usec"),
        schbench.wakeup,
        (printed, 990),
    )
}

/// A label and its unit; the percentiles that are printed and the one with a star.
fn show(
    schbench: &Schbench,
    figures: &Figures,
    (label, units): (&str, &str),
    tally: u32,
    (printed, starred): (&[u32], u32),
) -> String {
    let tally = &figures.tallies[tally as usize];
    let runtime = schbench.runtime_s;
    let count = tally.count();
    format!("{label} percentiles ({units}) runtime {runtime} (s) ({count} total samples)\n")
        + &percentiles(tally, printed, starred)
}

fn requests(schbench: &Schbench, figures: &Figures) -> String {
    let mut text = wakeups(schbench, figures, &OF_LATENCIES);
    let latencies = ("Request Latencies", "usec");
    text += &show(
        schbench,
        figures,
        latencies,
        schbench.request,
        (&OF_LATENCIES, 990),
    );
    text += &show(
        schbench,
        figures,
        ("RPS", "requests"),
        schbench.rps,
        (&OF_RPS, 500),
    );
    let loops = figures.counters[schbench.loops as usize];
    let average = loops as f64 / f64::from(schbench.runtime_s);
    text += &format!("average rps: {average:.2}\n");
    // The tool reads the schedstat files of threads that are gone by then, and finds nothing.
    text += "sched delay: message 0 (usec) worker 0 (usec)\n";
    text
}

/// What a worker sent, in the mean of so many.
fn transfers(schbench: &Schbench, figures: &Figures, among: u32, bytes: u32) -> String {
    const UNITS: [&str; 6] = ["B", "KB", "MB", "GB", "TB", "PB"];
    let loops = figures.counters[schbench.loops as usize];
    let per_s = loops as f64 / f64::from(schbench.runtime_s) / f64::from(among);
    let (mut size, mut unit) = (per_s * f64::from(bytes), 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    let unit = UNITS[unit];
    format!("avg worker transfer: {per_s:.2} ops/sec {size:.2}{unit}/s\n")
}

/// `show_latencies` of the old tool; its least latency begins at 0 and stays there.
fn old_latencies(tally: &Tally) -> String {
    let mut text = "Latency percentiles (usec)\n".to_owned();
    for per_mille in [500, 750, 900, 950, 990, 995, 999] {
        let (value, _) = tally.percentile(per_mille).unwrap_or((0, 0));
        let star = if per_mille == 990 { "*" } else { "" };
        let (percent, tenth) = (per_mille / 10, per_mille % 10);
        text += &format!("\t{star}{percent}.{tenth}th: {value}\n");
    }
    text + &format!("\tmin=0, max={}\n", tally.max())
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
