// SPDX-License-Identifier: GPL-2.0-only
//! The control flow of programs: the next operation, loops, and jumps at the end of a deal.

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

    /// Goes past the operation at `pc` and past ends of loops, which other tasks cannot observe;
    /// returns the operation found.
    #[inline]
    pub(super) fn skip_loops(&mut self, task: usize) -> Op {
        self.tasks[task].pc += 1;
        self.leave_loops(task);
        self.ops[self.tasks[task].pc as usize]
    }

    /// Goes past the ends of loops at `pc`.
    #[inline]
    pub fn leave_loops(&mut self, task: usize) {
        // The depth of nesting bounds this: a loop of nothing but loop ends would not end.
        for _ in 0..LOOP_SLOTS {
            let Op::LoopEnd { slot, begin } = self.ops[self.tasks[task].pc as usize] else {
                break;
            };
            let next = self.loop_end(task, slot, begin);
            self.tasks[task].pc = next.unwrap_or(self.tasks[task].pc + 1);
        }
    }

    /// The begin of the loop, if the loop goes on.
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
    /// A loop begins or ends, or the task takes the next number of a deal.
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
