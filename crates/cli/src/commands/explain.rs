// SPDX-License-Identifier: GPL-2.0-only
//! `alight explain`

use std::sync::atomic::AtomicBool;

use alight_compare::answers::{self, Asked};
use alight_compare::decisions;
use alight_compare::header::Conditions;
use alight_machine::Trust;
use alight_policy::Scheduler;
use alight_sim::{Outcome, Scenario, Watch, about, time};

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::input::{Input, scheduler_over};
use crate::{again, duration, interrupt, output};

pub fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let named = &args.scheduler;
    let scheduler = scheduler_over(named.base.as_deref(), named.name.as_deref())?;
    let input = Input::load(&args.run)?;
    let scenario = input.scenario(&args.run, &scheduler);
    if let Some(task) = &args.task {
        decisions::find_task(&alight_sim::task_table(&scenario)?, task)
            .map_err(Failure::BadInput)?;
    }
    if let (Some(at), Some(end)) = (args.at, args.run.duration)
        && at >= end
    {
        return Err(beyond(at, end));
    }
    let watch = Watch {
        comm: args.task.clone(),
        at_ns: args.at,
    };
    let cancel = interrupt::flag()?;
    let (outcome, report) = match &args.task {
        Some(task) if !args.histogram => {
            single(args, &scenario, &input.trust, &watch, task, cancel)?
        }
        _ => histogram(args, &scenario, &input.trust, &watch, cancel)?,
    };
    if let Some(at) = args.at
        && at >= outcome.end_ns
        && !outcome.interrupted
    {
        return Err(beyond(at, outcome.end_ns));
    }
    output::print(&report)?;
    if outcome.interrupted {
        let end = "interrupted: later decisions are missing";
        return Err(Failure::Interrupted(end.to_owned()));
    }
    input.remark_late(outcome.end_ns);
    Ok(())
}

/// Single decisions of `task`.
fn single(
    args: &ExplainArgs,
    scenario: &Scenario<'_>,
    trust: &Trust,
    watch: &Watch,
    task: &str,
    cancel: &AtomicBool,
) -> Result<(Outcome, String), Failure> {
    let limit = decisions::limit(args.limit, args.at);
    let (outcome, found) = alight_sim::explain(scenario, watch, limit, cancel)?;
    let scheduler = scenario.scheduler;
    let last = ["--limit".to_owned(), limit.to_string()];
    let conditions = Conditions::of(scenario, trust, command(args, &last, scheduler));
    let report = match args.json {
        true => decisions::json(&conditions, scheduler, task, &found),
        false => decisions::table(&conditions, scheduler, task, &found),
    };
    Ok((outcome, report))
}

/// Which steps answered.
fn histogram(
    args: &ExplainArgs,
    scenario: &Scenario<'_>,
    trust: &Trust,
    watch: &Watch,
    cancel: &AtomicBool,
) -> Result<(Outcome, String), Failure> {
    let (outcome, found) = alight_sim::answers(scenario, watch, cancel)?;
    let scheduler = scenario.scheduler;
    let conditions = Conditions::of(
        scenario,
        trust,
        command(args, &["--histogram".to_owned()], scheduler),
    );
    let both = [scheduler.base_alone().name, scheduler.name.clone()];
    let asked = Asked {
        conditions: &conditions,
        scheduler,
        task: args.task.as_deref(),
        at_ns: args.at,
        interrupted: outcome.interrupted,
        compare: &again::command("compare", &args.run, &both, &[]),
    };
    let report = match args.json {
        true => answers::json(&asked, &found),
        false => answers::table(&asked, &found),
    };
    Ok((outcome, report))
}

/// No decision is made at `at` or later in a run that ends at `end`.
fn beyond(at: u64, end: u64) -> Failure {
    let (at, end) = (time(at), about(end));
    Failure::BadInput(format!("--at {at} is after the end of the run, {end}"))
}

fn command(args: &ExplainArgs, last: &[String], scheduler: &Scheduler) -> String {
    let mut options = vec![];
    if let Some(task) = &args.task {
        options.extend(["--task".to_owned(), task.clone()]);
    }
    if let Some(ns) = args.at {
        options.extend(["--at".to_owned(), duration::typed(ns)]);
    }
    options.extend_from_slice(last);
    let scheduler = scheduler.name.clone();
    again::command("explain", &args.run, &[scheduler], &options)
}
