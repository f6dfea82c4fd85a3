// SPDX-License-Identifier: GPL-2.0-only
//! Operations that create tasks, wait for children, and end the task.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::place::Place;
use crate::program::effect::Effect;
use crate::world::state::Life;
use alight_workload::program::Op;

impl Place<'_> {
    fn wait_children(&mut self, cpu: usize, task: usize) -> Effect {
        if self.tasks[task].children == 0 {
            return Effect::Done;
        }
        self.sleep_current(cpu);
        Effect::RetryAfterSleep
    }
}

impl Sim<'_> {
    /// A task forks, waits for its children, or ends.
    #[inline(always)]
    pub(super) fn fork_or_end(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Fork { task: child } => {
                self.tasks[child as usize].parent = task as u32;
                self.tasks[task].children += 1;
                self.inherit_flips(task, child as usize);
                if self.has_groups() {
                    self.inherit_group(task as u32, child);
                }
                self.start(cpu, child);
                Effect::Done
            }
            Op::WaitChildren => self.wait_children(cpu, task),
            Op::Exit => Effect::Exit,
            Op::Retire => {
                self.is_over(task);
                Effect::Done
            }
            _ => unreachable!(),
        }
    }

    /// Creates the task on `cpu`.
    pub(super) fn start(&mut self, cpu: usize, task: u32) {
        let parent = self.current_view(cpu);
        self.trace_fork(cpu, parent, task);
        self.comes_to_life(task);
        self.wake_new(cpu, task);
    }

    /// The task exists from now on.
    pub fn comes_to_life(&mut self, task: u32) {
        self.tasks[task as usize].started = self.now;
        self.cache_aware_thread(task, 1);
        let w = self.tasks[task as usize].workload as usize;
        if self.workloads[w].start == NEVER {
            self.workload_starts(w);
        }
    }

    /// The task ends; its parent may have waited for that.
    pub(super) fn exit(&mut self, cpu: usize, task: usize) {
        self.exit_current(cpu);
        self.cache_aware_thread(task as u32, -1);
        self.is_over(task);
        self.awaits_no_more(cpu, task);
        let parent = self.tasks[task].parent;
        if parent == NONE {
            return;
        }
        let world = self.world();
        let p = &mut world.tasks[parent as usize];
        p.children -= 1;
        // In any other sleep `pc` is at the next operation, which is fresh.
        let waits = p.life == Life::Asleep
            && !p.fresh
            && matches!(world.ops[p.pc as usize], Op::WaitChildren);
        if p.children == 0 && waits {
            self.wake(cpu, parent, false);
        }
    }
}
