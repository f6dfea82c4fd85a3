// SPDX-License-Identifier: GPL-2.0-only
//! The invariants of tasks, and sums over all tasks.

use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::state::{Life, Task};
use alight_policy::abi::task_flag;

/// Sums over the tasks of a run.
pub(super) struct Sums {
    /// Tasks on each CPU, and the weight of the fair ones that are in no group.
    pub queued: Vec<u32>,
    pub weight: Vec<u32>,
    /// Utilization estimates of the runnable fair tasks on each CPU.
    pub estimates: Vec<u64>,
    /// Number of tasks for whose end each workload waits.
    pub alive: Vec<u32>,
    /// Run time of all tasks, ns.
    pub ran: u64,
}

impl Queues<'_> {
    /// Sums the tasks up.
    ///
    /// # Errors
    /// Names what is wrong with one of them.
    pub(super) fn sum_tasks(&self) -> Result<Sums, String> {
        let nr_cpus = self.cpus.len();
        let mut sums = Sums {
            queued: vec![0; nr_cpus],
            weight: vec![0; nr_cpus],
            estimates: vec![0; nr_cpus],
            alive: vec![0; self.workloads.len()],
            ran: 0,
        };
        for (id, task) in self.tasks.iter().enumerate() {
            if task.life == Life::Group {
                continue;
            }
            sums.ran += task.sum_exec;
            let on_rq = self.views[id].flags & task_flag::ON_RQ != 0;
            if on_rq != (task.life == Life::Runnable || self.is_delayed(id as u32)) {
                return Err(format!("task {id} is {:?} but on_rq is {on_rq}", task.life));
            }
            if task.life != Life::Dead && !task.retired {
                sums.alive[task.workload as usize] += 1;
            }
            if on_rq {
                self.add_queued(id, task, &mut sums);
                if let Some(what) = self.misplaced(id, task) {
                    return Err(what);
                }
            }
            let pelt = &self.views[id].pelt;
            if pelt.util_avg > 1024 || pelt.runnable_avg > 1024 {
                return Err(format!(
                    "task {id} has util_avg {} runnable_avg {}",
                    pelt.util_avg, pelt.runnable_avg
                ));
            }
        }
        Ok(sums)
    }

    /// Adds a task to the sums of the CPU that it is on.
    fn add_queued(&self, id: usize, task: &Task, sums: &mut Sums) {
        let (view, cpu) = (&self.views[id], task.cpu as usize);
        sums.queued[cpu] += 1;
        if !self.is_rt(id as u32) && self.task_group(id as u32) == NONE {
            sums.weight[cpu] += view.weight;
        }
        if !self.is_rt(id as u32) && !self.is_delayed(id as u32) {
            let est = view.util_est_ewma.max(view.util_est_enqueued) | self.core.params.est_lsb;
            sums.estimates[cpu] += u64::from(est);
        }
    }

    /// What is wrong with the CPU that a task is on.
    fn misplaced(&self, id: usize, task: &Task) -> Option<String> {
        if !self.allowed(id as u32, task.cpu as usize) {
            return Some(format!(
                "task {id} is on CPU {} outside its affinity",
                task.cpu
            ));
        }
        let view = &self.views[id];
        (view.prev_cpu != task.cpu).then(|| {
            format!(
                "task {id} is on CPU {}, but its view says CPU {}",
                task.cpu, view.prev_cpu
            )
        })
    }
}
