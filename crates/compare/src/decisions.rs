// SPDX-License-Identifier: GPL-2.0-only
//! The report of decisions: for each wakeup where the search began, what was
//! found of every candidate, the answer and why, and what the base alone would have
//! answered; for many, which steps answered.

use std::num::NonZeroUsize;

use alight_policy::{AFFINE, NONE, Note, STEPS, Scheduler, VERDICTS};
use alight_sim::{Choice, CpuState, Decision, Distance};
use serde::Serialize;

use crate::header::{Conditions, VERSION};
use crate::report::{Columns, head_of, map, number, pretty};

mod html;

pub use html::{observe, page};

const SCHEMA: &str = "alight.explain/1";

/// Widest bar of the histogram, in characters.
const BAR: u64 = 40;

/// Decisions shown of a whole run, unless the user asks for more.
const LIMIT: usize = 10;

/// Decisions to show: as many as the user asks for; else one from a point in time on.
pub fn limit(asked: Option<NonZeroUsize>, at_ns: Option<u64>) -> usize {
    let fallback = if at_ns.is_some() { 1 } else { LIMIT };
    asked.map_or(fallback, NonZeroUsize::get)
}

/// Looks for a task of this name among those of a run: pid, comm and tgid of each.
///
/// # Errors
/// There is none; the nearest names, in words.
pub fn find_task(tasks: &[(u32, String, u32)], name: &str) -> Result<(), String> {
    /// Names to offer.
    const OFFERED: usize = 5;
    let mut names: Vec<&str> = tasks.iter().map(|(_, comm, _)| comm.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.contains(&name) {
        return Ok(());
    }
    let likeness = |other: &str| strsim::jaro_winkler(name, other);
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
    names.truncate(OFFERED);
    Err(format!(
        "no task is named '{name}'; the nearest names: {}",
        names.join(", ")
    ))
}

/// Name and meaning of a step.
pub(crate) fn step(index: u32) -> (&'static str, &'static str) {
    STEPS
        .get(index as usize)
        .copied()
        .unwrap_or(("unknown", ""))
}

/// Whose step it is: the name of a feature, or of the base.
pub(crate) fn whose(scheduler: &Scheduler, step: u32) -> &'static str {
    (scheduler.owner(step)).map_or(scheduler.parts().0.name, |feature| feature.name)
}

fn affine(index: u32) -> (&'static str, &'static str) {
    AFFINE
        .get(index as usize)
        .copied()
        .unwrap_or(("unknown", ""))
}

fn verdict(index: u32) -> &'static str {
    VERDICTS.get(index as usize).copied().unwrap_or("unknown")
}

/// What a candidate was judged by, with its name; `None` where nothing was compared.
fn compared(note: &Note) -> Option<(&'static str, u32)> {
    let quantity = match (step(note.step).0, verdict(note.verdict)) {
        (_, "taken" | "too small") => "capacity",
        ("asym_fits", "busy") => "capacity",
        ("slow_least_loaded", "busy") => "load_avg",
        (_, "busy") => "nr_running",
        ("slow_idle", "kept in reserve") if note.value != NONE => "exit_latency_ns",
        _ => return None,
    };
    Some((quantity, note.value))
}

/// The report for the terminal.
pub fn table(
    conditions: &Conditions,
    scheduler: &Scheduler,
    task: &str,
    decisions: &[Decision],
) -> String {
    let mut rows = conditions.rows();
    rows.push(("task", format!("{task}, {}", counted(decisions.len()))));
    let head = head_of(rows, &conditions.command);
    let mut text = format!("alight {VERSION}: explain\n{head}");
    for decision in decisions {
        text.push('\n');
        text.push_str(&one(scheduler, decision));
    }
    if decisions.len() > 1 {
        text.push('\n');
        text.push_str(&histogram(decisions));
    }
    text
}

fn counted(decisions: usize) -> String {
    match decisions {
        1 => "1 decision".to_owned(),
        n => format!("{n} decisions"),
    }
}

fn one(scheduler: &Scheduler, decision: &Decision) -> String {
    let answer = &decision.chosen.answer;
    let (how, why_target) = affine(answer.affine);
    let mut rows = Columns::new(2, 2);
    rows.row([
        "task".to_owned(),
        format!(
            "util_est {}, uclamp {} to {}, ran last on CPU {}",
            decision.task_util_est, decision.uclamp.0, decision.uclamp.1, decision.prev_cpu
        ),
    ]);
    rows.row([
        "search".to_owned(),
        match answer.slow {
            0 => format!("begins at CPU {}: {how}, {why_target}", answer.target),
            _ => format!(
                "slow path from CPU {}: {how}, {why_target}",
                decision.this_cpu
            ),
        },
    ]);
    let mut candidates = Columns::new(2, 3).with_remark();
    if !decision.notes.is_empty() {
        candidates.row(["candidate", "looked at by", "found", "compared"]);
    }
    for note in &decision.notes {
        let value = compared(note).map_or(String::new(), |(what, value)| format!("{what} {value}"));
        candidates.row([
            format!("CPU {}", note.cpu),
            step(note.step).0.to_owned(),
            verdict(note.verdict).to_owned(),
            value,
        ]);
    }
    format!(
        "{} s: {} is woken by CPU {}\n{}{}{}",
        number::seconds(decision.time_ns),
        decision.comm,
        decision.this_cpu,
        rows.render(),
        candidates.render(),
        result(scheduler, decision)
    )
}

