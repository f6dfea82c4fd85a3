// SPDX-License-Identifier: GPL-2.0-only
//! Sleeps and periodic timers of tasks.

use crate::base::queue::NEVER;
use crate::base::rng::{Purpose, below};
use crate::dispatch::Sim;
use crate::place::Place;
use crate::program::Programs;
use crate::program::effect::Effect;
use crate::world::World;
use crate::world::state::Life;
use alight_workload::program::{Op, TimerMode, TimerOrigin};

/// The time by which the timer of a fair task may expire late, ns
/// (`init_task.timer_slack_ns`). No modelled tool asks for another slack.
pub(crate) const TIMER_SLACK: u64 = 50_000;

impl World<'_> {
    /// Starts the timer of `task`, which sleeps, on `cpu`; false if the time has passed. The timer
    /// interrupts `slack` ns after `at`, unless another timer interrupts in between.
    pub fn start_timer(&mut self, cpu: usize, task: usize, at: u64, slack: u32) -> bool {
        let at = at.min(NEVER);
        if at > self.now {
            self.tasks[task].timer_point = at;
            let last = at.saturating_add(u64::from(slack).min(TIMER_SLACK));
            self.cpus[cpu]
                .timers
                .insert(&mut self.nodes, task as u32, last);
        }
        at > self.now
    }

    /// `ns` after the start of the task's workload.
    pub fn time_of(&self, task: usize, ns: u64) -> u64 {
        self.workloads[self.tasks[task].workload as usize].start + ns
    }
}

impl Place<'_> {
    pub(super) fn sleep(&mut self, cpu: usize, task: usize, ns: u64) -> Effect {
        if ns == 0 {
            return Effect::Done;
        }
        self.sleep_until(cpu, task, self.now + ns);
        Effect::DoneAfterSleep
    }

    /// The timer of a sleeping task stays on the CPU where the task went to sleep. That of a fair
    /// task interrupts after its slack, or expires when another timer interrupts before
    /// (`hrtimer_nanosleep`).
    #[inline(always)]
    fn sleep_until(&mut self, cpu: usize, task: usize, at: u64) {
        self.tasks[task].timer_point = at;
        let slack = match self.is_rt(task as u32) {
            true => 0,
            false => TIMER_SLACK,
        };
        self.sleep_current(cpu);
        let world = self.world();
        world.cpus[cpu]
            .timers
            .insert(&mut world.nodes, task as u32, at + slack);
    }

    /// Sleeps until `at`, the time at which the timer of a recorded task fired, or up to `slack` ns
    /// longer.
    pub(super) fn sleep_to(&mut self, cpu: usize, task: usize, at: u64, slack: u32) -> Effect {
        if at <= self.now {
            return Effect::Done;
        }
        self.sleep_current(cpu);
        self.start_timer(cpu, task, at, slack);
        Effect::DoneAfterSleep
    }
}

impl Programs<'_> {
    /// The current task of `cpu` sleeps for a time, or to the next point of a timer.
    #[inline(always)]
    pub(super) fn go_to_sleep(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Sleep { ns } => self.sleep(cpu, task, ns),
            Op::Stagger { within_ns } => {
                let ns = below(self.seed, task as u64, Purpose::Stagger, within_ns);
                self.sleep(cpu, task, ns)
            }
            Op::Timer { .. } => self.timer(cpu, task, op),
            _ => unreachable!(),
        }
    }

    #[inline(always)]
    fn timer(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        let Op::Timer {
            slot,
            period_ns,
            mode,
            origin,
            histogram,
        } = op
        else {
            unreachable!()
        };
        let histogram = histogram.get();
        let now = self.now;
        let world = self.world();
        let t = &mut world.tasks[task];
        if !std::mem::take(&mut t.waited) {
            if t.timers_set >> slot & 1 == 0 {
                t.timers_set |= 1 << slot;
                t.timers[slot as usize] = match origin {
                    TimerOrigin::FirstUse => now,
                    TimerOrigin::TaskStart => t.started,
                    TimerOrigin::WorkloadStart => world.workloads[t.workload as usize].start,
                };
            }
            let point = t.timers[slot as usize] + period_ns;
            t.timers[slot as usize] = point;
            if t.logged && histogram.is_some() {
                self.comes_to_timer(task, point);
            }
            let t = &mut self.tasks[task];
            if point > now {
                t.waited = histogram.is_some();
                self.sleep_until(cpu, task, point);
                return match histogram {
                    Some(_) => Effect::RetryAfterSleep,
                    None => Effect::DoneAfterSleep,
                };
            }
            match mode {
                TimerMode::Relative => t.timers[slot as usize] = now,
                TimerMode::Absolute => {}
                TimerMode::SkipMissed => {
                    let behind = (now - point) / period_ns.max(1) * period_ns;
                    t.timers[slot as usize] = point + behind;
                    return self.timer(cpu, task, op);
                }
            }
            // The task did not sleep: this is no wakeup.
            return Effect::Done;
        }
        let (late, logged) = (now - t.timer_point, t.logged);
        if let Some(histogram) = histogram {
            self.record(histogram, late);
        }
        if logged {
            self.wakes_late(task, late);
        }
        Effect::Done
    }
}

impl Sim<'_> {
    /// A timer expires on `cpu`: of a class, of a sleep that ends, or of a task that starts.
    #[inline(always)]
    pub fn timer_expired(&mut self, cpu: usize, task: u32) {
        if let Some(timer) = (task as usize).checked_sub(self.tasks.len()) {
            self.class_timer(cpu, timer as u32);
        } else if self.tasks[task as usize].life == Life::New {
            if !self.begins_there(cpu, task) {
                self.start(cpu, task);
            }
        } else {
            self.wake_by_timer(cpu, task);
        }
    }
}
