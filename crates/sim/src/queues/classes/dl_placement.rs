// SPDX-License-Identifier: GPL-2.0-only
//! The CPU of a SCHED_DEADLINE task, and admission to the class.
//!
//! A task wakes on its previous CPU unless a task with a nearer deadline runs there, or the CPU
//! is too small (from 5.8 on). Then it takes a CPU without deadline tasks, else the CPU whose
//! nearest deadline is the latest. Waiting tasks are pushed and pulled by the same rule.
//! Together the tasks may have 95 % of the CPUs (`sched_rt_runtime_us`), from 5.8 on 95 % of
//! their capacity.

use super::dl::{BW_SHIFT, to_ratio};
use crate::base::timeline::NONE;
use crate::face::feasible::{about, time};
use crate::kernel::Deadline;
use crate::queues::Queues;
use crate::world::asked::DlParams;
use alight_policy::Mask;

/// `sysctl_sched_rt_period`, us.
const PERIOD_US: u64 = 1_000_000;
/// Bandwidth of a CPU's fair server: 50 ms a second (`fair_server_init`).
const SERVER_US: u64 = 50_000;

impl Queues<'_> {
    /// `select_task_rq_dl` of a task that wakes.
    pub(super) fn target_of_dl(&mut self, by: usize, prev: usize, task: u32) -> usize {
        let curr = self.cpus[prev].curr;
        let movable = self.views[task as usize].nr_cpus_allowed > 1;
        let blocked = curr != NONE
            && self.is_dl(curr)
            && (self.views[curr as usize].nr_cpus_allowed < 2 || !self.earlier(task, curr))
            && movable;
        if !blocked && self.dl_fits(task, prev) {
            return prev;
        }
        match self.find_later(by, task) {
            Some(target) if self.is_earliest(task, target) => target,
            _ => prev,
        }
    }

    /// `dl_task_fits_capacity`.
    fn dl_fits(&self, task: u32, cpu: usize) -> bool {
        let by_capacity = self.kernel.deadline.is_some_and(|rules| rules.by_capacity);
        if !by_capacity || self.core.topology.asym == 0 {
            return true;
        }
        let params = &self.classes.dl_tasks[task as usize].params;
        let capacity = u64::from(self.core.cpus[cpu].capacity_orig);
        (params.deadline * capacity) >> 10 >= params.runtime
    }

    /// Would `task` be the first on `cpu` (`dl_task_is_earliest_deadline`)?
    fn is_earliest(&self, task: u32, cpu: usize) -> bool {
        match self.pick_dl(cpu) {
            NONE => true,
            first => self.earlier(task, first),
        }
    }

    /// A CPU where `task` does not have to wait, near its previous one; `by` asks
    /// (`find_later_rq`).
    fn find_later(&mut self, by: usize, task: u32) -> Option<usize> {
        if self.views[task as usize].nr_cpus_allowed == 1 {
            return None;
        }
        let later = self.later_cpus(task)?;
        self.near_in(by, task, &later)
    }

    /// `cpudl_find`.
    fn later_cpus(&self, task: u32) -> Option<Mask> {
        let allowed = &self.masks[self.tasks[task as usize].affinity as usize];
        let usable = allowed.and(&self.hotplug.online, self.classes.words);
        let free: Mask = usable
            .filter(|&cpu| !self.classes.dl_busy.contains(cpu))
            .collect();
        if free.is_empty() {
            let latest = self.latest_cpu()?;
            let lets = allowed.contains(latest) && self.is_earliest(task, latest as usize);
            return lets.then(|| Mask::from_iter([latest]));
        }
        let fitting: Mask = (free.iter())
            .filter(|&cpu| self.dl_fits(task, cpu as usize))
            .collect();
        if !fitting.is_empty() {
            return Some(fitting);
        }
        // None is big enough: take the biggest, and of equals the previous CPU.
        let prev = self.views[task as usize].prev_cpu;
        let size = |cpu: u32| self.core.cpus[cpu as usize].capacity_orig;
        let most = free.iter().map(size).max()?;
        let mut biggest = free.iter().filter(|&cpu| size(cpu) == most);
        let first = biggest.next()?;
        let chosen = biggest.find(|&cpu| cpu == prev).unwrap_or(first);
        Some(Mask::from_iter([chosen]))
    }

    /// The CPU whose nearest deadline is the latest (`cpudl_maximum`).
    fn latest_cpu(&self) -> Option<u32> {
        let mut latest: Option<u32> = None;
        for cpu in self.classes.dl_busy.iter() {
            let first = |cpu: u32| self.pick_dl(cpu as usize);
            if latest.is_none_or(|best| self.earlier(first(best), first(cpu))) {
                latest = Some(cpu);
            }
        }
        latest
    }

    /// The first task that waits on `cpu` and may go elsewhere, to `dst` if given.
    fn first_pushable_dl(&self, cpu: usize, dst: Option<usize>) -> Option<u32> {
        let curr = self.cpus[cpu].curr;
        let mut waiting = self.classes.dl[cpu].tasks.iter().copied();
        waiting.find(|&task| {
            task != curr
                && self.views[task as usize].nr_cpus_allowed > 1
                && dst.is_none_or(|dst| self.allowed(task, dst))
        })
    }

    /// Bandwidth that all tasks together may have on the online CPUs other than `leaving`
    /// (`__dl_overflow`, `dl_bw_capacity`).
    fn bandwidth_limit(&self, rules: Deadline, leaving: Option<usize>) -> u64 {
        let limit = self.classes.bandwidth.limit();
        let Some(runtime) = limit.runtime else {
            return u64::MAX;
        };
        let one = to_ratio(limit.period, runtime);
        let left = self.hotplug.online.iter().map(|cpu| cpu as usize);
        let left = left.filter(|&cpu| Some(cpu) != leaving);
        let (mut cpus, mut capacity) = (0, 0);
        for cpu in left {
            cpus += 1;
            capacity += u64::from(self.core.cpus[cpu].capacity_orig);
        }
        let servers = match rules.counts_servers {
            true => cpus * to_ratio(PERIOD_US, SERVER_US),
            false => 0,
        };
        let all = match rules.by_capacity {
            true => (one * capacity) >> 10,
            false => one * cpus,
        };
        all.saturating_sub(servers)
    }

    /// Admits `task` with bandwidth `new`, or ends the run, as the task's program would end
    /// (`sched_dl_overflow`, `__sched_setscheduler`). If the task `stays` in the class, the test
    /// leaves out the bandwidth that it had. If it comes back before its 0-lag time, the test
    /// counts the old bandwidth, which is given up afterwards.
    pub(super) fn admit(&mut self, task: u32, stays: bool, new: u64) {
        let Some(rules) = self.kernel.deadline else {
            return;
        };
        let all = self.classes.total_bw;
        let had = std::mem::replace(&mut self.classes.dl_tasks[task as usize].admitted, new);
        self.classes.total_bw = all - had + new;
        let total = all + new - if stays { had } else { 0 };
        let limit = self.bandwidth_limit(rules, None);
        let affinity = &self.masks[self.tasks[task as usize].affinity as usize];
        let percent = |bw: u64| (bw * 100) >> BW_SHIFT;
        // `dl_bandwidth_enabled()`
        let limited = self.classes.bandwidth.limit().runtime.is_some();
        let why = if limited && !self.hotplug.online.is_subset_of(affinity) {
            "its affinity does not include all CPUs (EPERM)".to_owned()
        } else if total > limit {
            let DlParams {
                runtime, period, ..
            } = self.classes.dl_tasks[task as usize].params;
            let whole = match runtime == period {
                true => {
                    ", a whole CPU (rt-app takes the runtime for the period where none is given, \
                         and an event `runtime` for both)"
                }
                false => "",
            };
            format!(
                "it asks for {} each {}{whole}; all such tasks would have {} % of a CPU, {} % are \
                 available (EBUSY)",
                time(runtime),
                time(period),
                percent(total),
                percent(limit)
            )
        } else {
            return;
        };
        let name = &self.comms[task as usize];
        let at = about(self.now);
        self.refuse(format!(
            "at {at} task '{name}' is not admitted to SCHED_DEADLINE: {why}"
        ));
    }

    /// Frees the bandwidth of `task` for others (`__dl_sub`).
    pub(super) fn give_bandwidth_back(&mut self, task: u32) {
        let d = &mut self.classes.dl_tasks[task as usize];
        self.classes.total_bw -= std::mem::take(&mut d.admitted);
    }

    /// Do the tasks of the class have more bandwidth than the CPUs other than `cpu` can give
    /// (`dl_cpu_busy`, `dl_bw_deactivate`)?
    pub fn dl_needs(&self, cpu: usize) -> bool {
        let rules = self.kernel.deadline.filter(|_| self.classes.total_bw != 0);
        rules.is_some_and(|rules| self.classes.total_bw > self.bandwidth_limit(rules, Some(cpu)))
    }

    /// `by` woke `task` on `cpu`: if it has to wait it is pushed elsewhere (`task_woken_dl`).
    pub(super) fn woken_dl(&mut self, by: usize, cpu: usize, task: u32) {
        let curr = self.cpus[cpu].curr;
        let waits = curr != task
            && !self.cpus[cpu].need_resched
            && self.views[task as usize].nr_cpus_allowed > 1
            && curr != NONE
            && self.is_dl(curr)
            && (self.views[curr as usize].nr_cpus_allowed < 2 || !self.earlier(task, curr));
        if waits {
            self.push_dl(by, cpu);
        }
    }

    /// `push_dl_tasks`.
    pub(super) fn push_dl(&mut self, by: usize, cpu: usize) {
        while self.push_one_dl(by, cpu) {}
    }

    /// `push_dl_task`.
    fn push_one_dl(&mut self, by: usize, cpu: usize) -> bool {
        if self.classes.dl[cpu].tasks.len() < 2 {
            return false;
        }
        let Some(task) = self.first_pushable_dl(cpu, None) else {
            return false;
        };
        let curr = self.cpus[cpu].curr;
        let preempts = curr != NONE && self.is_dl(curr) && self.earlier(task, curr);
        if preempts && self.views[curr as usize].nr_cpus_allowed > 1 {
            self.cpus[cpu].need_resched = true;
            self.kick(by, cpu);
            return false;
        }
        match self.find_later(by, task) {
            Some(dst) if dst != cpu && self.is_earliest(task, dst) => {
                self.move_rt(by, cpu, dst, task);
                self.cpus[dst].need_resched = true;
                self.kick(by, dst);
                true
            }
            _ => false,
        }
    }

    /// `cpu` has no task of the class left, or only later deadlines: tasks with nearer ones may
    /// wait on other CPUs (`pull_dl_task`).
    pub(super) fn pull_dl(&mut self, cpu: usize) {
        let mut nearest: Option<u64> = None;
        let sources = self.classes.dl_busy;
        for src in sources.iter().map(|src| src as usize) {
            if src == cpu || self.classes.dl[src].tasks.len() < 2 {
                continue;
            }
            let Some(task) = self.first_pushable_dl(src, Some(cpu)) else {
                continue;
            };
            let nearer = nearest.is_none_or(|nearest| self.deadline(task) < nearest);
            let curr = self.cpus[src].curr;
            let preempts = curr != NONE && self.is_dl(curr) && self.earlier(task, curr);
            if nearer && self.is_earliest(task, cpu) && !preempts {
                nearest = Some(self.deadline(task));
                self.move_rt(cpu, src, cpu, task);
                self.cpus[cpu].need_resched = true;
            }
        }
    }
}
