// SPDX-License-Identifier: GPL-2.0-only
//! Locks, conditions, semaphores and barriers: tasks wait for each other.

use crate::program::Programs;
use crate::program::effect::Effect;
use alight_workload::program::Op;

impl Programs<'_> {
    /// The current task of `cpu` takes or releases an object that tasks share, waits for it, or
    /// wakes its waiters.
    #[inline(always)]
    pub(super) fn synchronize(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Lock { mutex } => self.lock(cpu, mutex),
            Op::Unlock { mutex } => self.unlock(cpu, mutex),
            Op::LockIndexed { base } => {
                let mutex = base + self.tasks[task].register;
                self.lock(cpu, mutex)
            }
            Op::UnlockIndexed { base } => {
                let mutex = base + self.tasks[task].register;
                self.unlock(cpu, mutex)
            }
            Op::Wait { condition, mutex } => self.wait_condition(cpu, condition, mutex),
            Op::Signal { condition } => self.signal(cpu, condition, false),
            Op::Broadcast { condition } => self.signal(cpu, condition, true),
            Op::SemPost { semaphore } => self.sem_post(cpu, semaphore),
            Op::SemWait { semaphore } => self.sem_wait(cpu, semaphore),
            Op::Barrier { barrier } => self.barrier(cpu, barrier),
            Op::LockCpu => self.lock_cpu(cpu, task),
            Op::UnlockCpu => self.unlock_cpu(task),
            _ => unreachable!(),
        }
    }
}
