// SPDX-License-Identifier: GPL-2.0-only
//! Bandwidth in use of a CPU (`running_bw`): the sum over its SCHED_DEADLINE tasks. A task counts
//! from its wakeup to the 0-lag time after it has gone to sleep.

use super::BW_SHIFT;
use super::timers::INACTIVE;
use crate::queues::Queues;

impl Queues<'_> {
    /// `task` has ended: its bandwidth is free for others from its 0-lag time on.
    pub(in crate::queues::classes) fn exits_dl(&mut self, task: u32) {
        if !self.dl(task).non_contending {
            self.give_bandwidth_back(task);
        }
    }

    /// The current task of `cpu` has left the class. It no longer counts there, but its bandwidth
    /// is free for others only from its 0-lag time on (`switched_from_dl`).
    pub(in crate::queues::classes) fn leaves_dl(&mut self, cpu: usize, task: u32) {
        let at = self.dl(task).zero_lag();
        if at < self.now as i64 {
            self.give_bandwidth_back(task);
        } else {
            self.start_timer_of(cpu, task, INACTIVE, at as u64);
        }
    }

    /// Sets the bandwidth in use of tasks, and `cpu_bw_dl` with it.
    fn set_running_bw(&mut self, cpu: usize, running_bw: u64) {
        self.classes.dl[cpu].running_bw = running_bw;
        self.show_bandwidth(cpu);
    }

    /// `cpu_bw_dl`: the bandwidth in use of tasks and of the fair server.
    pub(in crate::queues::classes) fn show_bandwidth(&mut self, cpu: usize) {
        let tasks = self.classes.dl.get(cpu).map_or(0, |q| q.running_bw);
        let running_bw = tasks + self.server_bandwidth(cpu);
        self.core.cpus[cpu].dl_bandwidth = ((running_bw << 10) >> BW_SHIFT) as u16;
    }

    /// The bandwidth of `task` counts on `cpu` (`task_contending`, `migrate_task_rq_dl`).
    pub(super) fn contend(&mut self, cpu: usize, task: u32) {
        self.dl(task).non_contending = false;
        if self.dl(task).counted_on == Some(cpu as u32) {
            return;
        }
        self.uncount_bandwidth(task);
        let bandwidth = self.dl(task).bandwidth();
        self.dl(task).counted_on = Some(cpu as u32);
        let bandwidth = self.classes.dl[cpu].running_bw + bandwidth;
        self.set_running_bw(cpu, bandwidth);
        self.cpufreq_hurries(cpu);
    }

    /// `sub_running_bw`.
    pub(in crate::queues::classes) fn uncount_bandwidth(&mut self, task: u32) {
        let bandwidth = self.dl(task).bandwidth();
        self.dl(task).non_contending = false;
        if let Some(cpu) = self.dl(task).counted_on.take() {
            let cpu = cpu as usize;
            let bandwidth = self.classes.dl[cpu].running_bw - bandwidth;
            self.set_running_bw(cpu, bandwidth);
            self.cpufreq_update(cpu);
        }
    }
}
