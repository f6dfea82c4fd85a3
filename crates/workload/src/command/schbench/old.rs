// SPDX-License-Identifier: GPL-2.0-only
//! `schbench` up to January 2020 (99faedc), the tool of many published command lines: its options
//! `-s` and `-c`. Workers spin for `-c` us of wall time, then wait for their message thread; that waits
//! for the first of them, sleeps for `-s` us and up to a quarter more, and answers all who wait by then.

use super::super::draw::between;
use super::super::getopt::{self, Found, Spec, Value, Word, number};
use super::super::{MAX_TASKS, refuse_operands};
use super::{LOOPS, NS_PER_S, NS_PER_US, REQUEST, RPS, WAKEUP, clock, group_tasks};
use crate::assembler::Assembler;
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::measures::tally_measures;
use crate::program::{Instruments, Observation, Op, Program, Workload};
use crate::report::{Report, Schbench, SchbenchForm};

/// Sleeps of a message thread that are drawn before they repeat.
const DRAWN: usize = 64;
const MAX_INT: i64 = i32::MAX as i64;
/// Highest `-r`, s: 100 days.
const MAX_TIME_S: i64 = 8_640_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opt {
    MessageThreads,
    Threads,
    Runtime,
    Sleep,
    Cpu,
    Pipe,
    NotModelled,
    /// Came later than `-c` was left out, or with another meaning.
    Later(&'static str),
    Help,
}

const fn both(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const fn long(long: &'static str, id: Opt) -> Spec<Opt> {
    Spec {
        short: None,
        long: Some(long),
        value: Value::Required,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    both('a', "auto", Value::No, Opt::NotModelled),
    both('p', "pipe", Value::Required, Opt::Pipe),
    both('m', "message-threads", Value::Required, Opt::MessageThreads),
    both('t', "threads", Value::Required, Opt::Threads),
    both('r', "runtime", Value::Required, Opt::Runtime),
    both('R', "rps", Value::Required, Opt::NotModelled),
    both('s', "sleeptime", Value::Required, Opt::Sleep),
    both('c', "cputime", Value::Required, Opt::Cpu),
    Spec {
        short: None,
        long: Some("help"),
        value: Value::No,
        id: Opt::Help,
    },
    both(
        'w',
        "warmuptime",
        Value::Required,
        Opt::Later("October 2020"),
    ),
    both(
        'i',
        "intervaltime",
        Value::Required,
        Opt::Later("October 2020"),
    ),
    both('z', "zerotime", Value::Required, Opt::Later("October 2020")),
    both('A', "auto-rps", Value::Required, Opt::Later("April 2021")),
    both('C', "calibrate", Value::No, Opt::Later("April 2023")),
    both('L', "no-locking", Value::No, Opt::Later("April 2023")),
    both(
        'F',
        "cache_footprint",
        Value::Required,
        Opt::Later("December 2021"),
    ),
    both(
        'n',
        "operations",
        Value::Required,
        Opt::Later("December 2021"),
    ),
    both('M', "message-cpus", Value::Required, Opt::Later("May 2025")),
    both('W', "worker-cpus", Value::Required, Opt::Later("May 2025")),
    both('j', "json", Value::Required, Opt::Later("May 2025")),
    both('J', "jobname", Value::Required, Opt::Later("May 2025")),
    long("sleep_usec", Opt::Later("May 2025")),
    long("split", Opt::Later("December 2025")),
];

/// A command line, read.
#[derive(Debug)]
struct Settings {
    message_threads: u32,
    /// Of each message thread.
    workers: u32,
    runtime_s: u32,
    sleep_us: u32,
    cpu_us: u32,
    pipe_bytes: u32,
}

/// Are these the words of the old tool? `-c`, `--cputime` and `--sleeptime` are of no other.
pub(super) fn is_meant(words: &[Word]) -> bool {
    getopt::parse("schbench", SPECS, words).is_ok_and(|parsed| {
        let old = |found: &Found<Opt>| {
            found.id == Opt::Cpu || found.id == Opt::Sleep && found.spelling == "--sleeptime"
        };
        parsed.options.iter().any(old)
    })
}

pub(super) fn compile(
    line: &str,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = read(words, remarks)?;
    Ok(build(line, &settings))
}

fn read(words: &[Word], remarks: &mut Remarks) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("schbench", SPECS, words)?;
    let mut settings = Settings {
        message_threads: 2,
        workers: 16,
        runtime_s: 30,
        sleep_us: 30_000,
        cpu_us: 30_000,
        pipe_bytes: 0,
    };
    let (mut sleep, mut cpu) = (None, None);
    for found in &parsed.options {
        let text = found.value.as_deref().unwrap_or_default();
        let read = |least: i64, most: i64| {
            number(found.place, &found.spelling, text, least, most).map(|n| n as u32)
        };
        let refuse = |why: String| Err(Refusal::new(found.place, why));
        match found.id {
            Opt::MessageThreads => settings.message_threads = read(1, MAX_TASKS as i64)?,
            Opt::Threads => settings.workers = read(1, MAX_TASKS as i64)?,
            // 0 ends at once; "for ever" came with October 2020.
            Opt::Runtime => settings.runtime_s = read(1, MAX_TIME_S)?,
            Opt::Sleep => sleep = Some((read(0, MAX_INT)?, found.place)),
            Opt::Cpu => cpu = Some(read(0, MAX_INT)?),
            Opt::Pipe => {
                settings.pipe_bytes = read(0, super::options::MAX_PIPE_BYTES)?;
                (settings.sleep_us, settings.cpu_us) = (0, 0);
            }
            Opt::NotModelled => {
                return refuse(format!(
                    "{} of the schbench that has -c is not modelled; remove it",
                    found.spelling
                ));
            }
            Opt::Later(since) => {
                return refuse(format!(
                    "schbench got {} in {since}, and -c (--cputime), removed in April 2023, \
                     stands for the schbench of January 2020; remove one of the two",
                    found.spelling
                ));
            }
            Opt::Help => {
                return refuse(format!(
                    "{} prints a help text and runs nothing; remove it",
                    found.spelling
                ));
            }
        }
    }
    refuse_operands("schbench", &parsed.operands)?;
    if let Some((us @ 1..=3, place)) = sleep {
        return Err(Refusal::new(
            place,
            format!(
                "-s {us} ends schbench by a division by zero (a quarter of it is 0); expected 0, or 4 or more"
            ),
        ));
    }
    settings.sleep_us = sleep.map_or(settings.sleep_us, |(us, _)| us);
    settings.cpu_us = cpu.unwrap_or(settings.cpu_us);
    let place = words
        .first()
        .map_or(Place { line: 1, column: 1 }, |w| w.place);
    let tasks = u64::from(settings.message_threads) * u64::from(settings.workers);
    if tasks > MAX_TASKS {
        return Err(Refusal::new(
            place,
            format!("{tasks} workers are too many, expected at most {MAX_TASKS}; lower -m or -t"),
        ));
    }
    if settings.cpu_us == 0 && settings.sleep_us == 0 && settings.pipe_bytes == 0 {
        remarks.note(place, "with -s 0 -c 0 workers only wait for answers");
    }
    remarks.note(
        place,
        "schbench had -c up to April 2023: the line is read as for the tool of 2016 to January \
         2020, with -s and -c in us",
    );
    Ok(settings)
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    let workers = settings.message_threads * settings.workers;
    workload.counters = 2;
    workload.deals = vec![super::time(u64::from(settings.runtime_s) * NS_PER_S)];
    workload.instruments = Instruments {
        stamps: workers + settings.message_threads,
        tallies: 3,
        desks: settings.message_threads,
    };
    let percentiles = [500, 750, 900, 950, 990, 995, 999];
    workload.measures = tally_measures("wakeup_latency", WAKEUP, &percentiles).collect();
    workload.measures.push(super::loops_per_s(
        match settings.pipe_bytes {
            0 => "requests_per_s",
            _ => "transfers_per_s",
        },
        settings.runtime_s,
    ));
    workload.report = Some(Report::Schbench(Schbench {
        runtime_s: settings.runtime_s,
        wakeup: WAKEUP,
        request: REQUEST,
        rps: RPS,
        loops: LOOPS,
        form: SchbenchForm::Old {
            workers,
            pipe_bytes: settings.pipe_bytes,
        },
    }));
    let main = main_program(settings);
    let group = settings.workers + 1;
    let message = |thread: u32| message_program(settings, thread, thread * group + 2, workers);
    let worker = |thread: u32, worker: u32| worker_program(settings, thread, worker);
    group_tasks(
        &mut workload,
        (settings.message_threads, settings.workers),
        main,
        message,
        worker,
    );
    workload
}

fn main_program(settings: &Settings) -> Program {
    let mut asm = Assembler::default();
    for thread in 0..settings.message_threads {
        asm.op(Op::Fork {
            task: 1 + thread * (settings.workers + 1),
        });
    }
    asm.op(Op::Sleep {
        ns: u64::from(settings.runtime_s) * NS_PER_S,
    });
    for desk in 0..settings.message_threads {
        asm.op(Op::Close { desk });
    }
    asm.op(Op::WaitChildren);
    asm.finish()
}

fn message_program(
    settings: &Settings,
    thread: u32,
    first_worker: u32,
    first_stamp: u32,
) -> Program {
    let mut asm = Assembler::default();
    for task in first_worker..first_worker + settings.workers {
        asm.op(Op::Fork { task });
    }
    if settings.pipe_bytes != 0 {
        super::pipe_server(&mut asm, thread, first_stamp + thread, settings.pipe_bytes);
    } else {
        let mut leaving = Vec::new();
        asm.repeat(u64::MAX, |body| {
            for round in 0..DRAWN {
                body.op(Op::Attend {
                    desk: thread,
                    stamp: first_stamp + thread,
                });
                if settings.sleep_us != 0 {
                    body.op(Op::Sleep {
                        ns: sleep_us(settings, thread, round) * NS_PER_US,
                    });
                }
                leaving.push(body.leaving(Op::Serve {
                    desk: thread,
                    done: 0,
                }));
            }
        });
        asm.land(leaving);
    }
    asm.op(Op::WaitChildren);
    asm.finish()
}

/// `sleeptime + rand_r() % (sleeptime / 4)`; what the tool draws is not known, this is drawn the same
/// in each run.
fn sleep_us(settings: &Settings, thread: u32, round: usize) -> u64 {
    let sleep = u64::from(settings.sleep_us);
    sleep + between(u64::from(thread), 0, round, (0, sleep / 4 - 1))
}

fn worker_program(settings: &Settings, desk: u32, worker: u32) -> Program {
    let mut asm = Assembler::default();
    asm.while_given(clock, |body| {
        if settings.cpu_us != 0 {
            body.op(Op::RunWall {
                ns: u64::from(settings.cpu_us) * NS_PER_US,
            });
        }
        body.op(Op::Count { counter: LOOPS });
        if settings.pipe_bytes != 0 {
            body.op(Op::Memory {
                bytes: settings.pipe_bytes.into(),
            });
        }
        body.op(Op::Observe(Observation::Stamp { stamp: worker }));
        body.op(Op::Call {
            desk,
            stamp: worker,
        });
        body.op(Op::Observe(Observation::LapseAboveZero {
            stamp: worker,
            tally: WAKEUP,
        }));
    });
    asm.finish()
}
