// SPDX-License-Identifier: GPL-2.0-only
//! Traces calls on channels, for a sink that wants details.

use crate::program::Programs;
use crate::program::effect::Effect;
use crate::world::World;
use crate::world::state::Task;
use alight_trace::Detail;
use alight_workload::program::Op;

impl Programs<'_> {
    /// The current task of `cpu` is in the call `op` on a channel; all of its cost has passed.
    #[inline]
    pub fn trace_call(&mut self, cpu: usize, task: usize, op: Op) {
        if self.detailed {
            self.trace_channel(cpu, task, op, 0);
        }
    }

    /// `task` leaves `cpu` in the call at its `pc`.
    #[inline]
    pub fn trace_preempted_call(&mut self, cpu: usize, task: usize) {
        if self.detailed {
            let Task { pc, units, .. } = self.tasks[task];
            self.trace_channel(cpu, task, self.ops[pc as usize], units);
        }
    }

    /// Traces a call on a channel; `left` units of its cost are still to pass.
    fn trace_channel(&mut self, cpu: usize, task: usize, op: Op, left: u64) {
        let (writes, channel, bytes) = match op {
            Op::Write { channel, bytes } => (true, channel, bytes),
            Op::Read { channel, bytes } => (false, channel, bytes),
            _ => return,
        };
        let cost = self.costs(cpu).ops[self.op_costs[self.tasks[task].pc as usize] as usize];
        let detail = Detail::Call {
            task: self.task_ref(task as u32),
            writes,
            socket: !self.channels[channel as usize].is_pipe(),
            channel,
            bytes,
            work: cost.saturating_sub(left),
        };
        self.detail(cpu, detail);
    }
}

impl World<'_> {
    /// Traces the end of the current task's call on a channel, if `effect` says that it is done.
    #[inline]
    pub fn trace_call_end(&mut self, cpu: usize, task: usize, effect: Effect) -> Effect {
        if self.detailed
            && effect == Effect::Done
            && let Op::Write { bytes, .. } | Op::Read { bytes, .. } =
                self.ops[self.tasks[task].pc as usize]
        {
            let detail = Detail::CallEnd {
                task: self.task_ref(task as u32),
                bytes,
                reached_ns: self.reached(cpu),
            };
            self.detail(cpu, detail);
        }
        effect
    }
}
