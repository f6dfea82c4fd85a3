// SPDX-License-Identifier: GPL-2.0-only
//! A page of every part, with made-up content: for the browser tests, and to look at.

mod empty;
mod timeline;

use std::path::Path;

use alight_html::chart::{Axis, Line, Scale, Shape};
use alight_html::heat::Map;
use alight_html::{
    Bar, Bars, Chart, Forest, Heat, MICROSECONDS, Mark, Page, Row, Segment, Table, Text,
};

/// Writes the page; each of the two runs of its timeline has so many slices.
pub fn write(slices: usize, file: &Path) -> std::io::Result<()> {
    std::fs::write(file, page(slices).render())
}

/// The names of what is compared.
const NAMES: [&str; 2] = ["linux-6.1", "linux-6.1+bias-prev"];

fn page(slices: usize) -> Page {
    let made_up = Text::new(["Nothing here was measured or simulated: the numbers are made up."]);
    let page = Page::new("Every part of a page")
        .part("What this is", &made_up)
        .part("Differences", &forest())
        .part("Timelines", &timeline::timeline(slices, 8))
        .part("Timelines of many CPUs", &timeline::timeline(384 * 25, 384))
        .parts(
            "Distribution",
            &[&distribution(Scale::Log), &distribution(Scale::Linear)],
        )
        .part("Frequency", &frequency())
        .part("Where wakeups go", &heat(8, 4))
        .part("Where wakeups go on many CPUs", &heat(384, 16))
        .part("Residency", &bars())
        .command("Again", "cargo run -p xtask -- page 100000 page.html");
    empty::add(page)
}

/// Numbers that look random, the same each time (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }

    /// Mostly short, at times long: `least` to 500 times that. A multiple of 8: the times of a
    /// simulation repeat themselves, too.
    fn long_tailed(&mut self, least: u64) -> u64 {
        let power = self.below(10);
        (least + self.below(least << power)) / 8 * 8
    }
}

fn forest() -> Forest {
    let rows = [
        (Mark::Better, -12.5, "latency p99", "better"),
        (Mark::Worse, 4.1, "energy", "worse"),
        (Mark::Different, 7.0, "migrations", "differs"),
        (Mark::None, 0.2, "throughput", "no difference"),
    ];
    let row = |(mark, delta, label, word): (Mark, f64, &str, &str)| Row {
        label: label.into(),
        delta: Some(delta),
        interval: Some((delta - 2.5, delta + 2.5)),
        mark,
        words: format!(
            "{delta:+.1} % [{:+.1}, {:+.1}] {word}",
            delta - 2.5,
            delta + 2.5
        ),
    };
    Forest::new(rows.map(row).into())
}

/// Latencies of 2000 wakeups of each, and how many of them are not above.
fn distribution(x: Scale) -> Chart {
    let heads = ["p50", "p99", "p99.9"].map(|name| format!("{name}, {MICROSECONDS}"));
    let mut short = Table::new([String::new()].into_iter().chain(heads));
    let mut lines = vec![];
    for (at, name) in NAMES.into_iter().enumerate() {
        let mut draw = Draw(at as u64 + 7);
        let mut latencies: Vec<u64> = (0..2000).map(|_| draw.long_tailed(900)).collect();
        latencies.sort_unstable();
        let us = |at: usize| latencies[at] as f64 / 1000.0;
        short = short.row([
            name.to_owned(),
            us(1000).to_string(),
            us(1980).to_string(),
            us(1998).to_string(),
        ]);
        lines.push(Line {
            name: name.into(),
            points: (0..2000)
                .map(|at| (us(at), (at + 1) as f64 / 2000.0))
                .collect(),
        });
    }
    let y = if x == Scale::Log {
        Scale::Tail
    } else {
        Scale::Linear
    };
    Chart {
        x: Axis {
            label: "wakeup latency".into(),
            unit: MICROSECONDS.into(),
            scale: x,
        },
        y: Axis {
            label: "part of the wakeups".into(),
            unit: String::new(),
            scale: y,
        },
        shape: Shape::Stepped,
        lines,
        short,
    }
}

/// The clocks of seven clusters over a second: more lines than hues.
fn frequency() -> Chart {
    let mut draw = Draw(3);
    let line = |cluster: u32| Line {
        name: format!("cluster {cluster}"),
        points: (0..100)
            .map(|at| (f64::from(at) * 10.0, 400.0 + 200.0 * draw.below(8) as f64))
            .collect(),
    };
    let lines: Vec<Line> = (0..7).map(line).collect();
    let short = lines
        .iter()
        .fold(Table::new(["", "at the start, MHz"]), |table, line| {
            table.row([line.name.clone(), line.points[0].1.to_string()])
        });
    Chart {
        x: Axis {
            label: "time".into(),
            unit: "ms".into(),
            scale: Scale::Linear,
        },
        y: Axis {
            label: "frequency".into(),
            unit: "MHz".into(),
            scale: Scale::Linear,
        },
        shape: Shape::Stepped,
        lines,
        short,
    }
}

/// Most wakeups stay near; a group has so many CPUs, a package half of all.
fn heat(cpus: usize, group: usize) -> Heat {
    let mut draw = Draw(5);
    let mut counts = |_: &str| {
        let count = |cell: usize, draw: &mut Draw| {
            let (from, to) = (cell / cpus, cell % cpus);
            let near = if from == to {
                2000
            } else if from / group == to / group {
                90
            } else {
                2
            };
            draw.below(near) as u32
        };
        (0..cpus * cpus)
            .map(|cell| count(cell, &mut draw))
            .collect()
    };
    let maps = NAMES.map(|name| Map {
        name: name.into(),
        counts: counts(name),
    });
    Heat {
        names: (0..cpus).map(|cpu| format!("CPU {cpu}")).collect(),
        from: "from".into(),
        to: "to".into(),
        counted: "wakeups".into(),
        borders: (group..cpus).step_by(group).collect(),
        strong_borders: vec![cpus / 2],
        short: maps.iter().fold(Table::new(["", "wakeups"]), |table, map| {
            table.row([map.name.clone(), map.counts.iter().sum::<u32>().to_string()])
        }),
        maps: maps.into(),
    }
}

fn bars() -> Bars {
    let parts = ["busy, %", "WFI, %", "cpu-sleep, %", "cluster-sleep, %"];
    let mut draw = Draw(11);
    let bar = |cpu: usize| {
        let mut left = 100.0;
        let mut segment = |part: usize| {
            let value = if part == 3 {
                left
            } else {
                left * draw.below(70) as f64 / 100.0
            };
            left -= value;
            Segment {
                value,
                text: format!("{value:.1}"),
            }
        };
        Bar {
            label: format!("CPU {cpu}"),
            segments: (0..4).map(&mut segment).collect(),
        }
    };
    Bars {
        parts: parts.map(Into::into).into(),
        whole: Some(100.0),
        bars: (0..4).map(bar).collect(),
    }
}
