// SPDX-License-Identifier: GPL-2.0-only
//! `alight suite`

use alight_study::suite::scenario::{ENTRIES, Entry};
use alight_study::suite::{self, Figures, Verdict};
use serde_json::json;

use crate::args::{SuiteArgs, SuiteVerb};
use crate::failure::Failure;
use crate::{input, output};

pub fn run(args: &SuiteArgs) -> Result<(), Failure> {
    match &args.verb {
        SuiteVerb::List => output::print(&list()),
        SuiteVerb::Run {
            names,
            all,
            base,
            machine,
            seed,
            json,
        } => {
            let entries: Vec<&Entry> = if *all {
                ENTRIES.iter().collect()
            } else {
                names
                    .iter()
                    .map(|name| find(name))
                    .collect::<Result<_, _>>()?
            };
            let machine = input::load_machine(machine)?;
            let scheduler = input::scheduler(base)?;
            let mut verdicts = vec![];
            for entry in entries {
                let seen = suite::observe(entry, &machine, &scheduler, *seed)?;
                verdicts.push((entry, suite::judge(entry, &machine, seen.as_ref())));
            }
            let asked = Asked {
                machine: &machine.name,
                scheduler: &scheduler.name,
                seed: *seed,
            };
            output::print(&if *json {
                document(&asked, &verdicts)
            } else {
                table(&asked, &verdicts)
            })?;
            let failed = verdicts.iter().filter(|v| matches!(v.1, Verdict::Fail(_)));
            match failed.count() {
                0 => Ok(()),
                count => Err(Failure::Different(format!("{count} scenarios fail"))),
            }
        }
    }
}

/// What was asked of.
struct Asked<'a> {
    machine: &'a str,
    scheduler: &'a str,
    seed: u64,
}

fn find(name: &str) -> Result<&'static Entry, Failure> {
    let likeness = |entry: &Entry| strsim::jaro_winkler(name, entry.name);
    (ENTRIES.iter().find(|entry| entry.name == name)).ok_or_else(|| {
        let mut nearest = ENTRIES.each_ref();
        nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        let nearest = nearest.map(|entry| entry.name).join(", ");
        Failure::BadInput(format!(
            "no scenario '{name}'; the nearest first: {nearest}"
        ))
    })
}

fn list() -> String {
    let line = |entry: &Entry| {
        let (name, about, percent, reason) =
            (entry.name, entry.about, entry.energy_percent, entry.reason);
        format!(
            "{name:<18} {about}\n{:<18} energy within {percent} %: {reason}\n",
            ""
        )
    };
    ENTRIES.iter().map(line).collect()
}

fn table(asked: &Asked<'_>, verdicts: &[(&Entry, Verdict)]) -> String {
    let Asked {
        machine,
        scheduler,
        seed,
    } = asked;
    let head = format!("{machine}, {scheduler}, seed {seed}\n");
    let line = |(entry, verdict): &(&Entry, Verdict)| match verdict {
        Verdict::Pass(figures) => row("PASS", entry, &text(figures)),
        Verdict::Fail(figures) => row("FAIL", entry, &text(figures)),
        Verdict::Undecided { why } => row("UNDECIDED", entry, why),
    };
    head + &verdicts.iter().map(line).collect::<String>()
}

fn row(word: &str, entry: &Entry, text: &str) -> String {
    format!("{word:<9} {:<18} {text}\n", entry.name)
}

fn text(figures: &Figures) -> String {
    let ratio = figures.observed_nj as f64 / figures.optimum_nj.max(1) as f64;
    format!(
        "energy {ratio:.3} of the optimum (allowed 1.{:02}), {} % late (allowed {} %)",
        figures.energy_percent,
        figures.late_percent,
        suite::scenario::LATE_PERCENT
    )
}

fn document(asked: &Asked<'_>, verdicts: &[(&Entry, Verdict)]) -> String {
    let scenario =
        |(entry, verdict): &(&Entry, Verdict)| json!({"name": entry.name, "result": verdict});
    let scenarios: Vec<_> = verdicts.iter().map(scenario).collect();
    let document = json!({
        "schema": "alight.suite/1",
        "machine": asked.machine,
        "scheduler": asked.scheduler,
        "seed": asked.seed,
        "scenarios": scenarios,
    });
    format!("{document:#}\n")
}
