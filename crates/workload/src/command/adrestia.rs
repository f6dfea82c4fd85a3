// SPDX-License-Identifier: GPL-2.0-only
//! `adrestia` of Matt Fleming (7ced8eb): what a wakeup costs, seen from user space.
//!
//! A master writes a byte to each thread's pipe, noting the time before each; each thread notes how
//! long ago that was and answers on a second pipe. A round's result is the mean over its threads;
//! the result is the round that 90 % are faster than. The tool cancels its threads at the end; here
//! they know how many rounds there are.

use super::getopt::{self, Spec, Value, Word, number};
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Place, Refusal, Remarks, nearest};
use crate::program::{
    Attributes, Better, ChannelKind, Instruments, Measure, MeasureSource, Observation, Op,
    TaskSpec, Workload,
};
use crate::report::{Adrestia, Report};

const SINGLE: &str = "wakeup-single";
const PERIODIC: &str = "wakeup-periodic";
/// Thousandths of the rounds that are faster than the one reported.
const REPORTED_PER_MILLE: u32 = 900;
const NS_PER_US: u64 = 1000;
const MAX_INT: i64 = i32::MAX as i64;

#[derive(Debug, Clone, Copy)]
enum Opt {
    Arrival,
    Loops,
    List,
    Service,
    Threads,
}

const fn spec(short: char, value: Value, id: Opt) -> Spec<Opt> {
    Spec {
        short: Some(short),
        long: None,
        value,
        id,
    }
}

const SPECS: &[Spec<Opt>] = &[
    spec('a', Value::Required, Opt::Arrival),
    spec('l', Value::Required, Opt::Loops),
    spec('L', Value::No, Opt::List),
    spec('s', Value::Required, Opt::Service),
    spec('t', Value::Required, Opt::Threads),
];

/// The options, with the tool's defaults.
struct Settings {
    arrival_us: u32,
    loops: u32,
    threads: u32,
    /// `None`: both.
    test: Option<&'static str>,
}

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = read_settings(words, remarks)?;
    Ok(build(around.line, &settings))
}

fn read_settings(words: &[Word], remarks: &mut Remarks) -> Result<Settings, Refusal> {
    let parsed = getopt::parse("adrestia", SPECS, words)?;
    let mut settings = Settings {
        arrival_us: 10,
        loops: 10_000,
        threads: 1,
        test: None,
    };
    for found in &parsed.options {
        let text = found.value.as_deref().unwrap_or_default();
        let read =
            |least, most| number(found.place, &found.spelling, text, least, most).map(|n| n as u32);
        match found.id {
            Opt::Arrival => settings.arrival_us = read(0, MAX_INT)?,
            Opt::Loops => settings.loops = read(1, MAX_INT)?,
            // As many as [`Observation::TakeShare`] divides by.
            Opt::Threads => settings.threads = read(1, u16::MAX.into())?,
            Opt::Service => {
                read(0, MAX_INT)?;
                remarks.note(
                    found.place,
                    "adrestia reads -s, but none of its tests uses it",
                );
            }
            Opt::List => {
                return Err(Refusal::new(
                    found.place,
                    format!(
                        "-L lists the tests and runs none; the tests are {SINGLE} and \
                        {PERIODIC}"
                    ),
                ));
            }
        }
    }
    settings.test = read_test(&parsed.operands)?;
    refuse_too_many(words, &settings)?;
    Ok(settings)
}

fn read_test(operands: &[Word]) -> Result<Option<&'static str>, Refusal> {
    if let Some(second) = operands.get(1) {
        return Err(Refusal::new(
            second.place,
            format!(
                "adrestia runs one test or all and would ignore `{}`; remove it",
                second.text
            ),
        ));
    }
    let Some(word) = operands.first() else {
        return Ok(None);
    };
    let known = [SINGLE, PERIODIC]
        .into_iter()
        .find(|test| *test == word.text);
    match known {
        Some(test) => Ok(Some(test)),
        None => Err(Refusal::new(
            word.place,
            format!(
                "adrestia has no test `{}`; the nearest: {}",
                word.text,
                nearest(&word.text, [SINGLE, PERIODIC])
            ),
        )),
    }
}

