// SPDX-License-Identifier: GPL-2.0-only
//! Recordings written as text, and programs read as text.
//!
//! A line is a time in us, a CPU, and an event:
//!
//! ```text
//! switch PREV R|R+|S|D|X NEXT      waking PID by PID|hard|soft|?PID
//! wakeup PID                       fork PARENT CHILD
//! yield PID                        begin|end hrtimer|tick|irq|net
//! khz CPU N                        lost N
//! woken PID                        write|read PID PIPE BYTES
//! wrote|got PID BYTES              fwait|fwake|poll PID OBJECT
//!                                  fwaited|fwoke|polled PID RESULT
//! ```

use std::io::Cursor;

use alight_machine::{Costs, Machine, MemoryCosts};
use alight_recording::workload::{
    Call, Capability, Context, Event, Interrupt, Left, TaskFact, What, WorkloadReader,
    WorkloadWriter,
};
use alight_recording::{End, Header, Reader};
use alight_replay::{Channels, NotReplayable, Options, Replay};
use alight_workload::program::Op;

/// Four CPUs of one kind on which nothing that a kernel does takes time.
pub fn free_machine() -> Machine {
    let mut machine = Machine::load("ca9x4").expect("built in");
    for core in &mut machine.core_types {
        core.costs = Costs::default();
    }
    machine.memory = MemoryCosts::default();
    machine
}

/// All that a source can tell.
pub fn all() -> Vec<Capability> {
    Capability::ALL.to_vec()
}

fn call(word: &str) -> Call {
    match word {
        "write" | "wrote" => Call::PipeWrite,
        "fwait" | "fwaited" => Call::FutexWait,
        "fwake" | "fwoke" => Call::FutexWake,
        "poll" | "polled" => Call::Poll,
        _ => Call::PipeRead,
    }
}

pub fn event(line: &str) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| -> u32 { words[at].parse().unwrap_or_else(|_| panic!("{line}")) };
    let interrupt = |name: &str| match name {
        "hrtimer" => Interrupt::Hrtimer(0),
        "tick" => Interrupt::Tick,
        "irq" => Interrupt::Device(33),
        "net" => Interrupt::Softirq(3),
        other => panic!("interrupt {other}"),
    };
    let what = match words[2] {
        "switch" => What::Switch {
            prev: number(3),
            prev_prio: 120,
            left: match words[4] {
                "R" => Left::Runnable,
                "R+" => Left::Preempted,
                "S" => Left::Asleep,
                "D" => Left::Blocked,
                "X" => Left::Dead,
                other => panic!("state {other}"),
            },
            next: number(5),
            next_prio: 120,
        },
        "waking" => {
            let (current, context) = match words[5] {
                "hard" => (0, Some(Context::Hardirq)),
                "soft" => (0, Some(Context::Softirq)),
                by => match by.strip_prefix('?') {
                    Some(pid) => (pid.parse().unwrap(), None),
                    None => (by.parse().unwrap(), Some(Context::Task)),
                },
            };
            What::Waking {
                pid: number(3),
                prio: 120,
                current,
                prev_cpu: 0,
                context,
                sync: None,
            }
        }
        "schedule" => What::Schedule { pid: number(3) },
        "woken" => What::WakingEnd { pid: number(3) },
        "write" | "read" => What::CallBegin {
            pid: number(3),
            call: call(words[2]),
            object: number(4).into(),
            count: number(5),
        },
        "fwait" | "fwake" | "poll" => What::CallBegin {
            pid: number(3),
            call: call(words[2]),
            object: number(4).into(),
            count: 1,
        },
        "wrote" | "got" | "fwaited" | "fwoke" | "polled" => What::CallEnd {
            pid: number(3),
            call: call(words[2]),
            result: number(4) as i32,
        },
        "wakeup" => What::Wakeup {
            pid: number(3),
            prio: 120,
            target_cpu: 0,
        },
        "fork" => What::Fork {
            parent: number(3),
            child: number(4),
        },
        "yield" => What::Yield { pid: number(3) },
        "begin" => What::InterruptBegin {
            interrupt: interrupt(words[3]),
            late_ns: words.get(4).map_or(0, |ns| ns.parse().unwrap()),
        },
        "end" => What::InterruptEnd {
            interrupt: interrupt(words[3]),
        },
        "khz" => What::Frequency {
            of_cpu: number(3) as u16,
            khz: number(4),
        },
        "lost" => What::Lost {
            count: number(3).into(),
            of_cpu_only: false,
        },
        other => panic!("event {other}"),
    };
    Event {
        time: u64::from(number(0)) * 1000,
        cpu: number(1) as u16,
        what,
    }
}

