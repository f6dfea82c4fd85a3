// SPDX-License-Identifier: GPL-2.0-only
//! The fidelity page: what all verifications found, disagreements first.
//!
//! Reads the JSON reports of a directory (schemas `alight.verify-pelt/1`,
//! `alight.verify-decisions/1` and `alight.verify-behaviour/1`), in the order of their names, and writes
//! Markdown. It holds no figure of its own.

use crate::decisions::Cause;
use alight_text::{item, paragraph};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writing to a String cannot fail.
macro_rules! line {
    ($page:expr, $($argument:tt)*) => {
        writeln!($page, $($argument)*).expect("a String takes everything")
    };
}

mod behaviour;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum NoFidelityPage {
    /// The directory or a file in it cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not JSON, or not a report.
    #[error("{}: {why}; expected a report that `alight verify ... --json` wrote", path.display())]
    NotAReport {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Nothing to write about.
    #[error("{}: no report in it; expected files NAME.json of `alight verify ... --json`", .0.display())]
    Empty(PathBuf),
}

/// A report, and the name of its file.
struct Named {
    name: String,
    report: Value,
}

/// The page on all reports below `directory`; `of` says of which model they are.
///
/// # Errors
/// If a file ending in `.json` cannot be read or is no report, or if there is none.
pub fn page(directory: &Path, of: Option<&str>) -> Result<String, NoFidelityPage> {
    let (mut pelt, mut decisions, mut behaviour) = (vec![], vec![], vec![]);
    let mut missing = String::new();
    for path in reports(directory)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some(report) = read(&path)? else {
            let text = format!("**{name}: no report; the output of the run says what failed**");
            missing += &item(&text);
            continue;
        };
        let named = |report| Named {
            name: name.into_owned(),
            report,
        };
        match text(&report, "schema") {
            "alight.verify-pelt/1" => pelt.push(named(report)),
            "alight.verify-decisions/1" => decisions.push(named(report)),
            behaviour::SCHEMA => behaviour.push(named(report)),
            other => {
                let why = format!("its schema is '{other}'");
                return Err(NoFidelityPage::NotAReport { path, why });
            }
        }
    }
    if pelt.is_empty() && decisions.is_empty() && behaviour.is_empty() && missing.is_empty() {
        return Err(NoFidelityPage::Empty(directory.to_owned()));
    }
    Ok([
        HEAD.to_owned(),
        of.map(model).unwrap_or_default(),
        disagreements(missing, &pelt, &decisions, &behaviour),
        tracking(&pelt),
        choices(&decisions),
        behaviour::section(&behaviour),
        left_out(),
    ]
    .concat())
}

const HEAD: &str = "\
# Fidelity

How close the model is to the kernels that it models. `make verify` runs the scripts of `verify/`:
they boot each kernel, record what its scheduler does, give the policy core the same input, and
compare. `alight verify report` makes this page of their reports.
[verify.md](../explanation/verify.md) describes the method, [sources.md](../explanation/sources.md)
the source of each rule, and [model.md](../explanation/model.md) the model.
";

/// Which model the reports are of.
fn model(of: &str) -> String {
    let text =
        format!("The model is that of {of}. Later changes of the model are not on this page.");
    format!("\n{}", paragraph(&text))
}

/// What the simulator leaves out, by mechanism: the last column of the table in docs/explanation/model.md.
fn left_out() -> String {
    let mut page = "\n## What is left out\n\n".to_owned();
    page += &paragraph(
        "The table lists what the model leaves out, by mechanism; \
         [model.md](../explanation/model.md) says what is modelled. The core's load tracking leaves \
         out what a group's queue hands to its entity.",
    );
    page += "\n| mechanism | left out |\n|---|---|\n";
    for (mechanism, left_out) in rows(MODEL) {
        line!(page, "| {mechanism} | {left_out} |");
    }
    page
}

const MODEL: &str = include_str!("../../../docs/explanation/model.md");

/// First and last cell of the rows of the first table of a page, without its head.
fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| {
            let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
            Some((cells.next()?, cells.last()?))
        })
}

