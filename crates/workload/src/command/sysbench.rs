// SPDX-License-Identifier: GPL-2.0-only
//! `sysbench`, tests `threads` and `cpu`, in the spelling of 0.4 (`--test=threads --num-threads=6
//! --max-time=5 --max-requests=-1 run`) and of 1.0 (`threads --threads=6 --time=5 run`).
//! Each spelling brings its version's defaults.
//!
//! The main thread starts the workers, all meet at a barrier, and each worker takes events from a
//! shared counter until the time is over or the events are used up. What they took is counted from
//! when the barrier opens, as the tool does (`threads_started_callback`; 0.4 starts its timer as it
//! lets the workers go); the limit of time, from the start of the workload.

mod options;

use super::getopt::Word;
use super::surroundings::Surroundings;
use crate::assembler::Assembler;
use crate::diagnostic::{Refusal, Remarks};
use crate::measures::elapsed_s;
use crate::program::{
    Attributes, Better, CounterId, Deal, DealId, Instruments, Measure, MeasureSource, Observation,
    Op, Program, TallyId, TaskSpec, Workload,
};
use crate::report::{self, Report, Span, SysbenchTest as Test, SysbenchVersion as Version};
use options::Settings;

/// Numbers dealt to workers.
const DEALT: CounterId = 0;
/// Events completed.
const EVENTS: CounterId = 1;
/// Of worker k: events completed, and us in them.
const FIRST_OF_WORKERS: CounterId = 2;
/// Times of events, all workers.
const LATENCY: TallyId = 0;
const START: u32 = 0;
const STOP: u32 = 1;
const START_BARRIER: u32 = 0;
/// Events, to whoever comes.
const EVENTS_DEALT: DealId = 0;

/// Work of one `cpu` event with `--cpu-max-prime=10000`, ns on the calibration CPU.
///
/// Assumption: 20 ms, about what a Cortex-A9 class core at 1.2 GHz needs; so the time of an event is
/// the same on the biggest CPU of every machine, and times of different machines do not compare.
/// Other limits are scaled by the number of divisions (see [`divisions`]).
const CPU_EVENT_NS: u64 = 20_000_000;
const CPU_EVENT_PRIME: u32 = 10_000;

pub(super) fn compile(
    around: &Surroundings<'_>,
    words: &[Word],
    remarks: &mut Remarks,
) -> Result<Workload, Refusal> {
    let settings = options::read(words, remarks)?;
    let mut workload = build(around.line, &settings);
    workload.report = Some(Report::Sysbench(report(&settings)));
    Ok(workload)
}

fn build(line: &str, settings: &Settings) -> Workload {
    let mut workload = Workload::empty(line);
    workload.counters = FIRST_OF_WORKERS + 2 * settings.threads;
    workload.instruments = Instruments {
        stamps: settings.threads,
        tallies: 1,
        desks: 0,
    };
    workload.marks = 2;
    workload.barriers = vec![settings.threads + 1];
    workload.mutexes = match settings.test {
        Test::Threads { locks, .. } => locks,
        Test::Cpu { .. } => 0,
    };
    workload.deals = vec![Deal {
        counter: DEALT,
        modulo: workload.mutexes,
        limit: settings.events.unwrap_or(u64::MAX),
        until_ns: settings.time_ns.unwrap_or(u64::MAX),
    }];
    workload.measures = measures(settings);
    let unlimited = settings.events.is_none() && settings.time_ns.is_none();
    workload.missing_limit = unlimited.then_some(match settings.version {
        Version::V0_4 => "--max-time=SECONDS or --max-requests=N",
        Version::V1_0 => "--time=SECONDS or --events=N",
    });

    let main = workload.add_program(main_program(settings.threads));
    push_task(&mut workload, main, Some(0));
    for worker in 0..settings.threads {
        let program = workload.add_program(worker_program(settings, worker));
        push_task(&mut workload, program, None);
    }
    workload
}

fn report(settings: &Settings) -> report::Sysbench {
    report::Sysbench {
        version: settings.version,
        test: settings.test,
        threads: settings.threads,
        elapsed: Span {
            from: START,
            to: STOP,
        },
        events: EVENTS,
        latency: LATENCY,
        events_of_first: FIRST_OF_WORKERS,
        busy_of_first: FIRST_OF_WORKERS + settings.threads,
    }
}

