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
    Attributes, HistogramId, Instruments, Observation, Op, Program, TaskSpec, TimerMode,
    TimerOrigin, Workload,
};
use crate::report::{CyclicThread, Cyclictest, Report};
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
    workload.instruments = Instruments {
        stamps: settings.threads,
        tallies: settings.threads,
        desks: 0,
    };
    let mut threads = vec![];
    for thread in 0..settings.threads {
        let interval_us = settings.period_us(thread);
        let program = thread_program(thread, interval_us * NS_PER_US, settings.loops);
        let program = workload.add_program(program);
        let attributes = settings.attributes(thread);
        threads.push(CyclicThread {
            task: workload.tasks.len() as u32,
            priority: attributes.rt_priority.unwrap_or(0),
            interval_us,
            latency: thread,
        });
        push_task(&mut workload, program, attributes, None);
    }
    workload.report = Some(Report::Cyclictest(Cyclictest {
        dma_latency_us: settings.dma_latency_us,
        threads,
    }));
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

fn thread_program(thread: u32, period_ns: u64, loops: Option<u64>) -> Program {
    let mut asm = Assembler::default();
    asm.repeat(loops.unwrap_or(u64::MAX), |body| {
        body.op(Op::Timer {
            slot: 0,
            period_ns,
            mode: TimerMode::SkipMissed,
            origin: TimerOrigin::FirstUse,
            histogram: Some(LATENCY),
        });
        body.op(Op::Observe(Observation::StampTimer {
            stamp: thread,
            slot: 0,
        }));
        body.op(Op::Observe(Observation::Lapse {
            stamp: thread,
            tally: thread,
        }));
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
