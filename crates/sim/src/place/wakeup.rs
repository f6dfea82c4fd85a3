// SPDX-License-Identifier: GPL-2.0-only
//! Wakeups, from the call until the task is queued (`try_to_wake_up`, `wake_up_new_task`): asks
//! the policy, charges the search, moves the task, queues it directly or by the target's wake
//! list, and has the target reschedule. Sleep and exit of the current task are here too.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::kernel::{IdleEnds, WakeList};
use crate::place::Place;
use crate::power::Power;
use crate::world::World;
use crate::world::state::Life;
use alight_policy::abi::task_flag;
use alight_policy::{Answer, Kind, Wakeup, rq};
use alight_trace::Waker;

impl World<'_> {
    /// A hard interrupt on `cpu` is about to wake a task.
    #[inline(always)]
    pub fn count_interrupt(&mut self, cpu: usize) {
        match self.cpus[cpu].curr {
            NONE => self.stats.wakeups_hardirq_idle += 1,
            _ => self.stats.wakeups_hardirq_task += 1,
        }
    }

    /// Charges `cpu` for a wakeup. Returns the part of all charged time that has passed when the
    /// wakeup reads the clock of the queue.
    #[inline]
    fn charge_wakeup(&mut self, cpu: usize) -> u64 {
        let ahead = self.cpus[cpu].steal;
        self.charge(cpu, self.costs(cpu).wakeup);
        ahead + self.ns(cpu, self.costs(cpu).wakeup_clock)
    }

    /// `cpu` may now ask the current task of `target` to give way. If that is another CPU, it sees
    /// the request from `reached` on, when the waker has set the flag. A request that was pending
    /// before stays visible.
    #[inline]
    fn tells(&mut self, cpu: usize, reached: u64, target: usize) {
        let c = &mut self.cpus[target];
        if cpu == target {
            c.told_at = 0;
        } else if !c.need_resched && !c.resched_lazy {
            c.told_at = reached;
        }
    }

    /// Is `task` still on `cpu`, which searches for tasks before it switches (`p->on_cpu`)?
    #[inline]
    fn is_leaving(&self, cpu: usize, task: u32) -> bool {
        self.cpus[cpu].search.prev == task
    }

    /// Does a task that `cpu` wakes on `target` go by the wake list of `target`?
    #[inline]
    fn by_wake_list(&self, cpu: usize, target: usize) -> bool {
        self.core.places[cpu].llc != self.core.places[target].llc
            || self.kernel.wake_list == WakeList::Idle
                && cpu != target
                && self.core.cpus[target].nr_running == 0
    }

    /// A forked task begins with the wakee flips and the last wakee of its parent:
    /// `dup_task_struct` copies them, and `__sched_fork` does not reset them.
    pub fn inherit_flips(&mut self, parent: usize, child: usize) {
        let alight_policy::Task {
            wakee_flips,
            wakee_flip_decay_ts,
            last_wakee,
            ..
        } = self.views[parent];
        let view = &mut self.views[child];
        (view.wakee_flips, view.wakee_flip_decay_ts, view.last_wakee) =
            (wakee_flips, wakee_flip_decay_ts, last_wakee);
    }

    /// Ends the idle phase at a wakeup, if the kernel does so there (`ttwu_do_wakeup`).
    fn idle_phase_over(&mut self, cpu: usize) {
        if self.kernel.balance.idle_ends != IdleEnds::Switch {
            self.end_idle_phase(cpu);
        }
    }

    /// Ends the idle phase at the switch to a task, if the kernel does so there
    /// (`put_prev_task_idle`).
    #[inline]
    pub fn idle_task_left(&mut self, cpu: usize) {
        if self.kernel.balance.idle_ends == IdleEnds::Switch {
            self.end_idle_phase(cpu);
        }
    }

    /// The length of an idle phase enters the mean (`update_rq_avg_idle`).
    pub fn end_idle_phase(&mut self, cpu: usize) {
        let view = &mut self.core.cpus[cpu];
        if view.idle_stamp != 0 {
            let max = 2 * self.cpus[cpu].max_idle_balance_cost;
            let idle = self.now - view.idle_stamp;
            if idle > max && self.kernel.balance.idle_ends == IdleEnds::WakeupAtMost {
                view.avg_idle = max;
            } else {
                rq::idle_end(view, idle, max);
            }
            view.idle_stamp = 0;
        }
    }

    fn count_wakeup(&mut self, cpu: usize, prev: usize, answer: &Answer) {
        let s = &mut self.stats;
        s.selections.0[answer.step as usize] += 1;
        s.looked_at += u64::from(answer.looked_near + answer.looked_far + answer.summed);
        if answer.slow != 0 {
            s.slow_path += 1;
        } else {
            s.fast_path += 1;
        }
        s.found_idle += u64::from(answer.found_idle);
        let target = answer.cpu as usize;
        if target == prev {
            s.to_prev += 1;
        } else if target == cpu {
            s.to_this += 1;
        } else {
            s.to_other += 1;
        }
        let rq = &self.core.cpus[target];
        if rq.nr_running == 0 {
            s.to_idle += 1;
        } else if rq.nr_running == rq.h_nr_idle {
            s.to_sched_idle += 1;
        } else {
            s.to_busy += 1;
        }
    }
}

