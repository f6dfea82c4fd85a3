// SPDX-License-Identifier: GPL-2.0-only
//! The report of which steps answered over a run, grouped by the feature or the
//! base that they belong to, beside what the base alone would have answered.

use alight_policy::Scheduler;
use alight_policy::scheduler::{FEATURES, On};
use alight_sim::{Answers, Latency, Row, SideSums, Sums};
use serde::Serialize;

use crate::decisions::{step, whose};
use crate::header::{Conditions, VERSION};
use crate::report::{Columns, head_of, map, number, pretty};

mod html;

pub use html::page;

const SCHEMA: &str = "alight.explain-histogram/1";

/// Names that a cell has room for.
const NAMED: usize = 2;

/// The question.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The run.
    pub conditions: &'a Conditions,
    /// The scheduler.
    pub scheduler: &'a Scheduler,
    /// The tasks that were watched; `None`: all.
    pub task: Option<&'a str>,
    /// From when on, ns; `None`: from the start.
    pub at_ns: Option<u64>,
    /// The run was ended before its time.
    pub interrupted: bool,
    /// The command that measures the scheduler and its base in runs of their own.
    pub compare: &'a str,
}

impl Asked<'_> {
    fn base(&self) -> &'static str {
        self.scheduler.parts().0.name
    }

    fn has_features(&self) -> bool {
        self.scheduler.params.features != 0
    }

    /// The rows by owner: the features in table order, then the base; the most frequent first.
    fn grouped<'r>(&self, rows: &'r [Row]) -> Vec<(&'static str, &'r Row)> {
        let mut grouped: Vec<_> = rows
            .iter()
            .map(|row| (whose(self.scheduler, row.step), row))
            .collect();
        grouped.sort_by_key(|(owner, row)| {
            let place = FEATURES.iter().position(|f| f.name == *owner);
            let place = place.unwrap_or(FEATURES.len());
            (place, std::cmp::Reverse(row.all.count))
        });
        grouped
    }
}

/// The report for the terminal.
pub fn table(asked: &Asked<'_>, answers: &Answers) -> String {
    let mut rows = asked.conditions.rows();
    let total = &answers.total.all;
    rows.push(("decisions", counted(asked, answers)));
    let head = head_of(rows, &asked.conditions.command);
    let mut text = format!("alight {VERSION}: explain\n{head}");
    if total.count == 0 {
        return text + "\nno decision was made\n";
    }
    text.push_str(&format!(
        "\nthe steps that answered\n{}",
        step_rows(asked, answers).render()
    ));
    if asked.has_features() {
        text.push_str(&searches(asked, total));
        text.push('\n');
        text.push_str(&differences(asked, answers));
    }
    text
}

/// How many decisions are told of.
fn counted(asked: &Asked<'_>, answers: &Answers) -> String {
    let total = &answers.total.all;
    format!(
        "{} of {}{}{}: {} wakeups, {} new tasks{}",
        total.count,
        asked.task.unwrap_or("all tasks"),
        (asked.at_ns).map_or(String::new(), |ns| format!(" from {} on", number::time(ns))),
        if asked.interrupted {
            ", INTERRUPTED"
        } else {
            ""
        },
        total.count - total.new_tasks,
        total.new_tasks,
        not_asked(answers)
    )
}

fn not_asked(answers: &Answers) -> String {
    let mut text = String::new();
    if answers.still_queued != 0 {
        let n = answers.still_queued;
        let were = if n == 1 { "was" } else { "were" };
        text.push_str(&format!("; {n} more {were} still queued"));
    }
    if answers.other_class != 0 {
        let n = answers.other_class;
        text.push_str(&format!(
            "; {n} more of other classes, which have their own rules"
        ));
    }
    text
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count != 0).then(|| sum as f64 / count as f64)
}

/// One decimal below 100, as what is greater needs none.
fn shown(value: Option<f64>) -> String {
    value.map_or(number::NONE.to_owned(), |value| {
        number::fixed(value, usize::from(value < 100.0))
    })
}

fn percent(part: u64, of: u64) -> String {
    mean(100 * part, of).map_or(number::NONE.to_owned(), |p| number::fixed(p, 1) + "%")
}

/// What a row is of; nobody owns the sum.
fn name(owner: &str, row: &Row) -> String {
    let name = if owner.is_empty() {
        "all"
    } else {
        step(row.step).0
    };
    name.to_owned()
}

