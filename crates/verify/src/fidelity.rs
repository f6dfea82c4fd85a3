// SPDX-License-Identifier: GPL-2.0-only
//! The fidelity pages: what all verifications found, disagreements first, and each quantity of behaviour.
//!
//! Reads the JSON reports of a directory (schemas `alight.verify-pelt/1`,
//! `alight.verify-decisions/1` and `alight.verify-behaviour/1`), in the order of their names, and writes
//! Markdown. It holds no figure of its own. The directory has a folder for each kernel, so that one
//! kernel can be held against the model anew and the others keep what was found.

use crate::decisions::Cause;
use alight_text::{item, paragraph};
use read::{Kernel, Named};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::Path;

/// Writing to a String cannot fail.
macro_rules! line {
    ($page:expr, $($argument:tt)*) => {
        writeln!($page, $($argument)*).expect("a String takes everything")
    };
}

mod behaviour;
mod read;

pub use read::NoFidelityPage;

/// The page on all reports below `directory`. A folder of it is a kernel; its file `model` says of
/// which model the reports in it are.
///
/// # Errors
/// If a file ending in `.json` cannot be read or is no report, or if there is none.
pub fn page(directory: &Path) -> Result<String, NoFidelityPage> {
    let kernels = read::kernels(directory)?;
    Ok([
        HEAD.to_owned(),
        summary(&kernels),
        disagreements(&kernels),
        tracking(&kernels),
        choices(&kernels),
        left_out(),
    ]
    .concat())
}

/// The page on behaviour of all reports below `directory`: each quantity of each workload.
///
/// # Errors
/// As [`page`].
pub fn quantities(directory: &Path) -> Result<String, NoFidelityPage> {
    Ok(behaviour::page(&read::kernels(directory)?))
}

const HEAD: &str = "\
# Fidelity

How close the model is to the kernels that it models. `make verify` runs the scripts of `verify/`:
they boot each kernel, record what its scheduler does, give the policy core the same input, and
compare. `alight verify report` makes this page of their reports, which are in `verify/reports`.
[Each quantity of behaviour](fidelity-behaviour.md) is on a page of its own.
[verify.md](../explanation/verify.md) describes the method, [sources.md](../explanation/sources.md)
the source of each rule, and [model.md](../explanation/model.md) the model.
";

/// One row a kernel: what was found of it.
fn summary(kernels: &[Kernel]) -> String {
    let mut page = "\n## Kernels\n\n".to_owned();
    page += &paragraph(
        "Signals: sums and averages of load tracking that differ, of all. Decisions: choices of a CPU \
         that are equal, of those during which no CPU changed. Behaviour: quantities of whole runs on \
         one CPU and on four that agree, that disagree, and that too few events or runs tell of.",
    );
    page.push_str(
        "\n| kernel | release | base | signals that differ | decisions equal | agree | disagree | too few | model |\n\
         |---|---|---|---:|---:|---:|---:|---:|---|\n",
    );
    for kernel in kernels {
        let signals = match kernel.pelt.as_slice() {
            [] => "-".to_owned(),
            reports => {
                let (equal, different) = sum(reports.iter().map(|of| total(&of.report)));
                format!("{different} of {}", equal + different)
            }
        };
        let decisions = match kernel.decisions.as_slice() {
            [] => "-".to_owned(),
            reports => {
                let of = |field| reports.iter().map(|of| number(&of.report, field)).sum();
                percent(of("calm_equal"), of("calm"))
            }
        };
        let verdicts = match kernel.behaviour.as_slice() {
            [] => ["-".to_owned(), "-".to_owned(), "-".to_owned()],
            reports => ["agree", "disagree", "too_few"].map(|verdict| {
                let counts = reports
                    .iter()
                    .map(|of| behaviour::count(&of.report, verdict));
                counts.sum::<usize>().to_string()
            }),
        };
        line!(
            page,
            "| {} | {} | {} | {signals} | {decisions} | {} | {} |",
            kernel.name,
            kernel.release(),
            kernel.base(),
            verdicts.join(" | "),
            kernel.model
        );
    }
    page
}

