// SPDX-License-Identifier: GPL-2.0-only
//! Runs the tasks' programs: each operation first costs time on its CPU, then
//! takes effect; what it wakes or waits for may change who runs.

mod control;
mod cost;
mod lives;
mod locks;
mod measures;
mod messages;
mod recorded;
mod requests;
mod sleep;

use crate::dispatch::Sim;
use crate::program::effect::Effect;
use crate::world::state::Call;
use alight_workload::program::Op;
pub(crate) use sleep::TIMER_SLACK;

/// Number of operations of one task in one instant that count as an endless loop.
const MOST_IN_NO_TIME: u32 = 1_000_000;

impl Sim<'_> {
    /// The cost of the current task's operation has passed on `cpu`: lets the operation take
    /// effect, and goes on until an operation takes time.
    #[inline(always)]
    pub fn execute(&mut self, cpu: usize) {
        for _ in 0..MOST_IN_NO_TIME {
            let task = self.cpus[cpu].curr as usize;
            if self.tasks[task].computing {
                let ended_at = self.work_ended(cpu, task);
                self.run_ended(task, ended_at);
            }
            // In a call to wait the task is queued: it ends after the call.
            if self.tasks[task].cancelled && self.tasks[task].call != Call::In {
                self.exit(cpu, task);
                return self.schedule(cpu);
            }
            if self.tasks[task].fresh {
                if self.begin(cpu, task) {
                    return;
                }
                // A zero-length Run precedes another Run or RunWall: fetch that one's cost.
                if self.tasks[task].fresh {
                    continue;
                }
            }
            let op = self.ops[self.tasks[task].pc as usize];
            self.tasks[task].wall_until = 0;
            match self.take_effect(cpu, task, op) {
                Effect::Done => self.step(task),
                Effect::Jump(to) => {
                    self.tasks[task].pc = to;
                    self.tasks[task].fresh = true;
                    self.come_round(cpu, to);
                }
                Effect::DoneAfterSleep => {
                    self.step(task);
                    return self.schedule(cpu);
                }
                Effect::RetryAfterSleep => return self.schedule(cpu),
                Effect::RetryAfterWork => {}
                Effect::Yield => {
                    if !self.goes_on_behind_yield(cpu, task) {
                        return;
                    }
                }
                Effect::Moved => return self.step(task),
                Effect::Exit => {
                    self.exit(cpu, task);
                    return self.schedule(cpu);
                }
            }
            if self.sees_resched(cpu) {
                return self.give_way(cpu);
            }
            // Time that the call charged passes first. Then the call ends, and tests whether to
            // give way.
            if self.cpus[cpu].steal != 0 {
                return;
            }
        }
        self.refuse_endless(cpu);
    }

    /// The operation at `pc`, whose cost has passed, takes effect.
    #[inline]
    fn take_effect(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Run { .. }
            | Op::RunWall { .. }
            | Op::Memory { .. }
            | Op::Chase { .. }
            | Op::Io { .. } => Effect::Done,
            Op::Sleep { .. } | Op::Stagger { .. } | Op::Timer { .. } => {
                self.go_to_sleep(cpu, task, op)
            }
            Op::Lock { .. }
            | Op::Unlock { .. }
            | Op::LockIndexed { .. }
            | Op::UnlockIndexed { .. }
            | Op::Wait { .. }
            | Op::Signal { .. }
            | Op::Broadcast { .. }
            | Op::SemPost { .. }
            | Op::SemWait { .. }
            | Op::Barrier { .. }
            | Op::LockCpu
            | Op::UnlockCpu => self.synchronize(cpu, task, op),
            Op::Write { .. } | Op::Read { .. } | Op::Poll { .. } => self.use_channel(cpu, task, op),
            Op::Call { .. }
            | Op::Serve { .. }
            | Op::Close { .. }
            | Op::Attend { .. }
            | Op::Gather { .. }
            | Op::Answer { .. }
            | Op::Unqueue { .. }
            | Op::Leave { .. } => self.use_desk(cpu, task, op),
            Op::Yield | Op::SetAttributes { .. } | Op::SetAttributesUntil { .. } => {
                self.ask_scheduler(cpu, task, op)
            }
            Op::Fork { .. } | Op::WaitChildren | Op::Exit | Op::Retire => {
                self.fork_or_end(cpu, task, op)
            }
            Op::LoopBegin { .. } | Op::LoopEnd { .. } | Op::Take { .. } => self.go_on(task, op),
            Op::Count { .. } | Op::Pass { .. } | Op::Mark { .. } | Op::Observe(_) => {
                self.note(task, op)
            }
            Op::Wake { .. }
            | Op::Await
            | Op::Enter { .. }
            | Op::SleepUntil { .. }
            | Op::SleepFor { .. }
            | Op::Complete { .. } => self.repeat_recorded(cpu, task, op),
        }
    }

    /// Ends the run: the current task of `cpu` has a loop that takes no time.
    #[cold]
    fn refuse_endless(&mut self, cpu: usize) {
        let name = &self.comms[self.cpus[cpu].curr as usize];
        let why = format!(
            "'{name}' executes a million operations at {} ns: it has a loop in which no operation \
             takes time; give it a run or a sleep",
            self.now
        );
        self.refuse(why);
    }
}

#[cfg(test)]
mod tests;
