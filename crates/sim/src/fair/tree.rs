// SPDX-License-Identifier: GPL-2.0-only
//! EEVDF's queue: tasks in the order of their deadlines, which finds the earliest
//! deadline among those that are eligible in O(log n).
//!
//! A treap whose nodes lie in a table by task number. Each node knows the least
//! virtual runtime and the shortest and longest slice below it, as the kernel's
//! augmented tree does. Equal deadlines keep the order of insertion. Nothing is
//! allocated once the table is there.

use super::weight::before;
use crate::table::Table;
use crate::timeline::NONE;

/// A child of a node: those before it hang on the left.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// What EEVDF knows of a task, and its node (`struct sched_entity`). Virtual times, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entity {
    pub vruntime: u64,
    /// Relative to [`Entity::vruntime`] while [`Entity::relative`].
    pub deadline: u64,
    /// Until then it keeps the CPU though others are due (`vprot`).
    pub protected_until: u64,
    /// How far the queue's mean was ahead of it when it left.
    pub lag: i64,
    /// Time it wants at a turn, ns.
    pub slice: u64,
    /// The deadline was taken along (`rel_deadline`).
    pub relative: bool,
    /// It sleeps, but is still queued (`sched_delayed`).
    pub delayed: bool,
    /// It asked for its slice itself (`custom_slice`).
    pub custom: bool,
    /// As it counts in the queue's sums.
    weight: u32,
    /// Number of the insertion.
    turn: u32,
    priority: u32,
    child: [u32; 2],
    parent: u32,
    /// Of the node and all below it.
    least_vruntime: u64,
    shortest_slice: u64,
    longest_slice: u64,
}

impl Entity {
    /// Entity of task `task`, which never ran. The priority is a fixed function of the number.
    pub fn new(task: usize) -> Self {
        let mut x = (task as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
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
            turn: 0,
            priority: (x >> 32) as u32,
            child: [NONE; 2],
            parent: NONE,
            least_vruntime: 0,
            shortest_slice: 0,
            longest_slice: 0,
        }
    }

    fn goes_before(&self, other: &Entity) -> bool {
        let difference = self.deadline.wrapping_sub(other.deadline) as i64;
        let earlier = (self.turn.wrapping_sub(other.turn) as i32) < 0;
        difference < 0 || difference == 0 && earlier
    }
}

/// A queue. Its sums are over the tasks in it, which the current one is not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree {
    root: u32,
    first: u32,
    len: u32,
    turns: u32,
    /// Virtual runtimes are summed up as distances from here (`zero_vruntime`).
    pub zero: u64,
    /// Sum of weight times distance.
    pub sum: i64,
    /// Sum of weights.
    pub weight: i64,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            root: NONE,
            first: NONE,
            len: 0,
            turns: 0,
            zero: 0,
            sum: 0,
            weight: 0,
        }
    }
}

impl Tree {
    /// Number of members.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Task of the earliest deadline, or [`NONE`].
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Shortest slice of the members, if there are any.
    pub fn shortest_slice(&self, n: &Table<Entity>) -> Option<u64> {
        (self.root != NONE).then(|| n[self.root as usize].shortest_slice)
    }

    /// Longest slice of the members, if there are any.
    pub fn longest_slice(&self, n: &Table<Entity>) -> Option<u64> {
        (self.root != NONE).then(|| n[self.root as usize].longest_slice)
    }

    /// Moves the point that virtual runtimes are measured from by `by`.
    pub fn move_zero(&mut self, by: i64) {
        self.zero = self.zero.wrapping_add(by as u64);
        self.sum -= self.weight * by;
    }

    /// Adds `task`, which is in no tree, behind equal deadlines.
    pub fn insert(&mut self, n: &mut Table<Entity>, task: u32, weight: u32) {
        let e = &mut n[task as usize];
        (e.turn, e.weight) = (self.turns, weight);
        (e.child, e.parent) = ([NONE; 2], NONE);
        (e.shortest_slice, e.longest_slice) = (e.slice, e.slice);
        e.least_vruntime = e.vruntime;
        self.turns = self.turns.wrapping_add(1);
        self.len += 1;
        self.count(e, 1);
        let e = *e;
        if self.root == NONE {
            (self.root, self.first) = (task, task);
            return;
        }
        if e.goes_before(&n[self.first as usize]) {
            self.first = task;
        }
        let mut at = self.root;
        let (parent, side) = loop {
            let side = usize::from(!e.goes_before(&n[at as usize]));
            match n[at as usize].child[side] {
                NONE => break (at, side),
                next => at = next,
            }
        };
        self.hang(n, parent, side, task);
        while n[task as usize].parent != NONE
            && n[n[task as usize].parent as usize].priority < e.priority
        {
            self.lift(n, task);
        }
        refresh_up(n, n[task as usize].parent);
    }

    /// Removes `task`, which must be a member.
    pub fn remove(&mut self, n: &mut Table<Entity>, task: u32) {
        let e = n[task as usize];
        self.len -= 1;
        self.count(&e, -1);
        if self.first == task {
            self.first = next(n, task);
        }
        // Merge its two subtrees into its place.
        let [mut a, mut b] = e.child;
        let mut hook = e.parent;
        let mut side = match hook {
            NONE => LEFT,
            hook => usize::from(n[hook as usize].child[RIGHT] == task),
        };
        while a != NONE && b != NONE {
            if n[a as usize].priority >= n[b as usize].priority {
                self.hang(n, hook, side, a);
                (hook, side) = (a, RIGHT);
                a = n[a as usize].child[RIGHT];
            } else {
                self.hang(n, hook, side, b);
                (hook, side) = (b, LEFT);
                b = n[b as usize].child[LEFT];
            }
        }
        self.hang(n, hook, side, if a == NONE { b } else { a });
        refresh_up(n, hook);
    }

