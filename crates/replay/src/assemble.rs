// SPDX-License-Identifier: GPL-2.0-only
//! Puts the tasks of a window together to a workload.

use std::collections::HashMap;

use alight_workload::Workload;
use alight_workload::program::{Better, Measure, MeasureSource, Op, Program, TaskId, TaskSpec};

use crate::task::{BEGINS, ENDS, Role, Task};
use crate::window::Window;
use crate::{Recorded, Replay};

/// The workload of a window that is finished.
pub(crate) fn replay(window: Window<'_>, name: &str) -> Replay {
    let numbers = numbers(&window.tasks);
    let mut workload = Workload::empty(name);
    workload.marks = 2;
    workload.measures.push(Measure {
        name: "elapsed_s".to_owned(),
        unit: "s",
        better: Some(Better::Lower),
        source: MeasureSource::Elapsed {
            from: BEGINS,
            to: ENDS,
        },
    });
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
        let comm = match &task.fact.comm {
            Some(comm) => comm.clone(),
            None => format!("pid-{}", task.pid),
        };
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
        workload.programs.push(program(task, &numbers));
    }
    Replay {
        workload,
        tasks: recorded,
        window: (window.start, window.end),
        health: window.health,
        end: alight_recording::End::default(),
    }
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

fn program(task: Task, numbers: &[TaskId]) -> Program {
    let mut ops = task.ops;
    for op in &mut ops {
        if let Op::Wake { task, .. } | Op::Fork { task } = op {
            *task = numbers[*task as usize];
        }
    }
    if task.role == Role::Member {
        ops.push(Op::Mark { mark: ENDS });
    }
    ops.push(Op::Exit);
    ops.shrink_to_fit();
    Program { ops }
}
