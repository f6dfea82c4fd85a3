// SPDX-License-Identifier: GPL-2.0-only
//! Puts the tasks of a window together to a workload.

use std::collections::HashMap;

use alight_workload::Workload;
use alight_workload::blocks::{Blocks, Pieces};
use alight_workload::program::{
    Better, Calibration, Measure, MeasureSource, Op, Program, Repeats, TaskId, TaskSpec,
};

use crate::error::{LEAST_BLOCKS, NotReplayable};
use crate::task::{ENDS, Role, Task};
use crate::window::Window;
use crate::{Recorded, Replay, Resample};

/// The workload of a window that is finished.
pub(crate) fn replay(
    mut window: Window<'_>,
    name: &str,
    resample: Option<&Resample>,
) -> Result<Replay, NotReplayable> {
    let mut blocks = match resample {
        None => None,
        Some(resample) => Some(blocks(&window, resample)?),
    };
    let numbers = numbers(&window.tasks);
    let mut workload = Workload::empty(name);
    workload.marks = 1;
    workload.measures.push(Measure {
        name: "elapsed_s".to_owned(),
        unit: "s",
        better: Some(Better::Lower),
        source: MeasureSource::SinceStart {
            workload: 0,
            to: ENDS,
        },
    });
    workload.repeats = Some(Repeats {
        first_tick_ns: window.ticks.first(),
    });
    workload.channels = window.channels.kinds();
    workload.calibration = Calibration::CapacityOne;
    workload.attributes = window.changes;
    let mut processes = HashMap::new();
    let mut recorded = Vec::new();
    for task in window.tasks {
        if !task.is_replayed() {
            continue;
        }
        let process = processes.len() as u32;
        let process = *processes
            .entry(task.fact.tgid.unwrap_or(task.pid))
            .or_insert(process);
        let comm = comm(&task);
        recorded.push(Recorded {
            pid: task.pid,
            member: task.role == Role::Member,
        });
        workload.tasks.push(TaskSpec {
            comm,
            program: workload.programs.len() as u32,
            attributes: task.attributes.clone(),
            start_ns: task.start_ns,
            process,
            working_set_bytes: None,
            begins: task.begins,
        });
        match &mut blocks {
            None => workload.programs.push(program(task, &numbers)),
            Some(blocks) => {
                workload.programs.push(Program::default());
                blocks.tasks.push(pieces(task, &numbers));
            }
        }
    }
    workload.blocks = blocks;
    Ok(Replay {
        workload,
        tasks: recorded,
        window: (window.start, window.end),
        health: window.health,
        end: alight_recording::End::default(),
    })
}

/// The times of a window's blocks, and which of them are drawn: the longest run of those in which no
/// task is born or ends. The last block is shorter than the others, and stays.
fn blocks(window: &Window<'_>, resample: &Resample) -> Result<Blocks, NotReplayable> {
    let whole = window.cuts.len().saturating_sub(2);
    let even: Vec<bool> = (0..whole)
        .map(|block| !window.uneven.contains(&block))
        .collect();
    let (mut first, mut last, mut from) = (0, 0, 0);
    for (block, even) in even.into_iter().enumerate() {
        if !even {
            from = block + 1;
        } else if block + 1 - from > last - first {
            (first, last) = (from, block + 1);
        }
    }
    if last - first < LEAST_BLOCKS {
        return Err(NotReplayable::TooShort {
            blocks: last - first,
            block_ms: resample.block_ns / 1_000_000,
        });
    }
    let drawn = match resample.length_ns {
        None => last - first,
        Some(ns) => ns.div_ceil(resample.block_ns).max(1) as usize,
    };
    Ok(Blocks {
        tasks: vec![],
        times: window.cuts.clone(),
        first,
        last,
        drawn,
    })
}

/// A task in blocks.
fn pieces(mut task: Task, numbers: &[TaskId]) -> Pieces {
    let mut cuts = task.cuts.clone();
    // Other blocks may stand between them and the end.
    (task.retires_at, task.parked) = (None, None);
    let ops = numbered(task, numbers);
    if let Some(last) = cuts.last_mut() {
        last.op = ops.len() as u32;
        // What ends the program stands behind the last sleep.
        last.asleep = false;
    }
    Pieces { ops, cuts }
}

/// The numbers that tasks have among those that are replayed.
fn numbers(tasks: &[Task]) -> Vec<TaskId> {
    let mut next = 0;
    tasks
        .iter()
        .map(|task| {
            let number = next;
            next += u32::from(task.is_replayed());
            number
        })
        .collect()
}

/// Work, or a sleep, without an end, in ns.
const FOR_EVER: u64 = u64::MAX;
/// Longest name of a task, bytes (`TASK_COMM_LEN` less the final NUL).
const MAX_COMM: usize = 15;

fn comm(task: &Task) -> String {
    let known = task.fact.comm.as_deref().filter(|comm| !comm.is_empty());
    let Some(comm) = known else {
        return format!("pid-{}", task.pid);
    };
    let mut end = comm.len().min(MAX_COMM);
    while !comm.is_char_boundary(end) {
        end -= 1;
    }
    comm[..end].to_owned()
}

/// What a task did, as it was recorded.
fn program(mut task: Task, numbers: &[TaskId]) -> Program {
    if let Some(parked) = task.parked {
        task.ops.truncate(parked);
    }
    Program {
        ops: numbered(task, numbers),
    }
}

/// The operations of a task with the numbers of tasks that are replayed, to the end.
fn numbered(task: Task, numbers: &[TaskId]) -> Vec<Op> {
    let is_member = task.role == Role::Member;
    let mut ops = task.ops;
    for op in &mut ops {
        if let Op::Wake { task, .. } | Op::Fork { task } = op {
            *task = numbers[*task as usize];
        }
    }
    let retires_at = task.retires_at.unwrap_or(ops.len());
    let last_sleep = ops.split_off(retires_at);
    if is_member {
        ops.push(Op::Mark { mark: ENDS });
    }
    if task.parked.is_some() {
        // It leaves its load on the CPU that it was on, which a task that ends does not.
        ops.extend([
            Op::Retire,
            Op::SleepUntil {
                ns: FOR_EVER,
                slack_ns: 0,
            },
        ]);
    } else if task.goes_on {
        // A task of a higher class that always runs would keep others from their work.
        ops.push(Op::Retire);
        ops.extend(last_sleep);
        ops.push(Op::Run { ns: FOR_EVER });
    }
    ops.push(Op::Exit);
    ops.shrink_to_fit();
    ops
}