/// A replay of the events of `text`, of which `facts` are known, in the order of their times.
pub fn replay(
    machine: &Machine,
    text: &str,
    facts: &[TaskFact],
    told: &[Capability],
    options: &Options,
) -> Result<Replay, NotReplayable> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.alight");
    let header = Header {
        kernel: "6.1.0".into(),
        arch: "x86_64".into(),
        clock: "monotonic, ns".into(),
        command: "app".into(),
        ..Header::default()
    };
    let mut writer = WorkloadWriter::create(&path, header, 1).unwrap();
    let mut facts = facts.iter().peekable();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let event = event(line);
        while let Some(fact) = facts.next_if(|fact| fact.time <= event.time) {
            writer.task(fact).unwrap();
        }
        writer.event(&event).unwrap();
    }
    writer
        .finish(End::default(), &told.iter().copied().collect())
        .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let open = || {
        let reader = Reader::new(Cursor::new(bytes.clone())).unwrap();
        WorkloadReader::new(reader).unwrap()
    };
    let channels = Channels::find(&mut open()).unwrap();
    alight_replay::load_with(&mut open(), machine, options, &channels)
}

/// The programs by the names of their tasks, an operation a line, times in us.
pub fn programs(replay: &Replay) -> String {
    let mut text = String::new();
    for task in &replay.workload.tasks {
        let ops = &replay.workload.programs[task.program as usize].ops;
        let words: Vec<String> = ops.iter().filter_map(|op| word(replay, op)).collect();
        let start = match task.start_ns {
            None => "forked".to_owned(),
            Some(ns) => format!("{}", ns / 1000),
        };
        text += &format!("{} @{start}: {}\n", task.comm, words.join(", "));
    }
    text
}

fn word(replay: &Replay, op: &Op) -> Option<String> {
    let comm = |task: u32| &replay.workload.tasks[task as usize].comm;
    Some(match *op {
        Op::Mark { .. } | Op::Exit => return None,
        // It goes on, or sleeps on, at the end of the recording.
        Op::Retire | Op::Run { ns: u64::MAX } | Op::SleepUntil { ns: u64::MAX, .. } => return None,
        // Us of the biggest CPU.
        Op::Run { ns } => format!("run {}", ns / 1024 / 1000),
        Op::Enter { ns } => format!("enter {}", ns / 1024 / 1000),
        Op::Wake {
            task,
            nth,
            hand_off,
            ..
        } => {
            let early = if hand_off { "" } else { " early" };
            format!("wake {} {nth}{early}", comm(task))
        }
        Op::Write { channel, bytes } => format!("write {channel} {bytes}"),
        Op::Read { channel, bytes } => format!("read {channel} {bytes}"),
        Op::Await => "await".into(),
        Op::SleepUntil { ns, slack_ns: 0 } => format!("until {}", ns / 1000),
        Op::SleepUntil { ns, slack_ns } => format!("until {}+{slack_ns}", ns / 1000),
        Op::SleepFor { ns, .. } => format!("pause {}", ns / 1000),
        Op::Complete { ns, cpu } => format!("complete {} on {cpu}", ns / 1000),
        Op::Fork { task } => format!("fork {}", comm(task)),
        Op::Yield => "yield".into(),
        Op::SetAttributes { attributes } => {
            format!(
                "set {:?}",
                replay.workload.attributes[attributes as usize].nice
            )
        }
        ref other => format!("{other:?}"),
    })
}
