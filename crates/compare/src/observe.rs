// SPDX-License-Identifier: GPL-2.0-only
//! What a page shows of one run, gathered while it runs: who ran when and where, how every wakeup was
//! answered and what the base would have answered, how long tasks waited, where wakeups went.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use alight_html::timeline::{Clock, Idle, Lane, Mark, Slice};
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_sim::{Action, Scenario};
use alight_trace::{BaseAnswer, Event, PrevState, Signals, Sink, TaskRef};

use crate::compare::{Comparison, Question};
use crate::course::Course;
use crate::progress::{Listener, one_run};

mod cut;
mod words;

#[cfg(test)]
mod tests;

pub use words::{Words, columns};

/// Slices of all runs that a page shows unless a part of the time is asked for: it stays below 2 MB.
const MOST_SLICES: usize = 200_000;
/// Slices of all runs that a page shows at all: with more it is slow.
const MOST_SLICES_ASKED: usize = 1_000_000;

/// Runs of one machine, observed: side by side on a page.
#[derive(Debug, Clone)]
pub struct Observation<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The runs, each of another scheduler.
    pub runs: Vec<Observed>,
}

/// A run, observed.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Name of the scheduler.
    pub scheduler: String,
    /// What is asked beside it: its base kernel without features.
    pub base: String,
    /// End of the run, ns.
    pub end_ns: u64,
    /// The part of the time that [`Observed::lanes`] and [`Observed::marks`] cover.
    pub shown: Range<u64>,
    /// [`Observed::shown`] ends early: the run has more slices than a page shows.
    pub is_cut: bool,
    /// Names of the tasks, with their thread ids.
    pub tasks: Vec<String>,
    /// Names of the idle states.
    pub idle_states: Vec<String>,
    /// What each CPU did.
    pub lanes: Vec<Lane>,
    /// How each wakeup and each new task was placed, with a value for each of [`columns`].
    pub marks: Vec<Mark>,
    /// From each wakeup, and from the start of each new task, until the task ran, ns, rising: what
    /// `run_delay_*` of the run's numbers are of.
    pub wakeup_latency_ns: Vec<u64>,
    /// Each time that a task waited for a CPU, also after it was preempted, ns, rising: what
    /// `/proc/PID/schedstat` adds up.
    pub waits_ns: Vec<u64>,
    /// Decisions by previous and by chosen CPU, a row each previous CPU.
    pub placements: Vec<u32>,
    /// Wakeups and new tasks that the policy was not asked about: of other classes, or still queued.
    pub unasked: u64,
    /// From when on latencies, waits, placements and `unasked` count (`--count-from`), ns.
    pub counted_from_ns: u64,
    /// Utilization and clocks over time.
    pub course: Course,
}

/// Observes the first run of each scheduler of a comparison. `time` (ns) is the part that timelines
/// show; by default all of it, or as much as has 200000 slices in all. `progress` is told how far the
/// runs are. `None`: a run was cancelled.
///
/// # Errors
/// Of the simulator.
pub fn of_comparison<'a>(
    question: &Question<'a>,
    comparison: &Comparison,
    time: Option<Range<u64>>,
    progress: &Listener<'_>,
    cancel: &AtomicBool,
) -> Result<Option<Observation<'a>>, alight_sim::Error> {
    let ends = comparison.variants.iter().map(|variant| variant.end_ns);
    let runs = (0..question.schedulers.len()).map(|job| question.run(job));
    let runs: Vec<_> = runs.zip(ends).collect();
    observe_all(question.scenario.machine, &runs, time, progress, cancel)
}

/// Observes one run that ends at `end_ns`. As [`of_comparison`].
///
/// # Errors
/// Of the simulator.
pub fn of_run<'a>(
    scenario: &Scenario<'a>,
    end_ns: u64,
    time: Option<Range<u64>>,
    progress: &Listener<'_>,
    cancel: &AtomicBool,
) -> Result<Option<Observation<'a>>, alight_sim::Error> {
    let runs = [(*scenario, end_ns)];
    observe_all(scenario.machine, &runs, time, progress, cancel)
}

