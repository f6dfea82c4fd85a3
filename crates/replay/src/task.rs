// SPDX-License-Identifier: GPL-2.0-only
//! One task in the making: its program so far, and where it stands in the recording.

use std::collections::HashMap;

use alight_recording::workload::{Call, TaskFact};
use alight_workload::blocks::Cut;
use alight_workload::program::{Attributes, Begins, Op};

use crate::charges::Cached;
use crate::window::calls::Open;
use crate::work::Work;

/// A sleep in a call that is replayed as such: no operation stands for it.
pub(crate) const IN_CALL: usize = usize::MAX;

/// Mark of the ends of the workload's tasks.
pub(crate) const ENDS: u32 = 0;

/// Work of the biggest CPU in a ns: less is not seen.
const LAST: Work = 1024;

/// What a recorded task is to the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It belongs to the workload.
    Member,
    /// It is replayed beside the workload.
    Background,
    /// It is left out.
    LeftOut,
}

/// A sleep whose end is not known yet: the operation that stands for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sleep {
    pub op: usize,
    pub since: u64,
}

/// A waking that came while the task was still on its CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Early {
    /// The waker and its operation; `None`: an interrupt, or a task that is left out.
    pub by: Option<(usize, usize)>,
    /// It came on this CPU.
    pub cpu: usize,
}

/// What the model charges for a wakeup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charged {
    /// Who pays.
    pub payer: usize,
    /// On which CPU.
    pub cpu: usize,
    /// What was taken off its work.
    pub work: Work,
}

impl Charged {
    /// Nothing so far.
    pub fn nothing(payer: usize, cpu: usize) -> Self {
        Charged {
            payer,
            cpu,
            work: 0,
        }
    }
}

/// What a task does at the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) enum State {
    /// It is on a CPU, and this much work was done there when it was last booked.
    Running { cpu: usize, from: Work, since: u64 },
    /// It waits for a CPU.
    Runnable,
    /// It sleeps.
    Asleep(Sleep),
    /// It ended.
    Dead,
}

/// A sleep that a timer ended, to be made an operation once all of the task's are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimerSleep {
    pub op: usize,
    pub since: u64,
    pub until: u64,
    /// How many timers expired before it in the interrupt of the first.
    pub behind: u32,
    /// On which CPU the interrupt came.
    pub cpu: u32,
    /// The recording says that it was a timer.
    pub known: bool,
    /// The call by which it slept, if the recording has calls.
    pub called: Option<Call>,
}

/// Wakings of a task by other tasks, to find those that cannot be: a task that does not sleep
/// itself wakes nobody at regular times. A timer does, which interrupts whoever runs.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// When the last one was.
    last: Option<u64>,
    /// Between two wakings of which the later one's task did not sleep in between, ns.
    gaps: Vec<u64>,
    /// How often each waker had slept when it was seen last.
    slept: HashMap<usize, u32>,
}

impl Waits {
    /// The task is woken by another, which had slept so often.
    pub fn woken_by(&mut self, now: u64, waker: usize, sleeps: u32) {
        let unslept = self.slept.insert(waker, sleeps) == Some(sleeps);
        if let Some(before) = self.last
            && unslept
        {
            self.gaps.push(now - before);
        }
        self.last = Some(now);
    }

    /// Wakings that cannot be by tasks.
    pub fn suspect(self) -> u64 {
        match crate::timers::are_regular(&self.gaps) {
            true => self.gaps.len() as u64,
            false => 0,
        }
    }
}

/// A task in the making.
#[derive(Debug)]
pub(crate) struct Task {
    pub pid: u32,
    pub role: Role,
    pub fact: TaskFact,
    pub attributes: Attributes,
    pub begins: Option<Begins>,
    /// When it is created, ns after the start; `None`: an operation of another task creates it.
    pub start_ns: Option<u64>,
    pub ops: Vec<Op>,
    pub state: State,
    /// Awaits in the program so far.
    pub awaits: u32,
    pub early: Option<Early>,
    pub timer_sleeps: Vec<TimerSleep>,
    /// The call by which it is about to sleep for a time, or sleeps.
    pub sleep_call: Option<Call>,
    pub cached: Cached,
    /// Time that it still waits for what its cache has to fetch, ns.
    pub stall_ns: u64,
    /// It was woken, and has not run since.
    pub woken: bool,
    /// Who pays for its last waking, and on which CPU, until it is known how it was done.
    pub payer: Option<(usize, usize)>,
    /// What was charged for its last wakeup by a task, or for its birth.
    pub woken_by: Option<Charged>,
    /// It is in a call that is replayed as such.
    pub call: Option<Open>,
    /// It is in another call, and what it does is work of the kernel.
    pub enters: bool,
    /// That call releases a lock: it waits for nobody.
    pub unlocks: bool,
    /// What it does at the moment is part of a wakeup, which the model charges.
    pub within_wakeup: bool,
    /// Since when it is in the scheduler, on its way off the CPU: the model charges that.
    pub schedules_since: Option<u64>,
    /// How long that has taken so far without interrupts, ns.
    pub schedules_ns: u64,
    /// Where it stood at the times at which all are cut.
    pub cuts: Vec<Cut>,
    /// It was on a CPU for some time.
    pub ran: bool,
    /// It has not ended, and would go on at the end of the recording.
    pub goes_on: bool,
    /// The operation before which the run of a replay ceases to wait for it, if it waited for a
    /// CPU at the end while others ran: its last sleep, or the last that it did on a CPU.
    pub retires_at: Option<usize>,
    /// The operation at which it sleeps at the end.
    pub parked: Option<usize>,
    /// Sleeps that it began so far.
    pub sleeps: u32,
    pub waits: Waits,
    /// Work since the last operation.
    work: Work,
    /// What the model charges and was not found in the recording's time yet.
    debt: Work,
}

