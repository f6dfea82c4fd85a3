// SPDX-License-Identifier: GPL-2.0-only
//! The classes that go before the fair one: SCHED_DEADLINE, and below it the
//! real-time class, SCHED_FIFO and SCHED_RR.
//!
//! The rules are those of kernel/sched/deadline.c, rt.c and cpupri.c. Comments name the kernel's
//! function in parentheses; differences between kernels are in [`crate::kernel`]. Callers see
//! both classes as one: names end in `_rt`, and tasks of SCHED_DEADLINE have the highest
//! priority. Each mechanism has a file:
//!
//! - this one: the tasks of the classes, and a task that changes its class;
//! - `dl`: SCHED_DEADLINE: deadlines, budgets, bandwidth in use;
//! - `dl_placement`: its tasks on CPUs, and admission;
//! - `server`: the fair server, which keeps fair tasks from starving;
//! - `rt`: the queue of a CPU: order, slices, preemption;
//! - `placement`: where a task wakes, and the push and pull of tasks so that the machine runs
//!   those of the highest priorities;
//! - `bandwidth`: how long the class may run (`sched_rt_runtime_us`);
//! - `signals`: the time that the class takes, and the capacity left to fair tasks.
//!
//! A run without such tasks only tests [`Classes::used`].

mod bandwidth;
mod dl;
mod dl_placement;
#[cfg(test)]
mod dl_tests;
mod placement;
mod rt;
mod server;
#[cfg(test)]
mod server_tests;
mod signals;
#[cfg(test)]
mod tests;

use crate::base::table::Table;
use crate::base::timeline::NONE;
use crate::face::feasible::about;
use crate::kernel::Throttle;
use crate::kernel::sysctl::RtLimit;
use crate::queues::Queues;
use crate::world::asked::{Attributes, DlParams, Realtime};
use crate::world::state::{DEADLINE, FAIR};
use alight_machine::CpuSet;
use alight_policy::{Mask, pelt};

/// The class that a task goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Deadline(DlParams),
    Realtime(Realtime),
    Fair,
}

impl Class {
    /// The class of a task with `attributes`.
    pub fn of(attributes: &Attributes) -> Class {
        match (attributes.deadline, attributes.realtime) {
            (Some(params), _) => Class::Deadline(params),
            (None, Some(rt)) => Class::Realtime(rt),
            (None, None) => Class::Fair,
        }
    }

    pub fn prio(self) -> u8 {
        match self {
            Class::Deadline(_) => DEADLINE,
            Class::Realtime(rt) => rt.prio + 1,
            Class::Fair => FAIR,
        }
    }

    fn is_round_robin(self) -> bool {
        matches!(self, Class::Realtime(rt) if rt.round_robin)
    }
}

/// The state of a task that only these classes need.
#[derive(Debug, Clone, Copy)]
struct RtTask {
    /// SCHED_RR.
    round_robin: bool,
    /// Lower clamp of utilization, if one was asked for.
    clamp_min: Option<u32>,
    /// Ticks left of its slice (`rt.time_slice`).
    slice: u32,
    /// A number that grows, taken when the task is queued or stops running. It orders the tasks
    /// of one priority that may be pushed (`pushable_tasks`).
    turn: u64,
    /// `last_update_time` of its fair signals while it is not in the fair class.
    pelt_last: u64,
}

/// When CPUs have fair servers in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    /// The kernel has none.
    None,
    /// In runs with tasks of other classes. Without such tasks a server never has to run, and
    /// only schedutil reads its bandwidth.
    BesideOthers,
    /// In every run: it is part of the demand for frequency.
    Always,
}

/// Lower clamp of a task that asks for none (`sysctl_sched_uclamp_util_min_rt_default`).
pub(crate) fn default_clamp(realtime: bool) -> u32 {
    if realtime { 1024 } else { 0 }
}