    /// The member of the earliest deadline among those whose virtual runtime is
    /// `eligible`, or [`NONE`]; who is eligible is so with less, too.
    pub fn pick(&self, n: &Table<Entity>, eligible: impl Fn(u64) -> bool) -> u32 {
        let mut at = self.root;
        while at != NONE {
            let e = &n[at as usize];
            let left = e.child[LEFT];
            if left != NONE && eligible(n[left as usize].least_vruntime) {
                at = left;
            } else if eligible(e.vruntime) {
                return at;
            } else {
                at = e.child[RIGHT];
            }
        }
        NONE
    }

    /// Books a member that comes (`sign` 1) or goes (-1).
    fn count(&mut self, e: &Entity, sign: i64) {
        let weight = sign * i64::from(e.weight);
        self.weight += weight;
        self.sum += weight * e.vruntime.wrapping_sub(self.zero) as i64;
    }

    /// Makes `child`, which may be none, a child of `parent`, or the root if that is none.
    fn hang(&mut self, n: &mut Table<Entity>, parent: u32, side: usize, child: u32) {
        match parent {
            NONE => self.root = child,
            parent => n[parent as usize].child[side] = child,
        }
        if child != NONE {
            n[child as usize].parent = parent;
        }
    }

    /// Exchanges `task` with its parent.
    fn lift(&mut self, n: &mut Table<Entity>, task: u32) {
        let parent = n[task as usize].parent;
        let above = n[parent as usize].parent;
        let side = usize::from(n[parent as usize].child[RIGHT] == task);
        let inner = n[task as usize].child[1 - side];
        let above_side = match above {
            NONE => LEFT,
            above => usize::from(n[above as usize].child[RIGHT] == parent),
        };
        self.hang(n, above, above_side, task);
        self.hang(n, parent, side, inner);
        self.hang(n, task, 1 - side, parent);
        refresh(n, parent);
        refresh(n, task);
    }
}

/// The member behind `task`, or [`NONE`].
pub(super) fn next(n: &Table<Entity>, task: u32) -> u32 {
    let mut at = n[task as usize].child[RIGHT];
    if at != NONE {
        while n[at as usize].child[LEFT] != NONE {
            at = n[at as usize].child[LEFT];
        }
        return at;
    }
    let mut from = task;
    at = n[task as usize].parent;
    while at != NONE && n[at as usize].child[RIGHT] == from {
        from = at;
        at = n[at as usize].parent;
    }
    at
}

/// Sums up what lies below `at` again.
fn refresh(n: &mut Table<Entity>, at: u32) {
    let Entity {
        vruntime,
        slice,
        child,
        ..
    } = n[at as usize];
    let (mut least, mut shortest, mut longest) = (vruntime, slice, slice);
    for child in child.into_iter().filter(|&child| child != NONE) {
        let below = &n[child as usize];
        if before(below.least_vruntime, least) {
            least = below.least_vruntime;
        }
        shortest = shortest.min(below.shortest_slice);
        longest = longest.max(below.longest_slice);
    }
    let e = &mut n[at as usize];
    (e.least_vruntime, e.shortest_slice, e.longest_slice) = (least, shortest, longest);
}

/// The same from `at` up to the root.
fn refresh_up(n: &mut Table<Entity>, mut at: u32) {
    while at != NONE {
        refresh(n, at);
        at = n[at as usize].parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(tree: &Tree, n: &Table<Entity>) -> Vec<u32> {
        let mut all = vec![];
        let mut at = tree.first();
        while at != NONE {
            all.push(at);
            at = next(n, at);
        }
        all
    }

    proptest! {
        /// Against a sorted list: order, sums, extremes, and the pick for every
        /// bound of eligibility.
        #[test]
        fn behaves_as_a_sorted_list(
            steps in prop::collection::vec((0u32..24, 0u64..12, 0u64..12, 1u64..5), 1..200),
        ) {
            let mut n: Table<Entity> = (0..24).map(Entity::new).collect();
            let mut tree = Tree::default();
            tree.move_zero(5);
            let mut model: Vec<u32> = vec![];
            for (task, deadline, vruntime, slice) in steps {
                if let Some(at) = model.iter().position(|&m| m == task) {
                    model.remove(at);
                    tree.remove(&mut n, task);
                } else {
                    let e = &mut n[task as usize];
                    (e.deadline, e.vruntime, e.slice) = (deadline, vruntime, slice);
                    let at = model.iter().position(|&m| n[m as usize].deadline > deadline);
                    model.insert(at.unwrap_or(model.len()), task);
                    tree.insert(&mut n, task, task + 1);
                }
                prop_assert_eq!(tree.len() as usize, model.len());
                prop_assert_eq!(&order(&tree, &n), &model);
                let of = |m: &u32| n[*m as usize];
                prop_assert_eq!(tree.shortest_slice(&n), model.iter().map(|m| of(m).slice).min());
                prop_assert_eq!(tree.longest_slice(&n), model.iter().map(|m| of(m).slice).max());
                let weighted = |m: &u32| (i64::from(*m) + 1) * (of(m).vruntime as i64 - 5);
                prop_assert_eq!(tree.sum, model.iter().map(weighted).sum::<i64>());
                prop_assert_eq!(tree.weight, model.iter().map(|m| i64::from(*m) + 1).sum::<i64>());
                for bound in 0..13 {
                    let found = model.iter().find(|m| of(m).vruntime < bound);
                    let picked = tree.pick(&n, |vruntime| vruntime < bound);
                    prop_assert_eq!(picked, found.copied().unwrap_or(NONE));
                }
            }
        }
    }
}
