// SPDX-License-Identifier: GPL-2.0-only
//! `schbench` of Chris Mason (24e32b8, December 2025): workers that do requests, and message
//! threads that answer them.
//!
//! A worker queues at its message thread, wakes it and waits for the answer; then it sleeps, takes
//! the lock of its CPU, multiplies matrices and gives the lock back: that is a request. The message
//! thread answers all who wait at once. Main looks at the number of requests once a second.
//! A message thread wakes its workers one after the other and counts their latency from before the
//! first of them, so that a waker which is preempted shows.
//!
//! With `-R` message threads hand out so many requests a second and workers take all that they find;
//! with `-p` worker and message thread write to a page in turn and do nothing else. The tool that
//! has `-c` is another one: [`old`].

mod old;
mod options;

use super::getopt::Word;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::tally_measures;
use crate::program::{
    Attributes, Better, CounterId, Deal, DealId, Instruments, Label, Measure, MeasureSource,
    Observation, Op, OptionalId, Program, TallyId, TaskSpec, TimerMode, TimerOrigin, Workload,
};
use crate::report::{Report, Schbench, SchbenchForm};
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
/// Whose turn it is to get a request, of each message thread.
const FIRST_TURN: CounterId = 2;
/// What goes on until the time is over.
const TIME: DealId = 0;
/// The turns of the first message thread's workers; those of the others follow.
const TURNS: DealId = 1;
/// Name of the workers.
const WORKER: &str = "schbench-worker";

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
    if old::is_meant(words) {
        return old::compile(around.line, words, remarks);
    }
    let settings = options::read(words, around, remarks)?;
    Ok(build(around.line, &settings))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    let workers = settings.message_threads * settings.workers;
    // Requests that are handed out are dealt to each message thread's workers in turn.
    workload.counters = 2 + settings.message_threads;
    let time = time(until_ns(settings));
    let turns = (0..settings.message_threads).map(|thread| Deal {
        counter: FIRST_TURN + thread,
        modulo: settings.workers,
        ..time
    });
    workload.deals = [time].into_iter().chain(turns).collect();
    workload.instruments = Instruments {
        stamps: 2 * workers + settings.message_threads,
        tallies: 3,
        desks: match settings.requests_per_s {
            0 => settings.message_threads,
            _ => workers,
        },
    };
    workload.measures = measures(settings);
    workload.missing_limit = (settings.runtime_s == 0).then_some("-r SECONDS");
    workload.report = Some(Report::Schbench(Schbench {
        runtime_s: settings.runtime_s,
        wakeup: WAKEUP,
        request: REQUEST,
        rps: RPS,
        loops: LOOPS,
        form: match settings.pipe_bytes {
            0 => SchbenchForm::Requests,
            bytes => SchbenchForm::Pipe { bytes, workers },
        },
    }));
    let group = settings.workers + 1;
    let main = main_program(settings, group);
    let pinned: Vec<Option<u32>> = (0..settings.message_threads)
        .map(|thread| add_attributes(&mut workload, settings.message_attributes(thread)))
        .collect();
    let message = |thread: u32| {
        let pinned = pinned[thread as usize];
        message_program(settings, thread, thread * group + 2, pinned)
    };
    let worker = |thread: u32, worker: u32| worker_program(settings, thread, worker);
    let counts = (settings.message_threads, settings.workers);
    group_tasks(&mut workload, counts, main, message, worker);
    for task in &mut workload.tasks[1..] {
        // Until it has made the workers, a message thread may run where they may.
        task.attributes = settings.worker_attributes();
        if task.comm == WORKER {
            task.working_set_bytes = Some(settings.working_set_bytes());
        }
    }
    workload
}

fn add_attributes(workload: &mut Workload, attributes: Option<Attributes>) -> Option<u32> {
    workload.attributes.push(attributes?);
    Some(workload.attributes.len() as u32 - 1)
}

/// Adds the main thread, and each message thread with its workers behind it. `counts`: message
/// threads, and workers of each; `worker` gets the number of the message thread and its own.
fn group_tasks(
    workload: &mut Workload,
    counts: (u32, u32),
    main: Program,
    message: impl Fn(u32) -> Program,
    worker: impl Fn(u32, u32) -> Program,
) {
    let (message_threads, workers) = counts;
    push_task(workload, "schbench", main);
    workload.tasks[0].start_ns = Some(0);
    for thread in 0..message_threads {
        push_task(workload, "schbench-msg", message(thread));
        for index in thread * workers..(thread + 1) * workers {
            push_task(workload, WORKER, worker(thread, index));
        }
    }
}

fn measures(settings: &Settings) -> Vec<Measure> {
    const PERCENTILES: [u32; 4] = [500, 900, 990, 999];
    let mut measures: Vec<Measure> =
        tally_measures("wakeup_latency", WAKEUP, &PERCENTILES).collect();
    let is_pipe = settings.pipe_bytes != 0;
    if !is_pipe {
        measures.extend(tally_measures("request_latency", REQUEST, &PERCENTILES));
    }
    if settings.runtime_s != 0 {
        let name = match is_pipe {
            true => "transfers_per_s",
            false => "requests_per_s",
        };
        measures.push(loops_per_s(name, settings.runtime_s));
    }
    measures
}

