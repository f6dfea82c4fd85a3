// SPDX-License-Identifier: GPL-2.0-only
//! The queue of EEVDF: entities in the order of their deadlines. It finds the eligible entity
//! with the earliest deadline in O(log n).
//!
//! Each node holds the least virtual runtime and the shortest and longest slice of its subtree,
//! as in the kernel's augmented tree. Equal deadlines keep the order of insertion.

use super::eevdf::rescale;
use crate::base::table::Table;
use crate::base::treap::{LEFT, Links, Member, NONE, RIGHT, Treap, gather_up};
use crate::kernel::weight::before;

/// The state of an entity under EEVDF, and its node (`struct sched_entity`). Times are virtual,
/// ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entity {
    pub vruntime: u64,
    /// Relative to [`Entity::vruntime`] while [`Entity::relative`].
    pub deadline: u64,
    /// Until this time it keeps the CPU even if others should run (`vprot`).
    pub protected_until: u64,
    /// The distance by which the queue's mean was ahead of it when it left.
    pub lag: i64,
    /// Time it wants at a turn, ns.
    pub slice: u64,
    /// The deadline was kept as a distance when it left (`rel_deadline`).
    pub relative: bool,
    /// It sleeps, but is still queued (`sched_delayed`).
    pub delayed: bool,
    /// The task asked for its slice (`custom_slice`).
    pub custom: bool,
    /// Its weight in the queue's sums.
    weight: u64,
    links: Links,
    /// Of the node and all below it.
    least_vruntime: u64,
    shortest_slice: u64,
    longest_slice: u64,
}

impl Entity {
    /// Entity of task `task`, which never ran.
    pub fn new(task: usize) -> Self {
        Entity {
            vruntime: 0,
            deadline: 0,
            protected_until: 0,
            lag: 0,
            slice: 0,
            relative: false,
            delayed: false,
            custom: false,
            weight: 0,
            links: Links::new(task),
            least_vruntime: 0,
            shortest_slice: 0,
            longest_slice: 0,
        }
    }
}

impl Entity {
    /// Converts its lag, and a relative deadline, to the virtual time of another weight
    /// (`rescale_entity`).
    pub fn rescale(&mut self, old: u64, new: u64) {
        self.lag = rescale(self.lag, old, new);
        if self.relative {
            self.deadline = rescale(self.deadline as i64, old, new) as u64;
        }
    }
}

impl Member for Entity {
    const GATHERS: bool = true;

    fn links(&self) -> &Links {
        &self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }

    fn before(&self, other: &Self) -> bool {
        let difference = self.deadline.wrapping_sub(other.deadline) as i64;
        difference < 0 || difference == 0 && self.links.earlier(&other.links)
    }

    fn alone(&mut self) {
        self.least_vruntime = self.vruntime;
        (self.shortest_slice, self.longest_slice) = (self.slice, self.slice);
    }

    fn gather(&mut self, child: &Self) {
        if before(child.least_vruntime, self.least_vruntime) {
            self.least_vruntime = child.least_vruntime;
        }
        self.shortest_slice = self.shortest_slice.min(child.shortest_slice);
        self.longest_slice = self.longest_slice.max(child.longest_slice);
    }
}

/// A queue. The current entity is not in it and not in its sums.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tree {
    tree: Treap,
    /// Virtual runtimes are summed up as distances from here (`zero_vruntime`).
    pub zero: u64,
    /// Sum of weight times distance.
    pub sum: i64,
    /// Sum of weights.
    pub weight: i64,
}

impl Tree {
    /// Number of members.
    pub fn len(&self) -> u32 {
        self.tree.len
    }

    /// Task of the earliest deadline, or [`NONE`].
    pub fn first(&self) -> u32 {
        self.tree.first
    }

    /// Shortest slice of the members, if there are any.
    pub fn shortest_slice(&self, n: &Table<Entity>) -> Option<u64> {
        (self.tree.len != 0).then(|| n[self.tree.root as usize].shortest_slice)
    }

    /// Longest slice of the members, if there are any.
    pub fn longest_slice(&self, n: &Table<Entity>) -> Option<u64> {
        (self.tree.len != 0).then(|| n[self.tree.root as usize].longest_slice)
    }

    /// The mean of the members' virtual runtimes, rounded down (as `avg_vruntime`, without the
    /// current task: `ineligible_vruntime`).
    pub fn mean(&self) -> u64 {
        match self.weight {
            0 => self.zero,
            weight => self.zero.wrapping_add_signed(self.sum.div_euclid(weight)),
        }
    }

    /// Moves the point that virtual runtimes are measured from by `by`.
    pub fn move_zero(&mut self, by: i64) {
        self.zero = self.zero.wrapping_add(by as u64);
        self.sum -= self.weight * by;
    }

    /// Adds `task`, which is in no tree, behind equal deadlines.
    pub fn insert(&mut self, n: &mut Table<Entity>, task: u32, weight: u64) {
        n[task as usize].weight = weight;
        self.count(&n[task as usize], 1);
        self.tree.insert(n, task);
    }

    /// Removes `task`, which must be a member.
    pub fn remove(&mut self, n: &mut Table<Entity>, task: u32) {
        self.count(&n[task as usize], -1);
        self.tree.remove(n, task);
    }

    /// The slice of `task`, which is a member, has changed.
    pub fn slice_changed(&mut self, n: &mut Table<Entity>, task: u32) {
        gather_up(n, task);
    }

    /// The member of the earliest deadline among those whose virtual runtime is
    /// `eligible`, or [`NONE`]. Every virtual runtime below an eligible one must be eligible.
    pub fn pick(&self, n: &Table<Entity>, eligible: impl Fn(u64) -> bool) -> u32 {
        let mut at = self.tree.root;
        while at != NONE {
            let e = &n[at as usize];
            let left = e.links.child[LEFT];
            if left != NONE && eligible(n[left as usize].least_vruntime) {
                at = left;
            } else if eligible(e.vruntime) {
                return at;
            } else {
                at = e.links.child[RIGHT];
            }
        }
        NONE
    }

    /// Adds a member to the sums (`sign` 1) or removes it (-1).
    fn count(&mut self, e: &Entity, sign: i64) {
        let weight = sign * e.weight as i64;
        self.weight += weight;
        self.sum += weight * e.vruntime.wrapping_sub(self.zero) as i64;
    }
}

#[cfg(test)]
mod tests;
