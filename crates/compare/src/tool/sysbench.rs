// SPDX-License-Identifier: GPL-2.0-only
//! `sysbench` 0.4.12 (sysbench/sb_logger.c) and 1.0.20 (src/sysbench.c, src/sb_histogram.c).

use alight_sim::{Figures, Tally};
use alight_workload::report::{Sysbench, SysbenchTest, SysbenchVersion};

/// The percentile that is printed.
const PERCENTILE: u32 = 95;
/// Latencies that the histogram of 1.0 tells apart, ms, and its slots.
const RANGE_MS: (f64, f64) = (0.001, 100_000.0);
const SLOTS: u32 = 1024;

pub(super) fn print(sysbench: &Sysbench, figures: &Figures) -> Option<String> {
    let elapsed_s = super::elapsed_us(sysbench.elapsed, figures)? as f64 / 1e6;
    let latency = &figures.tallies[sysbench.latency as usize];
    let events = figures.counters[sysbench.events as usize];
    let fairness = fairness(sysbench, figures);
    Some(
        match sysbench.version {
            SysbenchVersion::V0_4 => head_0_4(sysbench) + &tail_0_4(elapsed_s, events, latency),
            SysbenchVersion::V1_0 => {
                head_1_0(sysbench, elapsed_s, events) + &tail_1_0(elapsed_s, events, latency)
            }
        } + &fairness,
    )
}

fn head_0_4(sysbench: &Sysbench) -> String {
    let mut text = format!(
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n\
         Running the test with following options:\n\
         Number of threads: {}\n\n",
        sysbench.threads
    );
    text += &match sysbench.test {
        SysbenchTest::Threads { yields, locks } => format!(
            "Doing thread subsystem performance test\n\
             Thread yields per test: {yields} Locks used: {locks}\n\
             Threads started!\nDone.\n\n"
        ),
        SysbenchTest::Cpu { max_prime } => format!(
            "Doing CPU performance benchmark\n\nThreads started!\nDone.\n\n\
             Maximum prime number checked in CPU test: {max_prime}\n\n"
        ),
    };
    text
}

fn tail_0_4(elapsed_s: f64, events: u64, latency: &Tally) -> String {
    let mut text = format!(
        "\nTest execution summary:\n    \
             total time:                          {elapsed_s:.4}s\n    \
             total number of events:              {events}\n    \
             total time taken by event execution: {:.4}\n    \
             per-request statistics:\n         \
                  min:                            {:10.2}ms\n         \
                  avg:                            {:10.2}ms\n         \
                  max:                            {:10.2}ms\n",
        latency.sum() as f64 / 1e6,
        ms(latency.min().unwrap_or(0)),
        average_ms(latency),
        ms(latency.max()),
    );
    if events > 0 {
        let value = ms(at_percentile(latency));
        text += &format!("         approx. {PERCENTILE:3} percentile:         {value:10.2}ms\n");
    }
    text + "\n"
}

fn head_1_0(sysbench: &Sysbench, elapsed_s: f64, events: u64) -> String {
    let mut text = format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
         Running the test with following options:\n\
         Number of threads: {}\n\
         Initializing random number generator from current time\n\n\n",
        sysbench.threads
    );
    if let SysbenchTest::Cpu { max_prime } = sysbench.test {
        text += &format!("Prime numbers limit: {max_prime}\n\n");
    }
    text += "Initializing worker threads...\n\nThreads started!\n\n";
    if let SysbenchTest::Cpu { .. } = sysbench.test {
        let rate = events as f64 / elapsed_s;
        text += &format!("CPU speed:\n    events per second: {rate:8.2}\n");
    }
    text
}

fn tail_1_0(elapsed_s: f64, events: u64, latency: &Tally) -> String {
    format!(
        "\nGeneral statistics:\n    \
             total time:                          {elapsed_s:.4}s\n    \
             total number of events:              {events}\n\n\
         Latency (ms):\n         \
                  min: {:39.2}\n         \
                  avg: {:39.2}\n         \
                  max: {:39.2}\n        \
                 {PERCENTILE:3}th percentile: {:27.2}\n         \
                  sum: {:39.2}\n\n",
        ms(latency.min().unwrap_or(0)),
        average_ms(latency),
        ms(latency.max()),
        middle_of_slot(at_percentile(latency)),
        ms(latency.sum()),
    )
}

/// Both versions print the same: how evenly events and their time fall on the threads.
fn fairness(sysbench: &Sysbench, figures: &Figures) -> String {
    let of_threads = |first: u32| {
        let first = first as usize;
        &figures.counters[first..first + sysbench.threads as usize]
    };
    let (events_mean, events_deviation) = spread(of_threads(sysbench.events_of_first), 1.0);
    let (time_mean, time_deviation) = spread(of_threads(sysbench.busy_of_first), 1e6);
    format!(
        "Threads fairness:\n    \
             events (avg/stddev):           {events_mean:.4}/{events_deviation:3.2}\n    \
             execution time (avg/stddev):   {time_mean:.4}/{time_deviation:3.2}\n\n"
    )
}

/// Mean and standard deviation of all, in `unit`s.
fn spread(values: &[u64], unit: f64) -> (f64, f64) {
    let scaled = || values.iter().map(|&value| value as f64 / unit);
    let n = values.len() as f64;
    let mean = scaled().sum::<f64>() / n;
    let variance = scaled().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

fn ms(us: u64) -> f64 {
    us as f64 / 1e3
}

fn average_ms(latency: &Tally) -> f64 {
    ms(latency.sum()) / latency.count().max(1) as f64
}

/// The latency, us, that the percentile's number of events do not exceed; that number is rounded.
fn at_percentile(latency: &Tally) -> u64 {
    let wanted = (latency.count() * u64::from(PERCENTILE) + 50) / 100;
    let mut seen = 0;
    let reached = latency.buckets().find(|(_, n)| {
        seen += n;
        seen >= wanted
    });
    reached.map_or(0, |(us, _)| us)
}

/// What a latency becomes in the histogram of 1.0, whose slots grow by 1.8 %, ms.
fn middle_of_slot(us: u64) -> f64 {
    let (least, most) = (RANGE_MS.0.ln(), RANGE_MS.1.ln());
    let per_slot = f64::from(SLOTS - 1) / (most - least);
    let slot = ((ms(us).max(RANGE_MS.0).ln() - least) * per_slot + 0.5).floor();
    (slot.clamp(0.0, f64::from(SLOTS - 1)) / per_slot + least).exp()
}
