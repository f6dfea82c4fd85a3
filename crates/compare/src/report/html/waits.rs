// SPDX-License-Identifier: GPL-2.0-only
//! How long tasks waited: distributions with their tails.

use alight_html::chart::{Axis, Chart, Line, Scale, Shape};
use alight_html::{MICROSECONDS, Page, Table, Text};

use crate::observe::{Observation, Observed};
use crate::report::number;

/// Parts of a million below which a distribution is told: evenly, and closer in the tail.
fn parts() -> impl Iterator<Item = u64> {
    let body = (1..=98).map(|percent| percent * 10_000);
    let tail = (0..=9).map(|step| 990_000 + step * 1_000);
    let far = (1..=9).map(|step| 999_000 + step * 100);
    let farther = (1..=10).map(|step| 999_900 + step * 10);
    body.chain(tail).chain(far).chain(farther)
}

/// Adds the section.
pub fn add(page: Page, observation: &Observation<'_>) -> Page {
    let chart = |title: &str, all: &str, of: fn(&Observed) -> &Vec<u64>| {
        let lines = observation.runs.iter().map(|run| line(run, of(run)));
        Chart {
            x: Axis {
                label: title.to_owned(),
                unit: MICROSECONDS.to_owned(),
                scale: Scale::Log,
            },
            y: Axis {
                label: format!("share of {all}"),
                unit: String::new(),
                scale: Scale::Tail,
            },
            shape: Shape::Stepped,
            lines: lines.collect(),
            short: short(observation, of),
        }
    };
    page.parts(
        "How long tasks waited",
        &[
            &Text::new([format!(
                "From each wakeup, and from the start of each new task, until the task ran: \
                 run_delay_* of all numbers. Then every wait for a CPU, also after a preemption, as \
                 /proc/PID/schedstat counts them. The upper end shows the tail; a wait of 0 stands \
                 at 0.001 {MICROSECONDS}."
            )]),
            &chart("from wakeup to running", "wakeups", |run| &run.wakeup_latency_ns),
            &chart("wait for a CPU", "waits", |run| &run.waits_ns),
        ],
    )
}

/// The least of the rising `samples` that so many parts of a million are not above.
fn quantile(samples: &[u64], parts: u64) -> Option<u64> {
    let rank = (samples.len() as u64 * parts).div_ceil(1_000_000);
    samples.get((rank.max(1) - 1) as usize).copied()
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn line(run: &Observed, samples: &[u64]) -> Line {
    let drawn = |ns: u64| us(ns.max(1));
    let point = |part: u64| Some((drawn(quantile(samples, part)?), part as f64 / 1e6));
    // It rises from 0, also where all samples are equal.
    let first = samples.first().map(|&ns| (0.999 * drawn(ns), 0.0));
    Line {
        name: run.scheduler.clone(),
        points: first.into_iter().chain(parts().filter_map(point)).collect(),
    }
}

fn short(observation: &Observation<'_>, of: fn(&Observed) -> &Vec<u64>) -> Table {
    let heads = ["p50", "p95", "p99", "p99.9", "max"].map(|name| format!("{name}, {MICROSECONDS}"));
    let first = ["", "samples"].map(str::to_owned);
    let table = Table::new(first.into_iter().chain(heads));
    (observation.runs.iter()).fold(table, |table, run| {
        let samples = of(run);
        let quantiles = [500_000, 950_000, 990_000, 999_000, 1_000_000].map(|part| {
            let value = quantile(samples, part);
            value.map_or(number::NONE.to_owned(), |ns| number::short(us(ns)))
        });
        let first = [run.scheduler.clone(), samples.len().to_string()];
        table.row(first.into_iter().chain(quantiles))
    })
}

#[cfg(test)]
mod tests;
