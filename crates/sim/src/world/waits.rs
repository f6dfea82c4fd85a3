// SPDX-License-Identifier: GPL-2.0-only
//! What tasks wait in.

use crate::base::treap::NONE;
use crate::world::state::Interval;
use crate::world::state::Task;
/// A mutex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex {
    pub owner: u32,
    /// Somebody may wait: who unlocks it has to call (`__lll_lock_wait` of glibc: the
    /// word is 2, and stays so where a waiter takes it, who cannot know of others).
    pub contended: bool,
    pub waiters: WaitQueue,
    /// The futex bucket's lock.
    pub bucket: Interval,
    /// The CPU whose rounds take it, [`NONE`] if none do ([`crate::world::rounds`]).
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

    /// Takes a task out of it; false if it is not there.
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

    /// `task` is woken last. Returns who was last before, whose next it is, or [`NONE`].
    pub fn join_last(&mut self, task: u32) -> u32 {
        let tail = std::mem::replace(&mut self.tail, task);
        if tail == NONE {
            self.head = task;
        }
        tail
    }

    /// `task` is woken first. Returns who was first before, its next, or [`NONE`].
    pub fn join_first(&mut self, task: u32) -> u32 {
        let next = std::mem::replace(&mut self.head, task);
        if next == NONE {
            self.tail = task;
        }
        next
    }

    /// The first leaves; `next` is its next.
    pub fn leave_first(&mut self, next: u32) {
        self.head = next;
        if next == NONE {
            self.tail = NONE;
        }
    }

    /// Who is woken first, or [`NONE`].
    pub fn first(&self) -> u32 {
        self.head
    }
}
