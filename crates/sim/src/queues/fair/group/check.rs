// SPDX-License-Identifier: GPL-2.0-only
//! The invariants of groups, checked after every event.

use super::{FINE, GroupQueue, MIN_SHARES};
use crate::base::timeline::NONE;
use crate::queues::Queues;
use alight_policy::abi::class;

/// Sums over the tasks of a queue: number, weight, number of SCHED_IDLE ones.
type Sums = (u32, u32, u32);

impl Queues<'_> {
    /// Number of tasks in the queues of `cpu`, in groups and without; the current one is not
    /// among them.
    pub fn queued_on(&self, cpu: usize) -> u32 {
        let root = self.fair_queued(cpu);
        if !self.groups.nested {
            return root;
        }
        let (mut entities, mut tasks) = (0, 0);
        for (q, entity) in self.groups_on(cpu) {
            let waits = self.on_queue(entity) && self.groups.roots[cpu].curr != entity;
            entities += u32::from(waits);
            tasks += self.fair_queued(q);
        }
        root - entities + tasks
    }

    /// Weight that groups have in the queue of `cpu`.
    pub fn group_weight(&self, cpu: usize) -> u32 {
        self.groups.roots.get(cpu).map_or(0, |root| root.weight)
    }

    /// Queue and entity of each group on `cpu`.
    fn groups_on(&self, cpu: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        (0..self.groups.groups.len()).map(move |nr| {
            let at = nr * self.groups.cpus + cpu;
            (self.groups.cpus + at, (self.groups.tasks + at) as u32)
        })
    }

    /// What is wrong with the groups.
    pub fn groups_check(&self) -> Option<String> {
        if !self.groups.used {
            return None;
        }
        for (nr, group) in self.groups.groups.iter().enumerate() {
            let all: &[GroupQueue] = &self.groups.queues;
            let queues = &all[nr * self.groups.cpus..][..self.groups.cpus];
            let told = |what: fn(&GroupQueue) -> u64| queues.iter().map(what).sum::<u64>();
            let told = (
                told(|queue| queue.contribution),
                told(|queue| queue.runnable_contribution),
            );
            if told != (group.load_avg, group.runnable_avg) {
                return Some(format!(
                    "group {nr} knows of a load and tasks of {:?}, its queues told it of {told:?}",
                    (group.load_avg, group.runnable_avg)
                ));
            }
            let most = match self.groups.flat {
                true => group.shares * self.groups.cpus as u64,
                false => group.shares,
            };
            let shares = MIN_SHARES..=most;
            if let Some(queue) = queues
                .iter()
                .find(|q| q.weight != super::NICE_0_FINE && !shares.contains(&q.weight))
            {
                return Some(format!(
                    "group {nr} of weight {} has an entity of {}",
                    group.shares, queue.weight
                ));
            }
        }
        let found = self.sums_of_groups();
        (0..self.cpus.len()).find_map(|cpu| self.groups_check_on(cpu, &found))
    }

    /// The sums over the tasks of each group's queue.
    fn sums_of_groups(&self) -> Vec<Sums> {
        let mut found = vec![(0, 0, 0); self.groups.queues.len()];
        for task in 0..self.groups.tasks as u32 {
            let q = self.queue_of(self.tasks[task as usize].cpu as usize, task);
            if !self.on_queue(task) || self.is_rt(task) || q < self.groups.cpus {
                continue;
            }
            let view = &self.views[task as usize];
            let sums: &mut Sums = &mut found[q - self.groups.cpus];
            sums.0 += 1;
            sums.1 += view.weight;
            sums.2 += u32::from(view.class == class::IDLE);
        }
        found
    }

    fn groups_check_on(&self, cpu: usize, found: &[Sums]) -> Option<String> {
        let mut fine = 0;
        for (q, entity) in self.groups_on(cpu) {
            let queue = self.group_queue(entity);
            let view = &queue.view;
            let sums = (view.h_nr_running, view.weight, view.h_nr_idle);
            if sums != found[q - self.groups.cpus] {
                return Some(format!(
                    "queue {q} counts {sums:?} tasks, weight and idle ones, it has {:?}",
                    found[q - self.groups.cpus]
                ));
            }
            let queued = self.on_queue(entity);
            if queued != (view.h_nr_running != 0 || self.is_delayed(entity)) {
                return Some(format!(
                    "CPU {cpu}: a group with {} tasks is{} queued",
                    view.h_nr_running,
                    if queued { "" } else { " not" }
                ));
            }
            if queued {
                fine += queue.weight;
            }
            if self.groups.nested
                && let Some(what) = self.fair_check(q)
            {
                return Some(what);
            }
        }
        let root = &self.groups.roots[cpu];
        let off = u64::from(root.weight).abs_diff(root.fine >> FINE);
        if root.fine != fine || off > 2 {
            return Some(format!(
                "CPU {cpu} counts weight {} of groups, there is {fine} / 1024",
                root.weight
            ));
        }
        let curr = self.cpus[cpu].curr;
        let runs = match curr == NONE || self.curr_is_rt(cpu) {
            true => NONE,
            false => self.group_entity(cpu, curr).unwrap_or(NONE),
        };
        (root.curr != runs).then(|| {
            format!(
                "CPU {cpu} runs task {} in group {}",
                curr as i32, root.curr as i32
            )
        })
    }
}