/// The answer, and that of the base where there is a feature that could make a difference.
fn result(scheduler: &Scheduler, decision: &Decision) -> String {
    let mut rows = Columns::new(2, 2);
    let mut choice = |label: &str, choice: &Choice| {
        let answer = &choice.answer;
        let idle = match answer.found_idle {
            0 => "busy",
            _ if choice.cpu.sched_idle => "SCHED_IDLE tasks only",
            _ => "idle",
        };
        let (name, meaning) = step(answer.step);
        let whose = match scheduler.owner(answer.step) {
            Some(feature) if !meaning.starts_with(feature.name) => format!("{}: ", feature.name),
            _ => String::new(),
        };
        let words = format!("CPU {}, {idle}: {name}, {whose}{meaning}", answer.cpu);
        rows.row([label.to_owned(), words]);
        rows.row(["cost".to_owned(), cost(choice)]);
    };
    let (chosen, base) = (&decision.chosen, &decision.base);
    choice("answer", chosen);
    let has_features = scheduler.params.features != 0;
    if has_features {
        choice(scheduler.parts().0.name, base);
    }
    if scheduler.parts().1.len() > 1 && chosen.answer.cpu != base.answer.cpu {
        let words = match decision.because.is_empty() {
            true => "no single feature: without any one of them the CPU is the same".to_owned(),
            false => decision.because.join(", "),
        };
        rows.row(["because of".to_owned(), words]);
    }
    if let Some(ns) = decision.latency_ns {
        let words = match ns {
            0 => "at once".to_owned(),
            ns => format!("{} after the wakeup", number::duration(ns)),
        };
        rows.row(["ran".to_owned(), words]);
    }
    if has_features && chosen.answer.cpu != base.answer.cpu {
        for choice in [chosen, base] {
            rows.row([format!("CPU {}", choice.answer.cpu), state(&choice.cpu)]);
        }
    }
    rows.render()
}

fn cost(choice: &Choice) -> String {
    let answer = &choice.answer;
    let mut text = format!(
        "{}: CPUs looked at: {} in the waking CPU's cache, {} elsewhere",
        number::duration(choice.cost_ns),
        answer.looked_near,
        answer.looked_far
    );
    if answer.summed > 0 {
        text.push_str(&format!(", {} summed up in groups", answer.summed));
    }
    if answer.cut != 0 {
        text.push_str("; the scan used up its budget");
    }
    text
}

/// What a CPU was, at a glance.
fn state(cpu: &CpuState) -> String {
    let mut text = match (&cpu.running, &cpu.idle_state) {
        _ if !cpu.online => "offline".to_owned(),
        (Some(comm), _) => {
            let others = match cpu.nr_running {
                0 | 1 => String::new(),
                nr => format!(" and has {} more", nr - 1),
            };
            let only = if cpu.sched_idle {
                ", SCHED_IDLE only"
            } else {
                ""
            };
            format!("runs {comm}{others}{only}")
        }
        (None, _) if cpu.nr_running != 0 => {
            format!("about to run {} queued before", tasks(cpu.nr_running))
        }
        (None, Some((name, ns))) => {
            format!(
                "idle in {name}, exit latency {}",
                number::duration((*ns).into())
            )
        }
        (None, None) => "idle, in no idle state".to_owned(),
    };
    text.push_str(&match cpu.capacity == cpu.capacity_orig {
        true => format!("; capacity {}", cpu.capacity),
        false => format!("; capacity {} left of {}", cpu.capacity, cpu.capacity_orig),
    });
    if let Some(util) = cpu.util {
        text.push_str(&format!(", util {util}"));
    }
    let from = |distance, whom: &str| match distance {
        Distance::Same => format!("the {whom} CPU"),
        Distance::Core => format!("a thread of the {whom} CPU's core"),
        Distance::Cache => format!("in the {whom} CPU's cache"),
        Distance::Node => format!("outside of the {whom} CPU's cache"),
        Distance::Machine => format!("on another node than the {whom} CPU"),
    };
    let (prev, waker) = (cpu.from_prev, cpu.from_waker);
    text + "; "
        + &match prev == waker {
            true => from(prev, "previous and waking"),
            false => from(prev, "previous") + ", " + &from(waker, "waking"),
        }
}

fn tasks(number: u32) -> String {
    match number {
        1 => "a task".to_owned(),
        n => format!("{n} tasks"),
    }
}

/// Decisions by step, most frequent first.
fn histogram(decisions: &[Decision]) -> String {
    let mut counts = counts(decisions);
    counts.retain(|(_, count)| *count > 0);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = counts.first().map_or(1, |(_, count)| *count);
    let mut columns = Columns::new(2, 1).with_remark();
    for (name, count) in counts {
        let share = number::fixed(100.0 * count as f64 / decisions.len() as f64, 1);
        let bar = "#".repeat((count * BAR).div_ceil(most) as usize);
        columns.row([name.to_owned(), count.to_string(), format!("{share}%"), bar]);
    }
    format!("the steps that answered\n{}", columns.render())
}

