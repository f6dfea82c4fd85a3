// SPDX-License-Identifier: GPL-2.0-only
//! `alight card`

use std::num::NonZeroU32;

use alight_compare::card::{self, Ask, Entry, Place, Style, WORKLOADS};
use alight_compare::inert;
use alight_compare::{Spread, simulate};
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;

use crate::args::CardArgs;
use crate::failure::Failure;
use crate::input::{load_machine, scheduler};
use crate::progress::Bar;
use crate::{interrupt, output};

/// Runs of each scheduler and cell, unless the user says how many.
const RUNS: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
/// The same with --quick.
const QUICK_RUNS: NonZeroU32 = NonZeroU32::new(3).expect("not zero");

pub fn run(args: &CardArgs) -> Result<(), Failure> {
    let (base, variant) = schedulers(&args.feature, args.base.as_deref())?;
    let machines = machines(args, &base, &variant)?;
    let workloads = workloads(&args.workloads)?;
    let selection = args.told.selection().map_err(Failure::BadInput)?;
    card::check(&selection, &workloads).map_err(Failure::bad_input)?;
    let runs = match args.quick {
        true => QUICK_RUNS,
        false => RUNS,
    };
    let ask = Ask {
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
    if found.interrupted() {
        let (done, asked) = (found.cells.len(), found.asked);
        return Err(Failure::Interrupted(format!(
            "interrupted: {done} of {asked} cells are complete and in the report"
        )));
    }
    Ok(())
}

/// The base, and the feature over it. Without a base it is that of the feature, or the newest that
/// lacks it.
fn schedulers(feature: &str, base: Option<&str>) -> Result<(Scheduler, Scheduler), Failure> {
    let stated = base.map(scheduler).transpose()?;
    let onto = stated.as_ref().map_or(Onto::NewestWithout, Onto::Stated);
    let variant = Scheduler::choose([feature], onto).map_err(Failure::bad_input)?;
    let base = stated.unwrap_or_else(|| variant.base_alone());
    if variant.parts().1.is_empty() {
        return Err(Failure::BadInput(format!(
            "'{variant}' names no feature; name one of `alight policy list`, like bias-prev"
        )));
    }
    if variant.is_same_run(&base) {
        return Err(Failure::BadInput(inert::nothing_new(&base, &variant)));
    }
    Ok((base, variant))
}

/// The machines that were named; else the built-in ones, for a quick card the first where the
/// feature can act.
fn machines(args: &CardArgs, base: &Scheduler, variant: &Scheduler) -> Result<Vec<Place>, Failure> {
    let place = |name: &str| {
        let (machine, trust) = load_machine(name)?;
        Ok(Place {
            name: name.to_owned(),
            machine,
            trust,
        })
    };
    if !args.machines.is_empty() {
        return args.machines.iter().map(|name| place(name)).collect();
    }
    let all = alight_machine::names().into_iter().map(place);
    let mut all = all.collect::<Result<Vec<Place>, Failure>>()?;
    if args.quick {
        let acts = |place: &Place| inert::lacks(base, variant, &place.machine).is_none();
        let first = all.iter().position(acts).unwrap_or(0);
        all = vec![all.swap_remove(first)];
    }
    Ok(all)
}

/// The workloads of the set that were named; else all of them.
fn workloads(names: &[String]) -> Result<Vec<&'static Entry>, Failure> {
    if names.is_empty() {
        return Ok(WORKLOADS.iter().collect());
    }
    let find = |name: &String| {
        let known = WORKLOADS.iter().find(|entry| entry.name == name);
        known.ok_or_else(|| {
            let likeness = |entry: &Entry| strsim::jaro_winkler(name, entry.name);
            let mut nearest: Vec<&Entry> = WORKLOADS.iter().collect();
            nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
            let nearest: Vec<&str> = nearest.iter().map(|entry| entry.name).collect();
            Failure::BadInput(format!(
                "no workload '{name}' in the standard set; did you mean '{}'? valid: {}",
                nearest[0],
                nearest.join(", ")
            ))
        })
    };
    names.iter().map(find).collect()
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
