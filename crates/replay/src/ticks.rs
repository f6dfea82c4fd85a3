// SPDX-License-Identifier: GPL-2.0-only
//! When the CPUs tick: all at the same times, a tick apart (no `skew_tick`).
//!
//! A tick is seen when its interrupt gets to the handler: never early, and late where something else
//! was done first. Most are alike; the earliest of those is the phase.

/// Ticks that are looked at.
const ENOUGH: usize = 4096;
/// Ticks that are alike lie within this part of a tick.
const ALIKE: u64 = 20;

/// Ticks that were seen.
#[derive(Debug)]
pub(crate) struct Ticks {
    /// Length of a tick, ns.
    length: u64,
    /// When they were, within a tick.
    seen: Vec<u64>,
}

impl Ticks {
    /// None so far, on CPUs that tick `hz` times a second.
    pub fn new(hz: u32) -> Self {
        Ticks {
            length: 1_000_000_000 / u64::from(hz.max(1)),
            seen: vec![],
        }
    }

    /// One was seen so long after the start, ns.
    pub fn push(&mut self, at: u64) {
        if self.seen.len() < ENOUGH {
            self.seen.push(at % self.length);
        }
    }

    /// Time from the start to the first, ns; `None`: not known.
    pub fn first(&mut self) -> Option<u64> {
        let width = self.length / ALIKE;
        self.seen.sort_unstable();
        let seen = self.seen.len();
        let behind = |from: usize, k: usize| {
            let turns = (from + k) / seen;
            self.seen[(from + k) % seen] + turns as u64 * self.length - self.seen[from]
        };
        let mut best = (0, 0);
        let mut reach = 0;
        for from in 0..seen {
            reach = usize::max(reach, from);
            while reach - from < seen && behind(from, reach - from) <= width {
                reach += 1;
            }
            if reach - from > best.0 {
                best = (reach - from, self.seen[from]);
            }
        }
        let (alike, first) = best;
        let known = alike * 2 > seen;
        known.then_some(if first == 0 { self.length } else { first })
    }
}

#[cfg(test)]
mod tests;