fn observe_all<'a>(
    machine: &'a Machine,
    runs: &[(Scenario<'_>, u64)],
    time: Option<Range<u64>>,
    progress: &Listener<'_>,
    cancel: &AtomicBool,
) -> Result<Option<Observation<'a>>, alight_sim::Error> {
    let all_slices = match time {
        Some(_) => MOST_SLICES_ASKED,
        None => MOST_SLICES,
    };
    let most = all_slices / runs.len().max(2);
    let last_end = runs.iter().map(|(_, end_ns)| *end_ns).max().unwrap_or(0);
    let shown = time.unwrap_or(0..last_end);
    if shown.start >= last_end {
        return Err(alight_sim::Error::Refused(format!(
            "timelines are to begin at {}, but the longest run ends at {}; begin earlier",
            alight_sim::time(shown.start),
            alight_sim::about(last_end)
        )));
    }
    let mut all = vec![];
    for (place, (scenario, end_ns)) in (0..).zip(runs) {
        let shown = shown.start.min(*end_ns)..shown.end.min(*end_ns);
        let part = Part {
            end_ns: *end_ns,
            shown,
            most_slices: most,
        };
        let run = one_run(progress, |tell| {
            observe(place, scenario, part, tell, cancel)
        });
        match run? {
            Some(run) => all.push(run),
            None => return Ok(None),
        }
    }
    cut::to_one_end(&mut all);
    for ((scenario, _), run) in runs.iter().zip(&mut all) {
        cut::while_offline(run, scenario.changes);
    }
    Ok(Some(Observation { machine, runs: all }))
}

/// What is kept of a run that ends at `end_ns`: of `shown` so many slices at most.
struct Part {
    end_ns: u64,
    shown: Range<u64>,
    most_slices: usize,
}

/// Observes one run, the one of this place.
fn observe(
    place: u32,
    scenario: &Scenario<'_>,
    part: Part,
    tell: &dyn Fn(u32),
    cancel: &AtomicBool,
) -> Result<Option<Observed>, alight_sim::Error> {
    let tasks = alight_sim::task_table(scenario)?;
    let mut observer = Observer::new(place, scenario, &tasks, part);
    let outcome = alight_sim::run_telling(scenario, Some(&mut observer), cancel, tell)?;
    Ok((!outcome.interrupted).then(|| observer.end(outcome.end_ns)))
}

/// A task, while it is observed.
#[derive(Debug, Clone, Copy, Default)]
struct Watched {
    /// When its last waking began, until it runs.
    waking_ns: Option<u64>,
    /// Since when it waits for a CPU.
    waits_since_ns: Option<u64>,
    /// The policy was asked where it goes.
    asked: bool,
    /// Its last mark, until it runs.
    mark: Option<usize>,
}

/// What a CPU is in the middle of.
#[derive(Debug, Clone, Copy, Default)]
struct Now {
    /// The task that runs, and since when.
    runs: Option<(u32, u64)>,
    /// The idle state, and since when.
    idle: Option<(u32, u64)>,
}

struct Observer<'a> {
    found: Observed,
    machine: &'a Machine,
    words: Words,
    first_pid: u32,
    watched: Vec<Watched>,
    now: Vec<Now>,
    slices: usize,
    most_slices: usize,
}

