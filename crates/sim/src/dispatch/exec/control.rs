// SPDX-License-Identifier: GPL-2.0-only
//! Where a program goes on: behind an operation, at the begin of a loop, or where nothing more is dealt.

use crate::program::Programs;
use crate::program::effect::Effect;
use crate::world::World;
use alight_workload::program::{LOOP_SLOTS, Op};

impl World<'_> {
    /// The operation at `pc` is done.
    pub(super) fn step(&mut self, task: usize) {
        self.tasks[task].pc += 1;
        self.tasks[task].fresh = true;
    }

    /// Goes on behind the operation at `pc`, through ends of loops, which
    /// concern nobody else; returns the operation found.
    #[inline]
    pub(super) fn skip_loops(&mut self, task: usize) -> Op {
        self.tasks[task].pc += 1;
        self.leave_loops(task);
        self.ops[self.tasks[task].pc as usize]
    }

    /// Goes through the ends of loops that stand at `pc`.
    #[inline]
    pub fn leave_loops(&mut self, task: usize) {
        // A loop of loop ends would not end: its bound is the nesting.
        for _ in 0..LOOP_SLOTS {
            let Op::LoopEnd { slot, begin } = self.ops[self.tasks[task].pc as usize] else {
                break;
            };
            let next = self.loop_end(task, slot, begin);
            self.tasks[task].pc = next.unwrap_or(self.tasks[task].pc + 1);
        }
    }

    /// Where a loop goes on, if it does.
    #[inline]
    fn loop_end(&mut self, task: usize, slot: u8, begin: u32) -> Option<u32> {
        let left = &mut self.tasks[task].loops[slot as usize];
        if *left != u64::MAX {
            *left -= 1;
        }
        (*left != 0).then_some(begin)
    }
}

impl Programs<'_> {
    /// A loop begins or ends, or a deal is asked for what it has next.
    #[inline(always)]
    pub(super) fn go_on(&mut self, task: usize, op: Op) -> Effect {
        match op {
            Op::LoopBegin { slot, count, end } => {
                if count == 0 {
                    return Effect::Jump(end);
                }
                self.tasks[task].loops[slot as usize] = count;
                Effect::Done
            }
            Op::LoopEnd { slot, begin } => self
                .loop_end(task, slot, begin)
                .map_or(Effect::Done, Effect::Jump),
            Op::Take { deal, done } => self.take(task, deal, done),
            _ => unreachable!(),
        }
    }
}
