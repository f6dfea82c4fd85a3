// SPDX-License-Identifier: GPL-2.0-only
//! Mutexes and wait queues of tasks.

use crate::base::treap::NONE;
use crate::world::state::{Interval, Task};
/// A mutex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex {
    pub owner: u32,
    /// A task may wait, so the unlocker must call the kernel (`__lll_lock_wait` of glibc: the word
    /// is 2). It stays set when a waiter takes the mutex, since the waiter cannot know of others.
    pub contended: bool,
    pub waiters: WaitQueue,
    /// The futex bucket's lock.
    pub bucket: Interval,
    /// The CPU whose collapsed loop takes it, [`NONE`] if none ([`crate::world::rounds`]).
    pub rounds_of: u32,
}

impl Default for Mutex {
    fn default() -> Self {
        Mutex {
            owner: NONE,
            contended: false,
            waiters: WaitQueue::default(),
            bucket: Interval::default(),
            rounds_of: NONE,
        }
    }
}

/// Tasks waiting, in the order in which they are woken ([`crate::world::state::Task::wait_next`]).
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

    /// Removes a task; false if it is not in the queue.
    pub fn remove(&mut self, tasks: &mut [Task], task: u32) -> bool {
        let (mut before, mut at) = (NONE, self.head);
        while at != NONE && at != task {
            (before, at) = (at, tasks[at as usize].wait_next);
        }
        if at == NONE {
            return false;
        }
        let next = tasks[at as usize].wait_next;
        match before {
            NONE => self.head = next,
            before => tasks[before as usize].wait_next = next,
        }
        if next == NONE {
            self.tail = before;
        }
        true
    }

    /// Adds `task` at the tail. Returns the tail before, whose `wait_next` must become `task`, or
    /// [`NONE`].
    pub fn join_last(&mut self, task: u32) -> u32 {
        let tail = std::mem::replace(&mut self.tail, task);
        if tail == NONE {
            self.head = task;
        }
        tail
    }

    /// Adds `task` at the head. Returns the head before, the `wait_next` of `task`, or [`NONE`].
    pub fn join_first(&mut self, task: u32) -> u32 {
        let next = std::mem::replace(&mut self.head, task);
        if next == NONE {
            self.tail = task;
        }
        next
    }

    /// Removes the head; `next` is its `wait_next`.
    pub fn leave_first(&mut self, next: u32) {
        self.head = next;
        if next == NONE {
            self.tail = NONE;
        }
    }

    /// The head, or [`NONE`].
    pub fn first(&self) -> u32 {
        self.head
    }
}
