// SPDX-License-Identifier: GPL-2.0-only
//! Utilization clamps that tasks ask for: their limits by group and system, and their effect
//! on the queue.

use crate::kernel::Clamps;
use crate::power::uclamp_sum::{add_up, summed};
use crate::queues::Queues;
use alight_policy::abi::task_flag;
use alight_policy::rq;
use alight_workload::program::{Attributes, Workload};

impl Queues<'_> {
    /// Sets `sched_uclamp_used` as it will be when the tasks begin: their first clamps count from
    /// the start. Up to 5.8 all tasks are always counted, which is visible only if one of
    /// `workloads` ever clamps.
    pub fn uclamp_init(&mut self, workloads: &[Workload]) {
        for task in 0..self.uclamp_limited() {
            self.uclamp_limit(task as u32);
        }
        let begun = |w: &Workload| w.tasks.iter().any(|task| asks(&task.attributes));
        let used = match self.kernel.clamps {
            Clamps::Unknown => false,
            _ if self.uclamp_limited() != 0 => true,
            Clamps::Always => workloads
                .iter()
                .any(|w| begun(w) || w.attributes.iter().any(asks)),
            Clamps::OnceUsed | Clamps::OnceQueued => workloads.iter().any(begun),
        };
        self.core.root.uclamp_used = used.into();
    }

    /// `task` has asked for other clamps, or is in another group or class.
    pub fn uclamp_limit(&mut self, task: u32) {
        if self.uclamp_limited() != 0 {
            let (group, is_rt) = (self.task_group(task), self.is_rt(task));
            self.uclamp_restrict(task, group, is_rt);
        }
    }

    /// The current task of `cpu` asks for other clamps (`sched_setattr`): it is
    /// taken off the queue and put back.
    pub fn uclamp_change(&mut self, cpu: usize, task: u32, min: Option<u32>, max: Option<u32>) {
        if min.is_none() && max.is_none() || self.kernel.clamps == Clamps::Unknown {
            return;
        }
        self.core.root.uclamp_used = 1;
        self.uclamp_leave(cpu, task);
        let view = &mut self.views[task as usize];
        view.uclamp_min = min.unwrap_or(view.uclamp_min);
        view.uclamp_max = max.unwrap_or(view.uclamp_max);
        if self.uclamp_limited() != 0 {
            self.uclamp_ask(task, min, max);
            self.uclamp_limit(task);
        }
        self.uclamp_join(cpu, task);
        self.uclamp_joined(cpu, task);
        if self.clamps_add_up() && !self.is_rt(task) {
            self.clamps_changed(cpu, task);
        }
    }

    /// The current task of `cpu`, a fair one, has other clamps (`sched_setattr`).
    pub fn clamps_changed(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        self.update_curr(cpu);
        let world = self.world();
        let (params, view) = (&world.core.params, &mut world.views[task as usize]);
        let queue = &mut world.core.cpus[cpu];
        let changed = rq::update_curr(params, queue, view);
        if rq::clamps_changed(params, queue, view) || changed {
            self.cpufreq_update(cpu);
        }
    }

    /// Checks the clamped sums of the queues against their tasks.
    ///
    /// # Errors
    /// Names the sum that differs.
    pub fn clamped_check(&self) -> Result<(), String> {
        let params = &self.core.params;
        if !add_up(params) {
            return Ok(());
        }
        let mut sums = vec![(0i64, 0u64, 0u64); self.cpus.len()];
        for (id, task) in self.views.iter().enumerate() {
            if task.flags & task_flag::ON_RQ == 0 || self.is_rt(id as u32) {
                continue;
            }
            let least = task.uclamp_min.min(task.uclamp_max) as i32;
            if summed(params) && !(least..=1024).contains(&task.pelt.uclamp) {
                return Err(format!(
                    "queued task {id} counts {}, its lower clamp is {least}",
                    task.pelt.uclamp
                ));
            }
            let sum = &mut sums[self.tasks[id].cpu as usize];
            sum.0 += i64::from(task.pelt.uclamp);
            if !self.is_delayed(id as u32) {
                sum.1 += u64::from(task.util_est_uclamp);
                sum.2 += u64::from(task.util_est_ewma.max(task.util_est_enqueued) | params.est_lsb);
            }
        }
        for (cpu, (sum, clamped, estimates)) in sums.into_iter().enumerate() {
            let view = &self.core.cpus[cpu];
            // A queue that has lost plain estimates has lost the clamped ones with them.
            let all_there = u64::from(view.util_est_enqueued) == estimates;
            let lost = all_there && u64::from(view.util_est_uclamp) != clamped;
            if i64::from(view.cfs.uclamp) != sum || lost {
                return Err(format!(
                    "CPU {cpu} sums {} and {} clamped, its tasks {sum} and {clamped}",
                    view.cfs.uclamp, view.util_est_uclamp
                ));
            }
            if summed(params) && i64::from(view.root_cfs_util_uclamp) < sum {
                return Err(format!(
                    "CPU {cpu} has {} clamped, less than the {sum} of its tasks",
                    view.root_cfs_util_uclamp
                ));
            }
        }
        Ok(())
    }
}

fn asks(attributes: &Attributes) -> bool {
    attributes.uclamp_min.is_some() || attributes.uclamp_max.is_some()
}
