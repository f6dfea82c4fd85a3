// SPDX-License-Identifier: GPL-2.0-only
//! The real-time queue of a CPU (`struct rt_rq`): enqueue, dequeue, pick, preemption and tick.
//! Each priority has a list. The current task stays at the head of its list.

use super::RtTask;
use super::dl::Joins;
use crate::base::timeline::NONE;
use crate::power::Power;
use crate::queues::Queues;
use crate::world::state::{DEADLINE, FAIR, List};
use alight_policy::abi::{Pelt, task_flag};
use alight_policy::rq;

/// Levels of priority.
const LEVELS: usize = FAIR as usize;

/// Slice of SCHED_RR in ticks (`RR_TIMESLICE`: 100 ms).
pub(super) fn slice_ticks(hz: u64) -> u32 {
    (hz / 10).max(1) as u32
}

/// The real-time tasks of a CPU (`struct rt_rq`).
#[derive(Debug, Clone)]
pub(super) struct RtQueue {
    pub lists: Box<[List; LEVELS]>,
    /// Levels with tasks.
    pub active: u128,
    pub nr: u32,
    /// How many of them count in `nr_running` of the CPU: all, or none while throttled.
    pub counted: u32,
    pub throttled: bool,
    /// An IPI asks the CPU to push.
    pub push_asked: bool,
    /// The last CPU that a search from here found (`distribute_cpu_mask_prev`).
    pub spread: u32,
    /// Time run in this period (`rt_time`), and the limit (`rt_runtime`), ns.
    pub time: u64,
    pub runtime: u64,
    /// Its utilization (`rq->avg_rt`).
    pub avg: Pelt,
    /// Its utilization before 4.19: time run, halved every half second (`rt_avg`), and the time
    /// of the last halving (`age_stamp`).
    pub window: u64,
    pub window_at: u64,
}

impl Default for RtQueue {
    fn default() -> Self {
        RtQueue {
            lists: Box::new([List::default(); LEVELS]),
            active: 0,
            nr: 0,
            counted: 0,
            throttled: false,
            push_asked: false,
            spread: 0,
            time: 0,
            runtime: 0,
            avg: Pelt::default(),
            window: 0,
            window_at: 0,
        }
    }
}

impl RtQueue {
    /// `highest_prio.curr`.
    #[inline]
    pub fn highest(&self) -> u8 {
        self.active.trailing_zeros().min(u32::from(FAIR)) as u8
    }
}

impl Power<'_> {
    pub(super) fn set_current_rt(&mut self, cpu: usize, task: u32) {
        let now = self.clock_task(cpu);
        let c = &mut self.cpus[cpu];
        c.curr = task;
        c.exec_start = now;
        self.tasks[task as usize].last_run = now;
    }
}

