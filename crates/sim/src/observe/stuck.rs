// SPDX-License-Identifier: GPL-2.0-only
//! Detects workloads that never end because their tasks wait for each other. The message names the
//! workload, the time, and what each task waits for.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::face::api::Error;
use crate::face::feasible::about;
use crate::world::state::Life;
use alight_workload::Workload;
use alight_workload::program::Op;

/// Largest number of tasks that a message names; it gives the number of the others.
const NAMED: usize = 6;

/// The workloads of a run and its state.
pub(crate) struct Stuck<'a, 'b> {
    sim: &'a Sim<'b>,
    workloads: &'a [Workload],
}

/// The first ids of a workload in the run's tables.
#[derive(Debug, Clone, Copy, Default)]
struct First {
    task: usize,
    mutex: u32,
    condition: u32,
    semaphore: u32,
    barrier: u32,
    channel: u32,
}

/// `the mutex 'm'`, or `mutex 3` where it has no name.
fn named(kind: &str, id: u32, names: &[String]) -> String {
    match names.get(id as usize).filter(|name| !name.is_empty()) {
        Some(name) => format!("the {kind} `{name}`"),
        None => format!("{kind} {id}"),
    }
}

impl<'a, 'b> Stuck<'a, 'b> {
    pub fn new(sim: &'a Sim<'b>, workloads: &'a [Workload]) -> Self {
        Stuck { sim, workloads }
    }

    /// The error, if a workload that the run waits for is stuck and nothing else ends the run.
    pub fn refusal(&self) -> Option<Error> {
        if self.sim.ends.by != NEVER - 1 {
            return None;
        }
        let mut first = First::default();
        for (at, workload) in self.workloads.iter().enumerate() {
            if self.is_stuck(at, workload, first.task) {
                return Some(Error::Refused(self.message(workload, first)));
            }
            first.task += workload.tasks.len();
            first.mutex += workload.mutexes;
            first.condition += workload.conditions;
            first.semaphore += workload.semaphores;
            first.barrier += workload.barriers.len() as u32;
            first.channel += workload.channels.len() as u32;
        }
        None
    }

    /// Is no task of the workload able to go on? Tasks of one workload wait for each other only.
    fn is_stuck(&self, at: usize, workload: &Workload, first: usize) -> bool {
        let state = &self.sim.workloads[at];
        if state.alive == 0 || state.over_at != NEVER - 1 {
            return false;
        }
        (workload.tasks.iter().zip(first..)).all(|(spec, task)| match self.sim.tasks[task].life {
            Life::Dead => true,
            Life::Asleep => self.sleeps_for_ever(task),
            Life::New => spec.start_ns.is_none(),
            Life::Runnable | Life::Waking | Life::Group => false,
        })
    }

    /// Is there no timer that ends its sleep?
    fn sleeps_for_ever(&self, task: usize) -> bool {
        match self.sim.ops[self.sim.tasks[task].pc as usize] {
            Op::Timer { .. } => self.sim.tasks[task].timer_point >= NEVER,
            // `pc` is at the operation behind a sleep: the task goes on there when its timer
            // expires.
            _ => !self.slept(task) || self.sim.tasks[task].timer_point >= NEVER,
        }
    }

    /// Is the task in a sleep operation, so that it goes on with the next operation?
    fn slept(&self, task: usize) -> bool {
        let t = &self.sim.tasks[task];
        let before = (t.pc as usize).checked_sub(1).map(|pc| self.sim.ops[pc]);
        t.fresh
            && matches!(
                before,
                Some(
                    Op::Sleep { .. }
                        | Op::Stagger { .. }
                        | Op::Timer { .. }
                        | Op::Leave { .. }
                        | Op::SleepUntil { .. }
                        | Op::SleepFor { .. }
                        | Op::Complete { .. }
                )
            )
    }

    fn message(&self, workload: &Workload, first: First) -> String {
        let asleep = (first.task..first.task + workload.tasks.len())
            .filter(|&task| self.sim.tasks[task].life == Life::Asleep);
        let all = asleep.clone().count();
        let mut waits: Vec<String> = asleep
            .take(NAMED)
            .map(|task| format!("{} {}", self.name(task), self.what(task, workload, first)))
            .collect();
        if all > NAMED {
            waits.push(format!("and {} more wait", all - NAMED));
        }
        let who = match self.workloads {
            [_] => "the workload".to_owned(),
            _ => format!("workload '{}'", workload.name),
        };
        format!(
            "{who} is stuck at {}: every task waits for another: {}; \
             check its locks and signals, or give the run a --duration",
            about(self.sim.ends.last_sleep),
            waits.join("; ")
        )
    }

