// SPDX-License-Identifier: GPL-2.0-only
//! Operations that repeat recorded tasks: their wakeups, sleeps and calls.

use crate::dispatch::Sim;
use crate::program::effect::Effect;
use alight_workload::program::Op;

impl Sim<'_> {
    /// The current task of `cpu` repeats a recorded operation.
    #[inline(always)]
    pub(super) fn repeat_recorded(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Wake { .. } => self.wake_recorded(cpu, op),
            Op::Await => self.await_wakeup(cpu, task),
            Op::Enter { ns } => self.enter_recorded(cpu, task, ns),
            Op::SleepUntil { ns, slack_ns } => {
                let at = self.time_of(task, ns);
                self.sleep_to(cpu, task, at, slack_ns)
            }
            Op::SleepFor { ns, slack_ns } => {
                let at = self.now + ns;
                self.sleep_to(cpu, task, at, slack_ns)
            }
            Op::Complete { ns, cpu: on } => self.complete(cpu, task, ns, on),
            _ => unreachable!(),
        }
    }
}
