// SPDX-License-Identifier: GPL-2.0-only
//! Rounds of a measurement: the figure is their median, its spread the least and the largest.

use alight_machine::Reading;
use std::collections::BTreeMap;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// A kernel path cost of a core type, ns.
    Cost(usize, &'static str),
    /// From the end of an idle state to the woken sleeper, without leaving the state, ns.
    AfterIdle(usize),
    /// From sending an interrupt to the woken sleeper, without what is measured alone, but with the
    /// way out of the idle state, ns.
    Interrupted(usize),
    /// How late a sleep ends in an idle state of a core type, ns.
    Late(usize, usize),
    /// Work that a core type does, in loops of a time slice.
    Work(usize),
    /// The same beside a sibling that works too.
    WorkBeside(usize),
    /// The same at a frequency, kHz.
    WorkAt(usize, u64),
    /// A cache line that a CPU at this distance wrote last, ns.
    Line(Distance),
    /// The same of lines that are fetched several at a time, ns for 1024 of them.
    Refill(Distance),
    /// A line of the last-level cache, ns.
    Cache,
    /// A line of memory, ns.
    Memory,
    /// Do the CPUs take turns at one processor? 1: yes.
    OneProcessor,
    /// Messages on sockets that a CPU keeps the memory of.
    MessagesKept,
}

/// How far two CPUs are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// Threads of a core.
    Core,
    /// Cores of a last-level cache.
    Cache,
    /// Caches of a node.
    Node,
    /// Nodes.
    Machine,
}

impl Distance {
    /// All, from near to far.
    pub const ALL: [Self; 4] = [Self::Core, Self::Cache, Self::Node, Self::Machine];

    /// Whose line it is, for people.
    pub fn whose(self) -> &'static str {
        match self {
            Self::Core => "a thread of the same core",
            Self::Cache => "a core of the same last-level cache",
            Self::Node => "a core of another last-level cache",
            Self::Machine => "a core of another node",
        }
    }
}

/// The rounds so far.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    values: BTreeMap<Key, Vec<u64>>,
}

impl Rounds {
    /// Another round of `key`.
    pub fn add(&mut self, key: Key, value: u64) {
        self.values.entry(key).or_default().push(value);
    }

    /// The rounds of `key`.
    pub fn of(&self, key: &Key) -> &[u64] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// Median, least and largest round of `key`; `None`: it was not measured.
    pub fn reading(&self, key: &Key) -> Option<Reading> {
        reading(self.of(key).iter().copied())
    }

    /// The costs of core type `core` in the order of their keys.
    pub fn costs(&self, core: usize) -> Vec<(&'static str, Reading)> {
        let of_core = |(key, values): (&Key, &Vec<u64>)| match key {
            Key::Cost(known, name) if *known == core => {
                Some((*name, reading(values.iter().copied())?))
            }
            _ => None,
        };
        self.values.iter().filter_map(of_core).collect()
    }
}

/// A machine file takes no cost above a second, ns.
const MOST: u32 = 1_000_000_000;

/// Median, least and largest of `values`, at most [`MOST`]; `None`: there are none. Of an even
/// number of values the median is the higher one in the middle.
pub(crate) fn reading(values: impl Iterator<Item = u64>) -> Option<Reading> {
    let mut sorted: Vec<u32> = values
        .map(|value| u32::try_from(value).unwrap_or(MOST).min(MOST))
        .collect();
    sorted.sort_unstable();
    Some(Reading {
        value: *sorted.get(sorted.len() / 2)?,
        spread: [*sorted.first()?, *sorted.last()?],
    })
}

/// The median of `values`, 0 of none.
pub(crate) fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
