// SPDX-License-Identifier: GPL-2.0-only
//! Runs the plans of a scenario and keeps what was seen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_compare::rests::{self, RestsOn};
use alight_compare::spread::{NoResults, Spread, spread};
use alight_machine::{Machine, Trust};
use alight_sim::{Action, Change, Outcome, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observe::{Observer, Seen};
use super::{Entry, Observed, Plan, Platform};

/// Name and version of the form in which records are saved.
pub const SCHEMA: &str = "alight.suite-record/1";

/// A scenario that was run: enough to judge it, now or later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "struct Record")]
pub struct TrialRecord {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the machine.
    pub machine: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Seed.
    pub seed: u64,
    /// The machine, as far as scenarios look at it.
    pub platform: Platform,
    /// What the runs rest on; `None`: an older version recorded them, which did not say.
    #[serde(default)]
    pub grounds: Option<Grounds>,
    /// Why there are no runs, if there are none.
    pub why: Option<String>,
    /// The runs.
    pub runs: Vec<Observed>,
}

/// What recorded runs rest on, as reports have it ([`RestsOn`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// How far the machine's figures can be trusted, in a line.
    pub line: String,
    /// The same, as a member of documents.
    pub rests_on: Value,
    /// What the model leaves out that some run needs, a sentence each.
    pub left_out: Vec<String>,
}

/// What is written to a file.
#[derive(Deserialize)]
struct Saved {
    schema: String,
    records: Vec<TrialRecord>,
}

/// The text of a file that holds `records`.
pub fn to_json(records: &[TrialRecord]) -> String {
    format!(
        "{}\n",
        serde_json::json!({"schema": SCHEMA, "records": records})
    )
}

/// What [`to_json`] wrote.
///
/// # Errors
/// What is wrong with the text.
pub fn from_json(text: &str) -> Result<Vec<TrialRecord>, String> {
    let saved: Saved = serde_json::from_str(text).map_err(|error| {
        let what = match error.is_eof() {
            true => "is cut short",
            false => "is not what `alight suite run -o` writes",
        };
        format!("{what}: {error}")
    })?;
    if saved.schema != SCHEMA {
        let found = saved.schema;
        return Err(format!(
            "it is of the form '{found}', expected is '{SCHEMA}'"
        ));
    }
    for (at, record) in saved.records.iter().enumerate() {
        (record.check()).map_err(|what| format!("record {at} ({}): {what}", record.scenario))?;
    }
    Ok(saved.records)
}

impl TrialRecord {
    /// That judging finds what it looks for.
    fn check(&self) -> Result<(), String> {
        let cpus = self.platform.cpus.len();
        let clocks = self.platform.clocks.len();
        let known = |cpu: u32| (cpu as usize) < cpus;
        if cpus == 0 || self.platform.hz == 0 {
            return Err("the machine has no CPU or no tick".to_owned());
        }
        let odd = |clock: &super::platform::Clock| {
            clock.points.is_empty() || clock.cpus.iter().any(|&cpu| cpu >= cpus)
        };
        if self.platform.cpus.iter().any(|cpu| cpu.clock >= clocks)
            || self.platform.clocks.iter().any(odd)
        {
            return Err("a clock has no operating point, or a CPU no clock".to_owned());
        }
        for run in &self.runs {
            let (tasks, seen) = (run.plan.of_tasks(), &run.seen.tasks);
            if tasks.len() != seen.len() {
                return Err(format!(
                    "{} tasks planned, {} seen",
                    tasks.len(),
                    seen.len()
                ));
            }
            for (task, seen) in tasks.iter().zip(seen) {
                let name = &task.name;
                if seen.phases.len() > task.phases.len() {
                    return Err(format!("{name} has more phases than planned"));
                }
                if seen
                    .slices
                    .iter()
                    .any(|slice| slice.from > slice.to || !known(slice.cpu))
                {
                    return Err(format!("{name} ran on no CPU of the machine, or backwards"));
                }
            }
            if run.seen.clocks.iter().any(|&(_, cpu, _)| !known(cpu)) {
                return Err("a clock changed of no CPU of the machine".to_owned());
            }
        }
        Ok(())
    }
}

/// A scenario to run.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// The scenario.
    pub entry: &'a Entry,
    /// Where, who decides, from which seed; what the entry's plans say replaces what stands here.
    pub scenario: Scenario<'a>,
    /// How far the machine's figures can be trusted.
    pub trust: &'a Trust,
}

