// SPDX-License-Identifier: GPL-2.0-only
//! The pending timers of a CPU: a pairing heap. Its nodes are those of the tasks, since a task is
//! in a runqueue or waits for a timer, never both. Nothing is allocated.
//!
//! Only the first timer ever leaves, and most new timers are later than it. Starting one takes a
//! comparison and two links, however many there are. Timers with equal times expire in the order in
//! which they were started.

use crate::base::queue::NEVER;
use crate::base::timeline::{NONE, Nodes};
use crate::base::treap::Member;

/// Links of a heap node: `BEHIND` is its first child, `BESIDE` its next sibling.
const BEHIND: usize = 0;
const BESIDE: usize = 1;

/// The pending timers of a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timers {
    first: u32,
    turns: u32,
    /// Expiry of the first timer, [`NEVER`] if there is none.
    first_at: u64,
}

impl Default for Timers {
    fn default() -> Self {
        Timers {
            first: NONE,
            turns: 0,
            first_at: NEVER,
        }
    }
}

impl Timers {
    /// Task with the first timer, [`NONE`] if there is none.
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Expiry of the first timer, [`NEVER`] if there is none.
    #[inline]
    pub fn first_at(&self) -> u64 {
        self.first_at
    }

    /// Starts the timer of `task`, which must be in no queue. Times from [`NEVER`] on are equal.
    pub fn insert(&mut self, nodes: &mut Nodes, task: u32, at: u64) {
        let at = at.min(NEVER);
        let turn = self.turns;
        self.turns = turn.wrapping_add(1);
        let first = self.first;
        let node = &mut nodes.0[task as usize];
        (node.key, node.links.turn) = (at, turn);
        if first != NONE && at >= self.first_at {
            node.links.child[BEHIND] = NONE;
            put_behind(nodes, first, task);
        } else {
            // The root of a heap has no siblings.
            node.links.child[BEHIND] = first;
            node.links.child[BESIDE] = NONE;
            self.first = task;
            self.first_at = at;
        }
    }

    /// Removes the first timer, which must exist; returns its task.
    pub fn pop(&mut self, nodes: &mut Nodes) -> u32 {
        let task = self.first;
        self.first = merge(nodes, nodes.0[task as usize].links.child[BEHIND]);
        self.first_at = match self.first {
            NONE => NEVER,
            first => nodes.0[first as usize].key,
        };
        task
    }

    /// Removes the timer of `task`; only tests do.
    #[cfg(test)]
    pub fn remove(&mut self, nodes: &mut Nodes, task: u32) {
        let mut others = vec![];
        while self.first != NONE {
            let at = self.first_at;
            others.push((self.pop(nodes), at));
        }
        others.retain(|&(other, _)| other != task);
        for (other, at) in others {
            self.insert(nodes, other, at);
        }
    }
}

/// Merges `child` and its siblings into one heap: in pairs, then the pairs from the last to the
/// first.
#[inline]
fn merge(nodes: &mut Nodes, mut child: u32) -> u32 {
    let mut pairs = NONE;
    while child != NONE {
        let other = nodes.0[child as usize].links.child[BESIDE];
        let (pair, next) = match other {
            NONE => (child, NONE),
            other => {
                let next = nodes.0[other as usize].links.child[BESIDE];
                (meld(nodes, child, other), next)
            }
        };
        nodes.0[pair as usize].links.child[BESIDE] = pairs;
        pairs = pair;
        child = next;
    }
    if pairs == NONE {
        return NONE;
    }
    let mut first = pairs;
    pairs = nodes.0[first as usize].links.child[BESIDE];
    while pairs != NONE {
        let next = nodes.0[pairs as usize].links.child[BESIDE];
        first = meld(nodes, first, pairs);
        pairs = next;
    }
    nodes.0[first as usize].links.child[BESIDE] = NONE;
    first
}

/// Merges two heaps and returns the root. The order is unpredictable, so the two are swapped under
/// a mask instead of by a branch.
#[inline]
fn meld(nodes: &mut Nodes, a: u32, b: u32) -> u32 {
    let before = nodes.0[a as usize].before(&nodes.0[b as usize]);
    let swap = (a ^ b) & u32::from(before).wrapping_neg();
    let (early, late) = (b ^ swap, a ^ swap);
    put_behind(nodes, early, late);
    early
}

#[inline]
fn put_behind(nodes: &mut Nodes, early: u32, late: u32) {
    let n = &mut nodes.0;
    n[late as usize].links.child[BESIDE] = n[early as usize].links.child[BEHIND];
    n[early as usize].links.child[BEHIND] = late;
}

#[cfg(test)]
mod tests;
