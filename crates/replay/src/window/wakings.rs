// SPDX-License-Identifier: GPL-2.0-only
//! Wakings: where each comes from, which sleep it ends, and who pays for it.

use alight_recording::workload::Context;
use alight_workload::program::Op;

use super::{IDLE, Window};
use crate::interrupts::Source;
use crate::task::{Charged, Early, IN_CALL, Sleep, State, TimerSleep};

/// Where a waking came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waker {
    /// A task, which the recording says (`true`) or which is assumed.
    Task(usize, bool),
    Interrupt(Source),
    LeftOut,
}

impl Window<'_> {
    pub(super) fn waking(
        &mut self,
        now: u64,
        cpu: usize,
        (pid, prio, prev_cpu): (u32, u16, usize),
        by: (u32, Option<Context>),
        sync: bool,
    ) {
        let known = self.by_pid.contains_key(&pid);
        let task = self.task(pid, prio, prev_cpu);
        if !known {
            // It slept from the start on.
            let sleep = self.tasks[task].sleep(self.start);
            self.tasks[task].state = State::Asleep(sleep);
        }
        let waker = self.waker(cpu, task, by);
        self.charge_wakeup(now, cpu, task, waker);
        match self.tasks[task].state {
            State::Asleep(sleep) if !self.tasks[task].woken => {
                self.ends_sleep(now, cpu, task, sleep, waker, sync);
            }
            State::Running { .. } if self.tasks[task].early.is_none() => {
                self.comes_early(now, cpu, task, waker, sync);
            }
            _ => {}
        }
    }

    fn waker(&mut self, cpu: usize, wakee: usize, by: (u32, Option<Context>)) -> Waker {
        let (current, context) = by;
        let in_task = match context {
            Some(context) => context == Context::Task,
            None => current != IDLE && !self.cpus[cpu].interrupts.is_inside(),
        };
        if !in_task || current == IDLE {
            return Waker::Interrupt(self.cpus[cpu].interrupts.source());
        }
        let of_replay = |&task: &usize| {
            let by = &self.tasks[task];
            task != wakee && by.is_replayed() && !by.is_asleep()
        };
        match self.by_pid.get(&current).copied().filter(of_replay) {
            Some(task) => Waker::Task(task, context.is_some()),
            None => Waker::LeftOut,
        }
    }

    /// The model charges the wakeup to whoever is on the CPU.
    fn charge_wakeup(&mut self, now: u64, cpu: usize, wakee: usize, waker: Waker) {
        let Some(&current) = self.cpus[cpu].current.and_then(|pid| self.by_pid.get(&pid)) else {
            return;
        };
        let told = self.cpus[cpu].interrupts.is_inside();
        let timer = match waker {
            Waker::Task(..) | Waker::LeftOut => 0,
            // Its whole time is taken off.
            Waker::Interrupt(_) if told => return,
            Waker::Interrupt(_) => self.charges.timer(cpu),
        };
        if let Waker::Task(waker, _) = waker {
            self.book(now, waker);
            self.tasks[waker].flush();
        }
        let selection = self.charges.selection(cpu);
        self.tasks[current].owe(timer + selection);
        self.tasks[wakee].payer = Some((current, cpu));
        self.tasks[wakee].woken_by = match waker {
            Waker::Task(..) => Some(Charged {
                payer: current,
                cpu,
                work: selection,
            }),
            _ => None,
        };
        self.tasks[current].within_wakeup = self.ends_told && matches!(waker, Waker::Task(..));
        if !self.wakeups_told {
            let elsewhere = self.tasks[wakee].cached.cpu() != Some(cpu);
            self.pays_for(wakee, false, elsewhere);
        }
    }

    /// A woken task is queued on `target`, by what is done on `cpu`.
    pub(super) fn is_queued(&mut self, cpu: usize, pid: u32, target: usize) {
        self.wakeups_told = true;
        if let Some(&task) = self.by_pid.get(&pid)
            && let Some((_, by)) = self.tasks[task].payer
        {
            self.pays_for(task, by != cpu, by != target);
        }
    }

    /// Who woke the task pays for the rest of it.
    fn pays_for(&mut self, task: usize, by_list: bool, elsewhere: bool) {
        if let Some((payer, cpu)) = self.tasks[task].payer.take() {
            let charge = self.charges.wakeup(cpu, by_list, elsewhere);
            self.tasks[payer].owe(charge);
            if let Some(charged) = &mut self.tasks[task].woken_by {
                charged.work += charge;
            }
        }
    }

    /// What a waker does for a wakeup ends: how long that took is known, and nothing of it is work.
    pub(super) fn waking_ends(&mut self, now: u64, cpu: usize, pid: u32) {
        self.ends_told = true;
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        self.tasks[task].payer = None;
        let charged = self.tasks[task].woken_by.take();
        let Some(charged) = charged.filter(|charged| charged.cpu == cpu) else {
            return;
        };
        self.tasks[charged.payer].within_wakeup = true;
        self.book(now, charged.payer);
        self.tasks[charged.payer].within_wakeup = false;
        self.tasks[charged.payer].forgive(charged.work);
    }

    fn ends_sleep(
        &mut self,
        now: u64,
        cpu: usize,
        task: usize,
        sleep: Sleep,
        waker: Waker,
        sync: bool,
    ) {
        self.count_sleep(task);
        self.tasks[task].woken = true;
        let replayed = self.tasks[task].is_replayed();
        let until = self.cpus[cpu]
            .interrupts
            .due(now)
            .clamp(sleep.since + 1, now.max(sleep.since + 1));
        let ns = until - sleep.since;
        match waker {
            _ if sleep.op == IN_CALL => self.ended_by_call(task),
            Waker::Task(by, told) if replayed => {
                let sleeps = self.tasks[by].sleeps;
                self.tasks[task].waits.woken_by(now, by, sleeps);
                let nth = self.tasks[task].awaits_wake(sleep);
                let hand_off = !self.tasks[by].unlocks;
                self.tasks[by].push(Op::Wake {
                    task: task as u32,
                    nth,
                    hand_off,
                    sync,
                });
                self.health.by_tasks += 1;
                self.health.by_tasks_assumed += u64::from(!told);
            }
            Waker::Task(..) => {}
            Waker::Interrupt(source) => {
                self.health.by_timers += u64::from(replayed && source != Source::Device);
                self.health.by_devices += u64::from(replayed && source == Source::Device);
                match source {
                    Source::Device => {
                        let cpu = cpu as u32;
                        self.tasks[task].set(sleep.op, Op::Complete { ns, cpu });
                    }
                    Source::Timer | Source::Unknown => {
                        let called = self.tasks[task].sleep_call;
                        self.tasks[task].timer_sleeps.push(TimerSleep {
                            op: sleep.op,
                            since: sleep.since,
                            until,
                            behind: self.cpus[cpu].interrupts.behind(),
                            cpu: cpu as u32,
                            known: source == Source::Timer,
                            called,
                        });
                    }
                }
            }
            Waker::LeftOut => {
                let cpu = cpu as u32;
                self.tasks[task].set(sleep.op, Op::Complete { ns, cpu });
                self.health.by_left_out += u64::from(replayed);
            }
        }
    }

    /// A waking while the task is still on its CPU: on its way to sleep, or not.
    fn comes_early(&mut self, _now: u64, cpu: usize, task: usize, waker: Waker, sync: bool) {
        let by = match waker {
            Waker::Task(by, _)
                if self.tasks[task].is_replayed() && self.tasks[task].call.is_none() =>
            {
                let wake = Op::Wake {
                    task: task as u32,
                    nth: self.tasks[task].awaits + 1,
                    hand_off: false,
                    sync,
                };
                Some((by, self.tasks[by].push(wake)))
            }
            _ => None,
        };
        self.tasks[task].early = Some(Early { by, cpu });
    }

    /// A woken task is on a queue. One that had not left its CPU did not sleep at all.
    pub(super) fn did_not_sleep(&mut self, pid: u32) {
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        if !self.tasks[task].is_running() {
            return;
        }
        if let Some(Early {
            by: Some((waker, op)),
            ..
        }) = self.tasks[task].early.take()
        {
            self.tasks[waker].set(op, Op::Run { ns: 0 });
        }
    }
}
