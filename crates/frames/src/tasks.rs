// SPDX-License-Identifier: GPL-2.0-only
//! States of tasks: the tables of LISA's `analysis.tasks`.

use std::collections::{BTreeMap, HashMap};

use crate::events::{Trace, What, Woken};
use crate::table::Table;
use crate::{NoTable, TaskId};

/// `TASK_RUNNING`: preempted at a point of its own.
pub const RUNNING: u32 = 0;
/// `R+`: preempted in the middle of a call.
pub const PREEMPTED: u32 = 0x100;
/// `TASK_WAKING`: woken, and not on a CPU yet.
pub const WAKING: u32 = 0x200;
/// LISA's `TASK_ACTIVE`: on a CPU.
pub const ACTIVE: u32 = 0x2000;

/// A task's state from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// From when on, ns.
    pub time: u64,
    /// The task.
    pub pid: u32,
    /// The CPU of the event.
    pub cpu: u32,
    /// Of a wakeup the CPU that was chosen.
    pub target: Option<u32>,
    /// The state.
    pub state: u32,
    /// The task's next state; `None`: the trace ends before.
    pub next: Option<u32>,
    /// How long it stays, ns; `None`: longer than the trace.
    pub delta: Option<u64>,
}

impl State {
    /// Whether it waits for a CPU from which another task drove it.
    pub fn is_preempted(&self) -> bool {
        is_runnable(self.state)
    }

    /// How long it stays within the trace, ns.
    pub fn within(&self, trace: &Trace) -> u64 {
        (self.delta).unwrap_or_else(|| trace.window.end.saturating_sub(self.time))
    }
}

fn is_runnable(state: u32) -> bool {
    matches!(state, RUNNING | PREEMPTED)
}

/// The states of one task or of all, in the order of time, without the idle task.
pub fn states_of(trace: &Trace, task: Option<u32>) -> Vec<State> {
    let mut states: Vec<State> = vec![];
    let mut last: HashMap<u32, usize> = HashMap::new();
    let mut add = |time, cpu, pid: u32, target, state| {
        if pid == 0 || task.is_some_and(|task| task != pid) {
            return;
        }
        if let Some(before) = last.insert(pid, states.len()) {
            states[before].next = Some(state);
            states[before].delta = Some(time - states[before].time);
        }
        states.push(State {
            time,
            pid,
            cpu,
            target,
            state,
            next: None,
            delta: None,
        });
    };
    for event in &trace.events {
        let (time, cpu) = (event.time, event.cpu);
        match event.what {
            What::Switch {
                prev, state, next, ..
            } => {
                add(time, cpu, prev, None, state);
                add(time, cpu, next, None, ACTIVE);
            }
            What::Wakeup(woken) | What::WakeupNew(woken) => {
                add(time, cpu, woken.pid, Some(woken.target), WAKING);
            }
            _ => {}
        }
    }
    states
}

/// `df_tasks_states`: every change of a task's state, with `delta`, how long the task stays in it, s.
///
/// # Errors
/// The source tells no wakeups.
pub fn tasks_states(trace: &Trace) -> Result<Table, NoTable> {
    trace.needs("sched_wakeup")?;
    let states = states_of(trace, None);
    let of = || states.iter();
    let table = Table::timed(of().map(|state| state.time))
        .int("pid", of().map(|state| state.pid))
        .text("comm", of().map(|state| trace.comm(state.pid)));
    Ok(described(table, &states))
}

/// `df_task_states`: the same of one task; `stringify` adds the states as letters.
///
/// # Errors
/// As [`tasks_states`], and no such task or several.
pub fn task_states(trace: &Trace, task: &TaskId, stringify: bool) -> Result<Table, NoTable> {
    trace.needs("sched_wakeup")?;
    let states = states_of(trace, Some(task.find(trace)?));
    let table = described(Table::timed(states.iter().map(|state| state.time)), &states);
    if !stringify {
        return Ok(table);
    }
    let now = states.iter().map(|state| letters(state.state));
    let next = states.iter().map(|state| state.next.map_or("U", letters));
    Ok(table
        .text("curr_state_str", now)
        .text("next_state_str", next))
}

fn described(table: Table, states: &[State]) -> Table {
    let of = || states.iter();
    table
        .maybe_int("target_cpu", of().map(|state| state.target))
        .int("cpu", of().map(|state| state.cpu))
        .int("curr_state", of().map(|state| state.state))
        .maybe_int("next_state", of().map(|state| state.next))
        .seconds("delta", of().map(|state| state.delta))
}

