// SPDX-License-Identifier: GPL-2.0-only
//! Tasks in the order of a key: a runqueue by virtual runtime. A treap whose
//! nodes live in the tasks, since a task is in at most one queue at a time: no
//! allocation, O(log n), any member can leave.
//!
//! Equal keys keep the order of insertion, as in the kernel's trees: each
//! insertion gets a number that breaks the tie. Keys are compared by signed
//! difference, so that virtual time may wrap.

use crate::queue::NEVER;
use crate::table::Table;

/// No task.
pub const NONE: u32 = u32::MAX;

/// A child of a node: those before it hang on the left.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// A task's node.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub(crate) key: u64,
    /// Number of the insertion.
    pub(crate) turn: u32,
    priority: u32,
    pub(crate) child: [u32; 2],
    parent: u32,
}

impl Node {
    /// Without a branch: which way a search goes cannot be foretold.
    #[inline]
    pub(crate) fn before(&self, key: u64, turn: u32) -> bool {
        let difference = self.key.wrapping_sub(key) as i64;
        let earlier = (self.turn.wrapping_sub(turn) as i32) < 0;
        (difference < 0) | ((difference == 0) & earlier)
    }
}

/// The nodes of all tasks, indexed by task number.
#[derive(Debug, Clone)]
pub struct Nodes(pub(crate) Table<Node>);

impl Nodes {
    /// Nodes for `n` tasks. Priorities are a fixed function of the number.
    pub fn new(n: usize) -> Self {
        let node = |task: usize| {
            let mut x = (task as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
            x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            Node {
                key: 0,
                turn: 0,
                priority: (x >> 32) as u32,
                child: [NONE; 2],
                parent: NONE,
            }
        };
        Nodes((0..n).map(node).collect())
    }
}

/// One ordered set.
#[derive(Debug, Clone, Copy)]
pub struct Timeline {
    root: u32,
    first: u32,
    /// [`NEVER`] if there is no member.
    first_key: u64,
    len: u32,
    turns: u32,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            root: NONE,
            first: NONE,
            first_key: NEVER,
            len: 0,
            turns: 0,
        }
    }
}

impl Timeline {
    /// Task of the smallest key, or [`NONE`].
    #[inline]
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Smallest key, if there is a member.
    #[inline]
    pub fn first_key(&self) -> Option<u64> {
        (self.first != NONE).then_some(self.first_key)
    }

    /// Number of members.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Adds `task`, which is in no timeline, behind equal keys.
    pub fn insert(&mut self, nodes: &mut Nodes, task: u32, key: u64) {
        let n = &mut nodes.0;
        let turn = self.turns;
        self.turns = turn.wrapping_add(1);
        self.len += 1;
        let node = &mut n[task as usize];
        node.key = key;
        node.turn = turn;
        node.child = [NONE; 2];
        node.parent = NONE;
        if self.root == NONE {
            self.root = task;
            self.first = task;
            self.first_key = key;
            return;
        }
        let priority = node.priority;
        // Down to where the new node's priority belongs.
        let mut parent = NONE;
        let mut side = LEFT;
        let mut at = self.root;
        while at != NONE && n[at as usize].priority >= priority {
            parent = at;
            side = usize::from(n[at as usize].before(key, turn));
            at = n[at as usize].child[side];
        }
        self.hang(n, parent, side, task);
        if at != NONE {
            split(n, at, task);
        }
        if (key.wrapping_sub(self.first_key) as i64) < 0 {
            self.first = task;
            self.first_key = key;
        }
    }

    /// Removes `task`, which must be a member.
    pub fn remove(&mut self, nodes: &mut Nodes, task: u32) {
        self.len -= 1;
        if self.len == 0 {
            self.root = NONE;
            self.first = NONE;
            self.first_key = NEVER;
            return;
        }
        if self.first == task {
            self.first = self.next(nodes, task);
            self.first_key = nodes.0[self.first as usize].key;
        }
        let n = &mut nodes.0;
        let Node {
            child: [mut a, mut b],
            parent,
            ..
        } = n[task as usize];
        // Merge its two subtrees into its place.
        let mut hook = parent;
        let mut side = match parent {
            NONE => LEFT,
            parent => usize::from(n[parent as usize].child[RIGHT] == task),
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
    }

    /// The member behind `task` (a member), or [`NONE`].
    pub fn next(&self, nodes: &Nodes, task: u32) -> u32 {
        let n = &nodes.0;
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

    /// Makes `child`, which may be none, a child of `parent`, or the root if that is none.
    #[inline]
    fn hang(&mut self, n: &mut Table<Node>, parent: u32, side: usize, child: u32) {
        match parent {
            NONE => self.root = child,
            parent => n[parent as usize].child[side] = child,
        }
        if child != NONE {
            n[child as usize].parent = parent;
        }
    }
}

/// Parts the subtree at `at` into the members before and behind `task`, which
/// become its children.
fn split(n: &mut Table<Node>, mut at: u32, task: u32) {
    let Node { key, turn, .. } = n[task as usize];
    // Where the next member of either part goes: on the inner side of the last one.
    let mut hooks = [(task, LEFT), (task, RIGHT)];
    while at != NONE {
        let part = usize::from(!n[at as usize].before(key, turn));
        let (hook, side) = hooks[part];
        n[hook as usize].child[side] = at;
        n[at as usize].parent = hook;
        hooks[part] = (at, 1 - part);
        at = n[at as usize].child[1 - part];
    }
    for (hook, side) in hooks {
        n[hook as usize].child[side] = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(t: &Timeline, nodes: &Nodes) -> Vec<u32> {
        let mut all = vec![];
        let mut at = t.first();
        while at != NONE {
            all.push(at);
            at = t.next(nodes, at);
        }
        all
    }

    #[test]
    fn equal_keys_keep_the_order_of_insertion() {
        let mut nodes = Nodes::new(8);
        let mut t = Timeline::default();
        for task in [5, 2, 7, 1] {
            t.insert(&mut nodes, task, 10);
        }
        assert_eq!(order(&t, &nodes), [5, 2, 7, 1]);
        t.remove(&mut nodes, 2);
        assert_eq!(order(&t, &nodes), [5, 7, 1]);
    }

    #[test]
    fn keys_may_wrap() {
        let mut nodes = Nodes::new(2);
        let mut t = Timeline::default();
        t.insert(&mut nodes, 0, 5);
        t.insert(&mut nodes, 1, 0u64.wrapping_sub(5));
        assert_eq!(order(&t, &nodes), [1, 0]);
    }

    proptest! {
        #[test]
        fn behaves_as_a_stable_sorted_list(
            steps in prop::collection::vec((0u32..40, 0u64..12), 1..400),
        ) {
            let mut nodes = Nodes::new(40);
            let mut t = Timeline::default();
            let mut model: Vec<(u64, u32)> = vec![];
            for (task, key) in steps {
                if let Some(at) = model.iter().position(|m| m.1 == task) {
                    model.remove(at);
                    t.remove(&mut nodes, task);
                } else {
                    let at = model.iter().position(|m| m.0 > key).unwrap_or(model.len());
                    model.insert(at, (key, task));
                    t.insert(&mut nodes, task, key);
                }
                prop_assert_eq!(t.len() as usize, model.len());
                prop_assert_eq!(t.first_key(), model.first().map(|m| m.0));
                let expected: Vec<u32> = model.iter().map(|m| m.1).collect();
                prop_assert_eq!(order(&t, &nodes), expected);
            }
        }
    }
}