fn sum(pairs: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    pairs.fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
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
    sum(fields(report, "checks")
        .map(|(_, count)| (number(count, "equal"), number(count, "different"))))
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

/// What is to be known before the tables, of all kernels.
fn disagreements(kernels: &[Kernel]) -> String {
    let mut list = String::new();
    for kernel in kernels {
        for name in &kernel.missing {
            let text = format!("**{name}: no report; the output of the run says what failed**");
            push(&mut list, &text);
        }
        signals_that_differ(&mut list, &kernel.pelt);
        decisions_that_differ(&mut list, &kernel.decisions);
        for named in &kernel.behaviour {
            list += &behaviour::disagreements(named);
        }
        not_recorded(&mut list, kernel.pelt.iter().chain(&kernel.decisions));
    }
    if list.is_empty() {
        list.push_str("None.\n");
    }
    format!("\n## Disagreements\n\n{list}")
}

fn signals_that_differ(page: &mut String, reports: &[Named]) {
    for Named { name, report } in reports {
        for (function, count) in fields(report, "checks") {
            let different = number(count, "different");
            if different != 0 {
                push(
                    page,
                    &format!("{name}, load tracking: {different} results of `{function}` differ"),
                );
            }
        }
        for (what, count) in report["gaps"]["unseen"].as_object().into_iter().flatten() {
            push(
                page,
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
                push(page, &format!("{name}, load tracking: {count} {what}"));
            }
        }
    }
}

fn decisions_that_differ(page: &mut String, reports: &[Named]) {
    for Named { name, report } in reports {
        if report["agrees"] != true {
            push(
                page,
                &format!("**{name}, decisions: fewer than 99.9 % equal the kernel's**"),
            );
        }
        for (step, count) in fields(report, "missing_rules") {
            push(
                page,
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
                page,
                &format!(
                    "{name}, decisions: {different} of {all} differ from the state at the entry: {causes}"
                ),
            );
        }
    }
}

/// What the recorder missed.
fn not_recorded<'a>(page: &mut String, reports: impl Iterator<Item = &'a Named>) {
    for Named { name, report } in reports {
        if report["whole"] == false {
            push(
                page,
                &format!("{name}: the recording is not whole; the report covers its beginning"),
            );
        }
        let halves: u64 = fields(report, "seen_by_half")
            .filter_map(|(_, count)| count.as_u64())
            .sum();
        if halves != 0 {
            push(
                page,
                &format!(
                    "{name}: the recorder saw one end only of {halves} calls; they are not compared"
                ),
            );
        }
        let lost = number(report, "lost");
        if report["allowed"].is_u64() && lost.max(halves) > number(report, "allowed") {
            let allowed = number(report, "allowed");
            push(
                page,
                &format!(
                    "**{name}: the recorder missed too many events: at most {allowed} are allowed**"
                ),
            );
        }
        if lost != 0 {
            push(page, &format!("{name}: the recorder lost {lost} events"));
        }
    }
}

fn tracking(kernels: &[Kernel]) -> String {
    let pelt = || kernels.iter().flat_map(|kernel| &kernel.pelt);
    let mut page = "\n## Load tracking\n\n".to_owned();
    if pelt().next().is_none() {
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
    for Named { report, .. } in pelt() {
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

fn choices(kernels: &[Kernel]) -> String {
    let decisions = || kernels.iter().flat_map(|kernel| &kernel.decisions);
    let mut page = "\n## Decisions\n\n".to_owned();
    if decisions().next().is_none() {
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
    for Named { name, report } in decisions() {
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
    for Named { name, .. } in decisions().filter(|of| of.report["exits"] == false) {
        let text = "was recorded without the states at the exit: nearly all its causes are `race`";
        push(&mut page, &format!("{name} {text}"));
    }
    page.push('\n');
    page += &paragraph(
        "Decisions by the step that answered; in brackets those that differ from the state at the \
         entry:",
    );
    page.push_str("\n| recording | steps |\n|---|---|\n");
    for Named { name, report } in decisions() {
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