impl Power<'_> {
    /// Kicks `target` if the task woken from `cpu` preempts there. If both are one CPU, the switch
    /// does not read the clock again: the current task is charged up to `clock_read` only
    /// (`check_preempt_curr`, `rq_clock_skip_update`).
    #[inline]
    fn resched_woken(&mut self, cpu: usize, target: usize, clock_read: u64) {
        if self.cpus[target].need_resched {
            if cpu == target {
                self.cpus[cpu].before_switch = clock_read;
            }
            self.kick(cpu, target);
        }
    }

    /// Appends the task to the target's wake list and interrupts it (`ttwu_queue_remote`).
    fn send_by_wake_list(&mut self, cpu: usize, target: usize, task: u32, migrated: bool) {
        let wakelist = self.costs(cpu).wakelist;
        self.charge(cpu, wakelist);
        let t = &mut self.tasks[task as usize];
        t.life = Life::Waking;
        t.wake_migrated = migrated;
        t.cpu = target as u32;
        let first = self.cpus[target].wake_list.head == NONE;
        let world = self.world();
        world.cpus[target]
            .wake_list
            .push_back(&mut world.tasks, task);
        self.core.cpus[target].ttwu_pending = 1;
        self.rq_changed(target);
        if self.kernel.balance.newidle.heeds_pending {
            let now = self.now;
            self.search_stops(target, now);
        }
        if first {
            self.kick(cpu, target);
        }
    }
}

