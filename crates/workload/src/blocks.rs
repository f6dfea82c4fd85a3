// SPDX-License-Identifier: GPL-2.0-only
//! Programs that a seed draws: a recording cut into blocks of time, put together in another order.
//!
//! All tasks are cut at the same times, and a draw takes a block of all of them, so that what tasks
//! do to each other within a block stays. Two rules join blocks:
//!
//! - a task that sleeps at the end of one block and at the start of the next sleeps on, and what ends
//!   its sleep in the next block wakes it;
//! - a task that sleeps at the end of one block only goes on at once.
//!
//! Blocks in which tasks are born or end stay where they are.

use crate::program::{Op, Program};

/// What one task does, in blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pieces {
    /// Its operations, in the recorded order.
    pub ops: Vec<Op>,
    /// Where each block begins, and where the last one ends.
    pub cuts: Vec<Cut>,
}

/// Where a task stands at the time of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// The first operation behind it.
    pub op: u32,
    /// Awaits that ended before it.
    pub awaits: u32,
    /// The task sleeps: the operation before the cut is its sleep.
    pub asleep: bool,
}

/// A recording in blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Blocks {
    /// The tasks of the workload, in their order.
    pub tasks: Vec<Pieces>,
    /// When each block begins, and when the last one ends, ns after the start.
    pub times: Vec<u64>,
    /// The blocks from `first` up to `last`, without it, are drawn; the others stay.
    pub first: usize,
    /// See `first`.
    pub last: usize,
    /// How many are drawn.
    pub drawn: usize,
}

impl Blocks {
    /// Checks that cuts rise and lie within their programs, and that the drawn blocks exist.
    ///
    /// # Errors
    /// Says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let nr = self.times.len().saturating_sub(1);
        if self.first > self.last || self.last > nr || self.drawn > 0 && self.first == self.last {
            let (first, last) = (self.first, self.last);
            return Err(format!("blocks {first} to {last} of {nr} cannot be drawn"));
        }
        if !self.times.is_sorted() {
            return Err("times of blocks go back".to_owned());
        }
        for (at, pieces) in self.tasks.iter().enumerate() {
            let ends = pieces.cuts.last().map_or(0, |cut| cut.op as usize);
            let rise = pieces.cuts.is_sorted_by_key(|cut| (cut.op, cut.awaits));
            if pieces.cuts.len() != self.times.len() || !rise || ends > pieces.ops.len() {
                return Err(format!("task {at} is not cut into {nr} blocks"));
            }
        }
        Ok(())
    }

    /// The order of blocks that a sequence of numbers draws: `draw(k, n)` is the k-th number, below n.
    pub fn order(&self, draw: impl Fn(u64, u64) -> u64) -> Vec<usize> {
        let many = (self.last - self.first) as u64;
        let drawn = (0..self.drawn as u64).map(|k| self.first + draw(k, many) as usize);
        let before = 0..self.first;
        let behind = self.last..self.times.len().saturating_sub(1);
        before.chain(drawn).chain(behind).collect()
    }

    /// The programs of all tasks with the blocks in this order.
    pub fn programs(&self, order: &[usize]) -> Vec<Program> {
        // Awaits of each task in the blocks before.
        let mut begun = vec![0; self.tasks.len()];
        let mut ops = vec![Vec::new(); self.tasks.len()];
        let mut start = 0;
        for &block in order {
            let known: Vec<Vec<u32>> = self.woken_in(block);
            let join = Join {
                blocks: self,
                block,
                start,
                begun: &begun,
                known: &known,
            };
            let mut added = Vec::with_capacity(self.tasks.len());
            for (task, to) in ops.iter_mut().enumerate() {
                added.push(join.piece(task, to));
            }
            for (begun, added) in begun.iter_mut().zip(added) {
                *begun += added;
            }
            start += self.times[block + 1] - self.times[block];
        }
        ops.into_iter().map(|ops| Program { ops }).collect()
    }

    /// The awaits of each task that a wakeup of the block ends, in rising order.
    fn woken_in(&self, block: usize) -> Vec<Vec<u32>> {
        let mut woken = vec![Vec::new(); self.tasks.len()];
        for pieces in &self.tasks {
            for op in pieces.block(block) {
                if let Op::Wake { task, nth, .. } = *op
                    && let Some(all) = woken.get_mut(task as usize)
                {
                    all.push(nth);
                }
            }
        }
        for (all, pieces) in woken.iter_mut().zip(&self.tasks) {
            let (from, to) = pieces.awaits(block);
            all.retain(|nth| (from..to).contains(nth));
            all.sort_unstable();
            all.dedup();
        }
        woken
    }
}

impl Pieces {
    fn block(&self, block: usize) -> &[Op] {
        let (from, to) = (
            self.cuts[block].op as usize,
            self.cuts[block + 1].op as usize,
        );
        self.ops.get(from..to).unwrap_or_default()
    }

    /// The awaits that stand in a block or end in it, from 1; the end is without.
    fn awaits(&self, block: usize) -> (u32, u32) {
        let (from, to) = (self.cuts[block], self.cuts[block + 1]);
        (from.awaits + 1, to.awaits + 1)
    }

    /// The sleep that a task is in at the start of a block.
    fn sleep_before(&self, block: usize) -> Option<Op> {
        let cut = self.cuts[block];
        let at = (cut.op as usize).checked_sub(1)?;
        cut.asleep.then(|| self.ops.get(at).copied()).flatten()
    }
}

/// A block behind others.
struct Join<'a> {
    blocks: &'a Blocks,
    block: usize,
    /// When it begins in the new order, ns.
    start: u64,
    begun: &'a [u32],
    known: &'a [Vec<u32>],
}

impl Join<'_> {
    /// Adds what a task does in the block; answers how many awaits that has.
    fn piece(&self, task: usize, to: &mut Vec<Op>) -> u32 {
        let pieces = &self.blocks.tasks[task];
        let ops = pieces.block(self.block);
        let stays_asleep = pieces.cuts[self.block + 1].asleep;
        let slept_through = stays_asleep && ops.is_empty();
        let first = pieces
            .sleep_before(self.block)
            .filter(|_| !slept_through)
            .into_iter();
        let last = ops.len() - usize::from(stays_asleep && !ops.is_empty());
        let mut nth = pieces.awaits(self.block).0;
        let mut added = 0;
        for op in first.chain(ops[..last].iter().copied()) {
            match op {
                Op::Await => {
                    if self.known[task].binary_search(&nth).is_ok() {
                        to.push(op);
                        added += 1;
                    }
                    nth += 1;
                }
                op => to.extend(self.moved(op)),
            }
        }
        added
    }

    /// The operation in its new place; none if it is nothing there.
    fn moved(&self, op: Op) -> Option<Op> {
        Some(match op {
            Op::Wake {
                task,
                nth,
                hand_off,
                sync,
            } => {
                let known = self.known.get(task as usize)?;
                let at = known.binary_search(&nth).ok()? as u32;
                Op::Wake {
                    task,
                    nth: self.begun[task as usize] + at + 1,
                    hand_off,
                    sync,
                }
            }
            Op::SleepUntil { ns, slack_ns } => {
                let within = ns.saturating_sub(self.blocks.times[self.block]);
                Op::SleepUntil {
                    ns: self.start + within,
                    slack_ns,
                }
            }
            other => other,
        })
    }
}

#[cfg(test)]
mod tests;