fn measures(settings: &Settings) -> Vec<Measure> {
    let mut measures = vec![Measure {
        name: "events".to_owned(),
        unit: "",
        better: Some(Better::Higher),
        source: MeasureSource::Counter { counter: EVENTS },
    }];
    if settings.events.is_some() {
        measures.push(elapsed_s(START, STOP));
    }
    measures
}

fn main_program(threads: u32) -> Program {
    let mut asm = Assembler::default();
    for task in 1..=threads {
        asm.op(Op::Fork { task });
    }
    asm.op(Op::Barrier {
        barrier: START_BARRIER,
    });
    asm.op(Op::Mark { mark: START });
    asm.op(Op::WaitChildren);
    asm.op(Op::Mark { mark: STOP });
    asm.finish()
}

fn worker_program(settings: &Settings, worker: u32) -> Program {
    let take = |done| Op::Take {
        deal: EVENTS_DEALT,
        done,
    };
    let mut asm = Assembler::default();
    asm.op(Op::Barrier {
        barrier: START_BARRIER,
    });
    // The first passage counts, and who comes last passes as the barrier opens.
    asm.op(Op::Mark { mark: START });
    let stamp = worker;
    let own_events = FIRST_OF_WORKERS + worker;
    asm.while_given(take, |body| {
        body.op(Op::Observe(Observation::Stamp { stamp }));
        event(body, settings.test);
        body.op(Op::Observe(Observation::Lapse {
            stamp,
            tally: LATENCY,
        }));
        body.op(Op::Observe(Observation::AddLapse {
            stamp,
            counter: own_events + settings.threads,
        }));
        body.op(Op::Count {
            counter: own_events,
        });
        body.op(Op::Count { counter: EVENTS });
    });
    asm.finish()
}

fn event(asm: &mut Assembler, test: Test) {
    match test {
        Test::Threads { yields, .. } => asm.repeat(u64::from(yields), |body| {
            body.op(Op::LockIndexed { base: 0 });
            body.op(Op::Yield);
            body.op(Op::UnlockIndexed { base: 0 });
        }),
        Test::Cpu { max_prime } => asm.op(Op::Run {
            ns: cpu_event_ns(max_prime),
        }),
    }
}

/// Work of one `cpu` event, ns on the calibration CPU.
fn cpu_event_ns(max_prime: u32) -> u64 {
    let scaled = u128::from(CPU_EVENT_NS) * u128::from(divisions(max_prime))
        / u128::from(divisions(CPU_EVENT_PRIME));
    // The tool also calls and counts where there is nothing to divide.
    scaled.max(1) as u64
}

/// Divisions that one `cpu` event makes: each number from 3 up to below `max_prime` is divided by
/// 2, 3, 4… up to its smallest divisor, or up to its square root if it is prime.
fn divisions(max_prime: u32) -> u64 {
    let smallest = smallest_divisors(max_prime);
    let of_number = |(number, divisor): (usize, u16)| match divisor {
        0 => (number as u64).isqrt().saturating_sub(1),
        divisor => u64::from(divisor) - 1,
    };
    smallest
        .into_iter()
        .enumerate()
        .skip(3)
        .map(of_number)
        .sum()
}

/// The smallest divisor above 1 of each number below `limit`, 0 for primes.
/// It is at most the square root of the number, so 16 bits do.
fn smallest_divisors(limit: u32) -> Vec<u16> {
    let mut smallest = vec![0u16; limit as usize];
    for divisor in 2..=(limit as usize).isqrt() {
        if smallest[divisor] != 0 {
            continue;
        }
        for multiple in (divisor * divisor..limit as usize).step_by(divisor) {
            if smallest[multiple] == 0 {
                smallest[multiple] = divisor as u16;
            }
        }
    }
    smallest
}

fn push_task(workload: &mut Workload, program: u32, start_ns: Option<u64>) {
    workload.tasks.push(TaskSpec {
        comm: "sysbench".to_owned(),
        program,
        attributes: Attributes::default(),
        start_ns,
        process: 0,
        working_set_bytes: None,
        begins: None,
    });
}

#[cfg(test)]
mod tests;