impl<'a> Observer<'a> {
    fn new(place: u32, scenario: &Scenario<'a>, tasks: &[(u32, String, u32)], part: Part) -> Self {
        let Part {
            end_ns,
            shown,
            most_slices,
        } = part;
        let cpus = scenario.machine.cpus.len();
        let words = Words::of(scenario.machine, place);
        Observer {
            found: Observed {
                scheduler: scenario.scheduler.name.clone(),
                base: base(scenario.scheduler),
                end_ns,
                shown,
                is_cut: false,
                tasks: tasks
                    .iter()
                    .map(|(pid, comm, _)| format!("{comm}-{pid}"))
                    .collect(),
                idle_states: words.idle_states().to_vec(),
                lanes: vec![Lane::default(); cpus],
                marks: vec![],
                wakeup_latency_ns: vec![],
                waits_ns: vec![],
                placements: vec![0; cpus * cpus],
                unasked: 0,
                counted_from_ns: counted_from(scenario),
                course: Course::new(scenario, tasks, 0..end_ns),
            },
            machine: scenario.machine,
            words,
            first_pid: tasks.first().map_or(0, |(pid, ..)| *pid),
            watched: vec![Watched::default(); tasks.len()],
            now: vec![Now::default(); cpus],
            slices: 0,
            most_slices,
        }
    }

    /// Number of a task; `None`: the idle task.
    fn task(&self, task: TaskRef) -> Option<u32> {
        (task.pid != 0).then(|| task.pid - self.first_pid)
    }

    /// The part of `from..to` that is shown, if it is not empty.
    fn shown(&self, from: u64, to: u64) -> Option<Range<u64>> {
        let shown = &self.found.shown;
        let part = from.max(shown.start)..to.min(shown.end);
        (!part.is_empty()).then_some(part)
    }

    /// The task that runs on `cpu` leaves it.
    fn leaves(&mut self, cpu: usize, at_ns: u64) {
        let Some((task, since)) = self.now[cpu].runs.take() else {
            return;
        };
        if let Some(part) = self.shown(since, at_ns) {
            self.found.lanes[cpu].slices.push(Slice {
                start_ns: part.start,
                end_ns: part.end,
                task,
            });
            self.slices += 1;
            if self.slices == self.most_slices {
                self.found.shown.end = part.end;
                self.found.is_cut = true;
            }
        }
    }

    fn leaves_idle(&mut self, cpu: usize, at_ns: u64) {
        let Some((state, since)) = self.now[cpu].idle.take() else {
            return;
        };
        if let Some(part) = self.shown(since, at_ns) {
            self.found.lanes[cpu].idle.push(Idle {
                start_ns: part.start,
                end_ns: part.end,
                state,
            });
        }
    }

    /// A task that waited runs.
    fn comes(&mut self, task: u32, at_ns: u64) {
        let watched = std::mem::take(&mut self.watched[task as usize]);
        let counts = at_ns >= self.found.counted_from_ns;
        if let Some(waking) = watched.waking_ns {
            let latency = at_ns.saturating_sub(waking);
            if counts {
                self.found.wakeup_latency_ns.push(latency);
            }
            if let Some(mark) = watched.mark {
                words::set_latency(&mut self.found.marks[mark], latency);
            }
        }
        if let Some(since) = watched.waits_since_ns.filter(|_| counts) {
            self.found.waits_ns.push(at_ns.saturating_sub(since));
        }
    }

    fn switch(&mut self, cpu: usize, at_ns: u64, prev: TaskRef, state: PrevState, next: TaskRef) {
        self.leaves(cpu, at_ns);
        if let (Some(task), PrevState::Running | PrevState::Preempted) = (self.task(prev), state) {
            self.watched[task as usize].waits_since_ns = Some(at_ns);
        }
        if let Some(task) = self.task(next) {
            self.comes(task, at_ns);
            self.now[cpu].runs = Some((task, at_ns));
        }
    }

    /// The run is over.
    fn end(mut self, at_ns: u64) -> Observed {
        for cpu in 0..self.now.len() {
            self.leaves(cpu, at_ns);
            self.leaves_idle(cpu, at_ns);
        }
        let Observer { mut found, .. } = self;
        found.end_ns = at_ns;
        found.course.end(at_ns);
        for (lane, course) in found.lanes.iter_mut().zip(&found.course.cpus) {
            lane.clocks = clocks(&course.khz, &found.shown);
        }
        found.wakeup_latency_ns.sort_unstable();
        found.waits_ns.sort_unstable();
        found
    }
}

