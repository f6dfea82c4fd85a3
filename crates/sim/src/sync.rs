// SPDX-License-Identifier: GPL-2.0-only
//! What tasks wait for each other with: mutexes, conditions, semaphores,
//! barriers. All are futex based: an uncontended operation stays in user
//! space, a waiter sleeps, a waker wakes without the sync hint, and a woken
//! task competes again (no handoff).

use crate::exec::Effect;
use crate::state::{Interval, Sim};
use crate::timeline::NONE;

/// Tasks waiting, in the order in which they are woken ([`crate::state::Task::wait_next`]).
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitQueue {
    head: u32,
    tail: u32,
}

impl Default for WaitQueue {
    fn default() -> Self {
        WaitQueue {
            head: NONE,
            tail: NONE,
        }
    }
}

impl WaitQueue {
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Who is woken first, or [`NONE`].
    pub fn first(&self) -> u32 {
        self.head
    }
}

/// A mutex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex {
    pub owner: u32,
    pub waiters: WaitQueue,
    /// The futex bucket's lock.
    pub bucket: Interval,
    /// The CPU whose rounds take it, [`NONE`] if none do ([`crate::rounds`]).
    pub rounds_of: u32,
}

impl Default for Mutex {
    fn default() -> Self {
        Mutex {
            owner: NONE,
            waiters: WaitQueue::default(),
            bucket: Interval::default(),
            rounds_of: NONE,
        }
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

impl Sim<'_> {
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

    /// The current task of `cpu` starts to wait, behind those who wait already.
    pub fn wait_on(&mut self, cpu: usize, on: Waiting) {
        let task = self.cpus[cpu].curr;
        self.tasks[task as usize].wait_next = NONE;
        let queue = self.wait_queue(on);
        let tail = std::mem::replace(&mut queue.tail, task);
        if tail == NONE {
            queue.head = task;
        } else {
            self.tasks[tail as usize].wait_next = task;
        }
        self.sleep_current(cpu);
    }

    /// The same; it is woken before those that wait already (`__add_wait_queue`).
    pub fn wait_on_first(&mut self, cpu: usize, on: Waiting) {
        let task = self.cpus[cpu].curr;
        let queue = self.wait_queue(on);
        let next = std::mem::replace(&mut queue.head, task);
        if next == NONE {
            queue.tail = task;
        }
        self.tasks[task as usize].wait_next = next;
        self.sleep_current(cpu);
    }

    /// Who is woken next.
    pub fn first_waiting(&mut self, on: Waiting) -> Option<u32> {
        let first = self.wait_queue(on).head;
        (first != NONE).then_some(first)
    }

    /// Wakes the first waiter; false if there is none.
    pub fn wake_one(&mut self, cpu: usize, on: Waiting, sync: bool) -> bool {
        let task = self.wait_queue(on).head;
        if task == NONE {
            return false;
        }
        let next = self.tasks[task as usize].wait_next;
        let queue = self.wait_queue(on);
        queue.head = next;
        if next == NONE {
            queue.tail = NONE;
        }
        self.wake(cpu, task, sync);
        true
    }

    /// Wakes all waiters in their order.
    pub fn wake_all(&mut self, cpu: usize, on: Waiting, sync: bool) {
        while self.wake_one(cpu, on, sync) {}
    }

    /// Enters the kernel for a futex call: a FIFO queue at the bucket's lock.
    fn futex(&mut self, cpu: usize, mutex: u32) {
        let at = self.reached(cpu);
        let hold = self.ns(cpu, self.costs(cpu).lock_hold);
        let wait = self.mutexes[mutex as usize].bucket.take(at, hold);
        self.count_lock_wait(wait);
        self.cpus[cpu].steal += wait;
        self.charge(cpu, self.costs(cpu).futex);
    }

    pub fn lock(&mut self, cpu: usize, mutex: u32) -> Effect {
        self.end_rounds_at(mutex);
        let task = self.cpus[cpu].curr;
        let m = &mut self.mutexes[mutex as usize];
        if m.owner == NONE {
            m.owner = task;
            return Effect::Done;
        }
        self.stats.mutex_waits += 1;
        self.futex(cpu, mutex);
        self.wait_on(cpu, Waiting::Mutex(mutex));
        Effect::RetryAfterSleep
    }

    pub fn unlock(&mut self, cpu: usize, mutex: u32) -> Effect {
        self.end_rounds_at(mutex);
        let m = &mut self.mutexes[mutex as usize];
        m.owner = NONE;
        if !m.waiters.is_empty() {
            self.futex(cpu, mutex);
            self.wake_one(cpu, Waiting::Mutex(mutex), false);
        }
        Effect::Done
    }

    /// Gives the mutex up and waits; woken, the operation goes on as a lock.
    pub fn wait_condition(&mut self, cpu: usize, condition: u32, mutex: Option<u32>) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        if std::mem::take(&mut self.tasks[task].waited) {
            return match mutex {
                Some(mutex) => {
                    let effect = self.lock(cpu, mutex);
                    // Still on its way out of the wait if the lock was taken.
                    self.tasks[task].waited = effect != Effect::Done;
                    effect
                }
                None => Effect::Done,
            };
        }
        if let Some(mutex) = mutex {
            self.unlock(cpu, mutex);
        }
        self.charge(cpu, self.costs(cpu).futex);
        self.wait_on(cpu, Waiting::Condition(condition));
        self.tasks[task].waited = true;
        Effect::RetryAfterSleep
    }

    pub fn signal(&mut self, cpu: usize, condition: u32, all: bool) -> Effect {
        if !self.conditions[condition as usize].is_empty() {
            self.charge(cpu, self.costs(cpu).futex);
            if all {
                self.wake_all(cpu, Waiting::Condition(condition), false);
            } else {
                self.wake_one(cpu, Waiting::Condition(condition), false);
            }
        }
        Effect::Done
    }

    pub fn sem_post(&mut self, cpu: usize, semaphore: u32) -> Effect {
        self.semaphores[semaphore as usize].0 += 1;
        if !self.semaphores[semaphore as usize].1.is_empty() {
            self.charge(cpu, self.costs(cpu).futex);
            self.wake_one(cpu, Waiting::Semaphore(semaphore), false);
        }
        Effect::Done
    }

    pub fn sem_wait(&mut self, cpu: usize, semaphore: u32) -> Effect {
        let count = &mut self.semaphores[semaphore as usize].0;
        if *count > 0 {
            *count -= 1;
            return Effect::Done;
        }
        self.charge(cpu, self.costs(cpu).futex);
        self.wait_on(cpu, Waiting::Semaphore(semaphore));
        Effect::RetryAfterSleep
    }

    pub fn barrier(&mut self, cpu: usize, barrier: u32) -> Effect {
        let b = &mut self.barriers[barrier as usize];
        b.arrived += 1;
        if b.arrived == b.parties {
            b.arrived = 0;
            self.charge(cpu, self.costs(cpu).futex);
            self.wake_all(cpu, Waiting::Barrier(barrier), false);
            return Effect::Done;
        }
        self.charge(cpu, self.costs(cpu).futex);
        self.wait_on(cpu, Waiting::Barrier(barrier));
        Effect::DoneAfterSleep
    }
}

#[cfg(test)]
mod tests;
