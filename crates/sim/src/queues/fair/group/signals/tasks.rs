// SPDX-License-Identifier: GPL-2.0-only
//! The functions of [`rq`] for a task that may be in a group.

use crate::queues::Queues;
use alight_policy::abi::class;
use alight_policy::rq;

impl Queues<'_> {
    /// [`rq::delay`] where `task` may be in a group.
    pub fn delay_grouped(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        let world = self.world();
        let view = &mut world.views[task as usize];
        if q == cpu {
            return rq::delay(&k, &mut world.core.cpus[cpu], view);
        }
        rq::est_dequeue(&k, &mut world.core.cpus[cpu], view, false);
        self.core.cpus[cpu].h_nr_delayed += 1;
        self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        rq::delay(&k, queue, view);
        false
    }

    /// [`rq::requeue`] where `task` may be in a group.
    pub fn requeue_grouped(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        if q == cpu {
            let running = self.runs_in(cpu);
            let world = self.world();
            let root = &mut world.core.cpus[cpu];
            return rq::requeue(&k, root, &mut world.views[task as usize], running);
        }
        let running = self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        rq::requeue(&k, queue, view, running);
        self.core.cpus[cpu].h_nr_delayed -= 1;
        let world = self.world();
        let view = &world.views[task as usize];
        rq::est_enqueue(&k, &mut world.core.cpus[cpu], view);
        false
    }

    /// [`rq::update_curr`] where `task` may be in a group; the queue reports its load to the group
    /// at a tick only.
    pub fn refresh_grouped(&mut self, cpu: usize, task: u32, tick: bool) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        if q == cpu {
            let world = self.world();
            let view = &mut world.views[task as usize];
            return rq::update_curr(&k, &mut world.core.cpus[cpu], view);
        }
        self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        let changed = rq::update_curr(&k, queue, view);
        self.told(q, changed && tick);
        false
    }

    /// [`rq::set_next`] where `task` may be in a group.
    pub fn set_next_grouped(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        if q == cpu {
            let world = self.world();
            let view = &mut world.views[task as usize];
            return rq::set_next(&k, &mut world.core.cpus[cpu], view);
        }
        self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        let changed = rq::set_next(&k, queue, view);
        self.told(q, changed);
        false
    }

    /// Counts `task` in (`sign` 1) or out (-1) on the CPU's own queue, in a group or not.
    fn count_task(&mut self, cpu: usize, task: u32, sign: i32) {
        self.pack_update_signals(cpu);
        let entity = self.root_entity(cpu, task);
        let idle = |e: u32| self.views[e as usize].class == class::IDLE;
        let idle = sign * i32::from(idle(task) || idle(entity));
        let root = &mut self.core.cpus[cpu];
        root.nr_running = root.nr_running.wrapping_add_signed(sign);
        root.h_nr_running = root.h_nr_running.wrapping_add_signed(sign);
        root.h_nr_idle = root.h_nr_idle.wrapping_add_signed(idle);
    }

    /// [`rq::enqueue`] where `task` may be in a group.
    pub fn enqueue_grouped(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        if q == cpu {
            let running = self.runs_in(cpu);
            let world = self.world();
            let root = &mut world.core.cpus[cpu];
            return rq::enqueue(
                &world.core.params,
                root,
                &mut world.views[task as usize],
                running,
            );
        }
        let running = self.group_refreshes(q);
        let view = &mut self.power.world.views[task as usize];
        let comes = view.pelt.last_update_time == 0;
        let queue = &mut self.groups.queues[q - self.groups.cpus];
        let changed = rq::enqueue(
            &self.power.world.core.params,
            &mut queue.view,
            view,
            running,
        );
        let (params, root, view) = self.rq_and_task(cpu, task);
        rq::est_enqueue(params, root, view);
        if comes {
            self.group_propagates(q, task, 1);
        }
        self.told(q, changed);
        self.count_task(cpu, task, 1);
        false
    }

    /// [`rq::dequeue`] of the current `task`, which may be in a group.
    pub fn dequeue_grouped(&mut self, cpu: usize, task: u32, sleeps: bool) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        let world = self.world();
        let view = &mut world.views[task as usize];
        if q == cpu {
            return rq::dequeue(&k, &mut world.core.cpus[cpu], view, true, true, sleeps);
        }
        rq::est_dequeue(&k, &mut world.core.cpus[cpu], view, false);
        self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        let changed = rq::dequeue(&k, queue, view, true, true, sleeps);
        self.told(q, changed);
        self.count_task(cpu, task, -1);
        false
    }

    /// [`rq::detach`] where `task` may be in a group.
    pub fn detach_grouped(&mut self, cpu: usize, task: u32) {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        if q == cpu {
            let running = self.runs_in(cpu);
            let world = self.world();
            let root = &mut world.core.cpus[cpu];
            return rq::detach(&k, root, &mut world.views[task as usize], running);
        }
        let world = self.world();
        let view = &mut world.views[task as usize];
        rq::est_dequeue(&k, &mut world.core.cpus[cpu], view, false);
        let running = self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        rq::detach(&k, queue, view, running);
        self.group_propagates(q, task, -1);
        self.told(q, true);
        self.count_task(cpu, task, -1);
    }

    /// [`rq::dequeue_delayed`] where `task` may be in a group.
    pub fn dequeue_delayed_grouped(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        let k = self.core.params;
        if q == cpu {
            let running = self.runs_in(cpu);
            let world = self.world();
            let root = &mut world.core.cpus[cpu];
            return rq::dequeue_delayed(&k, root, &mut world.views[task as usize], running);
        }
        let running = self.group_refreshes(q);
        let (view, queue) = self.view_and_queue(task, q);
        let changed = rq::dequeue_delayed(&k, queue, view, running);
        self.core.cpus[cpu].h_nr_delayed -= 1;
        self.told(q, changed);
        self.count_task(cpu, task, -1);
        false
    }
}
