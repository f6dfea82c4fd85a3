// SPDX-License-Identifier: GPL-2.0-only
//! The events of one CPU: interrupts, ticks, context switches, and the way into and out of idle.

use crate::balance::{NewidleBalance, NohzBalance, PeriodicBalance, Stopper};
use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::program::Programs;
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::{Life, Phase};
use alight_trace::{Interrupt, PrevState};

impl World<'_> {
    /// Does the current task of `cpu`, at the end of a system call, see a request to give way?
    #[inline]
    pub fn sees_resched(&self, cpu: usize) -> bool {
        let c = &self.cpus[cpu];
        (c.need_resched || c.resched_lazy) && c.told_at <= self.now
    }

    /// Nothing is left to do before the operation takes effect.
    fn segment_done(&self, cpu: usize) -> bool {
        let c = &self.cpus[cpu];
        let t = &self.tasks[c.curr as usize];
        c.steal == 0 && t.stall == 0 && t.units == 0 && t.wall_until <= self.now
    }

    /// May the first timer of `cpu` expire now that another one interrupts
    /// (`hrtimer_get_softexpires`)?
    fn first_may_expire(&self, cpu: usize) -> bool {
        let timers = &self.cpus[cpu].timers;
        let early = timers.first_at().saturating_sub(self.now);
        let task = timers.first() as usize;
        // A timer that is further off than any slack may not: its task is not read.
        early == 0
            || early <= TIMER_SLACK
                && (self.tasks.get(task)).is_some_and(|task| task.timer_point <= self.now)
    }
}

impl Queues<'_> {
    /// The task to run next, or [`NONE`], class by class; `stays`: the current one
    /// is still runnable.
    #[inline(always)]
    pub fn pick_next(&mut self, cpu: usize, stays: bool) -> u32 {
        if self.has_classes() {
            self.pick_class(cpu, stays)
        } else {
            self.pick_fair(cpu, stays)
        }
    }
}