impl Place<'_> {
    /// Asks the policy for a CPU, which must be online (`select_task_rq`).
    #[inline(always)]
    fn select(&mut self, cpu: usize, task: u32, sync: bool, kind: Kind) -> Answer {
        let mut answer = self.ask(cpu, task, sync, kind);
        if self.hotplug.used {
            answer.cpu = self.allowed_cpu(answer.cpu as usize, task) as u32;
        }
        answer
    }

    /// Asks the policy. With groups, it sees the loads of tasks in the CPUs' own queues.
    fn ask(&mut self, cpu: usize, task: u32, sync: bool, kind: Kind) -> Answer {
        if !self.has_groups() {
            return self.ask_core(cpu, task, sync, kind);
        }
        let tasks = [task as usize, self.current_view(cpu)];
        let lent = tasks.map(|task| self.lend_signals(task));
        let answer = self.ask_core(cpu, task, sync, kind);
        for (task, lent) in tasks.into_iter().zip(lent) {
            if let Some(own) = lent {
                self.views[task].pelt = own;
            }
        }
        answer
    }

    #[inline(always)]
    fn ask_core(&mut self, cpu: usize, task: u32, sync: bool, kind: Kind) -> Answer {
        self.rq_clock(cpu);
        let explained = self.explains(task, kind);
        let current = self.current_view(cpu);
        let Place { queues, explainer } = self;
        let world = &mut queues.power.world;
        let Ok([view, waker]) = world.views.get_disjoint_mut([task as usize, current]) else {
            unreachable!("a task does not wake itself")
        };
        let wakeup = Wakeup {
            allowed: &world.masks[world.tasks[task as usize].affinity as usize],
            task: view,
            waker: alight_policy::Waker {
                cpu: cpu as u32,
                task: waker,
                sync,
            },
            kind,
            flags: 0,
            now: world.now,
        };
        let (answer, others) = match explainer {
            Some(explainer) if explained => {
                let others = explainer.ask_others(&wakeup);
                (explainer.ask(&mut world.core, wakeup), Some(others))
            }
            _ => (world.core.select(wakeup), None),
        };
        self.trace_decision(cpu, task, &answer);
        if let Some(others) = others {
            self.explained(cpu, task, kind, answer, &others);
        }
        answer
    }

    /// A sleeper leaves `prev` for another CPU (`migrate_task_rq_fair`). The queue loses the
    /// utilization that the task had at the queue's last update. The task's own utilization then
    /// decays for the time that `prev` has been idle since, if the kernel does so.
    fn remove_sleeper(&mut self, prev: usize, task: u32) {
        let idle = self.core.cpus[prev].curr_is_idle != 0;
        if !self.kernel.idle_lag || !idle || self.views[task as usize].pelt.last_update_time == 0 {
            return self.remove_signals(prev, task);
        }
        let updated = self.queue_last_update(prev, task);
        let world = self.world();
        let (k, view) = (&world.core.params, &mut world.views[task as usize]);
        rq::decay(k, &mut world.core.cpus[prev], view, updated);
        let last = self.views[task as usize].pelt.last_update_time;
        self.remove_signals(prev, task);
        let rq = &self.core.cpus[prev];
        let idle_from = rq.clock_pelt - rq.lost_idle_time;
        if idle_from >= updated {
            let now = idle_from + self.now.saturating_sub(self.rq_time(prev));
            let world = self.world();
            let view = &mut world.views[task as usize];
            view.pelt.last_update_time = last;
            rq::decay(&world.core.params, &mut world.core.cpus[prev], view, now);
            view.pelt.last_update_time = 0;
        }
    }

    /// Wakes `task` from `cpu`. `sync`: the waker says that it is about to sleep.
    #[inline(always)]
    pub fn wake(&mut self, cpu: usize, task: u32, sync: bool) {
        let prev = self.views[task as usize].prev_cpu as usize;
        debug_assert_eq!(self.tasks[task as usize].life, Life::Asleep);
        self.tasks[task as usize].wake_time = self.reached(cpu);
        self.trace_waking(cpu, task, prev, sync);
        self.stats.wakeups += 1;
        if self.is_leaving(prev, task) {
            return self.wake_leaving(cpu, prev, task);
        }
        if self.is_rt(task) {
            self.explain_unasked(task);
            let target = self.place_rt(cpu, task);
            return self.queue_woken(cpu, target, task, target != prev);
        }
        if self.is_delayed(task) {
            self.explain_unasked(task);
            return self.wake_delayed(cpu, prev, task);
        }

        let answer = self.select(cpu, task, sync, Kind::Wake);
        let selection = self.costs(cpu).selection(&answer);
        self.charge(cpu, selection);
        self.count_wakeup(cpu, prev, &answer);
        let target = answer.cpu as usize;
        let migrated = target != prev;
        if migrated {
            self.leave_behind(prev, task);
            self.remove_sleeper(prev, task);
            self.trace_migrate(cpu, task, target);
            self.stats.migrations_wake += 1;
        }
        self.queue_woken(cpu, target, task, migrated);
    }

    /// A timer's hard interrupt on `cpu` wakes `task`.
    #[inline(always)]
    pub fn wake_by_timer(&mut self, cpu: usize, task: u32) {
        self.count_interrupt(cpu);
        if self.detailed {
            self.out.waker = Waker::Timer;
        }
        self.wake(cpu, task, false);
        if self.detailed {
            self.out.waker = Waker::Task;
        }
    }

    /// Brings a woken task to the queue of `target` (`ttwu_queue`).
    #[inline(always)]
    fn queue_woken(&mut self, cpu: usize, target: usize, task: u32, migrated: bool) {
        self.bring(cpu, target, task, migrated);
        self.trace_woken(cpu, task);
    }

    #[inline(always)]
    fn bring(&mut self, cpu: usize, target: usize, task: u32, migrated: bool) {
        if !self.by_wake_list(cpu, target) {
            let clock_read = self.charge_wakeup(cpu);
            let lock = self.take_rq_lock(cpu, target);
            let reached = self.now + clock_read + lock;
            self.tells(cpu, reached, target);
            self.activate(cpu, reached, target, task, migrated);
            self.search_stops(target, reached);
            self.resched_woken(cpu, target, clock_read);
        } else {
            self.send_by_wake_list(cpu, target, task, migrated);
        }
    }

    /// Wakes a task that never left its queue on `target` (`ttwu_runnable`).
    fn wake_delayed(&mut self, cpu: usize, target: usize, task: u32) {
        let clock_read = self.charge_wakeup(cpu);
        let reached = self.now + clock_read + self.take_rq_lock(cpu, target);
        self.requeue_delayed(target, task);
        self.stats.to_prev += 1;
        self.stats.still_queued += 1;
        self.tells(cpu, reached, target);
        self.check_preempt(target, task);
        self.trace_wakeup(cpu, reached, target, task);
        self.resched_woken(cpu, target, clock_read);
        self.trace_woken(cpu, task);
    }

    /// Wakes a task that is still on `target`, where it goes to sleep (`try_to_wake_up`, `p->on_cpu`).
    /// No CPU is chosen: the task is put on the wake list, which `target` reads after the switch. If
    /// another task has come to `target`, or if the kernel has no such rule, the waker waits for the
    /// switch, and then chooses. Here it waits, and the task stays, too.
    #[cold]
    fn wake_leaving(&mut self, cpu: usize, target: usize, task: u32) {
        self.explain_unasked(task);
        self.stats.to_prev += 1;
        self.stats.still_queued += 1;
        let queues =
            self.kernel.wake_list != WakeList::OtherCache && self.core.cpus[target].nr_running == 0;
        if !queues && !self.by_wake_list(cpu, target) {
            let switched_at = self.cpus[target].end;
            let wait = switched_at.saturating_sub(self.reached(cpu));
            self.cpus[cpu].steal += wait;
        }
        self.send_by_wake_list(cpu, target, task, false);
        self.trace_woken(cpu, task);
    }

    /// A new task starts (`wake_up_new_task`); its parent runs on `cpu`, if it has one.
    pub fn wake_new(&mut self, cpu: usize, task: u32) {
        let forked_on = (self.cpus[cpu].curr != NONE).then_some(cpu);
        self.views[task as usize].prev_cpu = cpu as u32;
        let rt = self.is_rt(task);
        let target = if rt {
            self.explain_unasked(task);
            self.select_rt(cpu, task)
        } else {
            let answer = self.select(cpu, task, false, Kind::Fork);
            let selection = self.costs(cpu).selection(&answer);
            self.charge(cpu, selection);
            self.stats.selections.0[answer.step as usize] += 1;
            answer.cpu as usize
        };
        self.stats.forks += 1;
        self.tasks[task as usize].wake_time = self.reached(cpu);
        self.take_rq_lock(cpu, target);
        self.views[task as usize].prev_cpu = target as u32;
        self.tasks[task as usize].life = Life::Runnable;
        if rt {
            self.enqueue_rt_new(target, task);
        } else {
            self.enqueue_new(target, task, forked_on);
        }
        self.trace_wakeup_new(cpu, task, target);
        let reached = self.reached(cpu);
        self.tells(cpu, reached, target);
        self.search_stops(target, reached);
        self.check_preempt_new(target, task);
        if rt {
            self.woken_rt(cpu, target, task);
        }
        if self.cpus[target].need_resched {
            self.kick(cpu, target);
        }
        self.trace_woken(cpu, task);
    }

    /// Puts a woken task on the queue of `target` and checks whether it preempts.
    /// CPU `by` executes this, and reads the queue's clock at `reached`.
    #[inline(always)]
    fn activate(&mut self, by: usize, reached: u64, target: usize, task: u32, migrated: bool) {
        self.idle_phase_over(target);
        self.tasks[task as usize].life = Life::Runnable;
        let rt = self.is_rt(task);
        if rt {
            self.enqueue_woken_rt(target, task);
        } else {
            self.enqueue_woken(target, task, migrated);
        }
        self.trace_wakeup(by, reached, target, task);
        self.check_preempt(target, task);
        if rt {
            self.woken_rt(by, target, task);
        }
    }

    /// `cpu` queues the tasks of its wake list (`sched_ttwu_pending`).
    pub fn run_wake_list(&mut self, cpu: usize) {
        self.core.cpus[cpu].ttwu_pending = 0;
        self.rq_changed(cpu);
        while self.cpus[cpu].wake_list.head != NONE {
            let task = self.cpus[cpu].wake_list.head;
            let world = self.world();
            world.cpus[cpu].wake_list.remove(&mut world.tasks, task);
            let reached = self.now + self.charge_wakeup(cpu);
            let migrated = self.tasks[task as usize].wake_migrated;
            self.activate(cpu, reached, cpu, task, migrated);
        }
    }

    /// The current task of `cpu` goes to sleep; the caller reschedules.
    pub fn sleep_current(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        self.leave_queue(cpu, task);
        self.tasks[task as usize].life = Life::Asleep;
    }

    /// The current task leaves its queue.
    #[inline]
    fn leave_queue(&mut self, cpu: usize, task: u32) {
        self.ends.last_sleep = self.now;
        if self.is_rt(task) {
            self.dequeue_current_rt(cpu);
        } else {
            self.dequeue_current(cpu);
        }
    }

    /// The current task of `cpu` ends; the caller reschedules.
    pub fn exit_current(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        self.views[task as usize].flags |= task_flag::EXITING;
        self.leave_queue(cpu, task);
        if self.has_classes() {
            self.class_exits(task);
        }
        self.trace_exit(cpu, task);
        self.tasks[task as usize].life = Life::Dead;
        self.tasks[task as usize].wake_time = NEVER;
        self.remove_signals(cpu, task);
    }
}

#[cfg(test)]
mod tests;