/// Runs scenarios, spread over the cores; the records are in the order of the cases. When
/// `cancel` becomes true those that are complete are returned.
///
/// # Errors
/// The first that the simulation refuses, in that order.
pub fn record_all(
    cases: &[Trial<'_>],
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Vec<TrialRecord>, NoResults<alight_sim::Error>> {
    let records = spread(cases.len(), how, |index, _| record(&cases[index], cancel))?;
    Ok(records.into_iter().flatten().collect())
}

/// Runs a scenario; `None` if `cancel` became true before it was complete.
///
/// # Errors
/// What the simulation refuses.
pub fn record(
    case: &Trial<'_>,
    cancel: &AtomicBool,
) -> Result<Option<TrialRecord>, alight_sim::Error> {
    let Trial {
        entry,
        scenario:
            Scenario {
                machine,
                scheduler,
                seed,
                ..
            },
        trust,
    } = *case;
    if cancel.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let platform = Platform::of(machine);
    let (plans, why) = match (entry.plans)(&platform) {
        Ok(plans) => (plans, None),
        Err(why) => (vec![], Some(why)),
    };
    let mut runs = vec![];
    let mut grounds = Grounds {
        line: rests::line(trust),
        rests_on: serde_json::json!(trust),
        left_out: vec![],
    };
    for plan in plans {
        grounds.add(case, &plan, &platform)?;
        let Some(seen) = run(case, &plan, &platform, cancel)? else {
            return Ok(None);
        };
        runs.push(Observed { plan, seen });
    }
    Ok(Some(TrialRecord {
        scenario: entry.name.to_owned(),
        machine: machine.name.clone(),
        scheduler: scheduler.name.clone(),
        seed,
        platform,
        grounds: Some(grounds),
        why,
        runs,
    }))
}

impl Grounds {
    /// Adds what the model leaves out that this run needs.
    fn add(
        &mut self,
        case: &Trial<'_>,
        plan: &Plan,
        platform: &Platform,
    ) -> Result<(), alight_sim::Error> {
        let workload = (plan.workload(platform)).map_err(alight_sim::Error::Refused)?;
        let changes = changes(plan, case.scenario.machine, case.scenario.seed);
        let scenario = Scenario {
            workloads: std::slice::from_ref(&workload),
            governor: Some(plan.governor()),
            changes: &changes,
            ..case.scenario
        };
        let scheduler = std::slice::from_ref(scenario.scheduler);
        let rests = RestsOn::of(case.trust, &scenario, scheduler);
        for sentence in rests.left_out {
            if !self.left_out.contains(&sentence) {
                self.left_out.push(sentence);
            }
        }
        Ok(())
    }
}

/// What a plan does to the machine.
fn changes(plan: &Plan, machine: &Machine, seed: u64) -> Vec<Change> {
    match plan.hotplug {
        0 => vec![],
        operations => alight_sim::hotplug_torture(machine.cpus.len(), operations, seed),
    }
}

fn run(
    case: &Trial<'_>,
    plan: &Plan,
    platform: &Platform,
    cancel: &AtomicBool,
) -> Result<Option<Seen>, alight_sim::Error> {
    let workload = (plan.workload(platform)).map_err(alight_sim::Error::Refused)?;
    let shallow;
    let Scenario { machine, seed, .. } = case.scenario;
    let machine = match plan.shallow_idle {
        true => {
            shallow = without_deep_idle(machine);
            &shallow
        }
        false => machine,
    };
    let changes = changes(plan, machine, seed);
    let scenario = Scenario {
        machine,
        workloads: std::slice::from_ref(&workload),
        governor: Some(plan.governor()),
        duration_ns: Some(plan.end_ns()),
        changes: &changes,
        ..case.scenario
    };
    let pids = alight_sim::task_table(&scenario)?.into_iter();
    let mut observer = Observer::new(pids.map(|task| task.0), plan.signals);
    let outcome = alight_sim::run(&scenario, Some(&mut observer), cancel)?;
    if outcome.interrupted {
        return Ok(None);
    }
    let mut seen = observer.seen;
    seen.offline = offline(&changes, outcome.end_ns);
    note_figures(plan, &outcome, &mut seen);
    Ok(Some(seen))
}

/// When each CPU was off: CPU, from, to.
fn offline(changes: &[Change], end: u64) -> Vec<(u32, u64, u64)> {
    let mut gone: BTreeMap<usize, u64> = BTreeMap::new();
    let mut times = vec![];
    for change in changes {
        match &change.action {
            Action::Offline(cpus) => gone.extend(cpus.iter().map(|cpu| (cpu, change.at_ns))),
            Action::Online(cpus) => {
                for cpu in cpus.iter() {
                    let since = gone.remove(&cpu);
                    times.extend(since.map(|since| (cpu as u32, since, change.at_ns)));
                }
            }
            Action::Limit { .. } | Action::CountAnew => {}
        }
    }
    times.extend(
        gone.into_iter()
            .map(|(cpu, since)| (cpu as u32, since, end)),
    );
    times
}

/// What the workload noted by itself.
fn note_figures(plan: &Plan, outcome: &Outcome, seen: &mut Seen) {
    let figures = &outcome.figures[0];
    let tasks = plan.of_tasks();
    if tasks.is_empty() {
        let events = outcome
            .results
            .iter()
            .find(|metric| metric.name == "events");
        seen.events = events.map_or(0, |metric| metric.value as u64);
        seen.tasks.clear();
        return;
    }
    let mut marks = figures.marks.iter();
    let counters = figures.counters.chunks(2);
    for ((task, of), counters) in tasks.iter().zip(&mut seen.tasks).zip(counters) {
        let starts = marks.by_ref().take(task.phases.len());
        of.phases = starts.filter_map(|mark| mark.map(|mark| mark.0)).collect();
        (of.activations, of.late) = (counters[0], counters[1]);
    }
}

/// What is left when all idle states are disabled: the kernel takes the first one.
fn without_deep_idle(machine: &Machine) -> Machine {
    let mut shallow = machine.clone();
    for core_type in &mut shallow.core_types {
        core_type.idle_states.truncate(1);
    }
    shallow
}
