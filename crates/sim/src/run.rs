// SPDX-License-Identifier: GPL-2.0-only
//! The event loop, and the calls that start it.

use crate::api::{Decision, Error, Figures, Outcome, Scenario, Watch};
use crate::build::{self, MeasureSpec};
use crate::emit::FIRST_PID;
use crate::state::{Output, Sim};
use alight_policy::Note;
use alight_trace::Sink;
use alight_workload::Workload;
use std::sync::atomic::{AtomicBool, Ordering};

/// Events between two looks at the cancel flag.
const CANCEL_INTERVAL: u64 = 1 << 16;
/// Candidates that one explanation holds.
const MAX_NOTES: usize = 4096;

/// Simulates a scenario; events go to `sink`. Setting `cancel` ends the run early.
///
/// # Errors
/// If the scenario asks for what cannot be simulated, the trace cannot be
/// written, or `check` finds a broken invariant.
pub fn run<'a>(
    scenario: &'a Scenario<'a>,
    sink: Option<&'a mut (dyn Sink + 'a)>,
    cancel: &AtomicBool,
) -> Result<Outcome, Error> {
    simulate(scenario, sink, None, cancel).map(|(outcome, _)| outcome)
}

/// Simulates a scenario and writes down the decisions that `watch` names.
///
/// # Errors
/// As [`run`]; and if no task has the watched name.
pub fn explain(
    scenario: &Scenario<'_>,
    watch: &Watch,
    cancel: &AtomicBool,
) -> Result<(Outcome, Vec<Decision>), Error> {
    let mut names: Vec<&str> = scenario
        .workloads
        .iter()
        .flat_map(|w| w.tasks.iter().map(|t| t.comm.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.contains(&watch.comm.as_str()) {
        return Err(Error::Refused(format!(
            "no task is named '{}'; the workload has: {}",
            watch.comm,
            names.join(", ")
        )));
    }
    simulate(scenario, None, Some(watch.clone()), cancel)
}

/// Thread id, name and process id of each task, as traces have them.
///
/// # Errors
/// As [`run`].
pub fn task_table(scenario: &Scenario<'_>) -> Result<Vec<(u32, String, u32)>, Error> {
    let (sim, _) = build::build(scenario, output(None, None))?;
    let pid = |task: u32| FIRST_PID + task;
    let mut leaders = std::collections::BTreeMap::new();
    Ok(sim
        .tasks
        .iter()
        .zip(&sim.comms)
        .zip(0..)
        .map(|((task, comm), id)| {
            let leader = *leaders
                .entry((task.workload, task.process))
                .or_insert(pid(id));
            (pid(id), comm.clone(), leader)
        })
        .collect())
}

fn output<'a>(sink: Option<&'a mut (dyn Sink + 'a)>, watch: Option<Watch>) -> Output<'a> {
    let notes = if watch.is_some() { MAX_NOTES } else { 0 };
    Output {
        sink,
        error: None,
        watch,
        decisions: vec![],
        notes: Vec::<Note>::with_capacity(notes),
    }
}

fn simulate<'a>(
    scenario: &'a Scenario<'a>,
    sink: Option<&'a mut (dyn Sink + 'a)>,
    watch: Option<Watch>,
    cancel: &AtomicBool,
) -> Result<(Outcome, Vec<Decision>), Error> {
    let (mut sim, measures) = build::build(scenario, output(sink, watch))?;
    let interrupted = sim.run_loop(cancel)?;
    if let Some(error) = sim.out.error.take() {
        return Err(error.into());
    }
    if let Some(why) = sim.classes.refusal.take() {
        return Err(Error::Refused(why));
    }
    let outcome = sim.outcome(scenario, &measures, interrupted);
    Ok((outcome, std::mem::take(&mut sim.out.decisions)))
}

impl Sim<'_> {
    /// Runs until the end; true if it was cancelled before.
    fn run_loop(&mut self, cancel: &AtomicBool) -> Result<bool, Error> {
        loop {
            let (cpu_time, cpu) = self.queue.first();
            let (freq_time, slot) = self.freq_queue.first();
            let time = cpu_time.min(freq_time);
            if time >= self.end_at {
                self.now = self.end_at.min(time);
                if self.end_at == crate::queue::NEVER - 1 {
                    return Err(self.stuck());
                }
                return Ok(false);
            }
            debug_assert!(time >= self.now, "time goes back");
            self.now = time;
            self.events += 1;
            // Of one instant, the CPUs come first.
            if cpu_time == time {
                self.cpu_event(cpu);
            } else {
                self.machine_event(slot);
            }
            if self.check || cfg!(debug_assertions) {
                self.check_invariants()?;
            }
            if (self.workloads.iter()).all(|w| w.alive == 0 || w.over_at <= time) {
                return Ok(false);
            }
            if self.events.is_multiple_of(CANCEL_INTERVAL) && cancel.load(Ordering::Relaxed) {
                return Ok(true);
            }
        }
    }

    /// Nothing will ever happen again, yet tasks wait.
    fn stuck(&self) -> Error {
        let waiting = self
            .comms
            .iter()
            .zip(&self.tasks)
            .enumerate()
            .find_map(|(i, (comm, t))| {
                (t.life == crate::state::Life::Asleep).then(|| match self.waits_on(i) {
                    Some(on) => format!("'{comm}' waits on {on:?}"),
                    None => format!("'{comm}' sleeps"),
                })
            });
        Error::Refused(format!(
            "the workload is stuck at {} ns: every task waits for another ({}); \
             check its locks and signals, or give the run a --duration",
            self.now,
            waiting.unwrap_or_default()
        ))
    }

    fn outcome(
        &mut self,
        scenario: &Scenario<'_>,
        measures: &[MeasureSpec],
        interrupted: bool,
    ) -> Outcome {
        for cpu in 0..self.cpus.len() {
            self.clock(cpu);
            self.update_curr(cpu);
            if self.curr_is_rt(cpu) {
                self.update_curr_rt(cpu);
            }
        }
        let mut mechanism = self.mechanism();
        mechanism.extend(self.idle_results());
        Outcome {
            hash: self.hash,
            end_ns: self.now,
            results: self.results(measures),
            energy: self.energy_results(),
            mechanism,
            steps: self.stats.selections.0,
            events: self.events,
            interrupted,
            figures: self.figures(scenario.workloads),
        }
    }

    /// What each workload noted. Those that ended early forgot nothing.
    fn figures(&mut self, workloads: &[Workload]) -> Vec<Figures> {
        let mut first_task = 0;
        let mut counters = self.counters.iter().copied();
        let mut marks = self.marks.iter().map(|mark| mark.first.zip(mark.last));
        let mut tallies = self.instruments.tallies.drain(..);
        let mut figures = vec![];
        for (workload, state) in workloads.iter().zip(self.workloads.iter()) {
            figures.push(Figures {
                over: state.alive == 0 || state.over_at <= self.now,
                first_pid: FIRST_PID + first_task,
                marks: marks.by_ref().take(workload.marks as usize).collect(),
                counters: counters.by_ref().take(workload.counters as usize).collect(),
                tallies: (tallies.by_ref())
                    .take(workload.instruments.tallies as usize)
                    .collect(),
            });
            first_task += workload.tasks.len() as u32;
        }
        figures
    }
}
