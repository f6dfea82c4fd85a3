// SPDX-License-Identifier: GPL-2.0-only
//! A CPU's timers: whose interrupts first? A pairing heap in the nodes of the tasks,
//! which are in a runqueue or wait for a timer, never both: nothing is allocated.
//!
//! Of timers only the first ever leaves, and most start behind it: to start one
//! takes a comparison and two links, however many there are. Timers of one
//! instant expire in the order in which they were started.

use crate::base::queue::NEVER;
use crate::base::timeline::{NONE, Nodes};
use crate::base::treap::Member;

/// Children of a node in a heap: the first of the timers right behind it, and the
/// next of those that are right behind the same as it.
const BEHIND: usize = 0;
const BESIDE: usize = 1;

/// The pending timers of a CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timers {
    first: u32,
    turns: u32,
    /// [`NEVER`] if there is none.
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
    /// Whose timer is the first, [`NONE`] if there is none.
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// When the first interrupts, [`NEVER`] if there is none.
    #[inline]
    pub fn first_at(&self) -> u64 {
        self.first_at
    }

    /// Starts the timer of `task`, which is in no queue. From [`NEVER`] on, all
    /// times are one.
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
            // Nothing is beside the first, of a whole heap too.
            node.links.child[BEHIND] = first;
            node.links.child[BESIDE] = NONE;
            self.first = task;
            self.first_at = at;
        }
    }

    /// Takes out the first timer, which there must be; returns its task.
    pub fn pop(&mut self, nodes: &mut Nodes) -> u32 {
        let task = self.first;
        self.first = merge(nodes, nodes.0[task as usize].links.child[BEHIND]);
        self.first_at = match self.first {
            NONE => NEVER,
            first => nodes.0[first as usize].key,
        };
        task
    }

    /// Takes out the timer of `task`, as only tests do.
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

/// Makes one heap of those whose first nodes are `child` and all beside it: in
/// pairs, then the pairs from the last to the first.
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

/// Makes one heap of two; its first node. Which one that is cannot be foretold,
/// so there is no branch on it: the two change places under a mask.
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