/// The letters of a state; those of the last two are LISA's own.
fn letters(state: u32) -> &'static str {
    match state {
        RUNNING => "R",
        0x1 => "S",
        0x2 => "D",
        0x10 => "X",
        PREEMPTED => "R+",
        WAKING => "W",
        ACTIVE => "A",
        _ => "U",
    }
}

/// `df_tasks_wakeups`: by pid the number of wakeups (`sched_wakeup`) and the task's name.
///
/// # Errors
/// The source tells no wakeups.
pub fn tasks_wakeups(trace: &Trace) -> Result<Table, NoTable> {
    Ok(counted(trace, wakeups(trace)?))
}

/// `df_top_wakeup`: the same of tasks with more than `min_wakeups`, the most first.
///
/// # Errors
/// As [`tasks_wakeups`].
pub fn top_wakeup(trace: &Trace, min_wakeups: u64) -> Result<Table, NoTable> {
    let mut rows = wakeups(trace)?;
    rows.retain(|(_, count)| *count > min_wakeups);
    rows.sort_by_key(|(pid, count)| (std::cmp::Reverse(*count), *pid));
    Ok(counted(trace, rows))
}

fn wakeups(trace: &Trace) -> Result<Vec<(u32, u64)>, NoTable> {
    trace.needs("sched_wakeup")?;
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for event in &trace.events {
        if let What::Wakeup(Woken { pid, .. }) = event.what {
            *counts.entry(pid).or_default() += 1;
        }
    }
    Ok(counts.into_iter().collect())
}

fn counted(trace: &Trace, rows: Vec<(u32, u64)>) -> Table {
    Table::new()
        .int("pid", rows.iter().map(|(pid, _)| *pid))
        .indexed()
        .int("wakeups", rows.iter().map(|(_, count)| *count as i64))
        .text("comm", rows.iter().map(|(pid, _)| trace.comm(*pid)))
}

/// `df_rt_tasks`: tasks that ran with a kernel priority of at most `min_prio` (real-time tasks have 0
/// to 99), by priority.
pub fn rt_tasks(trace: &Trace, min_prio: i32) -> Table {
    let mut rows = vec![];
    for event in &trace.events {
        if let What::Switch {
            next, next_prio, ..
        } = event.what
            && next != 0
            && next_prio <= min_prio
        {
            rows.push((next_prio, next));
        }
    }
    rows.sort_unstable();
    rows.dedup();
    Table::new()
        .int("pid", rows.iter().map(|(_, pid)| *pid))
        .indexed()
        .int("prio", rows.iter().map(|(prio, _)| *prio))
        .text("comm", rows.iter().map(|(_, pid)| trace.comm(*pid)))
}

/// `df_tasks_runtime`: by pid the task's name and how long it ran, s; a run that the trace cuts does
/// not count.
pub fn tasks_runtime(trace: &Trace) -> Table {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for state in states_of(trace, None) {
        let sum = sums.entry(state.pid).or_default();
        if state.state == ACTIVE {
            *sum += state.delta.unwrap_or(0);
        }
    }
    Table::new()
        .int("pid", sums.keys().copied())
        .indexed()
        .text("comm", sums.keys().map(|pid| trace.comm(*pid)))
        .seconds("runtime", sums.values().map(|ns| Some(*ns)))
}

/// How long a task ran on each CPU within the trace, ns.
fn residency(trace: &Trace, pid: u32) -> Vec<u64> {
    let mut sums = vec![0; trace.cpus()];
    for state in states_of(trace, Some(pid)) {
        if state.state == ACTIVE {
            sums[state.cpu as usize] += state.within(trace);
        }
    }
    sums
}

/// `df_task_total_residency`: by CPU how long a task ran there, s.
///
/// # Errors
/// No such task, or several.
pub fn task_total_residency(trace: &Trace, task: &TaskId) -> Result<Table, NoTable> {
    let sums = residency(trace, task.find(trace)?);
    Ok(Table::new()
        .int("cpu", 0..sums.len() as i64)
        .indexed()
        .seconds("runtime", sums.into_iter().map(Some)))
}