/// The directory's files ending in `.json`, by name.
fn reports(directory: &Path) -> Result<Vec<PathBuf>, NoFidelityPage> {
    let failed = |source| NoFidelityPage::Read {
        path: directory.to_owned(),
        source,
    };
    let mut paths = vec![];
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// A report; `None`: the file is empty, as the scripts leave it where there is nothing to report.
fn read(path: &Path) -> Result<Option<Value>, NoFidelityPage> {
    let json = alight_text::read(path).map_err(|source| NoFidelityPage::Read {
        path: path.to_owned(),
        source,
    })?;
    if json.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&json)
        .map(Some)
        .map_err(|error| NoFidelityPage::NotAReport {
            path: path.to_owned(),
            why: error.to_string(),
        })
}

fn text<'a>(report: &'a Value, field: &str) -> &'a str {
    report[field].as_str().unwrap_or_default()
}

fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or_default()
}

/// Fields of an object, in the order of their names.
fn fields<'a>(report: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    report[field].as_object().into_iter().flat_map(Map::iter)
}

/// Results of a load-tracking report: equal, different.
fn total(report: &Value) -> (u64, u64) {
    fields(report, "checks").fold((0, 0), |(equal, different), (_, count)| {
        (
            equal + number(count, "equal"),
            different + number(count, "different"),
        )
    })
}

/// `part` of `whole` in percent, rounded down, so that 100 means all.
fn percent(part: u64, whole: u64) -> String {
    let thousandths = u128::from(part) * 100_000 / u128::from(whole.max(1));
    format!("{}.{:03} %", thousandths / 1000, thousandths % 1000)
}

/// Adds an item to a list.
fn push(page: &mut String, text: &str) {
    page.push_str(&item(text));
}

fn disagreements(
    missing: String,
    pelt: &[Named],
    decisions: &[Named],
    behaviour: &[Named],
) -> String {
    let mut page = "\n## Disagreements\n\n".to_owned();
    let none = page.len();
    page.push_str(&missing);
    for Named { name, report } in pelt {
        for (function, count) in fields(report, "checks") {
            let different = number(count, "different");
            if different != 0 {
                push(
                    &mut page,
                    &format!("{name}, load tracking: {different} results of `{function}` differ"),
                );
            }
        }
        for (what, count) in report["gaps"]["unseen"].as_object().into_iter().flatten() {
            push(
                &mut page,
                &format!("{name}, load tracking: {count} states were changed unseen ({what})"),
            );
        }
        for (count, what) in [
            (
                number(&report["gaps"], "unpaid"),
                "queues from which more was subtracted than removed",
            ),
            (
                number(report, "tracepoint_disagrees"),
                "updates that differ from their tracepoint",
            ),
        ] {
            if count != 0 {
                push(&mut page, &format!("{name}, load tracking: {count} {what}"));
            }
        }
    }
    for Named { name, report } in decisions {
        if report["agrees"] != true {
            push(
                &mut page,
                &format!("**{name}, decisions: fewer than 99.9 % equal the kernel's**"),
            );
        }
        for (step, count) in fields(report, "missing_rules") {
            push(
                &mut page,
                &format!(
                    "{name}, decisions: a rule is missing or wrong: {count} differ where the core answered by `{step}`"
                ),
            );
        }
        let causes: Vec<_> = fields(report, "causes")
            .map(|(cause, count)| format!("{count} `{cause}`"))
            .collect();
        if !causes.is_empty() {
            let all = number(report, "decisions");
            let different = all - number(report, "equal");
            let causes = causes.join(", ");
            push(
                &mut page,
                &format!(
                    "{name}, decisions: {different} of {all} differ from the state at the entry: {causes}"
                ),
            );
        }
    }
    for named in behaviour {
        page.push_str(&behaviour::disagreements(named));
    }
    for Named { name, report } in pelt.iter().chain(decisions) {
        if report["whole"] == false {
            push(
                &mut page,
                &format!("{name}: the recording is not whole; the report covers its beginning"),
            );
        }
        let halves: u64 = fields(report, "seen_by_half")
            .filter_map(|(_, count)| count.as_u64())
            .sum();
        if halves != 0 {
            push(
                &mut page,
                &format!(
                    "{name}: the recorder saw one end only of {halves} calls; they are not compared"
                ),
            );
        }
        let lost = number(report, "lost");
        if report["allowed"].is_u64() && lost.max(halves) > number(report, "allowed") {
            let allowed = number(report, "allowed");
            push(
                &mut page,
                &format!(
                    "**{name}: the recorder missed too many events: at most {allowed} are allowed**"
                ),
            );
        }
        if lost != 0 {
            push(
                &mut page,
                &format!("{name}: the recorder lost {lost} events"),
            );
        }
    }
    if page.len() == none {
        page.push_str("None.\n");
    }
    page
}

