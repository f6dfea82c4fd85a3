// SPDX-License-Identifier: GPL-2.0-only
//! What must hold after every event, in a run that asks for it (`--check`). The checks read
//! everything and change nothing.

use crate::balance::Balancer;
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::face::api::Error;
use crate::queues::Queues;
use crate::world::state::{Life, Phase};
use alight_policy::abi::task_flag;

impl Queues<'_> {
    fn broken_cpu(&self, cpu: usize, queued: u32, weight: u32) -> Option<String> {
        let (c, view) = (&self.cpus[cpu], &self.core.cpus[cpu]);
        let (rt, rt_counted) = self.rt_counts(cpu);
        let running = u32::from(c.curr != NONE && !self.curr_is_rt(cpu));
        let fair = queued - rt;
        let weight = weight + self.group_weight(cpu);
        let counts = (view.nr_running, view.h_nr_running, view.weight);
        if counts != (fair + rt_counted, fair, weight) {
            return Some(format!(
                "CPU {cpu} counts {} tasks of weight {}, there are {queued} of {weight}",
                view.nr_running, view.weight
            ));
        }
        if let Some(what) = self.server_check(cpu) {
            return Some(what);
        }
        if self.has_classes()
            && let Some(what) = self.rt_check(cpu)
        {
            return Some(what);
        }
        if self.queued_on(cpu) + running != fair {
            return Some(format!(
                "CPU {cpu} queues {} and runs {running} of {queued}",
                self.queued_on(cpu)
            ));
        }
        if let Some(what) = self.hotplug_check(cpu) {
            return Some(what);
        }
        if let Some(what) = self.fair_check(cpu) {
            return Some(what);
        }
        if self.overloaded.contains(cpu as u32) != (view.nr_running >= 2) {
            return Some(format!(
                "CPU {cpu} has {queued} tasks but its overload bit is wrong"
            ));
        }
        if (c.phase == Phase::Running) != (c.curr != NONE)
            || (view.curr_is_idle == 0) != (c.curr != NONE)
        {
            return Some(format!(
                "CPU {cpu} is {:?} with task {}",
                c.phase, c.curr as i32
            ));
        }
        if c.curr != NONE && self.tasks[c.curr as usize].cpu as usize != cpu {
            return Some(format!(
                "CPU {cpu} runs task {} of CPU {}",
                c.curr, self.tasks[c.curr as usize].cpu
            ));
        }
        if c.stats.busy_ns > self.now {
            return Some(format!(
                "CPU {cpu} was busy for {} of {} ns",
                c.stats.busy_ns, self.now
            ));
        }
        if c.phase == Phase::Idle && view.nr_running != 0 && c.ipi_at == crate::base::queue::NEVER {
            return Some(format!(
                "CPU {cpu} is idle with {} queued tasks and no pending interrupt",
                view.nr_running
            ));
        }
        None
    }
}

impl Balancer<'_> {
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Error> {
        self.find_broken().map_or(Ok(()), |what| {
            Err(Error::Invariant {
                time_ns: self.now,
                event: self.events,
                what,
            })
        })
    }

    fn find_broken(&self) -> Option<String> {
        let mut queued = vec![0u32; self.cpus.len()];
        let mut weight = vec![0u32; self.cpus.len()];
        let mut alive = vec![0u32; self.workloads.len()];
        let mut estimates = vec![0u64; self.cpus.len()];
        let mut ran = 0;
        for (id, task) in self.tasks.iter().enumerate() {
            let view = &self.views[id];
            if task.life == Life::Group {
                continue;
            }
            ran += task.sum_exec;
            let on_rq = view.flags & task_flag::ON_RQ != 0;
            if on_rq != (task.life == Life::Runnable || self.is_delayed(id as u32)) {
                return Some(format!("task {id} is {:?} but on_rq is {on_rq}", task.life));
            }
            if task.life != Life::Dead && !task.retired {
                alive[task.workload as usize] += 1;
            }
            if on_rq {
                queued[task.cpu as usize] += 1;
                if !self.is_rt(id as u32) && self.task_group(id as u32) == NONE {
                    weight[task.cpu as usize] += view.weight;
                }
                if !self.is_rt(id as u32) && !self.is_delayed(id as u32) {
                    let est =
                        view.util_est_ewma.max(view.util_est_enqueued) | self.core.params.est_lsb;
                    estimates[task.cpu as usize] += u64::from(est);
                }
                if !self.allowed(id as u32, task.cpu as usize) {
                    return Some(format!(
                        "task {id} is on CPU {} outside its affinity",
                        task.cpu
                    ));
                }
                if view.prev_cpu != task.cpu {
                    return Some(format!(
                        "task {id} is on CPU {}, but its view says CPU {}",
                        task.cpu, view.prev_cpu
                    ));
                }
            }
            if view.pelt.util_avg > 1024 || view.pelt.runnable_avg > 1024 {
                return Some(format!(
                    "task {id} has util_avg {} runnable_avg {}",
                    view.pelt.util_avg, view.pelt.runnable_avg
                ));
            }
        }
        for (workload, (state, count)) in self.workloads.iter().zip(&alive).enumerate() {
            if state.alive != *count {
                return Some(format!(
                    "workload {workload} lost a task: {count} of {} are left",
                    state.alive
                ));
            }
        }
        let busy: u64 = self.cpus.iter().map(|c| c.stats.busy_ns).sum();
        if ran != busy {
            return Some(format!("tasks ran for {ran} ns, CPUs for {busy}"));
        }
        // Linux floors the sum at 0 when it subtracts: estimates can be lost, not gained.
        let gained = |(_, (view, sum)): &(usize, (&alight_policy::abi::Cpu, &u64))| {
            u64::from(view.util_est_enqueued) > **sum
        };
        let mut sums = self.core.cpus.iter().zip(&estimates).enumerate();
        if let Some((cpu, (view, sum))) = sums.find(gained) {
            return Some(format!(
                "CPU {cpu} has an estimate of {}, its tasks one of {sum}",
                view.util_est_enqueued
            ));
        }
        let timer = |c: &crate::world::state::Cpu| c.hrtick_at != NEVER;
        if let Some(cpu) = self.cpus.iter().position(|c| {
            timer(c)
                && (c.phase != Phase::Running || !self.tunables.hrtick || c.hrtick_at < self.now)
        }) {
            return Some(format!(
                "CPU {cpu} has an hrtick timer that should not be armed"
            ));
        }
        if let Err(what) = (self.power_check())
            .and_then(|()| self.balance_check())
            .and_then(|()| self.uclamp_check())
            .and_then(|()| self.clamped_check())
        {
            return Some(what);
        }
        if let Some(what) = self.groups_check().or_else(|| self.broken_smt()) {
            return Some(what);
        }
        (0..self.cpus.len()).find_map(|cpu| self.broken_cpu(cpu, queued[cpu], weight[cpu]))
    }
}

#[cfg(test)]
mod tests;