impl Programs<'_> {
    /// Does the current task give way now, after an interrupt or, if `due`, at the end of its
    /// segment?
    #[inline]
    fn must_schedule(&self, cpu: usize, due: bool) -> bool {
        let c = &self.cpus[cpu];
        // The end of a segment is not by itself an entry into the kernel.
        let lazily = || c.resched_lazy && !due && self.in_user_mode(cpu);
        c.gives_way || c.told_at <= self.now && (c.need_resched || lazily())
    }

    /// The current task of `cpu` gives way after the kernel work that is still charged: the task
    /// pays for work before `__schedule`, such as a tick.
    pub fn give_way(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        if c.steal.min(c.before_switch) == 0 {
            self.schedule(cpu);
        } else {
            c.gives_way = true;
        }
    }

    fn tick_handler(&mut self, cpu: usize) {
        self.cpus[cpu].tick_at = self.next_tick();
        let tick = self.costs(cpu).tick;
        self.charge(cpu, tick);
        self.stats.ticks += 1;
        self.clock(cpu);
        if self.has_pressure() {
            self.pressure_refresh(cpu);
        }
        // At a tick, a lazy request to give way becomes a full one (`sched_tick`).
        self.cpus[cpu].need_resched |= self.cpus[cpu].resched_lazy;
        if self.curr_is_rt(cpu) {
            self.tick_rt(cpu);
        } else if self.cpus[cpu].curr != NONE {
            self.tick_fair(cpu);
            self.overutilized_update(cpu);
        }
        self.balance_tick(cpu);
    }

    /// Picks the next task and switches to it (`__schedule`).
    pub fn schedule(&mut self, cpu: usize) {
        self.clock(cpu);
        let c = &mut self.cpus[cpu];
        (c.need_resched, c.resched_lazy, c.gives_way) = (false, false, false);
        c.before_switch = NEVER;
        let prev = c.curr;
        let stays = prev != NONE && self.tasks[prev as usize].life == Life::Runnable;
        if stays {
            self.update_curr(cpu);
        }
        let mut next = self.pick_next(cpu, stays);
        if next == prev && prev != NONE {
            let c = &mut self.cpus[cpu];
            (c.need_resched, c.resched_lazy) = (false, false);
            self.tasks[prev as usize].yielded = false;
            self.picked_again(cpu);
            if self.has_classes() {
                self.switched_rt(cpu);
            }
            return;
        }
        self.trace_schedule(cpu, prev);
        if next == NONE && prev != NONE {
            let found = self.balance_newidle(cpu);
            if self.cpus[cpu].steal != 0 {
                return self.search(cpu, prev);
            }
            if found {
                next = self.pick_fair(cpu, false);
            }
        }
        let state = self.leave_current(cpu, prev, stays);
        self.switch(cpu, prev, state, next);
        if next == NONE {
            self.settle(cpu);
        }
    }

    /// The work that is charged, such as the search for tasks, passes before `cpu` switches from
    /// `prev`, which sleeps or ended.
    fn search(&mut self, cpu: usize, prev: u32) {
        let state = self.leave_current(cpu, prev, false);
        if self.has_groups() {
            self.leave_groups(cpu);
        }
        let now = self.now;
        let c = &mut self.cpus[cpu];
        c.phase = Phase::Searching;
        (c.search.prev, c.search.prev_state) = (prev, state);
        c.end = now + std::mem::take(&mut c.steal);
        c.hrtick_at = NEVER;
    }

    /// Switches from `prev`, which leaves in `state`, to `next`, or to the idle task ([`NONE`]), which
    /// does not rest yet.
    #[inline]
    fn switch(&mut self, cpu: usize, prev: u32, state: PrevState, next: u32) {
        let c = &mut self.cpus[cpu];
        (c.need_resched, c.resched_lazy) = (false, false);
        if self.has_groups() {
            self.switch_groups(cpu, next);
        }
        if next == NONE {
            self.trace_switch(cpu, prev, state, next);
            return self.idle_task_runs(cpu);
        }
        if self.is_rt(next) {
            self.set_next_rt(cpu, next);
        } else {
            self.set_next(cpu, next);
        }
        self.run(cpu, next);
        self.trace_switch(cpu, prev, state, next);
        if self.has_classes() {
            self.switched_rt(cpu);
        }
    }

    /// `prev` stops running on the CPU; returns the state in which it left.
    #[inline(always)]
    pub fn leave_current(&mut self, cpu: usize, prev: u32, stays: bool) -> PrevState {
        if prev == NONE {
            return PrevState::Running;
        }
        self.end_rounds(cpu);
        self.cache_leave(cpu, prev);
        if stays {
            self.preempted_in_pipe(cpu, prev);
        }
        let t = &mut self.tasks[prev as usize];
        let yielded = std::mem::take(&mut t.yielded);
        let blocked = std::mem::take(&mut t.blocked);
        let life = t.life;
        let within_call = stays && !self.in_user_mode(cpu);
        if within_call {
            self.trace_preempted_call(cpu, prev as usize);
        }
        if self.is_rt(prev) {
            self.put_prev_rt(cpu, prev);
        } else if stays || self.is_delayed(prev) {
            self.put_prev(cpu);
        }
        if stays && !yielded {
            self.preempted += 1;
        }
        self.cpus[cpu].curr = NONE;
        match life {
            // A task on its way back to user mode calls `schedule()` itself.
            Life::Runnable if yielded || !within_call => PrevState::Running,
            Life::Runnable => PrevState::Preempted,
            Life::Dead => PrevState::Dead,
            _ if blocked => PrevState::Uninterruptible,
            _ => PrevState::Sleeping,
        }
    }

    /// Starts executing `task`, which has just become current.
    #[inline(always)]
    fn run(&mut self, cpu: usize, task: u32) {
        self.core.cpus[cpu].curr_is_idle = 0;
        self.idle_task_left(cpu);
        if self.has_servers() {
            self.server_idles(cpu, false);
        }
        self.cpus[cpu].phase = Phase::Running;
        self.thread_executes(cpu);
        self.cpus[cpu].segment_start = self.now;
        let switch_ns = self.ns(cpu, self.costs(cpu).switch);
        let block = self.costs(cpu).block;
        // Interrupts are off in a switch: those that come wait for its end.
        self.cpus[cpu].steal += switch_ns;
        if self.tasks[task as usize].fresh {
            self.leave_loops(task as usize);
            self.begin(cpu, task as usize);
            if self.tasks[task as usize].computing {
                let woken = self.tasks[task as usize].wake_time != NEVER;
                let block_ns = if woken { self.ns(cpu, block) } else { 0 };
                self.run_begins_later(task as usize, switch_ns + block_ns);
            }
        }
        let world = self.world();
        let t = &mut world.tasks[task as usize];
        if t.wake_time != NEVER {
            let latency = world.now.saturating_sub(t.wake_time);
            t.wake_time = NEVER;
            t.units += block;
            self.stats.wake_latency.record(latency);
            self.explain_ran(task, latency);
        }
        self.refill(cpu, task);
        self.misfit_update(cpu);
        if self.cpus[cpu].tick_at == NEVER {
            self.cpus[cpu].tick_at = self.next_tick();
            self.nohz_tick_goes_on(cpu);
        }
    }
}

impl<'a> Stopper<'a> for Programs<'a> {
    fn push_running(&mut self, src: usize, dst: usize) {
        let task = self.cpus[src].curr;
        if task == NONE || !self.allowed(task, dst) {
            return;
        }
        let rt = self.is_rt(task);
        self.clock(src);
        self.update_curr(src);
        self.trace_schedule(src, task);
        let state = self.leave_current(src, task, true);
        self.leave_groups(src);
        self.makes_way_for_kernel(src);
        if rt {
            self.dequeue_rt(src, task);
        } else {
            self.detach_task(src, task);
        }
        if self.has_classes() {
            self.pull_rt(src);
        }
        let next = self.pick_next(src, false);
        if self.has_groups() {
            self.switch_groups(src, next);
        }
        if self.is_rt(next) {
            self.set_next_rt(src, next);
            self.run(src, next);
        } else if next != NONE {
            self.set_next(src, next);
            self.run(src, next);
        }
        self.trace_switch(src, task, state, next);
        if next == NONE {
            self.go_idle(src);
            self.left_by_push(src);
        }
        if rt {
            self.trace_migrate(src, task, dst);
            self.enqueue_rt(dst, task, false);
            self.check_preempt(dst, task);
        } else {
            self.attach_task(src, dst, task);
        }
        self.arm(src);
        if self.cpus[dst].need_resched {
            self.kick(src, dst);
        }
    }
}