fn tracking(pelt: &[Named]) -> String {
    let mut page = "\n## Load tracking\n\n".to_owned();
    if pelt.is_empty() {
        page.push_str("Not run.\n");
        return page;
    }
    page += &paragraph(
        "`policy/pelt.h` makes every recorded update of a signal again, from the state that the \
         update found. All sums and averages must equal the kernel's integers.",
    );
    page.push_str(
        "\n| kernel | base | updates | new averages | results equal | different | events lost |\n|---|---|---:|---:|---:|---:|---:|\n",
    );
    for Named { report, .. } in pelt {
        let (equal, different) = total(report);
        line!(
            page,
            "| {} {} | {} | {} | {} | {equal} | {different} | {} |",
            text(report, "kernel"),
            text(report, "arch"),
            text(report, "base"),
            number(report, "updates"),
            number(report, "averages"),
            number(report, "lost"),
        );
    }
    page
}

fn choices(decisions: &[Named]) -> String {
    let mut page = "\n## Decisions\n\n".to_owned();
    if decisions.is_empty() {
        page.push_str("Not run.\n");
        return page;
    }
    page += &paragraph(
        "`policy/select.h` makes every recorded choice of `select_task_rq_fair()` again, from the \
         state that the kernel could see. A decision is calm if no CPU changed during it: the \
         recorded state is then what the kernel saw. If a CPU changed, the kernel looked at some time \
         between the entry and the exit of its function. A decision is equal if the core decides as \
         the kernel did from the state at the entry; \"or exit\" also counts decisions that are equal \
         from the state at the exit. 99.9 % must be equal: of the calm decisions, and of all from \
         either state.",
    );
    page.push_str(
        "\n| recording | kernel | base | decisions | equal | share | or exit | share | calm | equal | share | lost |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for Named { name, report } in decisions {
        let (all, equal) = (number(report, "decisions"), number(report, "equal"));
        let either = number(report, "equal_at_either");
        let (calm, calm_equal) = (number(report, "calm"), number(report, "calm_equal"));
        line!(
            page,
            "| {name} | {} {} | {} | {all} | {equal} | {} | {either} | {} | {calm} | {calm_equal} | {} | {} |",
            text(report, "kernel"),
            text(report, "arch"),
            text(report, "scheduler"),
            percent(equal, all),
            percent(either, all),
            percent(calm_equal, calm),
            number(report, "lost"),
        );
    }
    page.push_str("\nCauses of a difference from the state at the entry:\n\n");
    for cause in Cause::ALL {
        push(
            &mut page,
            &format!("`{}`: {}", cause.name(), cause.meaning()),
        );
    }
    for Named { name, .. } in decisions.iter().filter(|of| of.report["exits"] == false) {
        let text = "was recorded without the states at the exit: nearly all its causes are `race`";
        push(&mut page, &format!("{name} {text}"));
    }
    page.push('\n');
    page += &paragraph(
        "Decisions by the step that answered; in brackets those that differ from the state at the \
         entry:",
    );
    page.push_str("\n| recording | steps |\n|---|---|\n");
    for Named { name, report } in decisions {
        let steps: Vec<String> = fields(report, "steps")
            .map(|(step, count)| {
                let all = number(count, "decisions");
                match all - number(count, "equal") {
                    0 => format!("{step} {all}"),
                    different => format!("{step} {all} (**{different}**)"),
                }
            })
            .collect();
        line!(page, "| {name} | {} |", steps.join(", "));
    }
    page
}

#[cfg(test)]
mod tests;