/// The state of these classes in a run.
#[derive(Debug)]
pub(crate) struct Classes {
    /// Some task may be in one of the classes. If not, only the servers are used here, and with
    /// old kernels the average of interrupt time in `cpus`.
    pub used: bool,
    /// Fair servers are simulated: a task may need them, or they are part of the demand for
    /// frequency.
    pub served: bool,
    tasks: Table<RtTask>,
    cpus: Table<rt::RtQueue>,
    /// Some task may be of SCHED_DEADLINE. If not, the `dl` fields are not used.
    dl_used: bool,
    dl_tasks: Box<[dl::DlTask]>,
    dl: Box<[dl::DlQueue]>,
    /// CPUs with a runnable SCHED_DEADLINE task.
    dl_busy: Mask,
    /// Bandwidth of all SCHED_DEADLINE tasks.
    total_bw: u64,
    /// The server of each CPU, if the kernel has servers.
    servers: Table<server::Server>,
    /// Why the run cannot go on.
    pub refusal: Option<String>,
    /// CPUs with a task of the class, running or queued.
    busy: Mask,
    turns: u64,
    /// Words of a mask in use.
    words: usize,
    /// Slice of SCHED_RR, ticks.
    slice: u32,
    bandwidth: bandwidth::Bandwidth,
    round: placement::Round,
}

impl Classes {
    /// For tasks that begin with the attributes `own` and may change to those of `later`.
    /// `irq_time`: interrupt time is counted; old kernels count it as time of the class.
    pub fn new(
        own: &[Attributes],
        later: &[Attributes],
        cpus: usize,
        hz: u64,
        servers: Servers,
        irq_time: bool,
    ) -> Self {
        let all = || own.iter().chain(later);
        let dl_used = all().any(|a| a.deadline.is_some());
        let used = dl_used || all().any(|a| a.realtime.is_some());
        let slice = rt::slice_ticks(hz);
        let task = |a: &Attributes| RtTask {
            round_robin: Class::of(a).is_round_robin(),
            clamp_min: a.uclamp_min,
            slice,
            turn: 0,
            pelt_last: 0,
        };
        let served = match servers {
            Servers::None => false,
            Servers::BesideOthers => used,
            Servers::Always => true,
        };
        let nr = if used || served || irq_time { cpus } else { 0 };
        let (dl_nr, dl_cpus) = if dl_used { (own.len(), cpus) } else { (0, 0) };
        let dl_task = |a: &Attributes| dl::DlTask::new(a.deadline.unwrap_or_default());
        let tasks: Vec<_> = own.iter().filter(|_| used).map(task).collect();
        let servers = vec![server::Server::default(); if served { cpus } else { 0 }];
        let queues: Vec<_> = (0..nr).map(|_| rt::RtQueue::default()).collect();
        // SAFETY: looked up by the numbers of tasks and CPUs, where `used` or `served` says that
        // there are some, or the kernel's row that time in interrupts counts.
        let (tasks, servers, queues) =
            unsafe { (Table::new(tasks), Table::new(servers), Table::new(queues)) };
        Classes {
            used,
            served,
            dl_used,
            dl_tasks: own[..dl_nr].iter().map(dl_task).collect(),
            dl: (0..dl_cpus).map(|_| dl::DlQueue::new(dl_nr)).collect(),
            dl_busy: Mask::EMPTY,
            total_bw: 0,
            servers,
            refusal: None,
            tasks,
            cpus: queues,
            busy: Mask::EMPTY,
            turns: 0,
            words: cpus.div_ceil(64),
            slice,
            bandwidth: bandwidth::Bandwidth::new(RtLimit::NONE, Throttle::None),
            round: Default::default(),
        }
    }

    /// Sets the time that real-time tasks may run.
    pub fn limit_rt(&mut self, limit: RtLimit, rule: Throttle) {
        self.bandwidth = bandwidth::Bandwidth::new(limit, rule);
        let runtime = self.bandwidth.runtime();
        (self.cpus.iter_mut()).for_each(|queue| queue.runtime = runtime);
    }

    /// Number of timers that the classes need, beside the tasks' own.
    pub fn timers(&self) -> usize {
        self.server_timers() + 2 * self.servers.len()
    }

    /// Number of these timers that precede the servers'.
    fn server_timers(&self) -> usize {
        usize::from(self.used) + 2 * self.dl_tasks.len()
    }
}