/// How often each step answered, and what its searches cost.
fn step_rows(asked: &Asked<'_>, answers: &Answers) -> Columns {
    let pairs = asked.has_features();
    let mut columns = Columns::new(2, 2);
    let mut head = vec!["of", "step", "count", "share"];
    if pairs {
        head.extend(["base differs", ""]);
    }
    head.extend(["CPUs seen", "search ns", "ran us", "p50", "p99"]);
    columns.row(head);
    let mut last = "";
    let grouped = asked.grouped(&answers.rows);
    let total = ("", &answers.total);
    for (owner, row) in grouped.into_iter().chain([total]) {
        let Sums {
            count,
            chosen,
            base,
            latency,
            ..
        } = &row.all;
        let pair = |of: fn(&SideSums) -> u64| match pairs {
            true => format!(
                "{} | {}",
                shown(mean(of(chosen), *count)),
                shown(mean(of(base), *count))
            ),
            false => shown(mean(of(chosen), *count)),
        };
        let mut cells = vec![
            if owner == last { "" } else { owner }.to_owned(),
            name(owner, row),
            count.to_string(),
            percent(*count, answers.total.all.count),
        ];
        if pairs {
            cells.push(row.other.count.to_string());
            cells.push(percent(row.other.count, *count));
        }
        cells.push(pair(|side| side.looked_at));
        cells.push(pair(|side| side.cost_ns));
        cells.extend(waits(latency));
        columns.row(cells);
        last = owner;
    }
    columns
}

fn waits(latency: &Latency) -> [String; 3] {
    [latency.mean_us, latency.p50_us, latency.p99_us].map(|us| match latency.samples {
        0 => number::NONE.to_owned(),
        _ => shown(Some(us)),
    })
}

/// What the pairs are, and the sum of what searches took.
fn searches(asked: &Asked<'_>, total: &Sums) -> String {
    let (base, features) = asked.scheduler.parts();
    let mut text = format!(
        "pairs: chosen | {} in the same state; all searches took {} | {}; ran: time from the wakeup until the task ran\n",
        base.name,
        number::duration(total.chosen.cost_ns),
        number::duration(total.base.cost_ns)
    );
    for feature in features {
        if let On::Merged(since) = feature.meaning(base) {
            text.push_str(&format!(
                "{} is part of {} (since {since}): only its tunables change something\n",
                feature.name, base.name
            ));
        } else if feature.steps.is_empty() {
            text.push_str(&format!(
                "{} has no steps of its own: it changes which CPUs the steps of {} accept\n",
                feature.name, base.name
            ));
        }
    }
    text
}

/// What both CPUs were where the base would have chosen another one.
fn differences(asked: &Asked<'_>, answers: &Answers) -> String {
    let (base, total) = (asked.base(), &answers.total);
    if total.other.count == 0 {
        return format!("{base} would have chosen the same CPU each time\n");
    }
    format!(
        "decisions for which the base would have chosen another CPU: the chosen CPU | the CPU of {base}, at that instant\n{}\
         idle: no task runs there; exit: mean time to leave the idle state; moved: not the task's previous CPU\n\
         A single run cannot show what follows from the base's choices. This command runs both:\n  {}\n",
        differing(asked, answers).render(),
        asked.compare
    )
}

/// A row each step with decisions for which the base would have chosen another CPU.
fn differing(asked: &Asked<'_>, answers: &Answers) -> Columns {
    let total = &answers.total;
    let several = asked.scheduler.parts().1.len() > 1;
    let sched_idle = total.other.chosen.sched_idle + total.other.base.sched_idle != 0;
    let mut columns = Columns::new(2, 1).with_remark();
    let mut head = vec!["step", "count", "idle %"];
    if sched_idle {
        head.push("SCHED_IDLE %");
    }
    head.extend(["exit us", "capacity", "moved %", "ran us", "p99"]);
    if several {
        head.push("because of");
    }
    head.push("the base's steps");
    columns.row(head);
    let grouped = asked.grouped(&answers.rows).into_iter();
    let differing = grouped.filter(|(_, row)| row.other.count != 0);
    for (owner, row) in differing.chain([("", total)]) {
        let sums = &row.other;
        let pair = |of: &dyn Fn(&SideSums) -> Option<f64>| {
            format!("{} | {}", shown(of(&sums.chosen)), shown(of(&sums.base)))
        };
        let share = |part: u64| mean(100 * part, sums.count);
        let [mean_us, _, p99_us] = waits(&sums.latency);
        let mut cells = vec![
            name(owner, row),
            sums.count.to_string(),
            pair(&|side| share(side.idle)),
        ];
        if sched_idle {
            cells.push(pair(&|side| share(side.sched_idle)));
        }
        cells.extend([
            pair(&|side| mean(side.exit_latency_ns, 1000 * side.idle)),
            pair(&|side| mean(side.capacity, sums.count)),
            pair(&|side| share(side.moved)),
            mean_us,
            p99_us,
        ]);
        if several {
            cells.push(because(row));
        }
        cells.push(instead_of(row));
        columns.row(cells);
    }
    columns
}

