// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that repeat a recording. A wakeup names the sleep that it ends. A sleep ends by that
//! wakeup, at a time, or when a device is done.
//!
//! Only wakeups are charged, as `wakeup` charges them: the work of the calls that led to them is
//! part of the recorded work. If the recording contains a call, its work is an operation of its
//! own ([`Op::Enter`]). This is charged like the work of modelled calls, and the tasks that the
//! call wakes are decided when it begins. A wakeup of a task that does not sleep has no effect
//! (`ttwu_state_match`): it is neither charged nor an event.
//!
//! # Hand-off
//!
//! A waker may come before the sleep that it ends. It then sleeps itself until its target begins
//! that sleep, or ends. The target wakes it, on its way to sleep, and the waker carries out its
//! wakeup. The recorded task made no such wakeup: the CPU of the target is not charged for it, and
//! the target's `wakee_flips` do not change.
//!
//! # No deadlock
//!
//! Put all operations of a recording in the order in which they were recorded. In this order each
//! [`Op::Wake`] precedes the woken task's operations after the [`Op::Await`] that it ends, and each
//! `Wake` with `hand_off` follows the beginning of that `Await`. At any time of a run, take the
//! earliest operation that has not been carried out. All earlier ones have been, so its task has
//! reached it, and it is one of these:
//!
//! - A wakeup with `hand_off`: the `Await` that it ends precedes it and has begun. The wakeup is
//!   carried out.
//! - A wakeup without: it never waits.
//! - The operation after an `Await`: the wakeup for that precedes it. It has been carried out, and
//!   remembered if it came early: the task does not sleep.
//! - The operation after a sleep until a time or for a device: a timer or an interrupt ends that.
//! - A write to a pipe or a socket that was recorded with its calls: if it finds no room, and no
//!   other task goes on, it gets room ([`room`]).
//! - A read from one: the order has a write where it began and a read where it ended. The bytes
//!   that it reads were written before, but another reader may have taken them: if no other task
//!   goes on, it gets as many ([`room`]).
//! - Any other operation does not wait.
//!
//! So some task can always go on, and the run ends. No task waits for one that has ended, or whose
//! program has no such `Await`.

mod begin;
mod device;
mod room;

use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::place::Place;
use crate::program::effect::Effect;
use crate::world::state::Life;
use alight_trace::Waker;
use alight_workload::program::{Op, Program, Workload};
use begin::Beginnings;
use device::Devices;

/// The state of tasks that repeat a recording.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replay {
    /// One for each task; none at all if no task awaits another.
    gates: Box<[Gate]>,
    pub devices: Devices,
    beginnings: Beginnings,
    /// The workload that repeats recorded ticks, and the time from its start to the first tick,
    /// ns.
    first_tick: Option<(usize, u64)>,
    /// The channels of recordings.
    channels: Box<[std::ops::Range<u32>]>,
}

/// The awaits of a task, and the wakers that wait for them to begin.
#[derive(Debug, Clone)]
struct Gate {
    /// Number of its awaits that have begun.
    begun: u32,
    /// The most awaits that it can have.
    all: u32,
    /// It sleeps in the last one that has begun.
    sleeps: bool,
    /// Wakeups that came before the awaits of these numbers, in rising order.
    early: Vec<u32>,
    /// Tasks that sleep until it begins an await ([`crate::world::state::Task::wait_next`]).
    wakers: u32,
}

/// The most awaits of a program: [`u32::MAX`] if it may repeat one.
fn awaits_of(program: &Program) -> u32 {
    let count = |is: fn(&Op) -> bool| program.ops.iter().filter(|op| is(op)).count() as u32;
    match count(|op| matches!(op, Op::Await)) {
        0 => 0,
        _ if count(|op| matches!(op, Op::LoopBegin { .. })) != 0 => u32::MAX,
        awaits => awaits,
    }
}

