// SPDX-License-Identifier: GPL-2.0-only
//! `perf bench sched messaging` and `perf bench sched pipe` (tools/perf/bench/sched-messaging.c and
//! sched-pipe.c of Linux 6.x).
//!
//! `messaging` is hackbench with 20 senders and 20 receivers a group. In `pipe` two tasks hand four
//! bytes to and fro through two pipes; the time counts from before they are created.

use super::getopt::{self, Found, Spec, Value, Word, number};
use super::messaging::{self, Settings};
use super::surroundings::Surroundings;
use super::{MAX_TASKS, refuse_operands};
use crate::assembler::Assembler;
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::measures::elapsed_s;
use crate::program::{Attributes, ChannelKind, Op, Program, TaskSpec, Workload};
use crate::report::{PerfFormat, Pipe, Report, Span};

/// Senders, and receivers, of a group: no option changes them.
const FDS: u32 = 20;
/// Bytes of a message.
const DATASIZE: u32 = 100;
/// Bytes of the token that `pipe` hands over: an `int`.
const TOKEN_BYTES: u32 = 4;
const DEFAULT_PIPE_LOOPS: u32 = 1_000_000;
/// To the first task, and to the second.
const TO_FIRST: u32 = 0;
const TO_SECOND: u32 = 1;
const START: u32 = 0;
const STOP: u32 = 1;
const MAX_INT: i64 = i32::MAX as i64;

const COLLECTIONS: &[&str] = &[
    "sched",
    "syscall",
    "mem",
    "numa",
    "futex",
    "epoll",
    "internals",
    "breakpoint",
    "uprobe",
    "all",
];
const BENCHMARKS: &[&str] = &["messaging", "pipe"];
/// Benchmarks of the collection that are not modelled.
const OTHER_BENCHMARKS: &[&str] = &["all", "seccomp-notify"];

#[derive(Debug, Clone, Copy)]
enum Common {
    Format,
    Repeat,
    Help,
}

const COMMON: &[Spec<Common>] = &[
    both('f', "format", Value::Required, Common::Format),
    both('r', "repeat", Value::Required, Common::Repeat),
    both('h', "help", Value::No, Common::Help),
];

#[derive(Debug, Clone, Copy)]
enum Opt {
    Groups,
    Loops,
    Pipe,
    Threads,
    /// Changes what runs, and is not modelled.
    NotModelled,
    Help,
}

const MESSAGING: &[Spec<Opt>] = &[
    both('p', "pipe", Value::No, Opt::Pipe),
    both('t', "thread", Value::No, Opt::Threads),
    both('g', "group", Value::Required, Opt::Groups),
    both('l', "nr_loops", Value::Required, Opt::Loops),
    both('h', "help", Value::No, Opt::Help),
];

const PIPE: &[Spec<Opt>] = &[
    both('l', "loop", Value::Required, Opt::Loops),
    both('T', "threaded", Value::No, Opt::Threads),
    both('n', "nonblocking", Value::No, Opt::NotModelled),
    both('G', "cgroups", Value::Required, Opt::NotModelled),
    both('h', "help", Value::No, Opt::Help),
];

const fn both<T: Copy>(short: char, long: &'static str, value: Value, id: T) -> Spec<T> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let words = behind(words, "perf", &["bench"], |_| None)?;
    let (format, words) = read_common(words, remarks)?;
    let other = |name: &str| {
        let known = COLLECTIONS.contains(&name);
        known.then(|| format!("the collection `{name}` is not modelled; expected `sched`"))
    };
    let words = behind(words, "perf bench", &["sched"], other)?;
    let other = |name: &str| {
        let known = OTHER_BENCHMARKS.contains(&name);
        known.then(|| format!("`{name}` is not modelled; expected `messaging` or `pipe`"))
    };
    let options = behind(words, "perf bench sched", BENCHMARKS, other)?;
    match words[0].text.as_str() {
        "pipe" => {
            let pipe = read_pipe(options)?;
            let mut workload = build_pipe(around.line, &pipe);
            workload.report = Some(Report::PerfPipe(pipe, format));
            Ok(workload)
        }
        _ => {
            let settings = read_messaging(options)?;
            let mut workload = messaging::build(around.line, &settings);
            workload.report = Some(Report::PerfMessaging(settings.report(), format));
            Ok(workload)
        }
    }
}

/// The words behind the first one, which must be one of `valid`; `other` says what is wrong with
/// names that perf has besides.
fn behind<'a>(
    words: &'a [Word],
    tool: &str,
    valid: &[&str],
    other: impl Fn(&str) -> Option<String>,
) -> Result<&'a [Word], Refusal> {
    match words.split_first() {
        Some((first, rest)) if valid.contains(&first.text.as_str()) => Ok(rest),
        Some((first, _)) => {
            let unknown = || {
                let names = nearest(&first.text, valid.iter().copied());
                format!(
                    "{tool} is followed by `{}`; the nearest: {names}",
                    first.text
                )
            };
            Err(Refusal::new(
                first.place,
                other(&first.text).unwrap_or_else(unknown),
            ))
        }
        None => Err(Refusal::new(
            Place { line: 1, column: 1 },
            format!(
                "{tool} is followed by nothing; expected `{}`",
                valid.join("` or `")
            ),
        )),
    }
}