/// The base's steps, the most frequent first.
fn instead_of(row: &Row) -> String {
    let steps = row.instead_of.iter();
    named(row, steps.map(|&(index, count)| (step(index).0, count)))
}

/// The features that made the difference.
fn because(row: &Row) -> String {
    match row.because.is_empty() {
        true => "no single one".to_owned(),
        false => named(row, row.because.iter().copied()),
    }
}

/// The most frequent first, with their shares.
fn named(row: &Row, counts: impl Iterator<Item = (&'static str, u64)>) -> String {
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let word = |(name, count): &(&str, u64)| format!("{name} {}", percent(*count, row.other.count));
    let mut words: Vec<_> = counts.iter().take(NAMED).map(word).collect();
    if counts.len() > NAMED {
        words.push("...".to_owned());
    }
    words.join(", ")
}

#[derive(Serialize)]
struct HistogramDocument<'a> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    conditions: &'a Conditions,
    task: Option<&'a str>,
    base: &'static str,
    compare: Option<&'a str>,
    interrupted: bool,
    still_queued: u64,
    other_class: u64,
    rows: Vec<HistogramRowOut>,
    total: HistogramRowOut,
}

#[derive(Serialize)]
struct HistogramRowOut {
    of: Option<&'static str>,
    step: Option<&'static str>,
    all: SumsOut,
    other_cpu: SumsOut,
    #[serde(serialize_with = "map")]
    instead_of: Vec<(&'static str, u64)>,
    #[serde(serialize_with = "map")]
    because: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct SumsOut {
    count: u64,
    new_tasks: u64,
    chosen: SideOut,
    base: SideOut,
    wakeup_latency_us: LatencyOut,
}

#[derive(Serialize)]
struct SideOut {
    looked_at: Option<f64>,
    cost_ns: Option<f64>,
    idle: u64,
    sched_idle: u64,
    exit_latency_ns: Option<f64>,
    capacity: Option<f64>,
    moved: u64,
}

#[derive(Serialize)]
struct LatencyOut {
    samples: u64,
    mean: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
}

/// The report for programs: `alight.explain-histogram/1`.
pub fn json(asked: &Asked<'_>, answers: &Answers) -> String {
    let of_step = |(owner, row)| row_out(Some(owner), row);
    let rows = asked.grouped(&answers.rows).into_iter().map(of_step);
    pretty(&HistogramDocument {
        schema: SCHEMA,
        version: VERSION,
        conditions: asked.conditions,
        task: asked.task,
        base: asked.base(),
        compare: asked.has_features().then_some(asked.compare),
        interrupted: asked.interrupted,
        still_queued: answers.still_queued,
        other_class: answers.other_class,
        rows: rows.collect(),
        total: row_out(None, &answers.total),
    })
}

fn row_out(of: Option<&'static str>, row: &Row) -> HistogramRowOut {
    let by_name = |&(index, count): &(u32, u64)| (step(index).0, count);
    HistogramRowOut {
        of,
        step: of.map(|_| step(row.step).0),
        all: sums_out(&row.all),
        other_cpu: sums_out(&row.other),
        instead_of: row.instead_of.iter().map(by_name).collect(),
        because: row.because.clone(),
    }
}

fn sums_out(sums: &Sums) -> SumsOut {
    let latency = &sums.latency;
    let us = |value| (latency.samples != 0).then_some(value);
    let side = |side: &SideSums| SideOut {
        looked_at: mean(side.looked_at, sums.count),
        cost_ns: mean(side.cost_ns, sums.count),
        idle: side.idle,
        sched_idle: side.sched_idle,
        exit_latency_ns: mean(side.exit_latency_ns, side.idle),
        capacity: mean(side.capacity, sums.count),
        moved: side.moved,
    };
    SumsOut {
        count: sums.count,
        new_tasks: sums.new_tasks,
        chosen: side(&sums.chosen),
        base: side(&sums.base),
        wakeup_latency_us: LatencyOut {
            samples: latency.samples,
            mean: us(latency.mean_us),
            p50: us(latency.p50_us),
            p99: us(latency.p99_us),
        },
    }
}

#[cfg(test)]
mod tests;