    fn name(&self, task: usize) -> String {
        format!("'{}'", self.sim.comms[task])
    }

    /// What a sleeping task waits for.
    fn what(&self, task: usize, workload: &Workload, first: First) -> String {
        let (t, names) = (&self.sim.tasks[task], &workload.names);
        if let Some(nth) = self.sim.replay().sleeps_in(task) {
            return self.for_wakeup(task - first.task, nth, workload, first);
        }
        if self.slept(task) {
            return "sleeps for ever".to_owned();
        }
        match self.sim.ops[t.pc as usize] {
            Op::Lock { mutex }
            | Op::Wait {
                mutex: Some(mutex), ..
            } if t.waited || matches!(self.sim.ops[t.pc as usize], Op::Lock { .. }) => {
                self.for_mutex(task, mutex, workload, first)
            }
            Op::LockIndexed { base } => self.for_mutex(task, base + t.register, workload, first),
            Op::Wait { condition, .. } => format!(
                "waits for {}, which no task signals any more",
                named("condition", condition - first.condition, &names.conditions)
            ),
            Op::SemWait { semaphore } => format!(
                "waits for {}, which no task posts any more",
                named("semaphore", semaphore - first.semaphore, &names.semaphores)
            ),
            Op::Barrier { barrier } => self.at_barrier(barrier - first.barrier, workload, first),
            Op::Read { channel, .. } | Op::Poll { channel } => {
                format!("waits to read from channel {}", channel - first.channel)
            }
            Op::Write { channel, .. } => {
                format!("waits for room in channel {}", channel - first.channel)
            }
            Op::WaitChildren => "waits for its children".to_owned(),
            Op::Wake { task, nth, .. } => format!(
                "waits until {} begins its {nth}. await; it has begun {}",
                self.name(task as usize),
                self.sim.replay().begun(task as usize)
            ),
            Op::Call { .. } => "waits for an answer".to_owned(),
            Op::Serve { .. } => "waits for a caller".to_owned(),
            _ => "sleeps for ever".to_owned(),
        }
    }

    /// The text for a task in its `nth` await: the task that owes the wakeup.
    fn for_wakeup(&self, task: usize, nth: u32, workload: &Workload, first: First) -> String {
        let ends = |op: &Op| {
            matches!(*op, Op::Wake { task: woken, nth: which, .. }
                if woken as usize == task && which == nth)
        };
        let wakes = |program: u32| workload.programs[program as usize].ops.iter().any(ends);
        let mut tasks = workload.tasks.iter().zip(first.task..);
        match tasks.find(|(spec, _)| wakes(spec.program)) {
            Some((_, waker)) => format!(
                "waits for its {nth}. wakeup, which {} owes it",
                self.name(waker)
            ),
            None => format!("waits for its {nth}. wakeup, which no task owes it"),
        }
    }

    fn for_mutex(&self, task: usize, mutex: u32, workload: &Workload, first: First) -> String {
        let name = named("mutex", mutex - first.mutex, &workload.names.mutexes);
        match self.sim.mutexes[mutex as usize].owner {
            NONE => format!("waits for {name}"),
            owner if owner as usize == task => format!("waits for {name}, which it holds itself"),
            owner => {
                let holds = match self.sim.tasks[owner as usize].life {
                    Life::Dead => "held when it ended",
                    _ => "holds",
                };
                format!(
                    "waits for {name}, which {} {holds}",
                    self.name(owner as usize)
                )
            }
        }
    }

    /// The text for a task at a barrier. It names tasks that use the barrier, too, and have ended:
    /// they are why it does not open.
    fn at_barrier(&self, barrier: u32, workload: &Workload, first: First) -> String {
        let b = self.sim.barrier_state(barrier + first.barrier);
        let comes = |program: u32| {
            let ops = &workload.programs[program as usize].ops;
            ops.contains(&Op::Barrier { barrier })
        };
        let left: Vec<String> = (workload.tasks.iter().zip(first.task..))
            .filter(|(spec, task)| self.sim.tasks[*task].life == Life::Dead && comes(spec.program))
            .map(|(_, task)| self.name(task))
            .collect();
        let name = named("barrier", barrier, &workload.names.barriers);
        let there = format!(
            "waits at {name}, where {} of {} tasks wait",
            b.arrived, b.parties
        );
        match left.as_slice() {
            [] => there,
            [one] => format!("{there}: {one}, which uses it too, has ended"),
            [one, more @ ..] => format!(
                "{there}: {one} and {} more, which use it too, have ended",
                more.len()
            ),
        }
    }
}
