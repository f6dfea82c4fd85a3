// SPDX-License-Identifier: GPL-2.0-only
//! The mutex of a pipe in kernels that may preempt its holder: other tasks that come to the pipe
//! sleep until the holder goes on (fs/pipe.c, kernel/locking/mutex.c).
//!
//! This needs a preemptible kernel; PREEMPT_LAZY is one, at ticks and at HRTICK. A kernel with
//! PREEMPT_VOLUNTARY gives way only at the end of a system call and at explicit points. Between
//! lock and unlock the only such point is the allocation of a page, which is not modelled.

use super::Channel;
use crate::base::rng::{Purpose, below};
use crate::base::timeline::NONE;
use crate::kernel::Preemption;
use crate::program::Programs;
use crate::program::sync::Waiting;
use crate::world::waits::WaitQueue;
use alight_workload::program::Op;

/// The holder of the mutex and its waiters. While the holder runs, an operation on the pipe is
/// one step, and no other task sees the mutex taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipeMutex {
    /// The task that was preempted with it, or got it by handoff and has not run yet.
    holder: u32,
    /// The tasks that wait for it.
    pub lockers: WaitQueue,
    /// The task that was woken for it and has not run yet (`__mutex_unlock_slowpath` wakes the
    /// first of the list; the kernel's list keeps that task until it has got the mutex).
    heir: u32,
    /// The heir has failed to get the mutex once: the next unlock hands it over
    /// (MUTEX_FLAG_HANDOFF).
    handoff: bool,
}

impl Default for PipeMutex {
    fn default() -> Self {
        PipeMutex {
            holder: NONE,
            lockers: WaitQueue::default(),
            heir: NONE,
            handoff: false,
        }
    }
}

impl PipeMutex {
    /// Does `task` hold the mutex, or was it woken for it?
    #[inline]
    pub fn is_for(&self, task: u32) -> bool {
        self.holder == task || self.heir == task
    }
}

impl Channel {
    /// No task holds the mutex or waits for it.
    #[inline]
    fn is_unlocked(&self) -> bool {
        let mutex = &self.mutex;
        mutex.holder == NONE && mutex.heir == NONE && mutex.lockers.is_empty()
    }
}

impl Programs<'_> {
    /// `task`, current on `cpu`, is preempted. If that is between lock and unlock of a pipe, it
    /// holds the mutex meanwhile. The point within the call is drawn at random: costs are means,
    /// and constant turns and calls would end each turn at the same point of a call.
    pub fn preempted_in_pipe(&mut self, cpu: usize, task: u32) {
        let t = &self.tasks[task as usize];
        let costs = self.costs(cpu);
        let (channel, held) = match self.ops[t.pc as usize] {
            Op::Write { channel, .. } => (channel, costs.pipe_held),
            Op::Read { channel, .. } => (channel, costs.pipe_read_held),
            _ => return,
        };
        if self.kernel.preemption != Preemption::Lazy
            || t.fresh
            || !self.channels[channel as usize].is_pipe()
        {
            return;
        }
        let whole = costs.ops[self.op_costs[t.pc as usize] as usize];
        if t.units >= whole {
            return;
        }
        if below(self.seed, self.preempted, Purpose::PipeMutex, whole) < held {
            self.channels[channel as usize].mutex.holder = task;
        }
    }

    /// The current task of `cpu` takes the mutex; false: it sleeps, and tries again when woken.
    #[inline]
    pub(super) fn pipe_lock(&mut self, cpu: usize, id: u32) -> bool {
        self.channels[id as usize].is_unlocked() || self.pipe_lock_contended(cpu, id)
    }

    fn pipe_lock_contended(&mut self, cpu: usize, id: u32) -> bool {
        let task = self.cpus[cpu].curr;
        let mutex = &mut self.channels[id as usize].mutex;
        let was_heir = mutex.heir == task;
        if was_heir {
            mutex.heir = NONE;
        }
        if mutex.holder == NONE || mutex.holder == task {
            mutex.holder = NONE;
            return true;
        }
        self.tasks[task as usize].blocked = true;
        let mutex = &mut self.channels[id as usize].mutex;
        if was_heir {
            mutex.handoff = true;
            self.wait_on_first(cpu, Waiting::Lockers(id));
        } else {
            self.wait_on(cpu, Waiting::Lockers(id));
        }
        false
    }

    /// The current task of `cpu` unlocks the mutex: the first waiter is woken.
    #[inline]
    pub(super) fn pipe_unlock(&mut self, cpu: usize, id: u32) {
        let mutex = &self.channels[id as usize].mutex;
        if mutex.heir != NONE || mutex.lockers.is_empty() {
            return;
        }
        let first = mutex.lockers.first();
        let mutex = &mut self.channels[id as usize].mutex;
        if std::mem::take(&mut mutex.handoff) {
            mutex.holder = first;
        } else {
            mutex.heir = first;
        }
        self.wake_one(cpu, Waiting::Lockers(id), false);
    }
}

#[cfg(test)]
mod tests;
