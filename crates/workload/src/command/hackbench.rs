// SPDX-License-Identifier: GPL-2.0-only
//! `hackbench` of rt-tests 2.x: groups of senders that spray messages at all receivers of their group.
//!
//! A parent forks all workers; each says that it is ready on one channel and polls another; the
//! parent collects all of them, takes the time, and lets all go with one byte that nobody consumes.
//! The measured time ends when the parent has reaped the last worker.

use super::getopt::{self, Found, Spec, Value, Word, number};
use super::{MAX_TASKS, refuse_operands};
use crate::assembler::Assembler;
use crate::diagnostic::{Place, Refusal, Remarks};
use crate::program::{
    Attributes, Better, ChannelKind, Measure, MeasureSource, Op, Policy, ProgramId, TaskSpec,
    Workload,
};

/// Bytes that a message may have: workers build it on their stack, which is 8 MiB by default.
const MAX_DATASIZE: i64 = 8 << 20;
/// Channel on which workers say that they are ready.
const READY: u32 = 0;
/// Channel that becomes readable when all may go.
const WAKE: u32 = 1;
/// First data channel.
const FIRST_DATA: u32 = 2;
const START: u32 = 0;
const STOP: u32 = 1;

#[derive(Debug, Clone, Copy)]
enum Opt {
    Fds,
    Fifo,
    Groups,
    Help,
    Loops,
    Pipe,
    Inet,
    Datasize,
    Threads,
    Processes,
}

const fn spec(short: char, long: &'static str, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: Some(long),
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('f', "fds", Value::Required, Opt::Fds),
    spec('F', "fifo", Value::No, Opt::Fifo),
    spec('g', "groups", Value::Required, Opt::Groups),
    spec('h', "help", Value::No, Opt::Help),
    spec('l', "loops", Value::Required, Opt::Loops),
    spec('p', "pipe", Value::No, Opt::Pipe),
    spec('i', "inet", Value::No, Opt::Inet),
    spec('s', "datasize", Value::Required, Opt::Datasize),
    spec('T', "threads", Value::No, Opt::Threads),
    spec('P', "processes", Value::No, Opt::Processes),
];

/// The options, with rt-tests' defaults.
struct Settings {
    groups: u32,
    fds: u32,
    loops: u32,
    datasize: u32,
    channel: ChannelKind,
    threads: bool,
    fifo: bool,
}

pub(super) fn compile(
    line: &str,
    words: &[Word],
    _remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = read_settings(words)?;
    Ok(build(line, &settings))
}

fn read_settings(words: &[Word]) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("hackbench", SPECS, words)?;
    let mut settings = Settings {
        groups: 10,
        fds: 20,
        loops: 100,
        datasize: 100,
        channel: ChannelKind::Socket,
        threads: false,
        fifo: false,
    };
    for found in &parsed.options {
        let positive = |most: i64| positive_number(found, most);
        match found.id {
            Opt::Fds => settings.fds = positive(i64::from(i32::MAX))?,
            Opt::Groups => settings.groups = positive(i64::from(i32::MAX))?,
            Opt::Loops => settings.loops = positive(i64::from(i32::MAX))?,
            Opt::Datasize => settings.datasize = positive(MAX_DATASIZE)?,
            Opt::Fifo => settings.fifo = true,
            Opt::Pipe => settings.channel = ChannelKind::Pipe,
            Opt::Threads => settings.threads = true,
            Opt::Processes => settings.threads = false,
            Opt::Inet => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{}: TCP connections are not modelled; use -p for pipes, or neither for AF_UNIX sockets",
                        found.spelling
                    ),
                ));
            }
            Opt::Help => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "{} prints a help text and runs nothing; remove it",
                        found.spelling
                    ),
                ));
            }
        }
    }
    refuse_operands("hackbench", &parsed.operands)?;
    refuse_too_many(words, &settings)?;
    Ok(settings)
}

fn positive_number(found: &Found<Opt>, most: i64) -> Result<u32, Refusal> {
    let text = found.value.as_deref().unwrap_or_default();
    number(found.place, &found.spelling, text, 1, most).map(|n| n as u32)
}