impl Queues<'_> {
    /// A task asks for a lower clamp.
    pub fn set_clamp(&mut self, task: usize, clamp_min: Option<u32>) {
        if self.classes.used && clamp_min.is_some() {
            self.classes.tasks[task].clamp_min = clamp_min;
        }
    }

    /// Ends the run; `why` is the reason.
    pub fn refuse(&mut self, why: String) {
        self.classes.refusal.get_or_insert(why);
        self.end_now();
    }

    /// Records whether `cpu` has tasks of `prio`.
    fn class_present(&mut self, cpu: usize, prio: u8, some: bool) {
        let q = &mut self.classes.cpus[cpu];
        match some {
            true => q.active |= 1 << prio,
            false => q.active &= !(1 << prio),
        }
        self.classes.busy.assign(cpu as u32, q.active != 0);
    }

    /// `task` has ended.
    pub fn class_exits(&mut self, task: u32) {
        if self.is_dl(task) {
            self.exits_dl(task);
        }
    }

    /// A running task asks for another affinity mask; true if its class allows it. A task of
    /// SCHED_DEADLINE must be allowed on all online CPUs (`dl_task_check_affinity`). The mask
    /// that the task already has is always allowed.
    pub fn class_lets_move(&mut self, task: u32, affinity: u32) -> bool {
        let asks = affinity != self.tasks[task as usize].affinity;
        // `dl_bandwidth_enabled()`
        let limited = self.classes.bandwidth.limit().runtime.is_some();
        if !asks || !limited || !self.classes.dl_used || !self.is_dl(task) {
            return true;
        }
        let mask = &self.masks[affinity as usize];
        if self.hotplug.online.is_subset_of(mask) {
            return true;
        }
        let cpus: CpuSet = mask.iter().map(|cpu| cpu as usize).collect();
        let why = format!(
            "at {} task '{}' of SCHED_DEADLINE asks for CPUs {cpus} only: such a task must be \
             allowed on all online CPUs (EBUSY)",
            about(self.now),
            self.comms[task as usize]
        );
        self.refuse(why);
        false
    }

    /// `cpu` came back (`rq_online_rt`).
    pub fn rt_online(&mut self, cpu: usize) {
        self.enable_runtime(cpu);
    }

    /// What is wrong with the classes on `cpu`, for the invariants.
    pub fn rt_check(&self, cpu: usize) -> Option<String> {
        let q = &self.classes.cpus[cpu];
        let (view, curr) = (&self.core.cpus[cpu], self.cpus[cpu].curr);
        let mut found = 0;
        for (prio, list) in q.lists.iter().enumerate() {
            let mut task = list.head;
            if prio == usize::from(DEADLINE) {
                continue;
            }
            if (task != NONE) != (q.active >> prio & 1 != 0) {
                return Some(format!("CPU {cpu}: the map of priority {prio} is wrong"));
            }
            while task != NONE {
                let t = &self.tasks[task as usize];
                if t.cpu as usize != cpu || usize::from(self.prio(task)) != prio {
                    return Some(format!("CPU {cpu}: task {task} is in the wrong list"));
                }
                found += 1;
                task = t.list_next;
            }
        }
        let counted = if q.throttled { 0 } else { q.nr };
        if found != q.nr || q.counted != counted || u32::from(view.rt_nr_running) != counted {
            return Some(format!(
                "CPU {cpu} lists {found} real-time tasks of {}, counts {} and {}",
                q.nr, q.counted, view.rt_nr_running
            ));
        }
        if self.classes.dl_used
            && let Some(what) = self.dl_check(cpu)
        {
            return Some(what);
        }
        if self.classes.busy.contains(cpu as u32) != (q.active != 0) {
            return Some(format!("CPU {cpu}: the set of real-time CPUs is wrong"));
        }
        let waits =
            !self.is_served(cpu) && !q.throttled && self.highest_prio(cpu) < self.prio(curr);
        if waits && curr != NONE && !self.cpus[cpu].need_resched {
            return Some(format!(
                "CPU {cpu}: task {curr} runs before a task of higher priority"
            ));
        }
        None
    }

    /// Tasks of both classes on `cpu`: all that are queued, and those counted in `nr_running`.
    pub fn rt_counts(&self, cpu: usize) -> (u32, u32) {
        if !self.classes.used {
            return (0, 0);
        }
        let q = &self.classes.cpus[cpu];
        match self.classes.dl.get(cpu) {
            Some(dl) => (q.nr + dl.all, q.counted + dl.tasks.len() as u32),
            None => (q.nr, q.counted),
        }
    }

    /// A timer of the classes expires on `cpu`. `timer` 0 is the period of real-time tasks; two
    /// timers for each SCHED_DEADLINE task follow, then two for each server.
    pub fn class_timer(&mut self, cpu: usize, timer: u32) {
        let server = (timer as usize).checked_sub(self.classes.server_timers());
        match (timer, server) {
            (_, Some(server)) => self.server_timer(cpu, server),
            (0, None) => self.rt_period(cpu),
            (timer, None) => self.dl_timer(cpu, timer - 1),
        }
    }

    /// The current task of `cpu` gets another class, priority or other parameters
    /// (`__sched_setscheduler`). It leaves the queue with its old ones and joins with the new
    /// ones. It goes on running unless another task now precedes it.
    pub fn change_class(&mut self, cpu: usize, task: u32, to: Class) {
        let old = self.prio(task);
        let new = to.prio();
        self.clock(cpu);
        match old {
            FAIR => self.leave_fair(cpu, task),
            _ => {
                self.put_prev_rt(cpu, task);
                self.dequeue_rt(cpu, task);
            }
        }
        self.cpus[cpu].curr = NONE;
        self.tasks[task as usize].prio = new;
        let t = &mut self.classes.tasks[task as usize];
        t.round_robin = to.is_round_robin();
        let realtime = matches!(to, Class::Realtime(_));
        let clamp = t.clamp_min.unwrap_or(default_clamp(realtime));
        self.views[task as usize].uclamp_min = clamp;
        self.uclamp_limit(task);
        if old == DEADLINE && new != DEADLINE {
            self.leaves_dl(cpu, task);
        }
        if new == FAIR {
            self.join_fair(cpu, task);
            self.cpus[cpu].need_resched = true;
        } else if let Class::Deadline(params) = to {
            self.set_dl_params(task, params);
            let bandwidth = self.classes.dl_tasks[task as usize].bandwidth();
            self.admit(task, old == DEADLINE, bandwidth);
            self.enqueue_dl(cpu, task, dl::Joins::New);
            self.set_current_rt(cpu, task);
            if old != DEADLINE && self.kernel.rt.change_settles_signal {
                self.dl_signal(cpu, false);
            }
        } else {
            // A task that lowers its priority precedes those that wait at its new level.
            self.enqueue_rt(cpu, task, old < new);
            self.set_current_rt(cpu, task);
            if old == FAIR && self.kernel.rt.change_settles_signal {
                self.rt_signal(cpu, false);
            }
        }
        if old == DEADLINE && self.pick_dl(cpu) == NONE {
            self.pull_dl(cpu);
        }
        if old < new {
            self.pull_rt(cpu);
        }
        let behind = new == DEADLINE && self.pick_dl(cpu) != task;
        if behind || self.highest_prio(cpu) < new {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// `cpu` goes offline (`rq_offline_rt`).
    pub fn rt_offline(&mut self, cpu: usize) {
        self.disable_runtime(cpu);
        self.push_round_goes_on(cpu);
    }

    fn leave_fair(&mut self, cpu: usize, task: u32) {
        self.update_curr(cpu);
        self.put_prev(cpu);
        self.cpus[cpu].curr = NONE;
        self.leave_groups(cpu);
        let last = self.views[task as usize].pelt.last_update_time;
        self.detach_task(cpu, task);
        self.classes.tasks[task as usize].pelt_last = last;
    }

    /// `task` joins the fair class. Its signals decay for the time that it was outside
    /// (ATTACH_AGE_LOAD).
    fn join_fair(&mut self, cpu: usize, task: u32) {
        let last = std::mem::take(&mut self.classes.tasks[task as usize].pelt_last);
        let world = self.world();
        let rq = &world.core.cpus[cpu];
        let view = &mut world.views[task as usize];
        if last != 0 {
            view.pelt.last_update_time = last;
            pelt::accumulate(&mut view.pelt, rq.clock_pelt - rq.lost_idle_time, 0, 0, 0);
            pelt::average(&mut view.pelt, u64::from(view.weight));
            view.pelt.last_update_time = 0;
        }
        self.rejoin_fair(cpu, task);
        if self.groups.used {
            self.switch_groups(cpu, task);
        }
        self.set_next(cpu, task);
    }
}
