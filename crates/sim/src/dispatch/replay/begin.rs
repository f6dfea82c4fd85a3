// SPDX-License-Identifier: GPL-2.0-only
//! Tasks that existed before the recording began ([`Begins`]). They start as if they had last run
//! on their CPU, and are not forked. A task whose first operation is a sleep is asleep from the
//! start; the others join a queue as by a wakeup.
//!
//! Of the averages only `util_avg` is recorded. `runnable_avg` is assumed to be equal to it, and
//! `load_avg` to be the same share of the weight. `util_est` is unknown: `util_avg` counts until
//! the first sleep. The averages are part of those of the CPU and decay with them. In a task
//! group, and where clamped utilizations add up, they join with the task instead.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::kernel::tunables::Order;
use crate::power::uclamp_sum;
use crate::queues::Queues;
use crate::world::state::Life;
use alight_policy::rq;
use alight_trace::Waker;
use alight_workload::program::{Begins, Op, Workload};

/// The greatest distance of virtual runtimes of CFS on one queue, ns. At the least weight, 3, a
/// run of 3 ms is a second of it.
const LONGEST_AHEAD: i64 = 1 << 36;

/// The beginnings of tasks that existed before the recording.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginnings {
    /// By task; empty if all tasks are new.
    tasks: Box<[Option<Begins>]>,
    /// By CPU: when a task began there last, and the virtual time relative to which the tasks of
    /// that instant are placed.
    origins: Box<[(u64, u64)]>,
}

impl Beginnings {
    /// The beginnings of all tasks.
    pub fn new(workloads: &[Workload], cpus: usize) -> Self {
        let tasks = || workloads.iter().flat_map(|workload| &workload.tasks);
        if tasks().all(|task| task.begins.is_none()) {
            return Beginnings::default();
        }
        Beginnings {
            tasks: tasks().map(|task| task.begins).collect(),
            origins: vec![(NEVER, 0); cpus].into(),
        }
    }
}

impl Queues<'_> {
    /// Sets the averages of `task` from `util_avg`, in the time of the queue of `cpu`.
    fn set_signals(&mut self, cpu: usize, task: u32, util_avg: u32) {
        let view = &mut self.views[task as usize];
        let util = util_avg.min(1024);
        view.pelt.util_avg = util;
        view.pelt.runnable_avg = util;
        view.pelt.load_avg = (u64::from(view.weight) * u64::from(util) / 1024) as u32;
        view.pelt.uclamp = util as i32;
        let own = self.has_groups() || uclamp_sum::add_up(&self.core.params);
        if own || self.is_rt(task) {
            return;
        }
        self.clock(cpu);
        self.update_curr(cpu);
        let curr_fair = self.fair_curr(cpu) != crate::base::timeline::NONE;
        let world = self.world();
        let rq = &mut world.core.cpus[cpu];
        rq::refresh(&world.core.params, rq, curr_fair);
        rq::attach_signals(&world.core.params, rq, &mut world.views[task as usize]);
        self.signals_changed(cpu);
    }
}

impl Sim<'_> {
    /// A workload starts. If it repeats a recording, CPUs tick from now on as they did there.
    pub fn ticks_as_recorded(&mut self, workload: usize) {
        let Some((of, first)) = self.replay.first_tick else {
            return;
        };
        if of != workload {
            return;
        }
        self.jiffies();
        self.jiffy_end = self.now + first.clamp(1, self.tunables.tick);
        for cpu in 0..self.cpus.len() {
            if self.cpus[cpu].tick_at != NEVER {
                self.cpus[cpu].tick_at = self.jiffy_end;
                self.arm(cpu);
            }
        }
    }

    /// `task` starts on `cpu`; false if it is new: then nothing was done.
    pub fn begins_there(&mut self, cpu: usize, task: u32) -> bool {
        let Some(Some(begins)) = self.replay.beginnings.tasks.get(task as usize).copied() else {
            return false;
        };
        self.comes_to_life(task);
        self.views[task as usize].prev_cpu = cpu as u32;
        self.views[task as usize].wakee_flip_decay_ts = self.now;
        let world = self.world();
        let c = &world.cpus[cpu];
        let t = &mut world.tasks[task as usize];
        t.life = Life::Asleep;
        t.cpu = cpu as u32;
        (t.cache_cpu, t.cache_mark) = (cpu as u32, c.cache_fill);
        self.set_signals(cpu, task, begins.util_avg);
        if self.is_rt(task) {
            self.begin_rt(cpu, task);
        } else if let Some(ahead) = begins.vruntime_ahead {
            self.set_ahead(cpu, task, ahead);
        }
        if !self.begins_asleep(cpu, task as usize) {
            self.wake_apart(Waker::Begin, cpu, task, false);
        }
        true
    }

    /// Places `task` `ahead` of the virtual time relative to which the tasks of this instant are
    /// placed.
    fn set_ahead(&mut self, cpu: usize, task: u32, ahead: i64) {
        self.clock(cpu);
        self.update_curr(cpu);
        let origin = match self.replay.beginnings.origins[cpu] {
            (at, origin) if at == self.now => Some(origin),
            _ => None,
        };
        let q = self.line_of(cpu, task);
        let origin = match self.tunables.order {
            Order::Cfs => {
                let origin = origin.unwrap_or(self.fair_queue(q).min_vruntime);
                let ahead = ahead.clamp(-LONGEST_AHEAD, LONGEST_AHEAD);
                self.tasks[task as usize].vruntime = origin.wrapping_add_signed(ahead);
                origin
            }
            Order::Eevdf => self.lag_to_stand_ahead(q, task, origin, ahead),
        };
        self.replay.beginnings.origins[cpu] = (self.now, origin);
    }

    /// If the first operation is a sleep that does not end at once, begins it; true if so.
    fn begins_asleep(&mut self, cpu: usize, task: usize) -> bool {
        // A mark of the time at which it begins takes no time.
        loop {
            match self.ops[self.tasks[task].pc as usize] {
                Op::Mark { mark } => self.pass_mark(mark),
                Op::Retire => self.is_over(task),
                _ => break,
            }
            self.tasks[task].pc += 1;
        }
        let op = self.ops[self.tasks[task].pc as usize];
        let sleeps = match op {
            Op::Await => self.begin_await(cpu, task),
            Op::SleepUntil { ns, slack_ns } => {
                let at = self.time_of(task, ns);
                self.start_timer(cpu, task, at, slack_ns)
            }
            Op::SleepFor { ns, slack_ns } => {
                let at = self.now + ns;
                self.start_timer(cpu, task, at, slack_ns)
            }
            Op::Complete { ns, cpu: on } => {
                self.start_device(task, ns, on);
                true
            }
            _ => return false,
        };
        self.tasks[task].pc += 1;
        sleeps
    }
}
