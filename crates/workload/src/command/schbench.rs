// SPDX-License-Identifier: GPL-2.0-only
//! `schbench` of Chris Mason (24e32b8, December 2025): workers that do requests, and message
//! threads that answer them.
//!
//! A worker queues at its message thread, wakes it and waits for the answer; then it sleeps, takes
//! the lock of its CPU, multiplies matrices and gives the lock back: that is a request. The message
//! thread answers all who wait at once. Main looks at the number of requests once a second.
//! A message thread wakes its workers one after the other and counts their latency from before the
//! first of them, so that a waker which is preempted shows.

mod options;

use super::getopt::Word;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::tally_measures;
use crate::program::{
    Attributes, Better, CounterId, Instruments, Measure, MeasureSource, Observation, Op, Program,
    TallyId, TaskSpec, Workload,
};
use crate::report::{Report, Schbench};
use options::Settings;

/// From the answer to the worker's running.
const WAKEUP: TallyId = 0;
/// Of each request.
const REQUEST: TallyId = 1;
/// Requests a second.
const RPS: TallyId = 2;
/// Requests.
const LOOPS: CounterId = 0;
/// Dealt to nobody: workers only ask it for the time.
const CLOCK: CounterId = 1;

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_US: u64 = 1000;

/// Time of one multiplication and addition in the innermost loop, ps on the calibration CPU: the
/// calibration run in schbench's README takes 16864 us for 5 products of two matrices of 104 rows
/// (5624320 steps) on a server of unnamed make; **assumed** for the biggest CPU of any machine.
const STEP_PS: u64 = 2998;

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = options::read(words, remarks)?;
    Ok(build(around.line, &settings))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    workload.counters = 2;
    workload.instruments = Instruments {
        stamps: 2 * settings.message_threads * settings.workers,
        tallies: 3,
        desks: settings.message_threads,
    };
    workload.measures = measures(settings);
    workload.report = Some(Report::Schbench(Schbench {
        runtime_s: settings.runtime_s,
        wakeup: WAKEUP,
        request: REQUEST,
        rps: RPS,
        loops: LOOPS,
    }));

    let group = settings.workers + 1;
    let main = workload.add_program(main_program(settings, group));
    push_task(
        &mut workload,
        settings,
        "schbench",
        main,
        Attributes::default(),
    );
    workload.tasks[0].start_ns = Some(0);
    for thread in 0..settings.message_threads {
        let first_worker = thread * group + 2;
        let program = message_program(&mut workload, settings, thread, first_worker);
        let program = workload.add_program(program);
        // Until it has made the workers it may run where they may.
        let attributes = settings.worker_attributes();
        push_task(&mut workload, settings, "schbench-msg", program, attributes);
        for worker in 0..settings.workers {
            let program = worker_program(settings, thread, thread * settings.workers + worker);
            let program = workload.add_program(program);
            let attributes = settings.worker_attributes();
            push_task(
                &mut workload,
                settings,
                "schbench-worker",
                program,
                attributes,
            );
        }
    }
    workload
}

fn measures(settings: &Settings) -> Vec<Measure> {
    let mut measures: Vec<Measure> =
        tally_measures("wakeup_latency", WAKEUP, &[500, 900, 990, 999]).collect();
    measures.extend(tally_measures(
        "request_latency",
        REQUEST,
        &[500, 900, 990, 999],
    ));
    if settings.runtime_s != 0 {
        measures.push(Measure {
            name: "requests_per_s".to_owned(),
            unit: "",
            better: Some(Better::Higher),
            source: MeasureSource::CounterPerSecond {
                counter: LOOPS,
                seconds: settings.runtime_s,
            },
        });
    }
    measures
}

/// Starts the message threads, looks at the requests each second, closes the desks.
fn main_program(settings: &Settings, group: u32) -> Program {
    let mut asm = Assembler::default();
    for thread in 0..settings.message_threads {
        asm.op(Op::Fork {
            task: 1 + thread * group,
        });
    }
    if settings.runtime_s == 0 {
        asm.repeat(u64::MAX, |round| {
            let rounds = settings.zero_s.unwrap_or(1);
            round.repeat(u64::from(rounds), second);
            if settings.zero_s.is_some() {
                forget(round);
            }
        });
    } else {
        look(&mut asm);
        rounds(&mut asm, settings);
        for desk in 0..settings.message_threads {
            asm.op(Op::Close { desk });
        }
    }
    asm.op(Op::WaitChildren);
    asm.finish()
}

