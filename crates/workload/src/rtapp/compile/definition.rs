// SPDX-License-Identifier: GPL-2.0-only
//! What all threads of a task have in common: timers, and what is measured.

use super::super::model::{Action, Config, Event, Task};
use crate::diagnostic::{Refusal, Remarks, Severity};
use crate::program::{CounterId, HistogramId, LogId, TIMER_SLOTS, TimerMode};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that one dependent load moves: a cache line.
pub(super) const LINE_BYTES: u64 = 64;

/// What all threads of a task have in common.
pub(super) struct Definition {
    /// Timers by name; the index is the slot.
    pub timers: Vec<(String, TimerMode)>,
    pub forks: bool,
    pub histogram: Option<HistogramId>,
    pub counter: CounterId,
    pub log: LogId,
    /// Some phase has `run` or `runtime` events.
    pub computes: bool,
    pub working_set_bytes: Option<u64>,
}

/// Looks through all tasks.
pub(super) fn all(config: &Config, remarks: &mut Remarks) -> Result<Vec<Definition>, Refusal> {
    let absolute = absolute_shared_timers(config);
    warn_of_shared_timers(config, remarks);
    let mut histograms = 0;
    let mut definitions = Vec::with_capacity(config.tasks.len());
    for (at, task) in config.tasks.iter().enumerate() {
        let timers = timers(task, &absolute)?;
        let waits_on_timers = events(task)
            .any(|e| matches!(e.action, Action::Timer { period_ns, .. } if period_ns > 0));
        definitions.push(Definition {
            timers,
            forks: events(task).any(|e| matches!(e.action, Action::Fork { .. })),
            histogram: waits_on_timers.then_some(histograms),
            counter: at as CounterId,
            log: at as LogId,
            computes: events(task).any(computes),
            working_set_bytes: events(task).filter_map(working_set).max(),
        });
        histograms += u32::from(waits_on_timers);
    }
    Ok(definitions)
}

fn events(task: &Task) -> impl Iterator<Item = &Event> {
    task.phases.iter().flat_map(|phase| &phase.events)
}

/// Whether each thread has a timer of its own under this name.
fn is_unique(timer: &str) -> bool {
    timer.starts_with("unique")
}

/// The mode belongs to the timer: one event that says `absolute` makes it so for all.
fn absolute_shared_timers(config: &Config) -> BTreeSet<String> {
    let tasks = config.tasks.iter().flat_map(events);
    let absolute = tasks.filter_map(|event| match &event.action {
        Action::Timer { name, mode, .. } if *mode == TimerMode::Absolute => Some(name.clone()),
        _ => None,
    });
    absolute.filter(|name| !is_unique(name)).collect()
}

fn warn_of_shared_timers(config: &Config, remarks: &mut Remarks) {
    let mut users: BTreeMap<&str, u32> = BTreeMap::new();
    for task in &config.tasks {
        let mut counted = BTreeSet::new();
        for event in events(task) {
            let Action::Timer { name, .. } = &event.action else {
                continue;
            };
            if is_unique(name) || !counted.insert(name.as_str()) {
                continue;
            }
            let threads = users.entry(name).or_insert(0);
            let had = *threads;
            *threads = had.saturating_add(task.instances);
            if *threads > 1 && (had <= 1) {
                remarks.leave_out(
                    Severity::Warning,
                    event.place,
                    format!(
                        "several threads use the timer `{name}`; in rt-app they advance one \
                         common time, here each has its own, as if it were called `unique{name}`"
                    ),
                );
            }
        }
    }
}

fn timers(task: &Task, absolute: &BTreeSet<String>) -> Result<Vec<(String, TimerMode)>, Refusal> {
    let mut timers: Vec<(String, TimerMode)> = Vec::new();
    for event in events(task) {
        let Action::Timer { name, mode, .. } = &event.action else {
            continue;
        };
        let mode = match absolute.contains(name) {
            true => TimerMode::Absolute,
            false => *mode,
        };
        match timers.iter().position(|(known, _)| known == name) {
            Some(at) if mode == TimerMode::Absolute => timers[at].1 = mode,
            Some(_) => {}
            None if timers.len() == TIMER_SLOTS => {
                return Err(Refusal::new(
                    event.place,
                    format!(
                        "the task `{}` has more than {TIMER_SLOTS} timers; use one `ref` for those with the same period",
                        task.name
                    ),
                ));
            }
            None => timers.push((name.clone(), mode)),
        }
    }
    Ok(timers)
}

/// Memory that an event goes through, bytes.
fn working_set(event: &Event) -> Option<u64> {
    match event.action {
        Action::Memory { bytes, buffer } => Some(bytes.min(buffer)),
        Action::Chase { loads, buffer } => Some(buffer.min(loads.saturating_mul(LINE_BYTES))),
        _ => None,
    }
}

/// Whether an event is part of what rt-app logs as `run`.
pub(super) fn computes(event: &Event) -> bool {
    matches!(event.action, Action::Run { .. } | Action::RunWall { .. })
}
