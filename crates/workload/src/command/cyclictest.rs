// SPDX-License-Identifier: GPL-2.0-only
//! `cyclictest` of rt-tests 2.x: periodic threads that measure how late they wake.
//!
//! Thread k has the period `interval + k * distance`. It begins where the kernel places it, and then
//! goes to the CPU that it is pinned to (cyclictest.c, timerthread()). Main creates the threads and
//! looks at them each 10 ms (cyclictest.c, main()): unless it is quiet it prints a line for each, and
//! when the first has its loops it ends them all. Spellings of older releases (`-e`, `-n`, `-y`) are
//! understood.

mod options;

use super::getopt::Word;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::latency_measures;
use crate::program::{
    Attributes, AttributesId, HistogramId, Instruments, Observation, Op, OptionalId, Program,
    TaskSpec, TimerMode, TimerOrigin, Workload,
};
use crate::report::{CyclicThread, Cyclictest, Report};
use options::Settings;

/// All threads record into one histogram.
const LATENCY: HistogramId = 0;

/// Work of a thread between two sleeps, ns on the calibration CPU. The program itself takes 190
/// instructions a loop (callgrind, rt-tests 2.4); the rest is what clock_nanosleep takes beyond a
/// machine's costs of a system call, a timer and a switch: where a guest counts an instruction a
/// ns, a slice is 3.9 us on 6.1 and 3.6 on 7.2, of which those costs are 2.4 and 3.1.
const LOOP_NS: u64 = 1000;

/// How long main sleeps between two looks at its threads, `usleep(10000)`.
const LOOK_PERIOD_NS: u64 = 10_000_000;
/// The same with the slack of timers and the look itself, by which the looks of a run are counted:
/// main then waits for the last loop of the first thread.
const LOOK_ROUND_NS: u64 = LOOK_PERIOD_NS + 60_000;
/// Work of a look: the loop over the threads and what usleep takes, as for [`LOOP_NS`].
const LOOK_NS: u64 = 1000;
/// What a look that prints takes more: 2000 instructions (callgrind) and three system calls for
/// `/proc/loadavg`.
const STATUS_NS: u64 = 4000;
/// A thread's line: 5200 instructions (callgrind) and a write.
const LINE_NS: u64 = 6000;
/// From the last loop of the first thread to where the others see the end, on average: half a
/// period of the look in which it is found, and the next.
const ENDING_NS: u64 = 15_000_000;

const NS_PER_US: u64 = 1000;

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = options::read(words, around, remarks)?;
    Ok(build(around.line, &settings))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    workload.duration_ns = settings.duration_ns;
    workload.dma_latency_us = settings.dma_latency_us;
    let unlimited = settings.duration_ns.is_none() && settings.loops.is_none();
    workload.missing_limit = unlimited.then_some("-D SECONDS or -l LOOPS");
    workload.histograms = vec!["wakeup_latency".to_owned()];
    workload.measures = latency_measures("wakeup_latency", LATENCY);

    let main = workload.add_program(main_program(settings));
    push_task(&mut workload, main, settings.main_attributes(), Some(0));
    workload.instruments = Instruments {
        stamps: settings.threads,
        tallies: settings.threads,
        desks: 0,
    };
    let mut threads = vec![];
    for thread in 0..settings.threads {
        let interval_us = settings.period_us(thread);
        let attributes = settings.attributes(thread);
        let pin = settings.cpu_of(thread).map(|cpu| {
            workload.attributes.push(Attributes {
                affinity: Some(vec![cpu]),
                ..Attributes::default()
            });
            workload.attributes.len() as AttributesId - 1
        });
        let period_ns = interval_us * NS_PER_US;
        let program = thread_program(thread, pin, period_ns, loops(settings, thread));
        let program = workload.add_program(program);
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

fn main_program(settings: &Settings) -> Program {
    let mut asm = Assembler::default();
    for task in 1..=settings.threads {
        asm.op(Op::Fork { task });
    }
    let looks = first_thread_ns(settings).map_or(u64::MAX, |ns| ns / LOOK_ROUND_NS);
    asm.repeat(looks, |body| {
        body.op(Op::Run {
            ns: look_ns(settings),
        });
        body.op(Op::Sleep { ns: LOOK_PERIOD_NS });
    });
    asm.op(Op::WaitChildren);
    asm.finish()
}

fn look_ns(settings: &Settings) -> u64 {
    match settings.quiet {
        true => LOOK_NS,
        false => LOOK_NS + STATUS_NS + u64::from(settings.threads) * LINE_NS,
    }
}

/// How long the first thread takes for its loops; `None`: it has no end.
fn first_thread_ns(settings: &Settings) -> Option<u64> {
    let loops = settings.loops?;
    Some(loops.saturating_mul(settings.period_us(0) * NS_PER_US))
}

/// Loops of thread `k`: what it has done when the first has all of its own.
fn loops(settings: &Settings, k: u32) -> Option<u64> {
    let end_ns = first_thread_ns(settings)?.saturating_add(ENDING_NS);
    let all = settings.loops?;
    Some(all.min((end_ns / (settings.period_us(k) * NS_PER_US)).max(1)))
}

fn thread_program(
    thread: u32,
    pin: Option<AttributesId>,
    period_ns: u64,
    loops: Option<u64>,
) -> Program {
    let mut asm = Assembler::default();
    if let Some(attributes) = pin {
        asm.op(Op::SetAttributes { attributes });
    }
    asm.repeat(loops.unwrap_or(u64::MAX), |body| {
        body.op(Op::Timer {
            slot: 0,
            period_ns,
            mode: TimerMode::SkipMissed,
            origin: TimerOrigin::FirstUse,
            histogram: OptionalId::some(LATENCY),
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
        begins: None,
    });
}