fn loops_per_s(name: &str, seconds: u32) -> Measure {
    Measure {
        name: name.to_owned(),
        unit: "",
        better: Some(Better::Higher),
        source: MeasureSource::CounterPerSecond {
            counter: LOOPS,
            seconds,
        },
    }
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
        // Requests that are handed out end by the clock.
        if settings.requests_per_s == 0 {
            for desk in 0..settings.message_threads {
                asm.op(Op::Close { desk });
            }
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
    settings: &Settings,
    thread: u32,
    first_worker: u32,
    pinned: Option<u32>,
) -> Program {
    let mut asm = Assembler::default();
    for task in first_worker..first_worker + settings.workers {
        asm.op(Op::Fork { task });
    }
    if let Some(attributes) = pinned {
        asm.op(Op::SetAttributes { attributes });
    }
    if settings.requests_per_s != 0 {
        hand_out(&mut asm, settings, thread);
    } else if settings.pipe_bytes != 0 {
        let stamp = 2 * settings.message_threads * settings.workers + thread;
        pipe_server(&mut asm, thread, stamp, settings.pipe_bytes);
    } else {
        let serve = |done| Op::Serve { desk: thread, done };
        asm.while_given(serve, |_| ());
    }
    asm.op(Op::WaitChildren);
    asm.finish()
}

/// Each second hands so many requests to the workers in turn (`run_rps_thread()`): a worker with more
/// than 128 gets none and costs a sleep of 100 us.
fn hand_out(asm: &mut Assembler, settings: &Settings, thread: u32) {
    const MOST_PENDING: u32 = 128;
    const PAUSE_NS: u32 = 100_000;
    let first = thread * settings.workers;
    let mut leaving = Vec::new();
    asm.repeat(u64::MAX, |second| {
        second.repeat(settings.requests_per_s.into(), |each| {
            leaving.push(each.leaving(Op::Take {
                deal: TURNS + thread,
                done: 0,
            }));
            each.op(Op::Leave {
                first,
                limit: MOST_PENDING,
                pause_ns: PAUSE_NS,
            });
        });
        second.op(Op::Timer {
            slot: 0,
            period_ns: NS_PER_S,
            mode: TimerMode::Relative,
            origin: TimerOrigin::TaskStart,
            histogram: OptionalId::NONE,
        });
    });
    asm.land(leaving);
    for desk in first..first + settings.workers {
        asm.op(Op::Close { desk });
    }
}

/// Writes to the page of each worker who waits and wakes it (`xlist_wake_all()`, pipe mode).
fn pipe_server(asm: &mut Assembler, desk: u32, stamp: u32, bytes: u32) {
    let mut leaving = Vec::new();
    asm.repeat(u64::MAX, |round| {
        round.op(Op::Attend { desk, stamp });
        // Nobody is at a desk that is closed.
        leaving.push(round.leaving(Op::Gather { desk, none: 0 }));
        let mut answered = None;
        round.repeat(u64::MAX, |each| {
            each.op(Op::Memory {
                bytes: bytes.into(),
            });
            answered = Some(each.leaving(Op::Answer { desk, last: 0 }));
        });
        round.land(answered);
    });
    asm.land(leaving);
}

/// When workers and message threads stop, ns after the start.
fn until_ns(settings: &Settings) -> u64 {
    match settings.runtime_s {
        0 => u64::MAX,
        seconds => u64::from(seconds) * NS_PER_S,
    }
}

fn worker_program(settings: &Settings, desk: u32, worker: u32) -> Program {
    if settings.requests_per_s != 0 {
        return handed_worker(settings, worker);
    }
    let answered = 2 * worker;
    let ask = |asm: &mut Assembler| {
        if settings.pipe_bytes != 0 {
            asm.op(Op::Memory {
                bytes: settings.pipe_bytes.into(),
            });
        }
        asm.op(Op::Observe(Observation::Stamp { stamp: answered }));
        asm.op(Op::Call {
            desk,
            stamp: answered,
        });
        woken(asm, answered);
        request(asm, settings, worker);
    };
    let mut asm = Assembler::default();
    if settings.runtime_s == 0 {
        asm.repeat(u64::MAX, ask);
        return asm.finish();
    }
    asm.while_given(clock, ask);
    asm.finish()
}

/// A worker to whom requests are handed out: it waits for the first and does all that it finds then.
fn handed_worker(settings: &Settings, desk: u32) -> Program {
    let stamp = 2 * desk;
    let mut asm = Assembler::default();
    let mut leaving = Vec::new();
    asm.repeat(u64::MAX, |round| {
        leaving.push(round.leaving(clock(0)));
        round.op(Op::Attend { desk, stamp });
        woken(round, stamp);
        leaving.push(round.leaving(clock(0)));
        leaving.push(round.leaving(Op::Gather { desk, none: 0 }));
        let mut done = None;
        round.repeat(u64::MAX, |each| {
            done = Some(each.leaving(Op::Unqueue { desk, none: 0 }));
            request(each, settings, desk);
        });
        round.land(done);
    });
    asm.land(leaving);
    asm.finish()
}

/// Goes on until this time since the start, ns.
fn time(until_ns: u64) -> Deal {
    Deal {
        counter: CLOCK,
        modulo: 0,
        limit: u64::MAX,
        until_ns,
    }
}

/// Goes on until the time is over.
fn clock(done: Label) -> Op {
    Op::Take { deal: TIME, done }
}

fn woken(asm: &mut Assembler, stamp: u32) {
    asm.op(Op::Observe(Observation::LapseAboveZero {
        stamp,
        tally: WAKEUP,
    }));
}

/// A request: a sleep, then work. Of a pipe it is nothing, and takes no time.
fn request(asm: &mut Assembler, settings: &Settings, worker: u32) {
    let begun = 2 * worker + 1;
    let begin = Op::Observe(Observation::Stamp { stamp: begun });
    if settings.pipe_bytes == 0 {
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
    }
    asm.op(Op::Count { counter: LOOPS });
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

fn push_task(workload: &mut Workload, comm: &str, program: Program) {
    let program = workload.add_program(program);
    workload.tasks.push(TaskSpec {
        comm: comm.to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns: None,
        process: 0,
        working_set_bytes: None,
        begins: None,
    });
}