impl Sim<'_> {
    /// Handles the event that is due on `cpu` now.
    #[inline(always)]
    pub fn cpu_event(&mut self, cpu: usize) {
        match self.cpus[cpu].phase {
            Phase::Running => self.running_event(cpu),
            Phase::Idle => self.idle_interrupted(cpu),
            Phase::Waking => self.idle_loop_event(cpu),
            Phase::Searching => self.searched(cpu),
        }
        self.arm(cpu);
    }

    /// `cpu` has searched for tasks: switches to one that it found or got, or to the idle task.
    /// Then come the interrupts that waited for the switch.
    fn searched(&mut self, cpu: usize) {
        self.clock(cpu);
        let (prev, state) = self.search_ends(cpu);
        let next = self.pick_next(cpu, false);
        // The switch is at the speed of now.
        self.trace_schedule(cpu, prev);
        self.switch(cpu, prev, state, next);
        if next == NONE {
            self.cpus[cpu].phase = Phase::Waking;
            return self.idle_loop_goes_on(cpu);
        }
        self.interrupts(cpu);
        if self.must_schedule(cpu, false) {
            self.give_way(cpu);
        }
    }

    #[inline(always)]
    fn running_event(&mut self, cpu: usize) {
        self.end_rounds(cpu);
        let due = self.cpus[cpu].end <= self.now;
        self.progress(cpu);
        self.interrupts(cpu);
        if self.must_schedule(cpu, due) {
            self.give_way(cpu);
        } else if due && self.segment_done(cpu) {
            self.execute(cpu);
        }
    }

    /// Interrupts that are due on a CPU that executes.
    #[inline(always)]
    pub fn interrupts(&mut self, cpu: usize) {
        let c = &self.cpus[cpu];
        let timer = c.timers.first_at().min(c.tick_at).min(c.hrtick_at);
        if c.ipi_at.min(timer) <= self.now {
            self.handle_all(cpu);
        }
    }

    fn handle_all(&mut self, cpu: usize) {
        let charged = self.cpus[cpu].steal;
        self.handle_interrupts(cpu);
        if self.has_irq_time() {
            let charged = self.cpus[cpu].steal - charged;
            self.spent_in_irq(cpu, charged);
        }
    }

    /// IPIs, timers and the tick.
    #[inline(always)]
    fn handle_interrupts(&mut self, cpu: usize) {
        if self.cpus[cpu].ipi_at <= self.now {
            self.cpus[cpu].ipi_at = NEVER;
            self.cpus[cpu].told_at = 0;
            let due = Some(self.now);
            self.trace_interrupt(cpu, Interrupt::Ipi, due);
            self.run_wake_list(cpu);
            self.trace_interrupt(cpu, Interrupt::Ipi, None);
            if self.replay.devices.interrupt() {
                self.device_interrupts(cpu);
            }
            if self.has_classes() {
                self.asked_to_push(cpu);
            }
            if std::mem::take(&mut self.cpus[cpu].balance_kicked) {
                self.balance_nohz(cpu);
            }
        }
        let c = &self.cpus[cpu];
        if c.timers.first_at().min(c.tick_at).min(c.hrtick_at) <= self.now {
            self.cpus[cpu].told_at = 0;
            self.timer_interrupt(cpu);
        }
    }

    /// Timers expire in the order of their interrupt times. When one interrupts, the next ones
    /// expire with it as long as their slack allows it; the first that may not expire yet ends this
    /// (`__hrtimer_run_queues`).
    #[inline(always)]
    fn timer_interrupt(&mut self, cpu: usize) {
        loop {
            let c = &self.cpus[cpu];
            let (sleep, tick, hrtick) = (c.timers.first_at(), c.tick_at, c.hrtick_at);
            if sleep <= tick.min(hrtick) {
                if !self.first_may_expire(cpu) {
                    return;
                }
                let world = self.world();
                let task = world.cpus[cpu].timers.pop(&mut world.nodes);
                let due = Some(sleep.min(self.now));
                self.trace_interrupt(cpu, Interrupt::Timer, due);
                let timer = self.costs(cpu).timer;
                self.charge(cpu, timer);
                self.timer_expired(cpu, task);
                self.trace_interrupt(cpu, Interrupt::Timer, None);
            } else if tick.min(hrtick) > self.now {
                return;
            } else if tick <= hrtick {
                self.trace_interrupt(cpu, Interrupt::Tick, Some(tick));
                self.tick_handler(cpu);
                self.trace_interrupt(cpu, Interrupt::Tick, None);
            } else {
                self.trace_interrupt(cpu, Interrupt::Timer, Some(hrtick));
                self.hrtick(cpu);
                self.trace_interrupt(cpu, Interrupt::Timer, None);
            }
        }
    }
}

#[cfg(test)]
mod tests;