/// `wakeup-single` does its rounds once for each thread that is asked for.
fn refuse_too_many(words: &[Word], settings: &Settings) -> Result<(), Refusal> {
    let rounds = u64::from(settings.loops) * u64::from(settings.threads);
    if rounds <= u64::from(u32::MAX) {
        return Ok(());
    }
    Err(Refusal::new(
        words
            .first()
            .map_or(Place { line: 1, column: 1 }, |w| w.place),
        format!(
            "{rounds} rounds are too many, expected at most {}; lower -l or -t",
            u32::MAX
        ),
    ))
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    let single = Test {
        name: "wakeup_cost_single_us",
        threads: 1,
        rounds: settings.loops * settings.threads,
        arrival_us: None,
    };
    let periodic = Test {
        name: "wakeup_cost_periodic_us",
        threads: settings.threads,
        rounds: settings.loops,
        arrival_us: Some(settings.arrival_us),
    };
    let tests = [(SINGLE, single), (PERIODIC, periodic)];
    push_task(&mut workload, 0, Some(0));
    let mut master = Assembler::default();
    let mut reports = vec![];
    // The master's program comes first; it is put in place when it is known.
    workload.add_program(Default::default());
    for (name, test) in tests {
        if settings.test.is_none_or(|wanted| wanted == name) {
            reports.push(add_test(&mut workload, &mut master, &test));
        }
    }
    workload.programs[0] = master.finish();
    workload.report = Some(Report::Adrestia(reports));
    workload
}

struct Test {
    name: &'static str,
    threads: u32,
    rounds: u32,
    arrival_us: Option<u32>,
}

/// Adds the threads of a test, and what the master does with them.
fn add_test(workload: &mut Workload, master: &mut Assembler, test: &Test) -> Adrestia {
    let Instruments {
        stamps, tallies, ..
    } = workload.instruments;
    let counter = workload.counters;
    let (first_task, first_channel) = (workload.tasks.len() as u32, workload.channels.len() as u32);
    let start_pipe = |thread: u32| first_channel + 2 * thread;
    let result_pipe = |thread: u32| first_channel + 2 * thread + 1;
    let pipes = 2 * test.threads as usize;
    workload.channels.extend(vec![ChannelKind::Pipe; pipes]);
    workload.counters += 1;
    workload.instruments.stamps += test.threads;
    workload.instruments.tallies += 1;
    workload.measures.push(Measure {
        name: test.name.to_owned(),
        unit: "us",
        better: Some(Better::Lower),
        source: MeasureSource::TallySorted {
            tally: tallies,
            per_mille: REPORTED_PER_MILLE,
        },
    });

    for thread in 0..test.threads {
        let mut asm = Assembler::default();
        asm.repeat(u64::from(test.rounds), |round| {
            round.op(Op::Read {
                channel: start_pipe(thread),
                bytes: 1,
            });
            round.op(Op::Observe(Observation::AddLapse {
                stamp: stamps + thread,
                counter,
            }));
            round.op(Op::Write {
                channel: result_pipe(thread),
                bytes: 1,
            });
        });
        let program = workload.add_program(asm.finish());
        push_task(workload, program, None);
        master.op(Op::Fork {
            task: first_task + thread,
        });
    }
    master.repeat(u64::from(test.rounds), |round| {
        if let Some(us) = test.arrival_us {
            round.op(Op::Sleep {
                ns: u64::from(us) * NS_PER_US,
            });
        }
        for thread in 0..test.threads {
            round.op(Op::Observe(Observation::Stamp {
                stamp: stamps + thread,
            }));
            round.op(Op::Write {
                channel: start_pipe(thread),
                bytes: 1,
            });
        }
        for thread in 0..test.threads {
            round.op(Op::Read {
                channel: result_pipe(thread),
                bytes: 1,
            });
        }
        round.op(Op::Observe(Observation::TakeShare {
            counter,
            parts: test.threads as u16,
            tally: tallies,
        }));
    });
    master.op(Op::WaitChildren);
    Adrestia {
        arrival_us: test.arrival_us,
        rounds: tallies,
        loops: test.rounds,
    }
}

fn push_task(workload: &mut Workload, program: u32, start_ns: Option<u64>) {
    workload.tasks.push(TaskSpec {
        comm: "adrestia".to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns,
        process: 0,
        working_set_bytes: None,
        begins: None,
    });
}
