// SPDX-License-Identifier: GPL-2.0-only
//! What the checks of a recording found, for people and for programs.

use alight_compare::report::{Columns, number, pretty};
use alight_replay::Health;
use serde::Serialize;

use super::{Check, Taken, Verdict};
use crate::quantity::Agreement;
use crate::report::{self, QuantityOut};

mod html;

pub use html::page;

const SCHEMA: &str = "alight.verify-workload/1";

/// The report for the terminal, ending in a newline. `crosses` name the recordings that were
/// predicted.
pub fn text(taken: &Taken, own: &Check, crosses: &[(String, Check)], verdict: &Verdict) -> String {
    let health = &taken.replay.health;
    let mut text = format!(
        "kernel     {} ({}), {}\n{}workload   {}\nwindow     {}\ntasks      {}\nsleeps     {}\n\
         work       {}\n",
        taken.header.kernel,
        taken.header.arch,
        number::cpus(taken.machine.cpus.len()),
        report::beyond(crate::beyond_bases(&taken.header).as_deref()),
        taken.header.command,
        window(health),
        tasks(health),
        sleeps(health),
        work(health),
    );
    text += &format!("\nself-check under {}\n\n{}", own.scheduler, table(own));
    for (name, cross) in crosses {
        text += &format!(
            "\n{name} predicted under {}\n\n{}",
            cross.scheduler,
            table(cross)
        );
    }
    text += &format!("\nverdict    {}\n", verdict.line());
    for caution in &verdict.cautions {
        text += &format!("caution    {caution}\n");
    }
    text
}

fn window(health: &Health) -> String {
    let seconds = number::fixed(health.window_ns as f64 / 1e9, 3);
    let lost = match health.lost {
        None => "lost events were not counted".to_owned(),
        Some(lost) => format!("{lost} events lost"),
    };
    match health.windows {
        1 => format!("{seconds} s, {lost}"),
        windows => format!("{seconds} s, the longest of {windows}, {lost}"),
    }
}

fn tasks(health: &Health) -> String {
    format!(
        "{} of the workload, {} beside it, {} left out",
        health.members, health.background, health.left_out
    )
}

fn sleeps(health: &Health) -> String {
    format!(
        "{}; ended by tasks {} (before the sleep {}), timers {}, devices {}, tasks left out {}, \
         nobody {}",
        health.sleeps,
        health.by_tasks,
        health.raced,
        health.by_timers,
        health.by_devices,
        health.by_left_out,
        health.unexplained
    )
}

fn work(health: &Health) -> String {
    let seconds = number::fixed(health.cpu_ns as f64 / 1e9, 3);
    format!(
        "{seconds} s of CPU time; {} % of it is less than the model charges",
        health.clipped_percent()
    )
}

fn table(check: &Check) -> String {
    format!("{}\n{}\n", columns(check).render(), counts(check))
}

/// A row a quantity, below heads.
fn columns(check: &Check) -> Columns {
    let mut columns = Columns::new(2, 1);
    columns.row(report::HEAD);
    for (group, quantity) in check.all() {
        let mut row = report::row(quantity);
        if let Some(group) = group {
            row[0] = format!("{} of {group}", row[0]);
        }
        columns.row(row);
    }
    columns
}

fn counts(check: &Check) -> String {
    format!(
        "{} agree, {} disagree, {} not measured, {} too few samples",
        check.count(Agreement::Agree),
        check.count(Agreement::Disagree),
        check.count(Agreement::NotMeasured),
        check.count(Agreement::TooFew),
    )
}

/// The report for programs: `alight.verify-workload/1`.
pub fn json(taken: &Taken, own: &Check, crosses: &[(String, Check)], verdict: &Verdict) -> String {
    pretty(&WorkloadDocument {
        schema: SCHEMA,
        kernel: &taken.header.kernel,
        arch: &taken.header.arch,
        workload: &taken.header.command,
        machine: number::cpus(taken.machine.cpus.len()),
        health: &taken.replay.health,
        self_check: out(own, None),
        predicted: (crosses.iter())
            .map(|(name, check)| out(check, Some(name)))
            .collect(),
        verdict,
    })
}

fn out<'a>(check: &'a Check, recording: Option<&'a str>) -> CheckOut<'a> {
    CheckOut {
        recording,
        scheduler: &check.scheduler,
        quantities: check.quantities.iter().map(report::out).collect(),
        groups: (check.groups.iter())
            .map(|group| GroupOut {
                name: &group.name,
                tasks: group.tasks,
                quantities: group.quantities.iter().map(report::out).collect(),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct WorkloadDocument<'a> {
    schema: &'static str,
    kernel: &'a str,
    arch: &'a str,
    workload: &'a str,
    machine: String,
    health: &'a Health,
    self_check: CheckOut<'a>,
    predicted: Vec<CheckOut<'a>>,
    verdict: &'a Verdict,
}

#[derive(Serialize)]
struct CheckOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<&'a str>,
    scheduler: &'a str,
    quantities: Vec<QuantityOut>,
    groups: Vec<GroupOut<'a>>,
}

#[derive(Serialize)]
struct GroupOut<'a> {
    name: &'a str,
    tasks: usize,
    quantities: Vec<QuantityOut>,
}
