// SPDX-License-Identifier: GPL-2.0-only
//! The event loop, and the calls that start it.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::face::answers::{Answers, Decision, Watch};
use crate::face::api::{Error, Figures, Outcome, Scenario};
use crate::kernel::{Kernel, hybrid};
use crate::observe::progress::Goal;
use crate::observe::results::MeasureSpec;
use crate::observe::stuck::Stuck;
use crate::place::explain::{Explainer, Wants};
use crate::program::Programs;
use crate::setup::{build, drawn};
use crate::world::Output;
use crate::world::emit::FIRST_PID;
use alight_machine::Machine;
use alight_trace::Sink;
use alight_workload::Workload;
use std::sync::atomic::{AtomicBool, Ordering};

/// Events between two checks for cancellation, progress and stuck workloads.
const LOOK_INTERVAL: u64 = 1 << 16;

/// The caller that waits for a run.
struct Waiter<'a> {
    /// If set, the run ends early.
    cancel: &'a AtomicBool,
    /// Called with the part that is done, 0 to [`WHOLE`](crate::WHOLE).
    tell: &'a dyn Fn(u32),
}

/// Simulates a scenario. `sink` receives the events in the order of time; `None`: no trace. If
/// `cancel` becomes true the run ends early, and [`Outcome::interrupted`] is set.
///
/// # Errors
/// - [`Error::Refused`]: the machine or the model lacks something that the scenario needs;
/// - [`Error::Trace`]: the sink failed;
/// - [`Error::Invariant`]: [`Scenario::check`] is set and an invariant is broken.
pub fn run(
    scenario: &Scenario<'_>,
    sink: Option<&mut (dyn Sink + '_)>,
    cancel: &AtomicBool,
) -> Result<Outcome, Error> {
    run_telling(scenario, sink, cancel, &|_| ())
}

/// As [`run`]. `tell` is called from time to time with the part that is done, 0 to
/// [`WHOLE`](crate::WHOLE). It is not called if the length of the run is unknown.
///
/// # Errors
/// As [`run`].
pub fn run_telling(
    scenario: &Scenario<'_>,
    sink: Option<&mut (dyn Sink + '_)>,
    cancel: &AtomicBool,
    tell: &dyn Fn(u32),
) -> Result<Outcome, Error> {
    let (drawn, seen) = (drawn::workloads(scenario), seen(scenario));
    let scenario = &resolved(scenario, drawn.as_deref(), seen.as_ref());
    // Shortens the lifetime of the sink to that of the run.
    let sink = sink.map(|sink| sink as &mut dyn Sink);
    let (mut sim, measures) = build::build(scenario, output(sink))?;
    if (sim.out.sink.as_deref()).is_some_and(Sink::wants_base_answers) {
        let explainer = Explainer::telling(scenario.scheduler, &sim)?;
        sim.explain_by(explainer);
    }
    simulate(&mut sim, scenario, &measures, &Waiter { cancel, tell })
}

/// The machine as the base sees it; `None`: the machine as it is.
fn seen(scenario: &Scenario<'_>) -> Option<Machine> {
    hybrid::seen(scenario.machine, Kernel::of(scenario.scheduler)?)
}

/// The scenario with the workloads that its seed draws, if any, and the machine that its base sees.
fn resolved<'a>(
    scenario: &Scenario<'a>,
    drawn: Option<&'a [Workload]>,
    seen: Option<&'a Machine>,
) -> Scenario<'a> {
    Scenario {
        workloads: drawn.unwrap_or(scenario.workloads),
        machine: seen.unwrap_or(scenario.machine),
        ..*scenario
    }
}

/// Simulates a scenario and returns the first `limit` decisions among those that `watch` names.
///
/// # Errors
/// As [`run`]; and if no task has the watched name.
pub fn explain(
    scenario: &Scenario<'_>,
    watch: &Watch,
    limit: usize,
    cancel: &AtomicBool,
) -> Result<(Outcome, Vec<Decision>), Error> {
    let (outcome, (decisions, _)) = explained(scenario, watch, Wants::Decisions(limit), cancel)?;
    Ok((outcome, decisions))
}

/// Simulates a scenario and counts, for the wakeups and new tasks that `watch` names, the steps that
/// placed them.
///
/// # Errors
/// As [`explain`].
pub fn answers(
    scenario: &Scenario<'_>,
    watch: &Watch,
    cancel: &AtomicBool,
) -> Result<(Outcome, Answers), Error> {
    let (outcome, (_, answers)) = explained(scenario, watch, Wants::Answers, cancel)?;
    Ok((outcome, answers))
}

