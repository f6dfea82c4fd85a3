// SPDX-License-Identifier: GPL-2.0-only
//! Tasks in the order of a key: a runqueue by virtual runtime, a CPU's timers
//! by expiry. A treap whose nodes live in the tasks, since a task is in at most
//! one of them at a time: no allocation, O(log n), any member can leave.
//!
//! Equal keys keep the order of insertion, as in the kernel's trees: each
//! insertion gets a number that breaks the tie. Keys are compared by signed
//! difference, so that virtual time may wrap.

use crate::table::Table;

/// No task.
pub const NONE: u32 = u32::MAX;

/// A task's node.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    key: u64,
    /// Number of the insertion.
    turn: u32,
    left: u32,
    right: u32,
    priority: u32,
}

impl Node {
    #[inline]
    fn before(&self, key: u64, turn: u32) -> bool {
        match self.key.wrapping_sub(key) as i64 {
            0 => (self.turn.wrapping_sub(turn) as i32) < 0,
            difference => difference < 0,
        }
    }
}

/// The nodes of all tasks, indexed by task number.
#[derive(Debug, Clone)]
pub struct Nodes(Table<Node>);

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
                left: NONE,
                right: NONE,
                priority: (x >> 32) as u32,
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
    first_key: u64,
    len: u32,
    turns: u32,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            root: NONE,
            first: NONE,
            first_key: 0,
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
        let priority = n[task as usize].priority;
        // Down to where the new node's priority belongs.
        let mut parent = NONE;
        let mut went_left = false;
        let mut at = self.root;
        while at != NONE && n[at as usize].priority >= priority {
            parent = at;
            went_left = !n[at as usize].before(key, turn);
            at = if went_left {
                n[at as usize].left
            } else {
                n[at as usize].right
            };
        }
        // Split what hangs there into smaller-or-equal and larger.
        let (mut left, mut right) = (NONE, NONE);
        let (mut left_tail, mut right_tail) = (NONE, NONE);
        while at != NONE {
            if !n[at as usize].before(key, turn) {
                if right_tail == NONE {
                    right = at;
                } else {
                    n[right_tail as usize].left = at;
                }
                right_tail = at;
                at = n[at as usize].left;
            } else {
                if left_tail == NONE {
                    left = at;
                } else {
                    n[left_tail as usize].right = at;
                }
                left_tail = at;
                at = n[at as usize].right;
            }
        }
        if left_tail != NONE {
            n[left_tail as usize].right = NONE;
        }
        if right_tail != NONE {
            n[right_tail as usize].left = NONE;
        }
        n[task as usize] = Node {
            key,
            turn,
            left,
            right,
            priority,
        };
        if parent == NONE {
            self.root = task;
        } else if went_left {
            n[parent as usize].left = task;
        } else {
            n[parent as usize].right = task;
        }
        if self.first == NONE || (key.wrapping_sub(self.first_key) as i64) < 0 {
            self.first = task;
            self.first_key = key;
        }
        self.len += 1;
    }

    /// Removes `task`, which must be a member.
    pub fn remove(&mut self, nodes: &mut Nodes, task: u32) {
        let n = &mut nodes.0;
        let (parent, went_left) = self.find(n, task);
        let (mut a, mut b) = (n[task as usize].left, n[task as usize].right);
        // Merge its two subtrees into its place.
        let mut hook = parent;
        let mut hook_left = went_left;
        loop {
            let take_a = match (a, b) {
                (NONE, _) | (_, NONE) => break,
                (a, b) => n[a as usize].priority >= n[b as usize].priority,
            };
            let taken = if take_a { a } else { b };
            self.hang(n, hook, hook_left, taken);
            hook = taken;
            hook_left = !take_a;
            if take_a {
                a = n[a as usize].right;
            } else {
                b = n[b as usize].left;
            }
        }
        self.hang(n, hook, hook_left, if a == NONE { b } else { a });
        self.len -= 1;
        if self.first == task {
            self.first = self.leftmost(n, self.root);
            self.first_key = if self.first == NONE {
                0
            } else {
                n[self.first as usize].key
            };
        }
    }

    /// The member behind `task` (a member), or [`NONE`].
    pub fn next(&self, nodes: &Nodes, task: u32) -> u32 {
        let n = &nodes.0;
        if n[task as usize].right != NONE {
            return self.leftmost(n, n[task as usize].right);
        }
        let Node { key, turn, .. } = n[task as usize];
        let mut at = self.root;
        let mut candidate = NONE;
        while at != task {
            if !n[at as usize].before(key, turn) {
                candidate = at;
                at = n[at as usize].left;
            } else {
                at = n[at as usize].right;
            }
        }
        candidate
    }

    fn leftmost(&self, n: &Table<Node>, mut at: u32) -> u32 {
        while at != NONE && n[at as usize].left != NONE {
            at = n[at as usize].left;
        }
        at
    }

    fn hang(&mut self, n: &mut Table<Node>, parent: u32, left: bool, child: u32) {
        if parent == NONE {
            self.root = child;
        } else if left {
            n[parent as usize].left = child;
        } else {
            n[parent as usize].right = child;
        }
    }

    fn find(&self, n: &Table<Node>, task: u32) -> (u32, bool) {
        let Node { key, turn, .. } = n[task as usize];
        let (mut parent, mut left) = (NONE, false);
        let mut at = self.root;
        while at != task {
            parent = at;
            left = !n[at as usize].before(key, turn);
            at = if left {
                n[at as usize].left
            } else {
                n[at as usize].right
            };
        }
        (parent, left)
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
