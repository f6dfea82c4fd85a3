// SPDX-License-Identifier: GPL-2.0-only
//! A record of which task ran where and when.

use alight_trace::{Detail, Event, PrevState, Sink};

/// The events of a run.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// All events: (time, CPU, tracepoint).
    pub all: Vec<(u64, usize, &'static str)>,
    /// (time, CPU, task); `None` is the idle task.
    pub switches: Vec<(u64, usize, Option<usize>)>,
    /// State of each task that left a CPU (`prev_state`).
    pub left: Vec<(usize, PrevState)>,
    /// (time, CPU of the waker, task).
    pub wakings: Vec<(u64, usize, usize)>,
    /// (time, CPU that enqueued it, task).
    pub wakeups: Vec<(u64, usize, usize)>,
    /// Details that no trace file has: (time, CPU, detail), if they are wanted.
    pub details: Vec<(u64, usize, Detail)>,
    pub wants_details: bool,
    /// Time at which a CPU comes to the event: (time, tracepoint).
    pub reached: Vec<(u64, &'static str)>,
}

impl Record {
    /// Switches to `task`, in order: (time, CPU).
    pub fn runs_of(&self, task: usize) -> Vec<(u64, usize)> {
        let of_task = |&&(_, _, next): &&(_, _, Option<usize>)| next == Some(task);
        let switches = self.switches.iter().filter(of_task);
        switches.map(|&(time, cpu, _)| (time, cpu)).collect()
    }

    /// Start times of the wakeups of `task`.
    pub fn wakings_of(&self, task: usize) -> Vec<u64> {
        let of_task = |&&(_, _, woken): &&(_, _, usize)| woken == task;
        let wakings = self.wakings.iter().filter(of_task);
        wakings.map(|&(time, ..)| time).collect()
    }
}

impl Sink for Record {
    fn wants_details(&self) -> bool {
        self.wants_details
    }

    fn detail(&mut self, time_ns: u64, cpu: u32, detail: Detail) -> std::io::Result<()> {
        self.details.push((time_ns, cpu as usize, detail));
        Ok(())
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        let number = |pid: u32| {
            pid.checked_sub(crate::world::emit::FIRST_PID)
                .map(|n| n as usize)
        };
        let cpu = cpu as usize;
        self.all.push((time_ns, cpu, name(&event)));
        match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                self.switches.push((time_ns, cpu, number(next.pid)));
                self.left.extend(number(prev.pid).map(|t| (t, prev_state)));
            }
            Event::Waking { task, .. } => {
                self.wakings
                    .extend(number(task.pid).map(|t| (time_ns, cpu, t)));
            }
            Event::Wakeup { task, .. } => {
                self.wakeups
                    .extend(number(task.pid).map(|t| (time_ns, cpu, t)));
            }
            _ => {}
        }
        Ok(())
    }

    fn event_reached(
        &mut self,
        time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Event<'_>,
    ) -> std::io::Result<()> {
        self.reached.push((reached_ns, name(&event)));
        self.event(time_ns, cpu, event)
    }
}

/// The tracepoint of `event`.
fn name(event: &Event<'_>) -> &'static str {
    match event {
        Event::Switch { .. } => "sched_switch",
        Event::Waking { .. } => "sched_waking",
        Event::Wakeup { .. } => "sched_wakeup",
        Event::WakeupNew { .. } => "sched_wakeup_new",
        Event::Migrate { .. } => "sched_migrate_task",
        Event::IdleEnter { .. } => "cpu_idle enter",
        Event::IdleExit => "cpu_idle exit",
        Event::Frequency { .. } => "cpu_frequency",
        Event::Fork { .. } => "sched_process_fork",
        Event::Exit { .. } => "sched_process_exit",
        Event::Print { .. } => "print",
        Event::Decision { .. } => "decision",
        Event::CpuCounter { .. } => "counter",
    }
}
