// SPDX-License-Identifier: GPL-2.0-only
//! The progress of a run: the part done of whatever ends it. It is an estimate by the programs; no
//! result depends on it.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use alight_workload::program::{Op, Program, Workload};

/// A whole run, in the unit of progress: millionths.
pub const WHOLE: u32 = 1_000_000;

/// The goals whose completion ends a run.
#[derive(Debug)]
pub(crate) struct Goal {
    /// Number of messages that all programs write; `None`: unknown or 0.
    messages: Option<u64>,
    takes: Vec<Take>,
}

/// A goal of a counter ([`Op::Take`]): `limit` numbers, or `until_ns` since the start of the
/// workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Take {
    workload: usize,
    counter: usize,
    limit: u64,
    until_ns: u64,
}

impl Goal {
    pub fn of(workloads: &[Workload]) -> Self {
        let mut takes = vec![];
        let mut counters = 0;
        for (index, workload) in workloads.iter().enumerate() {
            let ops = workload.programs.iter().flat_map(|program| &program.ops);
            takes.extend(ops.filter_map(|op| match *op {
                Op::Take { deal, .. } => {
                    let deal = &workload.deals[deal as usize];
                    Some(Take {
                        workload: index,
                        counter: counters + deal.counter as usize,
                        limit: deal.limit,
                        until_ns: deal.until_ns,
                    })
                }
                _ => None,
            }));
            counters += workload.counters as usize;
        }
        takes.sort_unstable();
        takes.dedup();
        Goal {
            messages: messages(workloads).filter(|&all| all != 0),
            takes,
        }
    }

    /// The part of the run that is done, in millionths; `None`: nothing tells when it ends.
    pub fn done(&self, sim: &Sim<'_>) -> Option<u32> {
        let messages = (self.messages).map(|all| share(messages_written(sim), all));
        let takes = self.takes.iter().map(|take| {
            let start = sim.workloads[take.workload].start;
            let time = sim.now.saturating_sub(start);
            let dealt = sim.counters()[take.counter];
            share(dealt, take.limit).max(share(time, take.until_ns))
        });
        // All of the work must be done, unless the time is over before.
        let work = messages.into_iter().chain(takes).min();
        let time = (sim.end_at < NEVER - 1).then(|| share(sim.now, sim.end_at));
        work.max(time)
    }
}

/// Messages that tasks have written since the run began.
fn messages_written(sim: &Sim<'_>) -> u64 {
    sim.counting.messages_before.reported() + sim.stats.messages.reported()
}

fn share(done: u64, all: u64) -> u32 {
    let all = u128::from(all.max(1));
    (u128::from(done) * u128::from(WHOLE) / all).min(u128::from(WHOLE)) as u32
}

/// Number of messages that all tasks write in the whole run; `None` if a task writes for ever.
pub fn messages(workloads: &[Workload]) -> Option<u64> {
    workloads.iter().try_fold(0, |all: u64, workload| {
        let of: Vec<_> = workload.programs.iter().map(writes).collect();
        let mut tasks = workload.tasks.iter();
        tasks.try_fold(all, |all, task| all.checked_add(of[task.program as usize]?))
    })
}

/// Number of writes of a program that runs through all of its loops.
fn writes(program: &Program) -> Option<u64> {
    let (mut all, mut times) = (0u64, vec![1u64]);
    for op in &program.ops {
        let now = *times.last()?;
        match op {
            Op::Write { .. } if now == u64::MAX => return None,
            Op::Write { .. } => all = all.checked_add(now)?,
            Op::LoopBegin { count, .. } => times.push(now.saturating_mul(*count)),
            Op::LoopEnd { .. } => _ = times.pop(),
            _ => {}
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests;
