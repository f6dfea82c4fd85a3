// SPDX-License-Identifier: GPL-2.0-only
//! A treap: a sorted set of tasks. Its nodes are in a table by task number, since a task is in at
//! most one queue at a time. It allocates nothing, operations take O(log n), and any member can be
//! removed. Equal members keep the order of insertion, as in the kernel's trees: the number of the
//! insertion breaks ties.

use crate::base::table::Table;

/// No task.
pub const NONE: u32 = u32::MAX;

/// Index of a child in `Links::child`: the left subtree is before the node, the right one behind
/// it.
pub(crate) const LEFT: usize = 0;
pub(crate) const RIGHT: usize = 1;

/// A node's position in its tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    /// Number of the insertion.
    pub turn: u32,
    priority: u32,
    pub child: [u32; 2],
    parent: u32,
}

impl Links {
    /// Links of `task`, in no tree. The priority is a fixed function of the task number.
    pub fn new(task: usize) -> Self {
        let mut x = (task as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Links {
            turn: 0,
            priority: (x >> 32) as u32,
            child: [NONE; 2],
            parent: NONE,
        }
    }

    /// Was this one inserted earlier?
    #[inline]
    pub fn earlier(&self, other: &Self) -> bool {
        (self.turn.wrapping_sub(other.turn) as i32) < 0
    }
}

/// A node that can be in a treap.
pub(crate) trait Member: Copy {
    /// Whether nodes keep sums or extremes of their subtrees ([`Member::gather`]).
    const GATHERS: bool = false;

    fn links(&self) -> &Links;
    fn links_mut(&mut self) -> &mut Links;

    /// Is this node before `other`? No two nodes are equal: see [`Links::earlier`].
    fn before(&self, other: &Self) -> bool;

    /// Sets the subtree's figures to the node's own.
    fn alone(&mut self) {}

    /// Adds the figures of a child's subtree.
    fn gather(&mut self, _child: &Self) {}
}

/// One sorted set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Treap {
    pub root: u32,
    pub first: u32,
    pub len: u32,
    turns: u32,
}

impl Default for Treap {
    fn default() -> Self {
        Treap {
            root: NONE,
            first: NONE,
            len: 0,
            turns: 0,
        }
    }
}

impl Treap {
    /// Adds `task`, which must be in no tree, behind its equals.
    #[inline]
    pub fn insert<M: Member>(&mut self, n: &mut Table<M>, task: u32) {
        let turn = self.turns;
        self.turns = turn.wrapping_add(1);
        self.len += 1;
        let node = &mut n[task as usize];
        let links = node.links_mut();
        (links.turn, links.child, links.parent) = (turn, [NONE; 2], NONE);
        node.alone();
        let node = *node;
        if self.root == NONE {
            (self.root, self.first) = (task, task);
            return;
        }
        if node.before(&n[self.first as usize]) {
            self.first = task;
        }
        // Descend to where the new node's priority belongs.
        let mut parent = NONE;
        let mut side = LEFT;
        let mut at = self.root;
        while at != NONE && n[at as usize].links().priority >= node.links().priority {
            parent = at;
            side = usize::from(n[at as usize].before(&node));
            at = n[at as usize].links().child[side];
        }
        self.hang(n, parent, side, task);
        if at != NONE {
            split(n, at, task);
        }
        gather_up(n, parent);
    }

    /// Removes `task`, which must be a member.
    #[inline]
    pub fn remove<M: Member>(&mut self, n: &mut Table<M>, task: u32) {
        self.len -= 1;
        if self.len == 0 {
            (self.root, self.first) = (NONE, NONE);
            return;
        }
        if self.first == task {
            self.first = next(n, task);
        }
        let Links {
            child: [mut a, mut b],
            parent,
            ..
        } = *n[task as usize].links();
        // Merge its two subtrees into its place.
        let mut hook = parent;
        let mut side = match parent {
            NONE => LEFT,
            parent => usize::from(n[parent as usize].links().child[RIGHT] == task),
        };
        while a != NONE && b != NONE {
            if n[a as usize].links().priority >= n[b as usize].links().priority {
                self.hang(n, hook, side, a);
                (hook, side) = (a, RIGHT);
                a = n[a as usize].links().child[RIGHT];
            } else {
                self.hang(n, hook, side, b);
                (hook, side) = (b, LEFT);
                b = n[b as usize].links().child[LEFT];
            }
        }
        self.hang(n, hook, side, if a == NONE { b } else { a });
        gather_up(n, hook);
    }

    /// Makes `child` ([`NONE`]: no node) a child of `parent`, or the root if `parent` is [`NONE`].
    #[inline]
    fn hang<M: Member>(&mut self, n: &mut Table<M>, parent: u32, side: usize, child: u32) {
        match parent {
            NONE => self.root = child,
            parent => n[parent as usize].links_mut().child[side] = child,
        }
        if child != NONE {
            n[child as usize].links_mut().parent = parent;
        }
    }
}

/// The member behind `task` (a member), or [`NONE`].
pub(crate) fn next<M: Member>(n: &Table<M>, task: u32) -> u32 {
    let mut at = n[task as usize].links().child[RIGHT];
    if at != NONE {
        while n[at as usize].links().child[LEFT] != NONE {
            at = n[at as usize].links().child[LEFT];
        }
        return at;
    }
    let mut from = task;
    at = n[task as usize].links().parent;
    while at != NONE && n[at as usize].links().child[RIGHT] == from {
        from = at;
        at = n[at as usize].links().parent;
    }
    at
}

/// Splits the subtree at `at` into the members before and behind `task`. They become its children.
fn split<M: Member>(n: &mut Table<M>, mut at: u32, task: u32) {
    let node = n[task as usize];
    // Where the next member of each part goes: the inner side of the part's last member.
    let mut hooks = [(task, LEFT), (task, RIGHT)];
    while at != NONE {
        let part = usize::from(!n[at as usize].before(&node));
        let (hook, side) = hooks[part];
        n[hook as usize].links_mut().child[side] = at;
        n[at as usize].links_mut().parent = hook;
        hooks[part] = (at, 1 - part);
        at = n[at as usize].links().child[1 - part];
    }
    for (hook, side) in hooks {
        n[hook as usize].links_mut().child[side] = NONE;
    }
    for (hook, _) in hooks {
        gather_from(n, hook, task);
    }
}

/// Recomputes the subtree figures from `at` up to the root.
#[inline]
pub(crate) fn gather_up<M: Member>(n: &mut Table<M>, at: u32) {
    gather_from(n, at, NONE);
}

/// Recomputes the subtree figures from `at` ([`NONE`]: nothing) up to `last`.
#[inline]
fn gather_from<M: Member>(n: &mut Table<M>, mut at: u32, last: u32) {
    if !M::GATHERS {
        return;
    }
    while at != NONE {
        let mut node = n[at as usize];
        node.alone();
        for child in node.links().child {
            if child != NONE {
                node.gather(&n[child as usize]);
            }
        }
        n[at as usize] = node;
        if at == last {
            return;
        }
        at = node.links().parent;
    }
}