impl Queues<'_> {
    /// Highest priority of the tasks of `cpu`, [`FAIR`] without such tasks.
    #[inline]
    pub(super) fn highest_prio(&self, cpu: usize) -> u8 {
        self.classes.cpus[cpu].highest()
    }

    /// A task begins: its fair signals count from now on, and its bandwidth is admitted.
    pub fn begin_rt(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        let rq = &self.core.cpus[cpu];
        self.classes.tasks[task as usize].pelt_last = rq.clock_pelt - rq.lost_idle_time;
        if self.is_dl(task) {
            let bandwidth = self.classes.dl_tasks[task as usize].bandwidth();
            self.admit(task, false, bandwidth);
        }
    }

    /// Puts `task` behind the tasks of its priority that may be pushed.
    fn next_turn(&mut self, task: u32) {
        self.classes.turns += 1;
        self.classes.tasks[task as usize].turn = self.classes.turns;
    }

    /// The task of this class to run next, or [`NONE`] (`pick_next_task_rt`).
    #[inline]
    fn pick_rt(&self, cpu: usize) -> u32 {
        let q = &self.classes.cpus[cpu];
        match q.counted {
            0 => NONE,
            _ => q.lists[(q.active & !(1 << DEADLINE)).trailing_zeros() as usize].head,
        }
    }

    /// `task` becomes current (`set_next_task_rt`).
    pub fn set_next_rt(&mut self, cpu: usize, task: u32) {
        self.set_current_rt(cpu, task);
        match self.is_dl(task) {
            true => self.dl_signal(cpu, false),
            false => self.rt_signal(cpu, false),
        };
    }

    /// `requeue_task_rt`.
    fn requeue_rt(&mut self, cpu: usize, task: u32, at_head: bool) {
        let prio = usize::from(self.prio(task));
        let list = &mut self.classes.cpus[cpu].lists[prio];
        list.remove(&mut self.power.tasks, task);
        if at_head {
            list.push_front(&mut self.power.tasks, task);
        } else {
            list.push_back(&mut self.power.tasks, task);
        }
    }

    /// Does `task`, just enqueued on `cpu`, preempt its current task by class or
    /// priority? True if that is decided, false between two fair tasks
    /// (`check_preempt_curr`, `check_preempt_curr_rt`).
    pub fn preempts_by_class(&mut self, cpu: usize, task: u32) -> bool {
        let curr = self.cpus[cpu].curr;
        let (wakee, running) = (self.prio(task), self.prio(curr));
        if curr == NONE || wakee == FAIR && running == FAIR {
            return false;
        }
        if wakee == DEADLINE {
            let first = running != DEADLINE || self.earlier(task, curr);
            self.cpus[cpu].need_resched |= first && self.is_queued_dl(task);
        } else if wakee < running {
            self.cpus[cpu].need_resched = true;
        } else if wakee == running && !self.cpus[cpu].need_resched {
            self.make_way(cpu, curr, task);
        }
        true
    }

    /// `task` has the priority of the current task. The current one gives way if it can run
    /// elsewhere and `task` can not (`check_preempt_equal_prio`).
    fn make_way(&mut self, cpu: usize, curr: u32, task: u32) {
        let movable = |sim: &Self, task: u32| {
            sim.views[task as usize].nr_cpus_allowed > 1 && sim.has_lower_cpu(task)
        };
        if movable(self, curr) && !movable(self, task) {
            self.requeue_rt(cpu, task, true);
            self.cpus[cpu].need_resched = true;
        }
    }

    /// A woken task joins the queue of `cpu`.
    pub fn enqueue_woken_rt(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        match self.is_dl(task) {
            true => self.enqueue_dl(cpu, task, Joins::Woken),
            false => self.enqueue_rt(cpu, task, false),
        }
    }

    /// A task joins the queue of `cpu` (`enqueue_task_rt`).
    pub fn enqueue_rt(&mut self, cpu: usize, task: u32, at_head: bool) {
        self.clock(cpu);
        if self.is_dl(task) {
            return self.enqueue_dl(cpu, task, Joins::Moved);
        }
        self.uclamp_join(cpu, task);
        let prio = self.prio(task);
        let q = &mut self.classes.cpus[cpu];
        let list = &mut q.lists[usize::from(prio)];
        if at_head {
            list.push_front(&mut self.power.tasks, task);
        } else {
            list.push_back(&mut self.power.tasks, task);
        }
        q.nr += 1;
        self.class_present(cpu, prio, true);
        self.next_turn(task);
        self.views[task as usize].prev_cpu = cpu as u32;
        self.views[task as usize].flags |= task_flag::ON_RQ;
        self.tasks[task as usize].cpu = cpu as u32;
        self.start_bandwidth(cpu);
        self.count_rt(cpu);
        self.uclamp_joined(cpu, task);
    }

    /// A new task joins the queue of `cpu` (`wake_up_new_task`); its fair signals
    /// count from now on.
    pub fn enqueue_rt_new(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        let world = self.world();
        let rq = &world.core.cpus[cpu];
        rq::init_util(&world.core.params, rq, &mut world.views[task as usize]);
        self.begin_rt(cpu, task);
        match self.is_dl(task) {
            true => self.enqueue_dl(cpu, task, Joins::New),
            false => self.enqueue_rt(cpu, task, false),
        }
    }

    /// A task leaves the queue of `cpu`; its run has been charged.
    pub fn dequeue_rt(&mut self, cpu: usize, task: u32) {
        if self.is_dl(task) {
            return self.dequeue_dl(cpu, task);
        }
        self.uclamp_leave(cpu, task);
        let prio = self.prio(task);
        let q = &mut self.classes.cpus[cpu];
        let list = &mut q.lists[usize::from(prio)];
        list.remove(&mut self.power.tasks, task);
        let some = list.head != NONE;
        q.nr -= 1;
        self.class_present(cpu, prio, some);
        self.views[task as usize].flags &= !task_flag::ON_RQ;
        self.count_rt(cpu);
    }

    /// The current task of `cpu` goes to sleep or dies.
    pub fn dequeue_current_rt(&mut self, cpu: usize) {
        self.clock(cpu);
        if self.is_dl(self.cpus[cpu].curr) {
            return self.dequeue_current_dl(cpu);
        }
        self.update_curr_rt(cpu);
        self.dequeue_rt(cpu, self.cpus[cpu].curr);
    }

    /// Brings the CPU's number of tasks up to date (`enqueue_top_rt_rq`, `dequeue_top_rt_rq`).
    pub(super) fn count_rt(&mut self, cpu: usize) {
        self.end_rounds(cpu);
        self.pack_update_signals(cpu);
        let q = &mut self.classes.cpus[cpu];
        let count = if q.throttled { 0 } else { q.nr };
        let was = std::mem::replace(&mut q.counted, count);
        let world = self.world();
        let view = &mut world.core.cpus[cpu];
        view.nr_running = view.nr_running - was + count;
        view.rt_nr_running = count as u16;
        world.overloaded.assign(cpu as u32, view.nr_running >= 2);
        self.rq_changed(cpu);
        if !self.classes.cpus[cpu].throttled {
            self.cpufreq_update(cpu);
        }
    }

    /// Charges the current task, a real-time one, the time it ran (`update_curr_rt`).
    pub fn update_curr_rt(&mut self, cpu: usize) {
        if self.is_dl(self.cpus[cpu].curr) {
            return self.update_curr_dl(cpu);
        }
        let now = self.clock_task(cpu);
        let world = self.world();
        let c = &mut world.cpus[cpu];
        let delta = now - c.exec_start;
        if delta == 0 {
            return;
        }
        c.exec_start = now;
        c.stats.busy_ns += delta;
        let t = &mut world.tasks[c.curr as usize];
        t.last_run = now;
        t.sum_exec += delta;
        self.rt_window(cpu, delta);
        if self.charge_bandwidth(cpu, delta) {
            self.cpus[cpu].need_resched = true;
        }
    }

    /// The task to run next, or [`NONE`]; `stays`: the current one is still
    /// runnable. If a task of these classes leaves, the CPU first pulls from other CPUs
    /// (`put_prev_task_balance`).
    pub fn pick_class(&mut self, cpu: usize, stays: bool) -> u32 {
        let was_rt = self.curr_is_rt(cpu);
        if was_rt {
            self.update_curr_rt(cpu);
            let curr = self.cpus[cpu].curr;
            if self.is_dl(curr) {
                if !stays || !self.is_queued_dl(curr) {
                    self.pull_dl(cpu);
                }
                if self.pick_dl(cpu) == NONE {
                    self.pull_rt(cpu);
                }
            } else if !stays {
                self.pull_rt(cpu);
            }
        }
        let served = self.pick_served(cpu, stays && !was_rt);
        if served != NONE {
            return served;
        }
        if self.classes.dl_busy.contains(cpu as u32) {
            return self.pick_dl(cpu);
        }
        match self.pick_rt(cpu) {
            NONE => self.pick_fair(cpu, stays && !was_rt),
            task => task,
        }
    }

    /// The current task stops running (`put_prev_task_rt`). If it stays queued it remains the
    /// first of its priority.
    pub fn put_prev_rt(&mut self, cpu: usize, task: u32) {
        self.update_curr_rt(cpu);
        if self.is_dl(task) {
            self.dl_signal(cpu, true);
            return;
        }
        self.rt_signal(cpu, true);
        self.next_turn(task);
    }

    /// A tick on a real-time task (`task_tick_rt`).
    pub fn tick_rt(&mut self, cpu: usize) {
        self.update_curr_rt(cpu);
        let task = self.cpus[cpu].curr;
        if self.is_dl(task) {
            self.dl_signal(cpu, true);
            return;
        }
        self.rt_signal(cpu, true);
        let (slice, prio) = (self.classes.slice, self.prio(task));
        let RtTask {
            round_robin,
            slice: left,
            ..
        } = &mut self.classes.tasks[task as usize];
        if !*round_robin {
            return;
        }
        *left -= 1;
        if *left != 0 {
            return;
        }
        *left = slice;
        let list = &self.classes.cpus[cpu].lists[usize::from(prio)];
        if list.head != list.tail {
            self.requeue_rt(cpu, task, false);
            self.cpus[cpu].need_resched = true;
        }
    }

    /// `sched_yield` of the current task (`yield_task_rt`).
    pub fn yield_rt(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        match self.is_dl(task) {
            true => self.yield_dl(cpu),
            false => self.requeue_rt(cpu, task, false),
        }
    }
}
