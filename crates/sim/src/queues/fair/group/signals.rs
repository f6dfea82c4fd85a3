// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking through two levels: tasks of a group count in the group's queue,
//! its entity in the CPU's queue. Changes in the group's queue are propagated to the CPU's
//! queue, so that its utilization contains that of all tasks
//! (kernel/sched/fair.c, `update_load_avg` and its callees).

mod propagate;
mod tasks;

use crate::base::timeline::NONE;
use crate::kernel::{Shares, TaskGroups};
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::Pelt;
use alight_policy::{pelt, rq};

/// `PELT_MIN_DIVIDER`: the most that completed periods contribute.
const MIN_DIVIDER: u32 = MAX - 1024;
/// `LOAD_AVG_MAX`: limit of a sum.
const MAX: u32 = 47742;
/// The least time between two reports of a queue's load to its group, ns
/// (`update_tg_load_avg`, in kernels that limit it).
const TELL_NS: u64 = 1_000_000;

/// `get_pelt_divider`.
fn divider(signals: &Pelt) -> u32 {
    MIN_DIVIDER + signals.period_contrib
}

impl World<'_> {
    pub(super) fn group_rules(&self) -> TaskGroups {
        let rules = self.kernel.task_groups;
        rules.expect("a run with groups is one of a kernel with groups")
    }
}

