// SPDX-License-Identifier: GPL-2.0-only
//! `cyclictest` (rt-tests 2.4, src/cyclictest/cyclictest.c): a line for each thread, as with `-q`.
//! Histograms (`-h`, `-H`) are left out.

use alight_sim::{Figures, Tally};
use alight_workload::report::{CyclicThread, Cyclictest};

/// Minimum of a thread that has not run a cycle.
const NO_MINIMUM_US: u64 = 1_000_000;

pub(super) fn print(cyclictest: &Cyclictest, figures: &Figures) -> String {
    let mut text = String::new();
    if let Some(us) = cyclictest.dma_latency_us {
        text += &format!("# /dev/cpu_dma_latency set to {us}us\n");
    }
    for (index, thread) in cyclictest.threads.iter().enumerate() {
        text += &line(index, thread, figures);
    }
    text
}

fn line(index: usize, thread: &CyclicThread, figures: &Figures) -> String {
    let latency: &Tally = &figures.tallies[thread.latency as usize];
    format!(
        "T:{index:2} ({:5}) P:{:2} I:{} C:{:7} Min:{:7} Act:{:5} Avg:{:5} Max:{:8}\n",
        figures.first_pid + thread.task,
        thread.priority,
        thread.interval_us,
        latency.count(),
        latency.min().unwrap_or(NO_MINIMUM_US),
        latency.last(),
        latency.sum().checked_div(latency.count()).unwrap_or(0),
        latency.max(),
    )
}