/// Reads the options before the collection's name: perf stops at the first word that is none.
fn read_common<'a>(
    words: &'a [Word],
    remarks: &mut Remarks,
) -> Result<(PerfFormat, &'a [Word]), Refusal> {
    let takes_next = |word: &Word| {
        let attached = !word.text.starts_with("--") && word.text.len() > 2;
        !attached && !word.text.contains('=')
    };
    let mut end = 0;
    while let Some(word) = words.get(end).filter(|word| word.text.starts_with('-')) {
        end += 1 + usize::from(takes_next(word));
    }
    let (common, rest) = words.split_at(end.min(words.len()));
    let mut format = PerfFormat::Default;
    for found in getopt::parse("perf bench", COMMON, common)?.options {
        let value = found.value.as_deref().unwrap_or_default();
        match found.id {
            Common::Format => {
                format = match value {
                    "default" => PerfFormat::Default,
                    "simple" => PerfFormat::Simple,
                    other => {
                        return Err(Refusal::new(
                            found.place,
                            format!(
                                "{} is `{other}`; expected `default` or `simple`",
                                found.spelling
                            ),
                        ));
                    }
                }
            }
            Common::Repeat => {
                number(found.place, &found.spelling, value, 1, MAX_INT)?;
                remarks.note(
                    found.place,
                    format!("{} does not concern the collection `sched`", found.spelling),
                );
            }
            Common::Help => return Err(help(found.place, &found.spelling)),
        }
    }
    Ok((format, rest))
}

fn help(place: Place, spelling: &str) -> Refusal {
    Refusal::new(
        place,
        format!("{spelling} prints a help text and runs nothing; remove it"),
    )
}

/// What both benchmarks do with an option that runs nothing, or not here.
fn refuse(found: &Found<Opt>) -> Refusal {
    match found.id {
        Opt::Help => help(found.place, &found.spelling),
        _ => Refusal::new(
            found.place,
            format!("{} is not modelled; remove it", found.spelling),
        ),
    }
}

fn positive(found: &Found<Opt>) -> Result<u32, Refusal> {
    let text = found.value.as_deref().unwrap_or_default();
    number(found.place, &found.spelling, text, 1, MAX_INT).map(|n| n as u32)
}

fn read_messaging(words: &[Word]) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("perf bench sched messaging", MESSAGING, words)?;
    let mut settings = Settings {
        groups: 10,
        fds: FDS,
        loops: 100,
        datasize: DATASIZE,
        channel: ChannelKind::Socket,
        threads: false,
        fifo: false,
        comm: "sched-messaging",
    };
    for found in &parsed.options {
        match found.id {
            Opt::Groups => settings.groups = positive(found)?,
            Opt::Loops => settings.loops = positive(found)?,
            Opt::Pipe => settings.channel = ChannelKind::Pipe,
            Opt::Threads => settings.threads = true,
            Opt::NotModelled | Opt::Help => return Err(refuse(found)),
        }
    }
    refuse_operands("perf bench sched messaging", &parsed.operands)?;
    settings.refuse_too_many(words, &format!("-g to {}", MAX_TASKS / u64::from(2 * FDS)))?;
    Ok(settings)
}

fn read_pipe(words: &[Word]) -> Result<Pipe, Refusal> {
    let parsed = getopt::parse("perf bench sched pipe", PIPE, words)?;
    let mut pipe = Pipe {
        loops: DEFAULT_PIPE_LOOPS,
        threads: false,
        elapsed: Span {
            from: START,
            to: STOP,
        },
    };
    for found in &parsed.options {
        match found.id {
            Opt::Loops => pipe.loops = positive(found)?,
            Opt::Threads => pipe.threads = true,
            _ => return Err(refuse(found)),
        }
    }
    refuse_operands("perf bench sched pipe", &parsed.operands)?;
    Ok(pipe)
}

/// With processes the parent is one of the two; with threads it waits for them.
fn build_pipe(line: &str, pipe: &Pipe) -> Workload {
    let mut workload = Workload::empty(line);
    workload.channels = vec![ChannelKind::Pipe; 2];
    workload.marks = 2;
    workload.measures = vec![elapsed_s(START, STOP)];
    let children = if pipe.threads { 2 } else { 1 };
    let parent = workload.add_program(parent_program(pipe, children));
    push_task(&mut workload, parent, Some(0), 0);
    for child in 0..children {
        let program = workload.add_program(child_program(pipe, child == 0));
        let process = if pipe.threads { 0 } else { 1 };
        push_task(&mut workload, program, None, process);
    }
    workload
}

fn parent_program(pipe: &Pipe, children: u32) -> Program {
    let mut asm = Assembler::default();
    asm.op(Op::Mark { mark: START });
    for task in 1..=children {
        asm.op(Op::Fork { task });
    }
    if !pipe.threads {
        hand_over(&mut asm, pipe, false);
    }
    asm.op(Op::WaitChildren);
    asm.op(Op::Mark { mark: STOP });
    asm.finish()
}

fn child_program(pipe: &Pipe, first: bool) -> Program {
    let mut asm = Assembler::default();
    hand_over(&mut asm, pipe, first);
    asm.finish()
}

/// The first task reads and answers, the second writes and waits for the answer.
fn hand_over(asm: &mut Assembler, pipe: &Pipe, first: bool) {
    let read = |channel| Op::Read {
        channel,
        bytes: TOKEN_BYTES,
    };
    let write = |channel| Op::Write {
        channel,
        bytes: TOKEN_BYTES,
    };
    asm.repeat(u64::from(pipe.loops), |body| {
        if first {
            body.op(read(TO_FIRST));
            body.op(write(TO_SECOND));
        } else {
            body.op(write(TO_FIRST));
            body.op(read(TO_SECOND));
        }
    });
}

fn push_task(workload: &mut Workload, program: u32, start_ns: Option<u64>, process: u32) {
    workload.tasks.push(TaskSpec {
        comm: "sched-pipe".to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns,
        process,
        working_set_bytes: None,
        begins: None,
    });
}
