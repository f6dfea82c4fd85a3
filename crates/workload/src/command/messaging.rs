// SPDX-License-Identifier: GPL-2.0-only
//! Groups of senders that spray messages at all receivers of their group: what `hackbench` does, and
//! `perf bench sched messaging`, which is hackbench inside perf.
//!
//! A parent forks all workers; each says that it is ready on one channel and polls another; the
//! parent collects all of them, takes the time, and lets all go with one byte that nobody consumes.
//! The measured time ends when the parent has reaped the last worker.

use super::MAX_TASKS;
use super::getopt::Word;
use crate::assembler::Assembler;
use crate::diagnostic::{Place, Refusal};
use crate::measures::elapsed_s;
use crate::program::{Attributes, ChannelKind, Op, Policy, ProgramId, TaskSpec, Workload};
use crate::report::{Messaging, Span};

/// Channel on which workers say that they are ready.
const READY: u32 = 0;
/// Channel that becomes readable when all may go.
const WAKE: u32 = 1;
/// First data channel.
const FIRST_DATA: u32 = 2;
const START: u32 = 0;
const STOP: u32 = 1;

/// What runs.
pub(super) struct Settings {
    pub groups: u32,
    /// Senders, and receivers, of a group.
    pub fds: u32,
    pub loops: u32,
    pub datasize: u32,
    pub channel: ChannelKind,
    pub threads: bool,
    /// The parent becomes SCHED_FIFO 1 after it has forked.
    pub fifo: bool,
    pub comm: &'static str,
}

impl Settings {
    /// The same for a report.
    pub fn report(&self) -> Messaging {
        Messaging {
            groups: self.groups,
            fds: self.fds,
            loops: self.loops,
            datasize: self.datasize,
            threads: self.threads,
            elapsed: Span {
                from: START,
                to: STOP,
            },
        }
    }

    /// Refuses more tasks than a command line may ask for; `remedy` names the options.
    pub fn refuse_too_many(&self, words: &[Word], remedy: &str) -> Result<(), Refusal> {
        let tasks = u64::from(self.groups) * u64::from(self.fds) * 2;
        if tasks <= MAX_TASKS {
            return Ok(());
        }
        Err(Refusal::new(
            words
                .first()
                .map_or(Place { line: 1, column: 1 }, |w| w.place),
            format!(
                "{} groups of 2 * {} tasks are {tasks} tasks, expected at most {MAX_TASKS}; lower {remedy}",
                self.groups, self.fds
            ),
        ))
    }
}

pub(super) fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    let data_channels = settings.groups * settings.fds;
    workload.channels = vec![settings.channel; (FIRST_DATA + data_channels) as usize];
    workload.marks = 2;
    workload.measures = vec![elapsed_s(START, STOP)];

    let workers = data_channels * 2;
    let parent = parent_program(&mut workload, settings, workers);
    push_task(&mut workload, settings, parent, Some(0), 0);
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
    push_task(workload, settings, program, None, process);
}

fn push_task(
    workload: &mut Workload,
    settings: &Settings,
    program: ProgramId,
    start_ns: Option<u64>,
    process: u32,
) {
    workload.tasks.push(TaskSpec {
        comm: settings.comm.to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns,
        process,
        working_set_bytes: None,
        begins: None,
    });
}