fn refuse_too_many(words: &[Word], settings: &Settings) -> Result<(), Refusal> {
    let tasks = u64::from(settings.groups) * u64::from(settings.fds) * 2;
    if tasks <= MAX_TASKS {
        return Ok(());
    }
    Err(Refusal::new(
        words
            .first()
            .map_or(Place { line: 1, column: 1 }, |w| w.place),
        format!(
            "{} groups of 2 * {} tasks are {tasks} tasks, expected at most {MAX_TASKS}; lower -g or -f",
            settings.groups, settings.fds
        ),
    ))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    let data_channels = settings.groups * settings.fds;
    workload.channels = vec![settings.channel; (FIRST_DATA + data_channels) as usize];
    workload.marks = 2;
    workload.measures = vec![Measure {
        name: "elapsed_s".to_owned(),
        unit: "s",
        better: Better::Lower,
        source: MeasureSource::Elapsed {
            from: START,
            to: STOP,
        },
    }];

    let workers = data_channels * 2;
    let parent = parent_program(&mut workload, settings, workers);
    push_task(&mut workload, parent, Some(0), 0);
    for group in 0..settings.groups {
        add_group(&mut workload, settings, FIRST_DATA + group * settings.fds);
    }
    workload
}

/// Adds one group: its receivers, then its senders, in the order in which they are forked.
fn add_group(workload: &mut Workload, settings: &Settings, first_channel: u32) {
    for channel in first_channel..first_channel + settings.fds {
        let program = receiver_program(workload, settings, channel);
        push_worker(workload, settings, program);
    }
    let program = sender_program(workload, settings, first_channel);
    for _ in 0..settings.fds {
        push_worker(workload, settings, program);
    }
}

fn parent_program(workload: &mut Workload, settings: &Settings, workers: u32) -> ProgramId {
    let mut asm = Assembler::default();
    for task in 1..=workers {
        asm.op(Op::Fork { task });
    }
    if settings.fifo {
        workload.attributes.push(Attributes {
            policy: Some(Policy::Fifo),
            rt_priority: Some(1),
            ..Attributes::default()
        });
        asm.op(Op::SetAttributes { attributes: 0 });
    }
    asm.repeat(u64::from(workers), |body| {
        body.op(Op::Read {
            channel: READY,
            bytes: 1,
        });
    });
    asm.op(Op::Mark { mark: START });
    asm.op(Op::Write {
        channel: WAKE,
        bytes: 1,
    });
    asm.op(Op::WaitChildren);
    asm.op(Op::Mark { mark: STOP });
    workload.add_program(asm.finish())
}

fn get_ready(asm: &mut Assembler) {
    asm.op(Op::Write {
        channel: READY,
        bytes: 1,
    });
    asm.op(Op::Poll { channel: WAKE });
}

fn sender_program(workload: &mut Workload, settings: &Settings, first_channel: u32) -> ProgramId {
    let mut asm = Assembler::default();
    get_ready(&mut asm);
    asm.repeat(u64::from(settings.loops), |body| {
        for channel in first_channel..first_channel + settings.fds {
            body.op(Op::Write {
                channel,
                bytes: settings.datasize,
            });
        }
    });
    workload.add_program(asm.finish())
}

fn receiver_program(workload: &mut Workload, settings: &Settings, channel: u32) -> ProgramId {
    let mut asm = Assembler::default();
    get_ready(&mut asm);
    let messages = u64::from(settings.loops) * u64::from(settings.fds);
    asm.repeat(messages, |body| {
        body.op(Op::Read {
            channel,
            bytes: settings.datasize,
        });
    });
    workload.add_program(asm.finish())
}

fn push_worker(workload: &mut Workload, settings: &Settings, program: ProgramId) {
    let process = if settings.threads {
        0
    } else {
        workload.tasks.len() as u32
    };
    push_task(workload, program, None, process);
}

fn push_task(workload: &mut Workload, program: ProgramId, start_ns: Option<u64>, process: u32) {
    workload.tasks.push(TaskSpec {
        comm: "hackbench".to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns,
        process,
        working_set_bytes: None,
    });
}
