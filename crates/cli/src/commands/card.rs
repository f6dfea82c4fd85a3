// SPDX-License-Identifier: GPL-2.0-only
//! `alight card`

use alight_ask::load_machine;
use alight_compare::card::{self, CardQuestion, Place};
use alight_compare::{Spread, Style, simulate};
use alight_policy::Scheduler;

use crate::args::CardArgs;
use crate::failure::Failure;
use crate::output::remark;
use crate::progress::Bar;
use crate::{interrupt, output};

pub fn run(args: &CardArgs) -> Result<(), Failure> {
    args.page.check()?;
    let (base, variant) =
        card::sides(&args.feature, args.base.as_deref()).map_err(Failure::BadInput)?;
    let machines = machines(args, &base, &variant)?;
    let workloads = card::workloads(&args.workloads).map_err(Failure::BadInput)?;
    let selection = args.told.selection().map_err(Failure::BadInput)?;
    card::check(&selection, &workloads).map_err(Failure::bad_input)?;
    let runs = match args.quick {
        true => card::QUICK_RUNS,
        false => card::RUNS,
    };
    let ask = CardQuestion {
        base: &base,
        variant: &variant,
        machines: &machines,
        workloads: &workloads,
        runs: args.runs.unwrap_or(runs),
        seed: args.seed,
        command: command(args, &base, &variant),
    };
    let cancel = interrupt::flag()?;
    let bar = Bar::of(card::jobs(&ask)?);
    let how = Spread {
        threads: args.threads.jobs,
        progress: &|told| bar.hear(told),
    };
    let found = card::card(&ask, &simulate, how, cancel);
    bar.finish();
    let found = found?.only(&selection);
    let style = if args.json { Style::Json } else { args.style };
    output::print(&card::render(&found, style, args.told.extent()))?;
    args.page
        .write(style == Style::Table, || card::page(&found))?;
    if found.interrupted() {
        let (done, asked) = (found.cells.len(), found.asked);
        return Err(Failure::Interrupted(format!(
            "interrupted: {done} of {asked} cells are complete and in the report"
        )));
    }
    Ok(())
}

/// The machines that were named; else those of a card, for a quick one the first where the feature
/// can act.
fn machines(args: &CardArgs, base: &Scheduler, variant: &Scheduler) -> Result<Vec<Place>, Failure> {
    let place = |name: &str| {
        let (machine, trust) = load_machine(name, &remark)?;
        Ok(Place {
            name: name.to_owned(),
            machine,
            trust,
        })
    };
    if !args.machines.is_empty() {
        return args.machines.iter().map(|name| place(name)).collect();
    }
    let all = card::MACHINES.into_iter().map(place);
    let all = all.collect::<Result<Vec<Place>, Failure>>()?;
    Ok(match args.quick {
        true => card::first_look(base, variant, all),
        false => all,
    })
}

/// The command that gives the same card again.
fn command(args: &CardArgs, base: &Scheduler, variant: &Scheduler) -> String {
    let feature = variant.name.strip_prefix(&base.name);
    let feature = feature.and_then(|rest| rest.strip_prefix('+'));
    let mut words = vec!["alight", "card", feature.unwrap_or(&args.feature)];
    words.extend(["--base", &base.name]);
    for machine in &args.machines {
        words.extend(["-m", machine]);
    }
    for workload in &args.workloads {
        words.extend(["-w", workload]);
    }
    let (runs, seed) = (
        args.runs.map(|runs| runs.to_string()),
        args.seed.to_string(),
    );
    if let Some(runs) = &runs {
        words.extend(["--runs", runs]);
    }
    if args.seed != 1 {
        words.extend(["--seed", &seed]);
    }
    if args.quick {
        words.push("--quick");
    }
    shell_words::join(words)
}