fn explained(
    scenario: &Scenario<'_>,
    watch: &Watch,
    wants: Wants,
    cancel: &AtomicBool,
) -> Result<(Outcome, (Vec<Decision>, Answers)), Error> {
    let tasks = || scenario.workloads.iter().flat_map(|w| &w.tasks);
    let mut names: Vec<&str> = tasks().map(|task| task.comm.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(comm) = watch.comm.as_deref()
        && !names.contains(&comm)
    {
        return Err(Error::Refused(format!(
            "no task is named '{comm}'; the workload has: {}",
            names.join(", ")
        )));
    }
    let (drawn, seen) = (drawn::workloads(scenario), seen(scenario));
    let scenario = &resolved(scenario, drawn.as_deref(), seen.as_ref());
    let (mut sim, measures) = build::build(scenario, output(None))?;
    let explainer = Explainer::new(scenario.scheduler, &sim, watch, wants)?;
    sim.explain_by(explainer);
    let tell = &|_| ();
    let outcome = simulate(&mut sim, scenario, &measures, &Waiter { cancel, tell })?;
    let explainer = sim.explainer().take().expect("given above");
    Ok((outcome, explainer.found()))
}

/// Thread id, name and process id of each task, as in traces.
///
/// # Errors
/// As [`run`].
pub fn task_table(scenario: &Scenario<'_>) -> Result<Vec<(u32, String, u32)>, Error> {
    let (sim, _) = build::build(scenario, output(None))?;
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

fn output<'a>(sink: Option<&'a mut (dyn Sink + 'a)>) -> Output<'a> {
    Output {
        sink,
        error: None,
        waker: alight_trace::Waker::Task,
    }
}

fn simulate(
    sim: &mut Sim<'_>,
    scenario: &Scenario<'_>,
    measures: &[MeasureSpec],
    waiter: &Waiter<'_>,
) -> Result<Outcome, Error> {
    sim.trace_clocks();
    let interrupted = sim.run_loop(waiter, &Goal::of(scenario.workloads), scenario.workloads)?;
    if let Some(error) = sim.out.error.take() {
        return Err(error.into());
    }
    if let Some(why) = sim.take_refusal() {
        return Err(Error::Refused(why));
    }
    Ok(sim.outcome(scenario, measures, interrupted))
}

impl Programs<'_> {
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
        self.meters_flush();
        self.flush_beside();
        let mut mechanism = self.mechanism();
        mechanism.extend(self.idle_results());
        Outcome {
            hash: self.hash,
            end_ns: self.now,
            results: self.results(measures),
            energy: self.energy_results(),
            mechanism,
            steps: self.counted_steps(),
            events: self.events,
            interrupted,
            figures: self.figures(scenario.workloads),
        }
    }

    /// What each workload recorded, including workloads that ended early.
    fn figures(&mut self, workloads: &[Workload]) -> Vec<Figures> {
        let mut first_task = 0;
        let tallies = self.take_tallies();
        let mut tallies = tallies.into_iter();
        let mut counters = self.counters().iter().copied();
        let mut marks = self.marks().iter().map(|mark| mark.first.zip(mark.last));
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

impl Sim<'_> {
    /// Runs to the end; true if it was cancelled before.
    fn run_loop(
        &mut self,
        waiter: &Waiter<'_>,
        goal: &Goal,
        workloads: &[Workload],
    ) -> Result<bool, Error> {
        let mut turns = 0u64;
        loop {
            turns += 1;
            let (cpu_time, cpu) = self.queue.first();
            let (freq_time, slot) = self.next_of_machine();
            let time = cpu_time.min(freq_time);
            if time >= self.ends.next_over && self.ends.next_over < self.end_at {
                self.cancel_over();
                continue;
            }
            if time >= NEVER - 1 && self.make_room() {
                continue;
            }
            if time >= self.end_at {
                self.now = self.end_at.min(time);
                self.acted = 0;
                return match Stuck::new(self, workloads).refusal() {
                    Some(stuck) if self.end_at == NEVER - 1 => Err(stuck),
                    _ => Ok(false),
                };
            }
            debug_assert!(time >= self.now, "time goes back");
            if time > self.now {
                self.acted = 0;
            }
            self.now = time;
            self.events += 1;
            // At one instant, CPU events come before those of the machine.
            if cpu_time == time {
                self.acted = self.acted.max(cpu);
                self.cpu_event(cpu);
            } else {
                self.acted = usize::MAX;
                self.machine_event(slot);
            }
            if self.check {
                self.check_invariants()?;
            }
            // All workloads are over.
            if self.end_at <= time {
                return Ok(false);
            }
            if turns.is_multiple_of(LOOK_INTERVAL) {
                if waiter.cancel.load(Ordering::Relaxed) {
                    return Ok(true);
                }
                if let Some(parts) = goal.done(self) {
                    (waiter.tell)(parts);
                }
                // Another workload may run for ever, so the end of the run would not show it.
                self.looks_stuck(workloads)?;
            }
        }
    }

    /// Ends the run with an error if a workload is stuck, unless more room in a channel lets it go
    /// on.
    fn looks_stuck(&mut self, workloads: &[Workload]) -> Result<(), Error> {
        match Stuck::new(self, workloads).refusal() {
            Some(stuck) if !self.make_room() => Err(stuck),
            _ => Ok(()),
        }
    }
}
