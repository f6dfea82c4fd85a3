// SPDX-License-Identifier: GPL-2.0-only
//! The logs of rt-app's threads, by its own definitions (`run_event()` and `thread_body()` of
//! rt-app.c): a line for each pass through a phase; and the CPU time of the threads.
//!
//! Logging takes no time and is no event. No decision reads this state.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::program::Programs;
use alight_workload::program::{Logged, Op, Program};

/// The logs of a run, and the line that each task is writing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activations {
    /// By task; empty if no task logs.
    passes: Vec<Pass>,
    logs: Vec<Log>,
}

/// A task's pass through a phase.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// The log that the task writes, [`NONE`] without one.
    log: u32,
    /// CPU time that the task had when counts began, ns.
    ran_from: u64,
    /// CPU time that it had at the end of its workload's duration, ns; `None` before.
    ran_until: Option<u64>,
    began: u64,
    /// Start of the run event in progress.
    run_began: u64,
    /// Wall time of the run events, ns.
    run: u64,
    /// The pass has reached a timer.
    waits: bool,
    /// Sum of the wakeup latencies since the last missed timer, ns.
    wu_lat: u64,
    /// Slack of the last timer, and sum over all timers, ns.
    slack: i64,
    slack_sum: i64,
}

impl Pass {
    fn new(log: u32) -> Self {
        Pass {
            log,
            ran_from: 0,
            ran_until: None,
            began: 0,
            run_began: 0,
            run: 0,
            waits: false,
            wu_lat: 0,
            slack: 0,
            slack_sum: 0,
        }
    }

    /// The next pass begins at `now`.
    fn again(&mut self, now: u64) {
        *self = Pass {
            ran_from: self.ran_from,
            ran_until: self.ran_until,
            began: now,
            ..Pass::new(self.log)
        };
    }
}

/// Sum of the samples, ns, and their number.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: i64,
    count: u64,
}

impl Mean {
    fn add(&mut self, ns: i64) {
        self.sum += ns;
        self.count += 1;
    }

    fn us(self) -> Option<f64> {
        (self.count != 0).then(|| self.sum as f64 / self.count as f64 / 1e3)
    }
}

/// The figures of all tasks that write to one log.
#[derive(Debug, Clone, Copy, Default)]
struct Log {
    run: Mean,
    period: Mean,
    wu_lat: Mean,
    slack: Mean,
    least_slack: Option<i64>,
    missed: u64,
}

/// The log that a program writes.
pub(crate) fn log_of(program: &Program) -> Option<u32> {
    program.ops.iter().find_map(|op| match *op {
        Op::Pass { log, .. } => Some(log),
        _ => None,
    })
}

impl Activations {
    /// `logs`: number of logs. `log_of_task`: the log that each task writes, [`NONE`] without one.
    pub fn new(logs: usize, log_of_task: &[u32]) -> Self {
        let used = log_of_task.iter().any(|&log| log != NONE);
        let tasks = if used { log_of_task } else { &[] };
        Activations {
            passes: tasks.iter().map(|&log| Pass::new(log)).collect(),
            logs: vec![Log::default(); logs],
        }
    }
}

impl Programs<'_> {
    /// A pass of `task` begins.
    pub fn pass_begins(&mut self, task: usize) {
        self.activations.passes[task].again(self.balancer.now);
    }

    /// A run event of `task` begins.
    pub fn run_begins(&mut self, task: usize) {
        self.activations.passes[task].run_began = self.now;
        self.tasks[task].computing = true;
    }

    /// The run event of `task` begins `by` ns later, after a switch.
    pub fn run_begins_later(&mut self, task: usize, by: u64) {
        self.activations.passes[task].run_began += by;
    }

    /// The run event of `task` ended at `at`.
    pub fn run_ended(&mut self, task: usize, at: u64) {
        self.tasks[task].computing = false;
        let pass = &mut self.activations.passes[task];
        pass.run += at.saturating_sub(pass.run_began);
    }

    /// `task` reaches a timer that expires at `point`, and sleeps until then if that is not past.
    pub fn comes_to_timer(&mut self, task: usize, point: u64) {
        let pass = &mut self.activations.passes[task];
        pass.waits = true;
        pass.slack = point as i64 - self.balancer.now as i64;
        pass.slack_sum = pass.slack_sum.saturating_add(pass.slack);
        if point <= self.balancer.now {
            pass.wu_lat = 0;
            self.activations.logs[pass.log as usize].missed += 1;
        }
    }

    /// A timer woke `task`, which runs `late` ns after the time of the timer.
    pub fn wakes_late(&mut self, task: usize, late: u64) {
        self.activations.passes[task].wu_lat += late;
    }

    /// A pass of `task` ends: adds a line to the log.
    pub fn pass_ends(&mut self, task: usize, computes: bool, cumulative_slack: bool) {
        let now = self.now;
        let pass = &mut self.activations.passes[task];
        let log = &mut self.activations.logs[pass.log as usize];
        log.period.add((now - pass.began) as i64);
        if computes {
            log.run.add(pass.run as i64);
        }
        if pass.waits {
            let slack = match cumulative_slack {
                true => pass.slack_sum,
                false => pass.slack,
            };
            log.wu_lat.add(pass.wu_lat as i64);
            log.slack.add(slack);
            log.least_slack = Some(log.least_slack.map_or(slack, |least| least.min(slack)));
        }
        pass.again(now);
    }

    /// Counts CPU time from now on.
    pub fn count_cpu_time_anew(&mut self) {
        for task in 0..self.activations.passes.len() {
            let ran = self.ran_ns(task);
            self.activations.passes[task].ran_from = ran;
        }
    }

    /// The duration of the workload of `task` is over: its CPU time no longer counts.
    pub fn counts_no_more(&mut self, task: usize) {
        let ran = self.ran_ns(task);
        if let Some(pass) = self.activations.passes.get_mut(task) {
            pass.ran_until = Some(ran);
        }
    }

    /// A figure of a log, for the report.
    pub fn logged(&self, log: u32, what: Logged) -> Option<f64> {
        let of = &self.activations.logs[log as usize];
        match what {
            Logged::Run => of.run.us(),
            Logged::Period => of.period.us(),
            Logged::WakeupLatency => of.wu_lat.us(),
            Logged::Slack => of.slack.us(),
            Logged::LeastSlack => of.least_slack.map(|ns| ns as f64 / 1e3),
            Logged::Missed => Some(of.missed as f64),
            Logged::CpuTime => Some(self.cpu_time(log).0 as f64 / 1e9),
            Logged::CpuShare => match self.cpu_time(log) {
                (_, 0) => None,
                (ran, of) => Some(100.0 * ran as f64 / of as f64),
            },
        }
    }

    /// CPU time of the tasks of a log since counts began, and the time that their workload existed
    /// meanwhile, ns.
    fn cpu_time(&self, log: u32) -> (u64, u64) {
        let (mut ran, mut there) = (0, 0);
        for (task, pass) in self.activations.passes.iter().enumerate() {
            if pass.log == log {
                let until = pass.ran_until.unwrap_or_else(|| self.ran_ns(task));
                ran += until.saturating_sub(pass.ran_from);
                let workload = &self.workloads[self.tasks[task].workload as usize];
                let from = workload.start.max(self.counting.since);
                let over = match workload.duration < NEVER {
                    true => workload.over_at,
                    false => workload.ended,
                };
                let until = workload.ended.min(over).min(self.now);
                there = until.saturating_sub(from);
            }
        }
        (ran, there)
    }
}

#[cfg(test)]
mod tests;
