// SPDX-License-Identifier: GPL-2.0-only
//! Mutexes, conditions, semaphores and barriers. All are based on futexes: an uncontended
//! operation stays in user space. A waiter sleeps after the work of its call, unless it was woken
//! by then. A waker wakes without the sync hint. A woken task competes again (no handoff).

use crate::base::timeline::NONE;
use crate::place::Place;
use crate::program::Programs;
use crate::program::effect::Effect;
use crate::world::World;
use crate::world::state::Call;
use crate::world::waits::WaitQueue;
use alight_trace::Called;

/// The number of tasks that a call to wake all passes (`INT_MAX`, as in glibc).
const ALL: u32 = i32::MAX as u32;

/// The futex words for which tasks call the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Mutex(u32),
    Condition(u32),
    Semaphore(u32),
    Barrier(u32),
    /// That of the task that serves a desk.
    Desk(u32),
    /// That of a task that waits for an answer.
    Caller(u32),
}

impl Word {
    /// Its number among all words of the run.
    fn number(self) -> u64 {
        let (kind, id) = match self {
            Word::Mutex(id) => (1, id),
            Word::Condition(id) => (2, id),
            Word::Semaphore(id) => (3, id),
            Word::Barrier(id) => (4, id),
            Word::Desk(id) => (5, id),
            Word::Caller(id) => (6, id),
        };
        kind << 32 | u64::from(id)
    }
}

/// A barrier.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BarrierState {
    pub parties: u32,
    pub arrived: u32,
    pub waiters: WaitQueue,
}

/// Names one of the wait queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Mutex(u32),
    Condition(u32),
    Semaphore(u32),
    Barrier(u32),
    Lockers(u32),
    Readers(u32),
    Writers(u32),
}

impl World<'_> {
    /// Enters the kernel for a call on a mutex: waits in FIFO order for the bucket's lock, and
    /// charges `units`, the part of the call's work that is done now.
    fn futex(&mut self, cpu: usize, mutex: u32, units: u64) {
        let at = self.reached(cpu);
        let hold = self.ns(cpu, self.costs(cpu).lock_hold);
        let wait = self.mutexes[mutex as usize].bucket.take(at, hold);
        self.count_lock_wait(wait);
        self.cpus[cpu].steal += wait;
        self.charge(cpu, units);
    }

    /// The current task of `cpu` calls to wake at most `most` of the waiters.
    pub fn futex_wake_begins(&mut self, cpu: usize, word: Word, most: u32) {
        self.trace_call_begin(cpu, Called::FutexWake(word.number(), most));
        let futex = self.costs(cpu).futex;
        self.charge(cpu, futex);
    }
}

impl Place<'_> {
    /// One step of a futex wait by the current task of `cpu`: the call's work, then the sleep, then
    /// the return (`futex_wait_queue`). Others can already wake the task in the first step.
    pub fn futex_wait(&mut self, cpu: usize, word: Word) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        match self.tasks[task].call {
            Call::Out => {
                self.tasks[task].call = Call::In;
                self.trace_call_begin(cpu, Called::FutexWait(word.number()));
                let futex = self.costs(cpu).futex;
                self.charge(cpu, futex);
                Effect::RetryAfterWork
            }
            Call::In => {
                self.tasks[task].call = Call::Over;
                self.sleep_current(cpu);
                Effect::RetryAfterSleep
            }
            Call::Over => {
                self.tasks[task].call = Call::Out;
                self.trace_call_return(cpu, 0);
                Effect::Done
            }
            Call::Looks => unreachable!("only a mutex is looked at again"),
        }
    }

    /// The current task of `cpu` calls to wake one task.
    pub fn futex_wake(&mut self, cpu: usize, word: Word, task: u32) {
        self.futex_wake_begins(cpu, word, 1);
        self.wake_waiter(cpu, task, false);
        self.trace_call_return(cpu, 1);
    }

    /// Wakes a task that waits; if it has not gone to sleep yet, it does not.
    pub fn wake_waiter(&mut self, cpu: usize, task: u32, sync: bool) {
        match self.tasks[task as usize].call {
            Call::In => self.tasks[task as usize].call = Call::Over,
            _ => self.wake(cpu, task, sync),
        }
    }
}