fn counts(decisions: &[Decision]) -> Vec<(&'static str, u64)> {
    let mut counts = STEPS.map(|(name, _)| (name, 0));
    for decision in decisions {
        if let Some((_, count)) = counts.get_mut(decision.chosen.answer.step as usize) {
            *count += 1;
        }
    }
    counts.to_vec()
}

#[derive(Serialize)]
struct ExplainDocument<'a> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    conditions: &'a Conditions,
    task: &'a str,
    decisions: Vec<DecisionOut<'a>>,
    #[serde(serialize_with = "map")]
    steps: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct DecisionOut<'a> {
    time_ns: u64,
    comm: &'a str,
    this_cpu: u32,
    prev_cpu: u32,
    task_util_est: u32,
    uclamp_min: u32,
    uclamp_max: u32,
    candidates: Vec<Candidate>,
    #[serde(flatten)]
    chosen: ChoiceOut<'a>,
    latency_ns: Option<u64>,
    base: ChoiceOut<'a>,
    because: &'a [&'static str],
}

#[derive(Serialize)]
struct ChoiceOut<'a> {
    target: u32,
    affine: &'static str,
    slow: bool,
    cpu: u32,
    step: &'static str,
    of: &'static str,
    found_idle: bool,
    looked_near: u32,
    looked_far: u32,
    summed: u32,
    cut: bool,
    cost_ns: u64,
    state: StateOut<'a>,
}

#[derive(Serialize)]
struct StateOut<'a> {
    online: bool,
    running: Option<&'a str>,
    nr_running: u32,
    sched_idle: bool,
    idle_state: Option<&'a str>,
    exit_latency_ns: Option<u32>,
    capacity: u32,
    capacity_orig: u32,
    util: Option<u32>,
    from_prev: &'static str,
    from_waker: &'static str,
}

#[derive(Serialize)]
struct Candidate {
    cpu: u32,
    step: &'static str,
    verdict: &'static str,
    compared: Option<&'static str>,
    value: Option<u32>,
}

/// The report for programs: `alight.explain/1`.
pub fn json(
    conditions: &Conditions,
    scheduler: &Scheduler,
    task: &str,
    decisions: &[Decision],
) -> String {
    let out = |decision| decision_out(scheduler, decision);
    pretty(&ExplainDocument {
        schema: SCHEMA,
        version: VERSION,
        conditions,
        task,
        decisions: decisions.iter().map(out).collect(),
        steps: counts(decisions),
    })
}

fn decision_out<'a>(scheduler: &Scheduler, decision: &'a Decision) -> DecisionOut<'a> {
    let candidate = |note: &Note| Candidate {
        cpu: note.cpu,
        step: step(note.step).0,
        verdict: verdict(note.verdict),
        compared: compared(note).map(|(what, _)| what),
        value: compared(note).map(|(_, value)| value),
    };
    DecisionOut {
        time_ns: decision.time_ns,
        comm: &decision.comm,
        this_cpu: decision.this_cpu,
        prev_cpu: decision.prev_cpu,
        task_util_est: decision.task_util_est,
        uclamp_min: decision.uclamp.0,
        uclamp_max: decision.uclamp.1,
        candidates: decision.notes.iter().map(candidate).collect(),
        chosen: choice_out(scheduler, &decision.chosen),
        latency_ns: decision.latency_ns,
        base: choice_out(&scheduler.base_alone(), &decision.base),
        because: &decision.because,
    }
}

fn choice_out<'a>(scheduler: &Scheduler, choice: &'a Choice) -> ChoiceOut<'a> {
    let (answer, cpu) = (&choice.answer, &choice.cpu);
    ChoiceOut {
        target: answer.target,
        affine: affine(answer.affine).0,
        slow: answer.slow != 0,
        cpu: answer.cpu,
        step: step(answer.step).0,
        of: whose(scheduler, answer.step),
        found_idle: answer.found_idle != 0,
        looked_near: answer.looked_near,
        looked_far: answer.looked_far,
        summed: answer.summed,
        cut: answer.cut != 0,
        cost_ns: choice.cost_ns,
        state: StateOut {
            online: cpu.online,
            running: cpu.running.as_deref(),
            nr_running: cpu.nr_running,
            sched_idle: cpu.sched_idle,
            idle_state: cpu.idle_state.as_ref().map(|(name, _)| name.as_str()),
            exit_latency_ns: cpu.idle_state.as_ref().map(|(_, ns)| *ns),
            capacity: cpu.capacity,
            capacity_orig: cpu.capacity_orig,
            util: cpu.util,
            from_prev: distance(cpu.from_prev),
            from_waker: distance(cpu.from_waker),
        },
    }
}

fn distance(distance: Distance) -> &'static str {
    match distance {
        Distance::Same => "same",
        Distance::Core => "core",
        Distance::Cache => "cache",
        Distance::Node => "node",
        Distance::Machine => "machine",
    }
}

#[cfg(test)]
mod tests;
