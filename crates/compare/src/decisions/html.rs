// SPDX-License-Identifier: GPL-2.0-only
//! The page of decisions: a table of all, what happened meanwhile, and each in full.

use std::sync::atomic::AtomicBool;

use alight_html::{Page, Table};
use alight_policy::Scheduler;
use alight_sim::{Choice, Decision, Scenario};

use super::{counted, one, step};
use crate::header::Conditions;
use crate::observe::{Observation, of_run};
use crate::progress::Listener;
use crate::report::{number, observed, parts};

/// The whole file.
pub fn page(
    conditions: &Conditions,
    scheduler: &Scheduler,
    task: &str,
    decisions: &[Decision],
    observation: Option<&Observation<'_>>,
) -> String {
    let of = [("task", format!("{task}, {}", counted(decisions.len())))];
    let mut page = Page::new(&format!("Why this CPU: {}", parts::title(conditions)))
        .part("Question", &parts::asked(conditions, of))
        .part("Decisions", &table(scheduler, decisions))
        .text("How far to trust it", parts::trust(&conditions.rests));
    page = observed(page, observation);
    for decision in decisions {
        let title = format!("Decision at {} s", number::seconds(decision.time_ns));
        page = page.command(&title, one(scheduler, decision).trim_end());
    }
    page.command("Again", &conditions.command).render()
}

/// Time that a page shows before the first decision, and after the last, ns.
const BEFORE_NS: u64 = 2_000_000;
const AFTER_NS: u64 = 10_000_000;

/// Observes a run that ends at `end_ns` around its decisions. `None`: it was cancelled, or there is no
/// decision.
///
/// # Errors
/// Of the simulator.
pub fn observe<'a>(
    scenario: &Scenario<'a>,
    decisions: &[Decision],
    end_ns: u64,
    progress: &Listener<'_>,
    cancel: &AtomicBool,
) -> Result<Option<Observation<'a>>, alight_sim::Error> {
    let (Some(first), Some(last)) = (decisions.first(), decisions.last()) else {
        return Ok(None);
    };
    let from = first.time_ns.saturating_sub(BEFORE_NS);
    let to = last.time_ns.saturating_add(AFTER_NS).min(end_ns);
    of_run(scenario, end_ns, Some(from..to), progress, cancel)
}

/// A row a decision; the base's only where there is a feature that could make a difference.
fn table(scheduler: &Scheduler, decisions: &[Decision]) -> Table {
    let (base, features) = scheduler.parts();
    let mut heads = vec!["time s", "waking CPU", "previous CPU", "CPU", "step"];
    let base_cpu = format!("{}: CPU", base.name);
    if !features.is_empty() {
        heads.extend([base_cpu.as_str(), "step", "because of"]);
    }
    heads.push("until it ran");
    decisions.iter().fold(Table::new(heads), |table, decision| {
        let choice = |choice: &Choice| {
            let cpu = choice.answer.cpu;
            let cpu = match choice.cpu.online {
                true => cpu.to_string(),
                false => format!("{cpu}, offline"),
            };
            [cpu, step(choice.answer.step).0.to_owned()]
        };
        let mut cells = vec![
            number::seconds(decision.time_ns),
            decision.this_cpu.to_string(),
            decision.prev_cpu.to_string(),
        ];
        cells.extend(choice(&decision.chosen));
        if !features.is_empty() {
            cells.extend(choice(&decision.base));
            cells.push(decision.because.join(", "));
        }
        let ran = decision.latency_ns.map(alight_html::time);
        cells.push(ran.unwrap_or(number::NONE.to_owned()));
        table.row(cells)
    })
}
