// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare`

use alight_policy::Scheduler;
use alight_sim::Scenario;
use alight_study::{Question, Spread, Style, compare, report};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::input::{Input, scheduler};
use crate::{again, interrupt, output, progress};

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let names = args.schedulers.iter();
    let schedulers: Vec<Scheduler> = names
        .map(|name| scheduler(name))
        .collect::<Result<_, _>>()?;
    let input = Input::load(&args.run)?;
    let question = Question {
        machine: &input.machine,
        workloads: &input.workloads,
        schedulers: &schedulers,
        runs: args.runs,
        seed: args.run.seed,
        governor: args.run.governor,
        idle_governor: args.run.idle_governor,
        duration_ns: args.run.duration,
        changes: &input.changes,
        groups: &input.groups,
        sysctls: &input.sysctls,
        wakee_flips: args.run.wakee_flips,
        check: args.run.check,
        command: command(args, &schedulers),
    };
    let cancel = interrupt::flag()?;
    let runs = progress::Runs::of(u64::from(args.runs.get()) * schedulers.len() as u64);
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|_| (),
    };
    let earliest = AtomicU64::new(u64::MAX);
    let simulate = |scenario: &Scenario<'_>, cancel: &AtomicBool| {
        let run = |tell: &dyn Fn(u32)| alight_sim::run_telling(scenario, None, cancel, tell);
        let outcome = runs.one(run)?;
        earliest.fetch_min(outcome.end_ns, Ordering::Relaxed);
        Ok(outcome)
    };
    let comparison = compare(&question, &simulate, how, cancel);
    runs.finish();
    let comparison = comparison?;
    let style = if args.json { Style::Json } else { args.style };
    output::print(&report::render(&comparison, style))?;
    if comparison.interrupted() {
        let (done, asked) = (comparison.seeds.len(), args.runs);
        return Err(Failure::Interrupted(format!(
            "interrupted: {done} of {asked} runs are complete and in the report"
        )));
    }
    input.remark_late(earliest.into_inner());
    Ok(())
}

fn command(args: &CompareArgs, schedulers: &[Scheduler]) -> String {
    let names: Vec<String> = schedulers.iter().map(|s| s.name.clone()).collect();
    let runs = ["--runs".to_owned(), args.runs.to_string()];
    again::command("compare", &args.run, &names, &runs)
}
