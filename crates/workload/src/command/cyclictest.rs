// SPDX-License-Identifier: GPL-2.0-only
//! `cyclictest` of rt-tests 2.x: periodic threads that measure how late they wake.
//!
//! Thread k has the period `interval + k * distance`. Main creates the threads and waits for them
//! (its own look at the clock each 10 ms is left out). Spellings of older releases (`-e`, `-n`,
//! `-y`) are understood.

mod options;

use super::getopt::Word;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::latency_measures;
use crate::program::{
    Attributes, HistogramId, Op, Program, TaskSpec, TimerMode, TimerOrigin, Workload,
};
use options::Settings;

/// All threads record into one histogram.
const LATENCY: HistogramId = 0;

/// Work of a thread between two sleeps, ns on the calibration CPU: reading the clock and updating
/// the statistics. Assumption; traces of boards show 5 to 20 us.
const LOOP_NS: u64 = 10_000;

const NS_PER_US: u64 = 1000;

pub(super) fn compile(
    line: &str,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = options::read(words, remarks)?;
    Ok(build(line, &settings))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    workload.duration_ns = settings.duration_ns;
    workload.dma_latency_us = settings.dma_latency_us;
    workload.histograms = vec!["wakeup_latency".to_owned()];
    workload.measures = latency_measures("wakeup_latency", LATENCY);

    let main = workload.add_program(main_program(settings.threads));
    push_task(&mut workload, main, Attributes::default(), Some(0));
    let mut previous = None;
    for thread in 0..settings.threads {
        let period_ns = settings.period_us(thread) * NS_PER_US;
        let program = match previous {
            Some((period, program)) if period == period_ns => program,
            _ => workload.add_program(thread_program(period_ns, settings.loops)),
        };
        previous = Some((period_ns, program));
        push_task(&mut workload, program, settings.attributes(thread), None);
    }
    workload
}

fn main_program(threads: u32) -> Program {
    let mut asm = Assembler::default();
    for task in 1..=threads {
        asm.op(Op::Fork { task });
    }
    asm.op(Op::WaitChildren);
    asm.finish()
}

fn thread_program(period_ns: u64, loops: Option<u64>) -> Program {
    let mut asm = Assembler::default();
    asm.repeat(loops.unwrap_or(u64::MAX), |body| {
        body.op(Op::Timer {
            slot: 0,
            period_ns,
            mode: TimerMode::SkipMissed,
            origin: TimerOrigin::FirstUse,
            histogram: Some(LATENCY),
        });
        body.op(Op::Run { ns: LOOP_NS });
    });
    asm.finish()
}

fn push_task(workload: &mut Workload, program: u32, attributes: Attributes, start_ns: Option<u64>) {
    workload.tasks.push(TaskSpec {
        comm: "cyclictest".to_owned(),
        program,
        attributes,
        start_ns,
        process: 0,
        working_set_bytes: None,
    });
}
