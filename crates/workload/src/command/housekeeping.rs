// SPDX-License-Identifier: GPL-2.0-only
//! `housekeeping`: what a system does beside what it is asked for, all the time: a few tasks that do
//! 0.1 to 1 ms of work each 20 to 500 ms. There is no such tool; the options are ours. It goes on as
//! long as the other workloads of a run.
//!
//! What a task does and how often is drawn from `--seed`, so that it is one system in all runs; where
//! in its cycle each task is when a run begins comes from the seed of the run.

use super::draw::between;
use super::getopt::{self, Spec, Value, Word, number};
use super::refuse_operands;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::program::{Attributes, Op, Program, TaskSpec, Workload};

/// Least and most work of a task at a time, ns.
const WORK_NS: (u64, u64) = (100_000, 1_000_000);
/// Shortest and longest sleep between, ns.
const PAUSE_NS: (u64, u64) = (20_000_000, 500_000_000);
const MAX_TASKS: i64 = 1000;
/// Of the draws: work, and pause.
const STREAMS: [u64; 2] = [0, 1];

#[derive(Debug, Clone, Copy)]
enum Opt {
    Tasks,
    Seed,
}

const fn spec(long: &'static str, id: Opt) -> Spec<Opt> {
    Spec {
        short: None,
        long: Some(long),
        value: Value::Required,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[spec("tasks", Opt::Tasks), spec("seed", Opt::Seed)];

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    _remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let parsed = getopt::parse("housekeeping", SPECS, words)?;
    let (mut tasks, mut seed) = (8, 1);
    for found in &parsed.options {
        let text = found.value.as_deref().unwrap_or_default();
        let read = |least, most| number(found.place, &found.spelling, text, least, most);
        match found.id {
            Opt::Tasks => tasks = read(1, MAX_TASKS)? as usize,
            Opt::Seed => seed = read(0, i64::MAX)? as u64,
        }
    }
    refuse_operands("housekeeping", &parsed.operands)?;
    Ok(build(around.line, tasks, seed))
}

fn build(line: &str, tasks: usize, seed: u64) -> Workload {
    let mut workload = Workload::empty(line);
    workload.background = true;
    for task in 0..tasks {
        let work_ns = between(seed, STREAMS[0], task, WORK_NS);
        let pause_ns = between(seed, STREAMS[1], task, PAUSE_NS);
        let program = workload.add_program(program(work_ns, pause_ns));
        workload.tasks.push(TaskSpec {
            comm: format!("housekeeper-{task}"),
            program,
            attributes: Attributes::default(),
            start_ns: Some(0),
            process: task as u32,
            working_set_bytes: None,
            begins: None,
        });
    }
    workload
}

fn program(work_ns: u64, pause_ns: u64) -> Program {
    let mut asm = Assembler::default();
    asm.op(Op::Stagger {
        within_ns: work_ns + pause_ns,
    });
    asm.repeat(u64::MAX, |body| {
        body.op(Op::Run { ns: work_ns });
        body.op(Op::Sleep { ns: pause_ns });
    });
    asm.finish()
}
