// SPDX-License-Identifier: GPL-2.0-only
//! The statistics as OpenMetrics text, version 1.0.0.

use crate::counters::{DISTANCES, PLAIN};
use crate::histogram;
use crate::statistics::Statistics;
use alight_policy::{STEPS, Scheduler};
use std::fmt::Write;

/// What HTTP calls this form.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Plain counters that are the sum of a histogram here.
const SUMS: [&str; 2] = ["delay_ns", "scanned"];

/// A text that grows family by family.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, unit: Option<&str>, what: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if let Some(unit) = unit {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {}", escaped(what));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        self.0.push_str(name);
        for (index, (label, of)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", escaped(of));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    fn counter(&mut self, name: &str, what: &str, value: u64) {
        self.family(name, "counter", None, what);
        self.sample(&format!("{name}_total"), &[], &value.to_string());
    }

    /// `edge`: how the end of a bucket is written.
    fn histogram(&mut self, name: &str, buckets: &[u64], sum: &str, edge: fn(u64) -> String) {
        let mut below = 0_u64;
        for (bucket, count) in buckets.iter().enumerate() {
            below = below.wrapping_add(*count);
            let end = *histogram::values(bucket, buckets.len()).end();
            let end = if bucket + 1 == buckets.len() {
                "+Inf".to_owned()
            } else {
                edge(end)
            };
            self.sample(
                &format!("{name}_bucket"),
                &[("le", &end)],
                &below.to_string(),
            );
        }
        self.sample(&format!("{name}_count"), &[], &below.to_string());
        self.sample(&format!("{name}_sum"), &[], sum);
    }
}

/// Of a label's value, or a description.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Exact, whatever the number.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A whole number, as OpenMetrics wants the edges of buckets.
fn whole(number: u64) -> String {
    format!("{number}.0")
}

/// The statistics as OpenMetrics text, with its `# EOF`.
pub fn render(statistics: &Statistics) -> String {
    let mut page = Page::default();
    let totals = &statistics.totals;
    page.family("alight", "info", None, "the scheduler and its program");
    let labels = [
        ("scheduler", statistics.scheduler.as_str()),
        ("version", statistics.version.as_str()),
    ];
    page.sample("alight_info", &labels, "1");
    let name = "alight_uptime_seconds";
    page.family(
        name,
        "gauge",
        Some("seconds"),
        "time since the scheduler was started",
    );
    page.sample(name, &[], &seconds(statistics.uptime_ns));
    page.counter(
        "alight_loads",
        "times that it was loaded into the kernel",
        statistics.loads,
    );
    let plain = PLAIN.iter().zip(totals.plain());
    for ((name, what), value) in plain.filter(|((name, _), _)| !SUMS.contains(name)) {
        page.counter(&format!("alight_{name}"), what, value);
    }
    selections(&mut page, statistics);

    let name = "alight_moved";
    page.family(
        name,
        "counter",
        None,
        "starts of a task on another CPU than its last one, by distance",
    );
    for ((distance, _), count) in DISTANCES.iter().zip(totals.moved) {
        page.sample(
            "alight_moved_total",
            &[("distance", distance)],
            &count.to_string(),
        );
    }
    let name = "alight_scan_length";
    page.family(name, "histogram", None, "CPUs that a decision looked at");
    page.histogram(name, &totals.scans, &totals.scanned.to_string(), whole);
    let name = "alight_run_delay_seconds";
    // Some readers know no unit of a histogram.
    page.family(name, "histogram", None, "time from runnable to running");
    page.histogram(name, &totals.delays, &seconds(totals.delay_ns), seconds);
    let name = "alight_run_delay_max_seconds";
    page.family(
        name,
        "gauge",
        Some("seconds"),
        "longest time from runnable to running",
    );
    page.sample(name, &[], &seconds(totals.delay_max_ns));
    cpus(&mut page, statistics);
    page.0.push_str("# EOF\n");
    page.0
}

fn selections(page: &mut Page, statistics: &Statistics) {
    let scheduler = Scheduler::parse(&statistics.scheduler).ok();
    let what = "decisions by the step that answered, and the feature that it belongs to";
    page.family("alight_selections", "counter", None, what);
    for ((index, (step, _)), count) in (0..).zip(STEPS).zip(statistics.totals.steps) {
        let feature = scheduler
            .as_ref()
            .and_then(|scheduler| scheduler.owner(index));
        let labels = [
            ("step", step),
            ("feature", feature.map_or("", |feature| feature.name)),
        ];
        page.sample("alight_selections_total", &labels, &count.to_string());
    }
}

fn cpus(page: &mut Page, statistics: &Statistics) {
    let numbers: Vec<String> = (0..statistics.cpus.len())
        .map(|cpu| cpu.to_string())
        .collect();
    let of_each = || numbers.iter().zip(&statistics.cpus);
    page.family(
        "alight_cpu_decisions",
        "counter",
        None,
        "decisions made on the CPU",
    );
    for (cpu, counters) in of_each() {
        let value = counters.decisions.to_string();
        page.sample("alight_cpu_decisions_total", &[("cpu", cpu)], &value);
    }
    page.family(
        "alight_cpu_runs",
        "counter",
        None,
        "tasks that started on the CPU",
    );
    for (cpu, counters) in of_each() {
        let value = counters.runs.to_string();
        page.sample("alight_cpu_runs_total", &[("cpu", cpu)], &value);
    }
    let name = "alight_cpu_run_delay_seconds";
    let what = "time from runnable to running of the tasks that started on the CPU";
    page.family(name, "counter", Some("seconds"), what);
    for (cpu, counters) in of_each() {
        let value = seconds(counters.delay_ns);
        page.sample(
            "alight_cpu_run_delay_seconds_total",
            &[("cpu", cpu)],
            &value,
        );
    }
}

#[cfg(test)]
mod tests;
