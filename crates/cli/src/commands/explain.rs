// SPDX-License-Identifier: GPL-2.0-only
//! `alight explain`

use std::num::NonZeroUsize;

use alight_sim::{Scenario, Watch, time};
use alight_study::decisions;
use alight_study::header::Conditions;

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::input::{Input, scheduler};
use crate::{again, interrupt, output};

/// Decisions shown of a whole run, unless the user asks for more.
const LIMIT: usize = 10;

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let scheduler = scheduler(&args.scheduler.name)?;
    let input = Input::load(&args.run)?;
    let scenario = input.scenario(&args.run, &scheduler);
    task_exists(&scenario, &args.task)?;
    if let (Some(at), Some(end)) = (args.at, args.run.duration)
        && at >= end
    {
        return Err(beyond(at, end));
    }
    let limit = args.limit.map(NonZeroUsize::get);
    let watch = Watch {
        comm: args.task.clone(),
        at_ns: args.at,
        limit: limit.unwrap_or(if args.at.is_some() { 1 } else { LIMIT }),
    };
    let cancel = interrupt::flag()?;
    let (outcome, found) = alight_sim::explain(&scenario, &watch, cancel)?;
    if let Some(at) = args.at
        && at >= outcome.end_ns
        && !outcome.interrupted
    {
        return Err(beyond(at, outcome.end_ns));
    }
    let command = command(args, &watch, &scheduler.name);
    let conditions = Conditions::of(&scenario, command);
    output::print(&if args.json {
        decisions::json(&conditions, &args.task, &found)
    } else {
        decisions::table(&conditions, &args.task, &found)
    })?;
    if outcome.interrupted {
        let end = "interrupted: later decisions are missing";
        return Err(Failure::Interrupted(end.to_owned()));
    }
    input.remark_late(outcome.end_ns);
    Ok(())
}

/// No decision is made at `at` or later in a run that ends at `end`.
fn beyond(at: u64, end: u64) -> Failure {
    let (at, end) = (time(at), time(end));
    Failure::BadInput(format!("--at {at} is behind the end of the run, {end}"))
}

fn command(args: &ExplainArgs, watch: &Watch, scheduler: &str) -> String {
    let mut options = vec!["--task".to_owned(), args.task.clone()];
    if let Some(ns) = args.at {
        options.extend(["--at".to_owned(), again::typed(ns)]);
    }
    options.extend(["--limit".to_owned(), watch.limit.to_string()]);
    again::command("explain", &args.run, &[scheduler.to_owned()], &options)
}

/// Refuses a name that no task of the run has.
fn task_exists(scenario: &Scenario<'_>, name: &str) -> Result<(), Failure> {
    /// Names to offer.
    const OFFERED: usize = 5;
    let tasks = alight_sim::task_table(scenario)?;
    let mut names: Vec<&str> = tasks.iter().map(|(_, comm, _)| comm.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.contains(&name) {
        return Ok(());
    }
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
    names.truncate(OFFERED);
    Err(Failure::BadInput(format!(
        "no task is named '{name}'; the nearest names: {}",
        names.join(", ")
    )))
}