/// The base of a scheduler, in words.
fn base(scheduler: &Scheduler) -> String {
    let (base, features) = scheduler.parts();
    match features.is_empty() {
        true => format!("{}: the run itself, it has no features", base.name),
        false => format!("{} without features", base.name),
    }
}

/// From when on the run counts, ns.
fn counted_from(scenario: &Scenario<'_>) -> u64 {
    let anew = (scenario.changes.iter()).filter(|change| change.action == Action::CountAnew);
    anew.map(|change| change.at_ns).max().unwrap_or(0)
}

/// Changes of a clock in a part of the time; the first is what it has at its begin.
fn clocks(khz: &[(u64, u32)], shown: &Range<u64>) -> Vec<Clock> {
    let before = khz.iter().rposition(|(at, _)| *at <= shown.start);
    let within = khz.iter().skip(before.unwrap_or(0));
    within
        .take_while(|(at, _)| *at < shown.end)
        .map(|&(at_ns, khz)| Clock {
            at_ns: at_ns.max(shown.start),
            khz,
        })
        .collect()
}

impl Sink for Observer<'_> {
    fn wants_signals(&self) -> bool {
        true
    }

    fn signals(&mut self, time_ns: u64, cpu: u32, signals: &Signals) -> std::io::Result<()> {
        self.found.course.signals(time_ns, cpu, signals)
    }

    fn wants_base_answers(&self) -> bool {
        true
    }

    fn base_answer(&mut self, _: u64, _: u32, answer: &BaseAnswer<'_>) -> std::io::Result<()> {
        let task = self.task(answer.task);
        let mark = task.and_then(|task| self.watched[task as usize].mark);
        if let Some(mark) = mark {
            self.words.set_base(&mut self.found.marks[mark], answer);
        }
        Ok(())
    }

    /// A wakeup begins when its CPU gets to it, as the run's own numbers have it.
    fn event_reached(
        &mut self,
        time_ns: u64,
        reached_ns: u64,
        cpu: u32,
        event: Event<'_>,
    ) -> std::io::Result<()> {
        self.event(time_ns, cpu, event)?;
        if let Event::Waking { task, .. } | Event::WakeupNew { task, .. } = event
            && let Some(task) = self.task(task)
        {
            self.watched[task as usize].waking_ns = Some(reached_ns);
        }
        Ok(())
    }

    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> std::io::Result<()> {
        self.found.course.event(time_ns, cpu, event)?;
        let on = cpu as usize;
        match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => self.switch(on, time_ns, prev, prev_state, next),
            Event::IdleEnter { state } => {
                let state = self
                    .words
                    .idle_state(self.machine.cpus[on].core_type, state);
                self.now[on].idle = Some((state, time_ns));
            }
            Event::IdleExit => self.leaves_idle(on, time_ns),
            Event::Wakeup { task, .. } | Event::WakeupNew { task, .. } => {
                if let Some(task) = self.task(task) {
                    let watched = &mut self.watched[task as usize];
                    watched.waits_since_ns = Some(time_ns);
                    let asked = std::mem::take(&mut watched.asked);
                    if !asked && time_ns >= self.found.counted_from_ns {
                        self.found.unasked += 1;
                    }
                }
            }
            Event::Decision {
                task,
                prev_cpu,
                cpu: chosen,
                step,
                scanned,
            } => {
                let Some(task) = self.task(task) else {
                    return Ok(());
                };
                if time_ns >= self.found.counted_from_ns {
                    let cpus = self.machine.cpus.len();
                    self.found.placements[prev_cpu as usize * cpus + chosen as usize] += 1;
                }
                self.watched[task as usize].asked = true;
                self.watched[task as usize].mark = None;
                if self.found.shown.contains(&time_ns) {
                    self.watched[task as usize].mark = Some(self.found.marks.len());
                    self.found.marks.push(Mark {
                        at_ns: time_ns,
                        cpu: chosen,
                        task,
                        values: self.words.decision(cpu, prev_cpu, step, scanned),
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
