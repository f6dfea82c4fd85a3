// SPDX-License-Identifier: GPL-2.0-only
//! Tasks sorted by a key: a runqueue by vruntime. Keys are compared by signed difference, so
//! vruntime may wrap.

use crate::base::queue::NEVER;
use crate::base::table::Table;
use crate::base::treap::{self, Links, Member, Treap};

pub use crate::base::treap::NONE;

/// A task's node.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub(crate) key: u64,
    pub(crate) links: Links,
}

impl Member for Node {
    #[inline]
    fn links(&self) -> &Links {
        &self.links
    }

    #[inline]
    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }

    /// Branchless, since the direction of a search is unpredictable.
    #[inline]
    fn before(&self, other: &Self) -> bool {
        let difference = self.key.wrapping_sub(other.key) as i64;
        (difference < 0) | ((difference == 0) & self.links.earlier(&other.links))
    }
}

/// The nodes of all tasks, indexed by task number.
#[derive(Debug, Clone)]
pub struct Nodes(pub(crate) Table<Node>);

impl Nodes {
    /// Nodes for `n` tasks.
    pub fn new(n: usize) -> Self {
        let node = |task| Node {
            key: 0,
            links: Links::new(task),
        };
        let nodes: Vec<_> = (0..n).map(node).collect();
        // SAFETY: indexed by members, which are tasks, and by the links between them.
        Nodes(unsafe { Table::new(nodes) })
    }
}

/// One sorted set of tasks.
#[derive(Debug, Clone, Copy)]
pub struct Timeline {
    tree: Treap,
    /// Smallest key, [`NEVER`] if there is no member.
    first_key: u64,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            tree: Treap::default(),
            first_key: NEVER,
        }
    }
}

impl Timeline {
    /// Task with the smallest key, or [`NONE`].
    #[inline]
    pub fn first(&self) -> u32 {
        self.tree.first
    }

    /// Smallest key, if there is a member.
    #[inline]
    pub fn first_key(&self) -> Option<u64> {
        (self.tree.first != NONE).then_some(self.first_key)
    }

    /// Number of members.
    pub fn len(&self) -> u32 {
        self.tree.len
    }

    /// Adds `task`, which must be in no timeline, behind equal keys.
    pub fn insert(&mut self, nodes: &mut Nodes, task: u32, key: u64) {
        nodes.0[task as usize].key = key;
        self.tree.insert(&mut nodes.0, task);
        if self.tree.first == task {
            self.first_key = key;
        }
    }

    /// Removes `task`, which must be a member.
    pub fn remove(&mut self, nodes: &mut Nodes, task: u32) {
        let first = self.tree.first == task;
        self.tree.remove(&mut nodes.0, task);
        if first {
            self.first_key = match self.tree.first {
                NONE => NEVER,
                first => nodes.0[first as usize].key,
            };
        }
    }

    /// The member behind `task` (a member), or [`NONE`].
    pub fn next(&self, nodes: &Nodes, task: u32) -> u32 {
        treap::next(&nodes.0, task)
    }
}

#[cfg(test)]
mod tests;
