// SPDX-License-Identifier: GPL-2.0-only
//! Operations on channels and desks.

use crate::program::Programs;
use crate::program::effect::Effect;
use alight_workload::program::Op;

impl Programs<'_> {
    /// The current task of `cpu` writes to a channel, reads from it, or waits until it can.
    #[inline(always)]
    pub(super) fn use_channel(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Write { channel, bytes } => {
                self.trace_call(cpu, task, op);
                let effect = self.write(cpu, channel, bytes);
                self.trace_call_end(cpu, task, effect)
            }
            Op::Read { channel, bytes } => {
                self.trace_call(cpu, task, op);
                let effect = self.read(cpu, channel, bytes);
                self.trace_call_end(cpu, task, effect)
            }
            Op::Poll { channel } => self.poll(cpu, channel),
            _ => unreachable!(),
        }
    }

    /// The current task of `cpu` calls at a desk, or serves there.
    #[inline(always)]
    pub(super) fn use_desk(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Call { desk, stamp } => self.call(cpu, desk, stamp),
            Op::Serve { desk, done } => self.serve(cpu, desk, done),
            Op::Close { desk } => self.close(cpu, desk),
            Op::Attend { desk, stamp } => self.attend(cpu, desk, stamp),
            Op::Gather { desk, none } => self.gather(desk, none),
            Op::Answer { desk, last } => self.answer(cpu, desk, last),
            Op::Unqueue { desk, none } => self.unqueue(desk, none),
            Op::Leave {
                first,
                limit,
                pause_ns,
            } => {
                let desk = first + self.tasks[task].register;
                match self.leave_request(cpu, desk, limit) {
                    true => Effect::Done,
                    false => self.sleep(cpu, task, pause_ns.into()),
                }
            }
            _ => unreachable!(),
        }
    }
}