impl Task {
    pub fn new(pid: u32, role: Role, fact: TaskFact, attributes: Attributes) -> Self {
        Task {
            pid,
            role,
            fact,
            attributes,
            begins: None,
            start_ns: Some(0),
            ops: Vec::new(),
            state: State::Runnable,
            awaits: 0,
            early: None,
            timer_sleeps: Vec::new(),
            sleep_call: None,
            cached: Cached::default(),
            stall_ns: 0,
            woken: false,
            payer: None,
            woken_by: None,
            call: None,
            enters: false,
            unlocks: false,
            within_wakeup: false,
            schedules_since: None,
            schedules_ns: 0,
            cuts: Vec::new(),
            ran: false,
            goes_on: false,
            retires_at: None,
            parked: None,
            sleeps: 0,
            waits: Waits::default(),
            work: 0,
            debt: 0,
        }
    }

    /// Whether it has operations.
    pub fn is_replayed(&self) -> bool {
        self.role != Role::LeftOut
    }

    /// Whether the run of a replay waits for it until the end of the recording.
    pub fn runs_on(&self) -> bool {
        let fair = crate::attributes::is_fair(&self.fact, &self.attributes);
        fair && self.is_replayed() && self.is_running()
    }

    /// Whether it is on a CPU, as far as it is known.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    /// Whether it sleeps, and nobody has woken it: it does nothing.
    pub fn is_asleep(&self) -> bool {
        matches!(self.state, State::Asleep(_)) && !self.woken
    }

    /// Whether it was seen to do something.
    pub fn has_begun(&self) -> bool {
        self.ran || !self.ops.is_empty()
    }

    /// It got this work done.
    pub fn add_work(&mut self, work: Work) {
        let paid = work.min(self.debt);
        self.debt -= paid;
        self.work += work - paid;
    }

    /// What it does at the moment is charged by the model, as a part of an operation.
    pub fn is_in_kernel(&self) -> bool {
        self.within_wakeup || self.schedules_since.is_some() || self.call.is_some()
    }

    /// The model charges this to it by itself.
    pub fn owe(&mut self, charge: Work) {
        if self.call.is_some() {
            return;
        }
        let paid = charge.min(self.work);
        self.work -= paid;
        self.debt += charge - paid;
    }

    /// It does not owe this after all.
    pub fn forgive(&mut self, charge: Work) {
        if self.call.is_some() {
            return;
        }
        let unpaid = charge.min(self.debt);
        self.debt -= unpaid;
        self.work += charge - unpaid;
    }

    /// What the model charges beyond the recorded time so far; it is forgotten.
    pub fn take_debt(&mut self) -> Work {
        std::mem::take(&mut self.debt)
    }

    /// It left its CPU with all done: what a replay has to wait for ends just before that.
    pub fn retires_on_cpu(&mut self) {
        match self.ops.last_mut() {
            Some(Op::Run { ns }) => {
                let last = LAST.min(*ns);
                *ns -= last;
                self.retires_at = Some(self.ops.len());
                self.ops.push(Op::Run { ns: last });
            }
            Some(Op::Yield) => self.retires_at = Some(self.ops.len() - 1),
            _ => {}
        }
    }

    /// Makes the work so far an operation.
    pub fn flush(&mut self) {
        if self.work > 0 && self.is_replayed() {
            let ns = self.work;
            self.ops.push(match self.enters {
                true => Op::Enter { ns },
                false => Op::Run { ns },
            });
            self.work = 0;
        }
    }

    /// Adds an operation behind the work so far; answers where it stands.
    pub fn push(&mut self, op: Op) -> usize {
        self.flush();
        if self.is_replayed() {
            self.ops.push(op);
        }
        self.ops.len().saturating_sub(1)
    }

    /// All tasks are cut here.
    pub fn cut(&mut self) {
        self.flush();
        self.cuts.push(Cut {
            op: self.ops.len() as u32,
            awaits: self.awaits,
            asleep: self.is_asleep(),
        });
    }

    /// Adds an operation that stands for a sleep from `now` on.
    pub fn sleep(&mut self, now: u64) -> Sleep {
        self.sleeps += 1;
        let op = match self.call {
            Some(_) => IN_CALL,
            None => self.push(Op::Await),
        };
        Sleep { op, since: now }
    }

    /// Another task ends the sleep: which of the task's Awaits it is.
    pub fn awaits_wake(&mut self, sleep: Sleep) -> u32 {
        self.awaits += 1;
        self.set(sleep.op, Op::Await);
        self.awaits
    }

    /// Puts another operation in the place of one.
    pub fn set(&mut self, at: usize, op: Op) {
        if let Some(place) = self.ops.get_mut(at)
            && self.role != Role::LeftOut
        {
            *place = op;
        }
    }
}
