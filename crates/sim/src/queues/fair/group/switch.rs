// SPDX-License-Identifier: GPL-2.0-only
//! Groups that run: the pick level by level, the switch, charges and ticks.

use crate::base::timeline::NONE;
use crate::kernel::BuddiesCleared;
use crate::kernel::tunables::Order;
use crate::queues::Queues;

impl Queues<'_> {
    /// The group that runs on `cpu` is charged, too (`update_curr`).
    pub(in crate::queues::fair) fn charge_group(&mut self, cpu: usize, delta: u64) {
        let entity = self.groups.roots[cpu].curr;
        if entity == NONE {
            return;
        }
        self.tasks[entity as usize].sum_exec += delta;
        match self.tunables.order {
            _ if self.groups.flat => {}
            Order::Cfs => self.charge_cfs(cpu, entity, delta),
            Order::Eevdf => self.charge_eevdf(cpu, entity, delta),
        }
    }

    /// The tick of the group of `task`, which runs on `cpu` (`entity_tick`).
    pub(in crate::queues::fair) fn tick_group(&mut self, cpu: usize, task: u32) {
        if let Some(entity) = self.group_entity(cpu, task) {
            self.refresh_entity(cpu, entity);
            self.update_group(cpu, entity);
            if self.tunables.order == Order::Cfs {
                self.tick_cfs(cpu, entity);
            }
            if self.groups.flat {
                self.weigh(cpu, task);
            }
        }
    }

    /// The task of `cpu` to run next, level by level (`pick_next_task_fair`, 7.2:
    /// `pick_task_fair`). A sleeper that is picked is dequeued, and the pick begins anew.
    pub(in crate::queues::fair) fn pick_grouped(&mut self, cpu: usize) -> u32 {
        'again: loop {
            let mut q = cpu;
            loop {
                let pick = match self.tunables.order {
                    Order::Cfs => {
                        let curr = self.fair_curr(q);
                        self.pick_cfs(q, curr)
                    }
                    Order::Eevdf => self.pick_at_switch(q),
                };
                if pick != NONE && self.is_delayed(pick) {
                    self.finish_delayed(q, pick);
                    continue 'again;
                }
                if pick == NONE || !self.is_group(pick) {
                    return pick;
                }
                q = self.groups.cpus + pick as usize - self.groups.tasks;
            }
        }
    }

    /// `next`, which may be [`NONE`] or of another class, is about to become current on `cpu`. A
    /// group that holds both `next` and the previous task stays current
    /// (`put_prev_entity`, `set_next_entity` of groups).
    pub fn switch_groups(&mut self, cpu: usize, next: u32) {
        let new = match next {
            NONE => NONE,
            next if self.is_rt(next) => NONE,
            next => self.group_entity(cpu, next).unwrap_or(NONE),
        };
        let old = self.groups.roots[cpu].curr;
        if new == old {
            return;
        }
        if old != NONE {
            if self.on_queue(old) {
                if self.groups.nested {
                    self.queue_in(cpu, old);
                }
                self.refresh_entity(cpu, old);
            }
            self.groups.roots[cpu].curr = NONE;
        }
        if new != NONE {
            if self.groups.nested {
                self.queue_out(cpu, new);
                if self.tunables.order == Order::Eevdf {
                    self.protect(cpu, new);
                }
            }
            self.refresh_entity(cpu, new);
            if self.tunables.buddies_cleared == BuddiesCleared::SwitchedTo {
                self.forget_buddy(cpu, new);
            }
            self.groups.roots[cpu].curr = new;
            let t = &mut self.tasks[new as usize];
            t.slice_start = t.sum_exec;
        }
    }

    /// No fair task runs on `cpu` from now on, and no group.
    #[inline]
    pub fn leave_groups(&mut self, cpu: usize) {
        if self.groups.used {
            self.switch_groups(cpu, NONE);
        }
    }
}
