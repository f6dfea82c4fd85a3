// SPDX-License-Identifier: GPL-2.0-only
//! `alight compare`

use alight_compare::picture::of_comparison;
use alight_compare::{Form, Question, Spread, Style, compare, report, simulate};
use alight_policy::Scheduler;
use alight_sim::Scenario;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::input::Input;
use crate::progress::Bar;
use crate::{again, interrupt, output};

pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let names = args.base.iter().chain(&args.schedulers);
    let schedulers =
        Scheduler::choose_all(names.map(String::as_str)).map_err(Failure::bad_input)?;
    if let [one] = schedulers.as_slice() {
        let base = match one.parts() {
            (_, features) if features.is_empty() => String::new(),
            (base, _) => format!(", or its base by --base {}", base.name),
        };
        return Err(Failure::BadInput(format!(
            "a comparison needs two schedulers or more, found {one}; name another{base}"
        )));
    }
    let style = if args.json { Style::Json } else { args.style };
    if args.samples && style != Style::Csv {
        return Err(Failure::BadInput(
            "--samples needs --style csv; JSON always has the samples".to_owned(),
        ));
    }
    if let Some(file) = &args.picture {
        check_ending(file, "--picture", "a picture is SVG", "svg")?;
    }
    if let Some(file) = &args.html {
        check_ending(file, "--html", "a page is HTML", "html")?;
        output::try_place(file)?;
    }
    let selection = args.told.selection().map_err(Failure::BadInput)?;
    let input = Input::load(&args.run)?;
    let question = Question {
        scenario: input.scenario(&args.run, &schedulers[0]),
        trust: &input.trust,
        schedulers: &schedulers,
        runs: args.runs,
        command: command(args, &schedulers),
    };
    let cancel = interrupt::flag()?;
    let bar = Bar::of(question.jobs());
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|told| bar.hear(told),
    };
    let earliest = AtomicU64::new(u64::MAX);
    let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, tell: &dyn Fn(u32)| {
        let outcome = simulate(scenario, cancel, tell)?;
        // The first of all runs tells which numbers there are, before the others are waited for.
        if scenario.seed == args.run.seed && scenario.scheduler == &schedulers[0] {
            let known = selection.check(&outcome);
            known.map_err(|unknown| alight_sim::Error::Refused(unknown.to_string()))?;
        }
        earliest.fetch_min(outcome.end_ns, Ordering::Relaxed);
        Ok(outcome)
    };
    let comparison = compare(&question, &run, how, cancel);
    bar.finish();
    let whole = comparison?;
    let drawn = match args.picture {
        Some(_) => of_comparison(&question, &whole, args.picture_time.clone(), cancel),
        None => Ok(None),
    };
    let comparison = whole.only(&selection);
    let form = Form {
        style,
        extent: args.told.extent(),
        samples: args.samples,
    };
    output::print(&report::render(&comparison, form))?;
    if let Some(file) = &args.html {
        output::save(file, &report::page(&comparison, args.told.extent()))?;
        if style == Style::Table {
            output::print(&format!("page     {}\n", file.display()))?;
        }
    }
    // After the report: a picture that cannot be drawn does not cost what was compared.
    if let Some((file, text)) = args.picture.as_deref().zip(drawn?) {
        output::save(file, &text)?;
        if style == Style::Table {
            output::print(&format!("picture  {}\n", file.display()))?;
        }
    }
    if comparison.interrupted() {
        let (done, asked) = (comparison.seeds.len(), args.runs);
        return Err(Failure::Interrupted(format!(
            "interrupted: {done} of {asked} runs are complete and in the report"
        )));
    }
    input.remark_late(earliest.into_inner());
    Ok(())
}

/// Refuses a file whose name promises another format.
fn check_ending(file: &Path, option: &str, what: &str, ending: &str) -> Result<(), Failure> {
    match file.extension().is_some_and(|found| found == ending) {
        true => Ok(()),
        false => Err(Failure::BadInput(format!(
            "{option} '{}': {what}; name a file that ends in .{ending}",
            alight_text::cell(&file.display().to_string())
        ))),
    }
}

fn command(args: &CompareArgs, schedulers: &[Scheduler]) -> String {
    let names: Vec<String> = schedulers.iter().map(|s| s.name.clone()).collect();
    let runs = ["--runs".to_owned(), args.runs.to_string()];
    again::command("compare", &args.run, &names, &runs)
}