impl Replay {
    /// The state at the start of a run.
    pub fn new(workloads: &[Workload], cpus: usize) -> Self {
        let uses = |is: fn(&Op) -> bool| {
            let mut programs = workloads.iter().flat_map(|workload| &workload.programs);
            programs.any(|program| program.ops.iter().any(is))
        };
        let mut gates = vec![];
        if uses(|op| matches!(op, Op::Await | Op::Wake { .. })) {
            for workload in workloads {
                let awaits: Vec<u32> = workload.programs.iter().map(awaits_of).collect();
                gates.extend(workload.tasks.iter().map(|task| Gate {
                    begun: 0,
                    all: awaits[task.program as usize],
                    sleeps: false,
                    early: vec![],
                    wakers: NONE,
                }));
            }
        }
        let tasks = workloads.iter().map(|workload| workload.tasks.len()).sum();
        Replay {
            gates: gates.into(),
            devices: match uses(|op| matches!(op, Op::Complete { .. })) {
                true => Devices::new(tasks),
                false => Devices::default(),
            },
            beginnings: Beginnings::new(workloads, cpus),
            first_tick: (workloads.iter().enumerate())
                .find_map(|(at, workload)| Some((at, workload.repeats?.first_tick_ns?))),
            channels: room::repeated(workloads),
        }
    }

    /// The number of the await that the task sleeps in, counted from 1.
    pub fn sleeps_in(&self, task: usize) -> Option<u32> {
        let gate = self.gates.get(task)?;
        gate.sleeps.then_some(gate.begun)
    }

    /// Number of awaits that the task has begun.
    pub fn begun(&self, task: usize) -> u32 {
        self.gates.get(task).map_or(0, |gate| gate.begun)
    }
}

impl Gate {
    /// A wakeup comes before the await that it ends.
    fn remember(&mut self, nth: u32) {
        if let Err(at) = self.early.binary_search(&nth) {
            self.early.insert(at, nth);
        }
    }

    /// Did the wakeup for the next await come before it?
    fn is_early(&self) -> bool {
        self.early.first() == Some(&(self.begun + 1))
    }

    /// The next await begins; true if the task sleeps in it.
    fn begin(&mut self) -> bool {
        self.sleeps = !self.is_early();
        if !self.sleeps {
            self.early.remove(0);
        }
        self.begun += 1;
        self.sleeps
    }
}

impl Place<'_> {
    /// Wakes `task` from `cpu`. It is not inlined: all replays share one copy of a wakeup's code.
    #[inline(never)]
    fn wake_apart(&mut self, by: Waker, cpu: usize, task: u32, sync: bool) {
        self.out.waker = by;
        self.wake(cpu, task, sync);
        self.out.waker = Waker::Task;
    }

    /// The current task of `cpu` wakes `waker`. The recorded task did not: see the head of this
    /// file.
    fn hand_off(&mut self, cpu: usize, waker: u32) {
        let steal = self.cpus[cpu].steal;
        let current = self.current_view(cpu);
        let view = self.views[current];
        self.wake_apart(Waker::HandOff, cpu, waker, false);
        self.cpus[cpu].steal = steal;
        let after = &mut self.views[current];
        after.wakee_flips = view.wakee_flips;
        after.wakee_flip_decay_ts = view.wakee_flip_decay_ts;
        after.last_wakee = view.last_wakee;
    }
}