/// The seconds of a run that ends. In the second of the warmup's end the tool does not look.
fn rounds(asm: &mut Assembler, settings: &Settings) {
    if settings.warmup_s.is_none() && settings.zero_s.is_none() {
        asm.repeat(u64::from(settings.runtime_s), second);
        return;
    }
    let mut zeroed_at = 0;
    for now in 1..=settings.runtime_s {
        if settings.warmup_s == Some(now) {
            asm.op(Op::Sleep { ns: NS_PER_S });
            forget(asm);
            zeroed_at = now;
            continue;
        }
        second(asm);
        if settings.zero_s.is_some_and(|zero| now - zeroed_at >= zero) {
            forget(asm);
            zeroed_at = now;
        }
    }
}

fn second(asm: &mut Assembler) {
    asm.op(Op::Sleep { ns: NS_PER_S });
    look(asm);
}

fn look(asm: &mut Assembler) {
    asm.op(Op::Observe(Observation::Rate {
        counter: LOOPS,
        tally: RPS,
    }));
}

fn forget(asm: &mut Assembler) {
    for tally in [WAKEUP, REQUEST, RPS] {
        asm.op(Op::Observe(Observation::Clear { tally }));
    }
}

fn message_program(
    workload: &mut Workload,
    settings: &Settings,
    thread: u32,
    first_worker: u32,
) -> Program {
    let mut asm = Assembler::default();
    for task in first_worker..first_worker + settings.workers {
        asm.op(Op::Fork { task });
    }
    if let Some(attributes) = settings.message_attributes(thread) {
        workload.attributes.push(attributes);
        let attributes = workload.attributes.len() as u32 - 1;
        asm.op(Op::SetAttributes { attributes });
    }
    let serve = |done| Op::Serve { desk: thread, done };
    asm.while_given(serve, |_| ());
    asm.op(Op::WaitChildren);
    asm.finish()
}

fn worker_program(settings: &Settings, desk: u32, worker: u32) -> Program {
    let (answered, begun) = (2 * worker, 2 * worker + 1);
    let begin = Op::Observe(Observation::Stamp { stamp: begun });
    let request = |asm: &mut Assembler| {
        asm.op(Op::Observe(Observation::Stamp { stamp: answered }));
        asm.op(Op::Call {
            desk,
            stamp: answered,
        });
        asm.op(Op::Observe(Observation::LapseAboveZero {
            stamp: answered,
            tally: WAKEUP,
        }));
        let sleep = Op::Sleep {
            ns: u64::from(settings.sleep_us) * NS_PER_US,
        };
        // Calibration leaves the sleep out of the request's time.
        let order = match settings.calibrate {
            true => [sleep, begin],
            false => [begin, sleep],
        };
        order.into_iter().for_each(|op| asm.op(op));
        work(asm, settings);
        asm.op(Op::Observe(Observation::LapseAboveZero {
            stamp: begun,
            tally: REQUEST,
        }));
        asm.op(Op::Count { counter: LOOPS });
    };
    let mut asm = Assembler::default();
    if settings.runtime_s == 0 {
        asm.repeat(u64::MAX, request);
        return asm.finish();
    }
    let take = |done| Op::Take {
        counter: CLOCK,
        modulo: 0,
        limit: u64::MAX,
        until_ns: u64::from(settings.runtime_s) * NS_PER_S,
        done,
    };
    asm.while_given(take, request);
    asm.finish()
}

fn work(asm: &mut Assembler, settings: &Settings) {
    let steps = settings.steps();
    if settings.locking {
        asm.op(Op::LockCpu);
    }
    asm.op(Op::Run {
        ns: (steps * STEP_PS / 1000).max(1),
    });
    if settings.locking {
        asm.op(Op::UnlockCpu);
    }
}

fn push_task(
    workload: &mut Workload,
    settings: &Settings,
    comm: &str,
    program: u32,
    attributes: Attributes,
) {
    let is_worker = comm == "schbench-worker";
    workload.tasks.push(TaskSpec {
        comm: comm.to_owned(),
        program,
        attributes,
        start_ns: None,
        process: 0,
        working_set_bytes: is_worker.then(|| settings.working_set_bytes()),
    });
}