impl Queues<'_> {
    /// Brings the time of queue `q` of a group to that of its CPU.
    fn group_clock(&mut self, q: usize) {
        let cpu = &self.power.core.cpus[q % self.groups.cpus];
        let view = &mut self.groups.queues[q - self.groups.cpus].view;
        view.clock = cpu.clock;
        view.clock_pelt = cpu.clock_pelt;
        view.lost_idle_time = cpu.lost_idle_time;
        view.capacity_orig = cpu.capacity_orig;
    }

    /// Called before the signals of a group's queue `q` are brought to now: load that was removed
    /// since the last update will leave it (`update_cfs_rq_load_avg`). True if a task of the
    /// group runs on the CPU.
    fn group_refreshes(&mut self, q: usize) -> bool {
        self.group_clock(q);
        let old_sums = self.group_rules().old_sums;
        let queue = &mut self.groups.queues[q - self.groups.cpus];
        if queue.view.removed_nr != 0 {
            let gone = u64::from(queue.view.removed_runnable) * u64::from(divider(&queue.view.cfs));
            queue.propagate = true;
            queue.prop_sum += match old_sums {
                true => -std::mem::take(&mut queue.removed_sum),
                false => -(gone as i64) >> 10,
            };
        }
        self.runs_in(q)
    }

    /// `task` came to (`sign` 1) or left (-1) queue `q` of a group with its signals.
    fn group_propagates(&mut self, q: usize, task: u32, sign: i64) {
        let sum = self.views[task as usize].pelt.load_sum as i64;
        let queue = &mut self.groups.queues[q - self.groups.cpus];
        queue.propagate = true;
        queue.prop_sum += sign * sum;
    }

    /// First signals of a new task (`post_init_entity_util_avg`).
    pub fn init_signals(&mut self, cpu: usize, task: u32) {
        let q = self.queue_of(cpu, task);
        if q != cpu {
            self.group_clock(q);
        }
        let k = self.core.params;
        match q == cpu {
            true => {
                let world = self.world();
                rq::init_util(&k, &world.core.cpus[cpu], &mut world.views[task as usize])
            }
            false => {
                let (view, queue) = self.view_and_queue(task, q);
                rq::init_util(&k, queue, view);
            }
        }
    }

    /// A task that sleeps or has ended leaves its old queue on `cpu` ([`rq::remove`]).
    pub fn remove_signals(&mut self, cpu: usize, task: u32) {
        let q = self.queue_of(cpu, task);
        let world = self.world();
        let k = &world.core.params;
        if q == cpu {
            let queue = &mut world.core.cpus[cpu];
            return rq::remove(k, queue, &mut world.views[task as usize]);
        }
        let k = *k;
        let (view, queue) = self.view_and_queue(task, q);
        let attached = view.pelt.last_update_time != 0;
        rq::remove(&k, queue, view);
        let sum = view.pelt.load_sum as i64;
        if attached {
            self.groups.queues[q - self.groups.cpus].removed_sum += sum;
        }
    }

    /// PELT time at which the queue of `task` on `cpu` was last updated
    /// (`cfs_rq_last_update_time`).
    pub fn queue_last_update(&self, cpu: usize, task: u32) -> u64 {
        let q = self.queue_of(cpu, task);
        if q == cpu {
            return self.core.cpus[cpu].cfs.last_update_time;
        }
        self.groups.queues[q - self.groups.cpus]
            .view
            .cfs
            .last_update_time
    }

    fn view_and_queue(
        &mut self,
        task: u32,
        q: usize,
    ) -> (&mut alight_policy::Task, &mut alight_policy::Cpu) {
        let queue = &mut self.groups.queues[q - self.groups.cpus];
        (&mut self.power.views[task as usize], &mut queue.view)
    }

    /// Updates the runnable tasks that the entity counts (`se_update_runnable`).
    pub(super) fn runnable_changed(&mut self, entity: u32) {
        let queue = self.group_queue_mut(entity);
        let view = &queue.view;
        queue.runnable = u64::from(view.h_nr_running - u32::from(view.h_nr_delayed));
    }

    /// Queue `q` reports its load to its group, if its signals have `changed` and by more than a
    /// 64th (`update_tg_load_avg`). If the group's weight depends on the number of its tasks, the
    /// queue reports its runnable tasks too.
    fn told(&mut self, q: usize, changed: bool) {
        if !changed || !self.hotplug.online.contains((q % self.groups.cpus) as u32) {
            return;
        }
        let rules = self.group_rules();
        let limited = rules.tells_rarely;
        let nr = q - self.groups.cpus;
        let queue = &mut self.groups.queues[nr];
        if limited && self.power.now - queue.contributed_at < TELL_NS {
            return;
        }
        let load = u64::from(queue.view.cfs.load_avg);
        let runnable = match rules.shares {
            Shares::Own => 0,
            Shares::PerTask => u64::from(queue.view.cfs.runnable_avg),
        };
        let told = [
            (load, queue.contribution),
            (runnable, queue.runnable_contribution),
        ];
        if (told.iter()).any(|&(now, told)| now.abs_diff(told) > told / 64) {
            let group = &mut self.groups.groups[nr / self.groups.cpus];
            group.load_avg = group.load_avg - queue.contribution + load;
            group.runnable_avg = group.runnable_avg - queue.runnable_contribution + runnable;
            (queue.contribution, queue.runnable_contribution) = (load, runnable);
            queue.contributed_at = self.power.now;
        }
    }

    /// `cpu` went offline: removes its load from the groups (`clear_tg_offline_cfs_rqs`).
    pub fn groups_offline(&mut self, cpu: usize) {
        for (nr, group) in self.groups.groups.iter_mut().enumerate() {
            let queue = &mut self.groups.queues[nr * self.groups.cpus + cpu];
            group.load_avg -= std::mem::take(&mut queue.contribution);
            group.runnable_avg -= std::mem::take(&mut queue.runnable_contribution);
        }
    }

    /// The load of `task` in the queue of its CPU: its part of its group's load (`task_h_load`).
    pub fn task_h_load(&self, task: u32) -> u32 {
        let view = &self.views[task as usize];
        let own = view.pelt.load_avg;
        if !self.groups.used {
            return own;
        }
        let cpu = view.prev_cpu as usize;
        let Some(entity) = self.group_entity(cpu, task) else {
            return own;
        };
        let root = u64::from(self.core.cpus[cpu].cfs.load_avg);
        let group = u64::from(self.views[entity as usize].pelt.load_avg);
        let queue = u64::from(self.group_queue(entity).view.cfs.load_avg);
        (u64::from(own) * (root * group / (root + 1)) / (queue + 1)) as u32
    }

    /// Prepares the signals of `task` for the placement core: the load is that in the queue of its
    /// CPU, and a sleeper's signals decay to the last update of the queue that it left
    /// (`sync_entity_load_avg`). Returns the signals as they were.
    pub fn lend_signals(&mut self, task: usize) -> Option<Pelt> {
        if !self.groups.used || task >= self.groups.tasks || self.task_group(task as u32) == NONE {
            return None;
        }
        let was = self.views[task].pelt;
        let q = self.queue_of(self.views[task].prev_cpu as usize, task as u32);
        let (view, queue) = self.view_and_queue(task as u32, q);
        let weight = view.weight.into();
        if !view_on_queue(view)
            && view.pelt.last_update_time != 0
            && pelt::accumulate(&mut view.pelt, queue.cfs.last_update_time, 0, 0, 0)
        {
            pelt::average(&mut view.pelt, weight);
        }
        self.views[task].pelt.load_avg = self.task_h_load(task as u32);
        Some(was)
    }

    /// Brings the signals of a group's entity and of the queue of `cpu` to now
    /// (`update_load_avg`).
    pub(super) fn refresh_entity(&mut self, cpu: usize, entity: u32) {
        let running = self.groups.roots[cpu].curr == entity;
        let queued = self.on_queue(entity);
        let runnable = self.group_queue(entity).runnable;
        let root_runs = self.runs_in(cpu);
        let world = self.world();
        let root = &mut world.core.cpus[cpu];
        let now = (root.clock_pelt - root.lost_idle_time).max(1);
        let view = &mut world.views[entity as usize];
        if pelt::accumulate(&mut view.pelt, now, queued.into(), runnable, running.into()) {
            pelt::average(&mut view.pelt, view.weight.into());
        }
        let changed = rq::refresh(&world.core.params, root, root_runs);
        if self.propagate(cpu, entity) || changed {
            self.cpufreq_update(cpu);
        }
        self.signals_changed(cpu);
    }

    /// Decays the load of the groups on `cpu` to now; the CPU's own queue is refreshed
    /// afterwards (`__update_blocked_fair`).
    pub fn groups_refresh_blocked(&mut self, cpu: usize) {
        for nr in 0..self.groups.groups.len() {
            let at = nr * self.groups.cpus + cpu;
            let q = self.groups.cpus + at;
            let running = self.group_refreshes(q);
            let queue = &mut self.groups.queues[at];
            let changed = rq::refresh(&self.power.core.params, &mut queue.view, running);
            let propagates = queue.propagate;
            self.told(q, changed);
            let entity = (self.groups.tasks + at) as u32;
            let signals = &self.views[entity as usize].pelt;
            if signals.load_avg != 0 || signals.util_avg != 0 || propagates {
                self.refresh_entity(cpu, entity);
            }
        }
    }
}

fn view_on_queue(view: &alight_policy::Task) -> bool {
    view.flags & alight_policy::abi::task_flag::ON_RQ != 0
}
