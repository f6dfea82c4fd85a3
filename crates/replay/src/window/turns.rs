// SPDX-License-Identifier: GPL-2.0-only
//! Turns: a task comes to a CPU, works there, and leaves it.

use alight_recording::workload::Left;
use alight_workload::program::Op;

use super::{IDLE, Window};
use crate::task::State;
use crate::work::Work;

impl Window<'_> {
    /// Books the work of a running task until now.
    pub(super) fn book(&mut self, now: u64, task: usize) {
        let State::Running { cpu, from, since } = self.tasks[task].state else {
            return;
        };
        let done = self.speeds.done(cpu, now);
        let ns = now - since;
        let spent = self.cpus[cpu].interrupts.take_spent(now).min(ns);
        let stalled = match self.tasks[task].schedules_since {
            None => self.tasks[task].stall_ns.min(ns - spent),
            Some(_) => 0,
        };
        self.tasks[task].stall_ns -= stalled;
        let mut work: Work = done - from;
        work -= self.speeds.in_ns(cpu, spent + stalled).min(work);
        let ticks = match self.timers_told {
            true => 0,
            false => self.charges.ticks(cpu, ns),
        };
        let booked = &mut self.tasks[task];
        booked.ran |= ns > 0;
        if booked.schedules_since.is_some() {
            booked.schedules_ns += ns - spent;
        }
        if !booked.is_in_kernel() {
            booked.add_work(work);
            booked.owe(ticks);
        }
        booked.state = State::Running {
            cpu,
            from: done,
            since: now,
        };
        if booked.is_replayed() {
            self.health.cpu_ns += ns;
            if !self.cpus[cpu].clock_told && self.speeds.has_clocks(cpu) {
                self.health.unknown_clock_ns += ns;
            }
        }
    }

    pub(super) fn leaves(
        &mut self,
        now: u64,
        cpu: usize,
        (prev, prio): (u32, u16),
        left: Left,
        next: u32,
    ) {
        self.cpus[cpu].current = None;
        if prev == IDLE {
            return;
        }
        let known = self.by_pid.contains_key(&prev);
        let task = self.task(prev, prio, cpu);
        if !known {
            // It ran from the start on.
            self.speeds.set_executes(cpu, true, self.start);
            self.tasks[task].state = State::Running {
                cpu,
                from: self.speeds.done(cpu, self.start),
                since: self.start,
            };
        }
        if !self.tasks[task].is_running() {
            // That it came was not told.
            self.wakes_unseen(now, task, cpu);
            self.tasks[task].woken = false;
        }
        self.book(now, task);
        self.tasks[task].cached = self.charges.leaves(cpu);
        let schedules = self.tasks[task].schedules_since.take();
        let took_ns = std::mem::take(&mut self.tasks[task].schedules_ns);
        if schedules.is_none() && next != IDLE {
            self.tasks[task].owe(self.charges.turn_ends(cpu));
        }
        if !matches!(left, Left::Runnable | Left::Preempted) {
            // It was all there earlier than the model thinks.
            let stall_ns = std::mem::take(&mut self.tasks[task].stall_ns);
            let work = self.speeds.in_ns(cpu, stall_ns);
            self.tasks[task].owe(work);
        }
        match left {
            Left::Runnable | Left::Preempted => {
                self.tasks[task].state = State::Runnable;
                // It does not look for others elsewhere: all of it is the switch.
                if let Some(switch_ns) = self.cpus[cpu].switch_ns {
                    self.cpus[cpu].late_ns = took_ns.saturating_sub(switch_ns / 2);
                }
                if self.tasks[task].is_replayed() {
                    self.health.still_runnable += 1;
                }
            }
            Left::Asleep | Left::Blocked => self.sleeps(schedules.unwrap_or(now), task),
            Left::Dead => {
                self.note_uneven();
                self.tasks[task].flush();
                self.tasks[task].state = State::Dead;
            }
        }
    }

    pub(super) fn schedules(&mut self, now: u64, cpu: usize, pid: u32) {
        self.switch_begins(cpu);
        if let Some(&task) = self.by_pid.get(&pid) {
            self.book(now, task);
            // Told again at the end of a search for tasks: the sleep began before.
            self.tasks[task].schedules_since.get_or_insert(now);
        }
    }

    /// A switch on `cpu` begins at its present speed, unless this is told again.
    pub(super) fn switch_begins(&mut self, cpu: usize) {
        self.cpus[cpu].switch_ns = Some(self.charges.switch_ns(cpu, &self.speeds));
    }

    pub(super) fn sleeps(&mut self, now: u64, task: usize) {
        let sleep = self.tasks[task].sleep(now);
        self.tasks[task].state = State::Asleep(sleep);
        let Some(early) = self.tasks[task].early.take() else {
            return;
        };
        // Woken on its way to sleep: that is the end of this sleep.
        self.count_sleep(task);
        self.tasks[task].woken = true;
        match early.by {
            _ if self.tasks[task].call.is_some() => self.ended_by_call(task),
            Some(_) => {
                self.tasks[task].awaits_wake(sleep);
                if self.tasks[task].is_replayed() {
                    self.health.by_tasks += 1;
                    self.health.raced += 1;
                }
            }
            None => {
                let at_once = Op::Complete {
                    ns: 1,
                    cpu: early.cpu as u32,
                };
                self.tasks[task].set(sleep.op, at_once);
                if self.tasks[task].is_replayed() {
                    self.health.by_devices += 1;
                }
            }
        }
    }

    /// The call of another task on the same channel ended its sleep.
    pub(super) fn ended_by_call(&mut self, task: usize) {
        self.health.by_tasks += u64::from(self.tasks[task].is_replayed());
    }

    pub(super) fn count_sleep(&mut self, task: usize) {
        if self.tasks[task].is_replayed() {
            self.health.sleeps += 1;
        }
    }

    /// `cpu` executes a task from now on, or none: this changes the speed of those beside it.
    pub(super) fn executes(&mut self, now: u64, cpu: usize, executes: bool) {
        if self.speeds.executes(cpu) == executes {
            return;
        }
        for at in 0..self.speeds.sharers(cpu).len() {
            self.book_current(now, self.speeds.sharers(cpu)[at]);
        }
        self.speeds.set_executes(cpu, executes, now);
    }

    pub(super) fn book_current(&mut self, now: u64, cpu: usize) {
        if let Some(task) = self.cpus[cpu].current.and_then(|pid| self.by_pid.get(&pid)) {
            self.book(now, *task);
        }
    }

    pub(super) fn comes(&mut self, now: u64, cpu: usize, next: u32, prio: u16) {
        self.cpus[cpu].current = Some(next);
        if next != IDLE || !self.cpus[cpu].idles_told {
            self.executes(now, cpu, next != IDLE);
        }
        self.cpus[cpu].interrupts.take_spent(now);
        if next == IDLE {
            (self.cpus[cpu].switch_ns, self.cpus[cpu].late_ns) = (None, 0);
            return;
        }
        let task = self.task(next, prio, cpu);
        self.wakes_unseen(now, task, cpu);
        // What came late comes late again: that time counts as work.
        let late_ns = std::mem::take(&mut self.cpus[cpu].late_ns);
        let late = self.speeds.in_ns(cpu, late_ns);
        let from = self.speeds.done(cpu, now).saturating_sub(late);
        let switch_ns = match self.cpus[cpu].switch_ns.take() {
            Some(began) => began,
            None => self.charges.switch_ns(cpu, &self.speeds),
        };
        let task = &mut self.tasks[task];
        task.stall_ns += switch_ns.div_ceil(2);
        task.stall_ns += self.charges.comes(cpu, task.cached);
        if std::mem::take(&mut task.woken) {
            task.owe(self.charges.block(cpu));
        }
        task.state = State::Running {
            cpu,
            from,
            since: now - late_ns,
        };
    }

    /// A task runs that was asleep: its waking was not seen.
    fn wakes_unseen(&mut self, now: u64, task: usize, cpu: usize) {
        if self.tasks[task].woken {
            return;
        }
        let State::Asleep(sleep) = self.tasks[task].state else {
            return;
        };
        self.count_sleep(task);
        let op = Op::Complete {
            ns: (now - sleep.since).max(1),
            cpu: cpu as u32,
        };
        let woken = &mut self.tasks[task];
        woken.set(sleep.op, op);
        woken.woken = true;
        if woken.is_replayed() {
            self.health.unexplained += 1;
        }
    }
}
