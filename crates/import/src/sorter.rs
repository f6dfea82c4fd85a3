// SPDX-License-Identifier: GPL-2.0-only
//! Puts items in the order of their times, with as little in memory as the file's format allows.
//!
//! A format that marks rounds promises that nothing behind the end of a round is older than what
//! was before the round. Without marks, the older half is let go whenever the memory is full.

use std::collections::VecDeque;

use crate::item::Item;

/// Items that may wait at a time: 200 MB.
const CAPACITY: usize = 4 << 20;

/// Rounds whose items wait. perf itself waits for one (`ordered_events__flush()` of
/// tools/perf/util/ordered-events.c); the second costs some memory, and spares late events.
const ROUNDS: usize = 2;

/// Items that wait for older ones.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    waiting: Vec<Item>,
    /// The newest time so far, and that at the ends of the latest rounds.
    newest: u64,
    rounds: VecDeque<u64>,
    /// Items of one time are put in the order of their CPUs; else they stay in that of the file.
    pub by_cpu: bool,
}

impl Sorter {
    /// Adds an item.
    pub fn add(&mut self, item: Item) {
        self.newest = self.newest.max(item.time);
        self.waiting.push(item);
    }

    /// Whether [`Sorter::relieve`] has to be called.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= CAPACITY
    }

    /// Takes out the older half.
    pub fn relieve(&mut self) -> Vec<Item> {
        self.sort();
        self.waiting.drain(..self.waiting.len() / 2).collect()
    }

    /// A round has ended: takes out what no later item can be older than.
    pub fn end_round(&mut self) -> Vec<Item> {
        self.rounds.push_back(self.newest);
        if self.rounds.len() <= ROUNDS {
            return Vec::new();
        }
        let limit = self.rounds.pop_front().unwrap_or(0);
        self.sort();
        let count = self.waiting.partition_point(|item| item.time <= limit);
        self.waiting.drain(..count).collect()
    }

    fn sort(&mut self) {
        match self.by_cpu {
            true => self.waiting.sort_by_key(|item| (item.time, item.cpu)),
            false => self.waiting.sort_by_key(|item| item.time),
        }
    }

    /// Takes out all.
    pub fn end(&mut self) -> Vec<Item> {
        self.sort();
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests;
