// SPDX-License-Identifier: GPL-2.0-only
//! `alight simulate`

use alight_ask::{Input, scheduler_over};
use alight_compare::header::Conditions;
use alight_compare::progress::one_run;
use alight_compare::single::{self, Told};
use alight_compare::tool;
use alight_compare::{Style, observe, simulate};
use alight_trace::is_stdout;

use crate::args::SimulateArgs;
use crate::failure::Failure;
use crate::progress::{Bar, on_bar};
use crate::{interrupt, output, traced};

pub fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let named = &args.scheduler;
    let scheduler = scheduler_over(named.base.as_deref(), named.name.as_deref())?;
    args.shown.page.check()?;
    let input = Input::load(args.run.options(), &output::remark)?;
    let style = if args.json { Style::Json } else { args.style };
    let selection = args.told.selection().map_err(Failure::BadInput)?;
    if style == Style::Tool {
        tool::check(&input.workloads)?;
    }
    let scenario = input.scenario(&scheduler);
    let command = input.command("simulate", &[&scheduler.name], &[]);
    let cancel = interrupt::flag()?;
    let bar = Bar::of(1);
    let outcome = one_run(&|told| bar.hear(told), |tell| match &args.trace {
        None => simulate(&scenario, cancel, tell).map_err(Failure::from),
        Some(path) => {
            let machine = Some(input.machine_text.as_str());
            traced::run(&scenario, machine, path, &command, cancel, tell)
        }
    });
    bar.finish();
    let outcome = outcome?;
    let conditions = Conditions::of(&scenario, &input.trust, command);
    selection.check(&outcome).map_err(Failure::bad_input)?;
    let told = Told {
        extent: args.told.extent(),
        selection: &selection,
    };
    let report = single::render(&conditions, &input.workloads, &outcome, style, &told);
    // Of a run that was cut by hand that is the reason, whatever else is missing.
    if !outcome.interrupted || report.is_ok() {
        match args.trace.as_deref().is_some_and(is_stdout) {
            true => output::print_aside(&report?),
            false => output::print(&report?)?,
        }
        if style == Style::Tool {
            // Readers of a tool's words know no others.
            for (label, text) in conditions.rests.rows() {
                output::remark(&format!("{label}: {text}"));
            }
        }
    }
    if args.shown.page.is_wanted() && !outcome.interrupted {
        let time = args.shown.html_time.clone();
        let observed = on_bar(Bar::of_page(1), |progress| {
            observe::of_run(&scenario, outcome.end_ns, time, progress, cancel)
        })?;
        args.shown.page.write(style == Style::Table, || {
            single::page(&conditions, &outcome, observed.as_ref(), &told)
        })?;
    }
    if outcome.interrupted {
        let page = match args.shown.page.is_wanted() {
            true => "; no page is written",
            false => "",
        };
        return Err(Failure::Interrupted(format!(
            "interrupted: the numbers are those of the part that ran{page}"
        )));
    }
    args.shown.page.is_whole(cancel)?;
    input.tell_late(outcome.end_ns, &output::remark);
    Ok(())
}