/// `df_tasks_total_residency`: the same of several tasks, or of all: a row a task, `[pid:comm]`, and a
/// column a CPU, with their `Total`, by which the rows are sorted; the first `count` of them.
///
/// # Errors
/// One of the names is no task.
pub fn tasks_total_residency(
    trace: &Trace,
    tasks: Option<&[TaskId]>,
    ascending: bool,
    count: Option<usize>,
) -> Result<Table, NoTable> {
    let mut pids = vec![];
    match tasks {
        None => pids = trace.pids(),
        Some(tasks) => {
            for task in tasks {
                match task.all(trace)[..] {
                    [] => pids.push(task.find(trace)?),
                    ref all => pids.extend_from_slice(all),
                }
            }
        }
    }
    let mut sums: BTreeMap<u32, Vec<u64>> = pids
        .iter()
        .map(|pid| (*pid, vec![0; trace.cpus()]))
        .collect();
    for state in states_of(trace, None) {
        if state.state == ACTIVE
            && let Some(sums) = sums.get_mut(&state.pid)
        {
            sums[state.cpu as usize] += state.within(trace);
        }
    }
    let mut rows: Vec<(u64, u32, Vec<u64>)> = sums
        .into_iter()
        .map(|(pid, sums)| (sums.iter().sum(), pid, sums))
        .collect();
    rows.sort_by_key(|(total, pid, _)| (if ascending { *total } else { u64::MAX - total }, *pid));
    rows.truncate(count.unwrap_or(usize::MAX));
    let label = |pid: &u32| format!("[{pid}:{}]", trace.comm(*pid));
    let table = Table::new()
        .text("task", rows.iter().map(|(_, pid, _)| label(pid)))
        .indexed();
    let table = (0..trace.cpus()).fold(table, |table, cpu| {
        let column = rows.iter().map(|(_, _, sums)| Some(sums[cpu]));
        table.seconds(&cpu.to_string(), column)
    });
    Ok(table.seconds("Total", rows.iter().map(|(total, _, _)| Some(*total))))
}

/// `df_task_activation`: when a task began to run, to sleep or to wait, on all CPUs or on one: `active`
/// is 1 (it runs), 0 (it sleeps) or nothing (it was preempted); `cpu`; `duration`, s; and of a row
/// with 1 `duty_cycle`, the part of this activation and the sleep after it that it ran.
///
/// # Errors
/// No such task, or several.
pub fn task_activation(trace: &Trace, task: &TaskId, cpu: Option<u32>) -> Result<Table, NoTable> {
    let mut rows: Vec<(u64, Option<bool>, u32)> = vec![];
    for state in states_of(trace, Some(task.find(trace)?)) {
        // The wait after a wakeup belongs to the sleep.
        if state.state == WAKING || cpu.is_some_and(|cpu| cpu != state.cpu) {
            continue;
        }
        let active = match state.state {
            ACTIVE => Some(true),
            state if is_runnable(state) => None,
            _ => Some(false),
        };
        if rows
            .last()
            .is_none_or(|last| (last.1, last.2) != (active, state.cpu))
        {
            rows.push((state.time, active, state.cpu));
        }
    }
    let ends = rows.iter().skip(1).map(|row| Some(row.0)).chain([None]);
    let durations: Vec<Option<u64>> = (rows.iter().zip(ends))
        .map(|(row, end)| Some(end? - row.0))
        .collect();
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .float(
            "active",
            rows.iter()
                .map(|row| row.1.map_or(f64::NAN, |on| f64::from(u8::from(on)))),
        )
        .int("cpu", rows.iter().map(|row| row.2))
        .seconds("duration", durations.iter().copied())
        .float("duty_cycle", duty_cycles(&rows, &durations)))
}

/// Of each row that begins to run: its time on CPUs until the next sleep, as a part of that time and
/// the sleep; NaN elsewhere and at the end.
fn duty_cycles(rows: &[(u64, Option<bool>, u32)], durations: &[Option<u64>]) -> Vec<f64> {
    let mut cycles = vec![f64::NAN; rows.len()];
    let mut begin: Option<usize> = None;
    let mut ran = 0;
    for (at, row) in rows.iter().enumerate() {
        match (row.1, durations[at]) {
            (Some(true), duration) => {
                begin.get_or_insert(at);
                ran += duration.unwrap_or(0);
            }
            (Some(false), Some(slept)) => {
                if let Some(begin) = begin.take()
                    && ran + slept > 0
                {
                    cycles[begin] = ran as f64 / (ran + slept) as f64;
                }
                ran = 0;
            }
            _ => {}
        }
    }
    cycles
}

#[cfg(test)]
mod tests;