impl Sim<'_> {
    /// The current task of `cpu` wakes another one ([`Op::Wake`]), and the tasks whose wakeups
    /// follow without work in between: one call wakes them all, and no task takes the CPU
    /// meanwhile. If the program ends there, the task ends (`exit_notify()` of kernel/exit.c wakes
    /// the parent).
    pub fn wake_recorded(&mut self, cpu: usize, mut op: Op) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        loop {
            let effect = self.wake_next_recorded(cpu, op);
            if effect != Effect::Done {
                return effect;
            }
            let behind = self.tasks[task].pc as usize + 1;
            match self.ops[behind] {
                next @ Op::Wake { task, nth, .. }
                    if nth <= self.replay.gates[task as usize].begun =>
                {
                    op = next;
                }
                Op::Mark { mark } if matches!(self.ops[behind + 1], Op::Exit) => {
                    self.pass_mark(mark);
                    return Effect::Exit;
                }
                Op::Exit => return Effect::Exit,
                _ => return Effect::Done,
            }
            self.tasks[task].pc += 1;
        }
    }

    /// The current task of `cpu` is in a recorded call ([`Op::Enter`]); `units` is the call's work.
    pub fn enter_recorded(&mut self, cpu: usize, task: usize, units: u64) -> Effect {
        self.charge(cpu, units);
        match self.ops[self.tasks[task].pc as usize + 1] {
            wakes @ Op::Wake { .. } => {
                self.tasks[task].pc += 1;
                self.wake_recorded(cpu, wakes)
            }
            _ => Effect::Done,
        }
    }

    fn wake_next_recorded(&mut self, cpu: usize, op: Op) -> Effect {
        let Op::Wake {
            task: target,
            nth,
            hand_off,
            sync,
        } = op
        else {
            unreachable!("called for wakeups only")
        };
        let waker = self.cpus[cpu].curr;
        let gate = &mut self.replay.gates[target as usize];
        if nth <= gate.begun {
            if nth == gate.begun && std::mem::take(&mut gate.sleeps) {
                self.wake_apart(Waker::Task, cpu, target, sync);
            }
            return Effect::Done;
        }
        if nth > gate.all || self.programs.tasks[target as usize].life == Life::Dead {
            return Effect::Done;
        }
        // A task cannot wait for its own sleep.
        if !hand_off || target == waker {
            gate.remember(nth);
            return Effect::Done;
        }
        self.tasks[waker as usize].wait_next = std::mem::replace(&mut gate.wakers, waker);
        self.sleep_current(cpu);
        Effect::RetryAfterSleep
    }

    /// The current task of `cpu` sleeps until it is woken, unless the wakeup came early
    /// ([`Op::Await`]).
    pub fn await_wakeup(&mut self, cpu: usize, task: usize) -> Effect {
        if self.replay.gates[task].is_early() {
            self.begin_await(cpu, task);
            return Effect::Done;
        }
        self.sleep_current(cpu);
        self.begin_await(cpu, task);
        Effect::DoneAfterSleep
    }

    /// `task`, on `cpu`, begins its next await; true if it sleeps in it.
    fn begin_await(&mut self, cpu: usize, task: usize) -> bool {
        let sleeps = self.replay.gates[task].begin();
        self.let_wakers_go(cpu, task, self.replay.gates[task].begun);
        sleeps
    }

    /// The current task of `cpu` ends: wakes the tasks that wait for its awaits.
    pub fn awaits_no_more(&mut self, cpu: usize, task: usize) {
        if !self.replay.gates.is_empty() {
            self.let_wakers_go(cpu, task, u32::MAX);
        }
    }

    /// `task`, on `cpu`, wakes the tasks that wait for its awaits up to `begun`.
    fn let_wakers_go(&mut self, cpu: usize, task: usize, begun: u32) {
        let mut waker = std::mem::replace(&mut self.replay.gates[task].wakers, NONE);
        while waker != NONE {
            let next = self.tasks[waker as usize].wait_next;
            let op = self.ops[self.tasks[waker as usize].pc as usize];
            let goes = matches!(op, Op::Wake { nth, .. } if nth <= begun);
            if goes {
                self.hand_off(cpu, waker);
            } else {
                let wakers = &mut self.replay.gates[task].wakers;
                self.tasks[waker as usize].wait_next = std::mem::replace(wakers, waker);
            }
            waker = next;
        }
    }
}

#[cfg(test)]
mod tests;