impl Programs<'_> {
    /// The state of a barrier.
    pub fn barrier_state(&self, barrier: u32) -> &BarrierState {
        &self.barriers[barrier as usize]
    }

    fn wait_queue(&mut self, on: Waiting) -> &mut WaitQueue {
        match on {
            Waiting::Mutex(id) => &mut self.mutexes[id as usize].waiters,
            Waiting::Condition(id) => &mut self.conditions[id as usize],
            Waiting::Semaphore(id) => &mut self.semaphores[id as usize].1,
            Waiting::Barrier(id) => &mut self.barriers[id as usize].waiters,
            Waiting::Lockers(id) => &mut self.channels[id as usize].mutex.lockers,
            Waiting::Readers(id) => &mut self.channels[id as usize].readers,
            Waiting::Writers(id) => &mut self.channels[id as usize].writers,
        }
    }

    /// The current task of `cpu` starts to wait, behind the tasks that wait already.
    pub fn wait_on(&mut self, cpu: usize, on: Waiting) {
        self.queue_current(cpu, on);
        self.sleep_current(cpu);
    }

    fn queue_current(&mut self, cpu: usize, on: Waiting) {
        let task = self.cpus[cpu].curr;
        self.tasks[task as usize].wait_next = NONE;
        let before = self.wait_queue(on).join_last(task);
        if before != NONE {
            self.tasks[before as usize].wait_next = task;
        }
    }

    /// As [`Programs::wait_on`], but it is woken before the tasks that wait already
    /// (`__add_wait_queue`).
    pub fn wait_on_first(&mut self, cpu: usize, on: Waiting) {
        let task = self.cpus[cpu].curr;
        let next = self.wait_queue(on).join_first(task);
        self.tasks[task as usize].wait_next = next;
        self.sleep_current(cpu);
    }

    /// The task that is woken next.
    pub fn first_waiting(&mut self, on: Waiting) -> Option<u32> {
        let first = self.wait_queue(on).first();
        (first != NONE).then_some(first)
    }

    /// Wakes the first waiter; false if there is none.
    pub fn wake_one(&mut self, cpu: usize, on: Waiting, sync: bool) -> bool {
        let task = self.wait_queue(on).first();
        if task == NONE {
            return false;
        }
        let next = self.tasks[task as usize].wait_next;
        self.wait_queue(on).leave_first(next);
        self.wake_waiter(cpu, task, sync);
        true
    }

    /// Wakes all waiters in their order; returns how many.
    pub fn wake_all(&mut self, cpu: usize, on: Waiting, sync: bool) -> u32 {
        let mut woken = 0;
        while self.wake_one(cpu, on, sync) {
            woken += 1;
        }
        woken
    }

    /// Locks a mutex. A call to wait tests the mutex once more halfway, before it queues
    /// (`futex_wait_setup`; the point was measured, see docs/explanation/sources.md).
    pub fn lock(&mut self, cpu: usize, mutex: u32) -> Effect {
        self.end_rounds_at(mutex);
        let task = self.cpus[cpu].curr;
        let whole = self.costs(cpu).futex;
        let (way, rest) = (whole / 2, whole - whole / 2);
        if self.tasks[task as usize].call == Call::Over {
            self.trace_call_return(cpu, 0);
        }
        let world = self.world();
        let m = &mut world.mutexes[mutex as usize];
        let t = &mut world.tasks[task as usize];
        match t.call {
            Call::Out | Call::Over if m.owner == NONE => {
                m.owner = task;
                m.contended = t.call == Call::Over;
                t.call = Call::Out;
                return Effect::Done;
            }
            Call::Out | Call::Over => {
                m.contended = true;
                t.call = Call::Looks;
                let word = Word::Mutex(mutex).number();
                self.trace_call_begin(cpu, Called::FutexWait(word));
                self.futex(cpu, mutex, way);
            }
            Call::Looks if m.owner != NONE && m.contended => {
                t.call = Call::In;
                self.queue_current(cpu, Waiting::Mutex(mutex));
                self.charge(cpu, rest);
            }
            Call::Looks => {
                t.call = Call::Over;
                self.charge(cpu, rest);
            }
            Call::In => {
                t.call = Call::Over;
                self.stats.mutex_waits += 1;
                self.sleep_current(cpu);
                return Effect::RetryAfterSleep;
            }
        }
        Effect::RetryAfterWork
    }

    pub fn unlock(&mut self, cpu: usize, mutex: u32) -> Effect {
        self.end_rounds_at(mutex);
        let m = &mut self.mutexes[mutex as usize];
        m.owner = NONE;
        if std::mem::take(&mut m.contended) {
            let waits = !m.waiters.is_empty();
            let word = Word::Mutex(mutex).number();
            self.trace_call_begin(cpu, Called::FutexWake(word, 1));
            if !waits {
                // No waiter is in the bucket: its lock is not taken (`futex_hb_waiters_pending`).
                let futex = self.costs(cpu).futex;
                self.charge(cpu, futex);
            } else {
                let futex = self.costs(cpu).futex;
                self.futex(cpu, mutex, futex);
                self.wake_one(cpu, Waiting::Mutex(mutex), false);
            }
            self.trace_call_return(cpu, waits.into());
        }
        Effect::Done
    }

    /// Unlocks the mutex and waits; when woken, the operation goes on as a lock.
    pub fn wait_condition(&mut self, cpu: usize, condition: u32, mutex: Option<u32>) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        if !self.tasks[task].waited {
            if self.tasks[task].call == Call::Out {
                if let Some(mutex) = mutex {
                    self.unlock(cpu, mutex);
                }
                self.queue_current(cpu, Waiting::Condition(condition));
            }
            let effect = self.futex_wait(cpu, Word::Condition(condition));
            if effect != Effect::Done {
                return effect;
            }
        }
        let effect = mutex.map_or(Effect::Done, |mutex| self.lock(cpu, mutex));
        // If the lock was taken, the task is still in the operation.
        self.tasks[task].waited = effect != Effect::Done;
        effect
    }

    pub fn signal(&mut self, cpu: usize, condition: u32, all: bool) -> Effect {
        if !self.conditions[condition as usize].is_empty() {
            let most = if all { ALL } else { 1 };
            self.futex_wake_begins(cpu, Word::Condition(condition), most);
            let on = Waiting::Condition(condition);
            let woken = match all {
                true => self.wake_all(cpu, on, false),
                false => self.wake_one(cpu, on, false).into(),
            };
            self.trace_call_return(cpu, woken);
        }
        Effect::Done
    }

    pub fn sem_post(&mut self, cpu: usize, semaphore: u32) -> Effect {
        self.semaphores[semaphore as usize].0 += 1;
        if !self.semaphores[semaphore as usize].1.is_empty() {
            self.futex_wake_begins(cpu, Word::Semaphore(semaphore), 1);
            let woken = self.wake_one(cpu, Waiting::Semaphore(semaphore), false);
            self.trace_call_return(cpu, woken.into());
        }
        Effect::Done
    }

    pub fn sem_wait(&mut self, cpu: usize, semaphore: u32) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        if self.tasks[task].call == Call::Out {
            let count = &mut self.semaphores[semaphore as usize].0;
            if *count > 0 {
                *count -= 1;
                return Effect::Done;
            }
            self.queue_current(cpu, Waiting::Semaphore(semaphore));
        }
        match self.futex_wait(cpu, Word::Semaphore(semaphore)) {
            Effect::Done => self.sem_wait(cpu, semaphore),
            effect => effect,
        }
    }

    pub fn barrier(&mut self, cpu: usize, barrier: u32) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        if self.tasks[task].call == Call::Out {
            let b = &mut self.barriers[barrier as usize];
            b.arrived += 1;
            if b.arrived == b.parties {
                b.arrived = 0;
                self.futex_wake_begins(cpu, Word::Barrier(barrier), ALL);
                let woken = self.wake_all(cpu, Waiting::Barrier(barrier), false);
                self.trace_call_return(cpu, woken);
                return Effect::Done;
            }
            self.queue_current(cpu, Waiting::Barrier(barrier));
        }
        self.futex_wait(cpu, Word::Barrier(barrier))
    }
}

#[cfg(test)]
mod tests;
