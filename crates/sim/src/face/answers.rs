// SPDX-License-Identifier: GPL-2.0-only
//! The output of `explain` and `answers`: single decisions, and decisions by step over a run. Each
//! stands beside the answer of the base without its features in the same state.
//!
//! All figures of a choice are of the instant at which it was made. A single run cannot tell what
//! the other choice would have led to.

use crate::base::histogram::Histogram;
use alight_policy::{Answer, Note, STEPS};

/// Which decisions to explain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// `comm` of the wakee; `None`: any task.
    pub comm: Option<String>,
    /// Decisions at or after this time, ns; `None`: all.
    pub at_ns: Option<u64>,
}

/// A recorded decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// When, ns.
    pub time_ns: u64,
    /// `comm` of the wakee.
    pub comm: String,
    /// Waking CPU.
    pub this_cpu: u32,
    /// Previous CPU.
    pub prev_cpu: u32,
    /// The task's utilization estimate (`util_est`) at that moment, of 1024.
    pub task_util_est: u32,
    /// Utilization clamps of the task, lower and upper, 0 to 1024.
    pub uclamp: (u32, u32),
    /// The scheduler's answer.
    pub chosen: Choice,
    /// The answer that the base alone would have given.
    pub base: Choice,
    /// If that is another CPU: the features without each of which another CPU would have been
    /// chosen. Empty if no single feature changed the CPU.
    pub because: Vec<&'static str>,
    /// Time from the wakeup until the task ran, ns; `None`: it had not run by the end of the run.
    pub latency_ns: Option<u64>,
    /// The candidates in the order in which they were looked at.
    pub notes: Vec<Note>,
}

/// An answer and what it chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Answer and counts.
    pub answer: Answer,
    /// Time that the search takes on the waking CPU, ns.
    pub cost_ns: u64,
    /// The CPU.
    pub cpu: CpuState,
}

/// The state of a CPU at an instant, as a policy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuState {
    /// It is online.
    pub online: bool,
    /// `comm` of its current task; `None`: it is in the idle loop.
    pub running: Option<String>,
    /// Tasks that run or wait there; 1 more while a wake list has tasks for it (`ttwu_pending`).
    pub nr_running: u32,
    /// There are tasks in its queue, and all of them are SCHED_IDLE.
    pub sched_idle: bool,
    /// Name and exit latency, ns, of the idle state that it is in.
    pub idle_state: Option<(String, u32)>,
    /// Capacity left for the fair class, of 1024.
    pub capacity: u32,
    /// Capacity at its top frequency with nothing else running, of 1024.
    pub capacity_orig: u32,
    /// Utilization, with that of waiting tasks, of 1024; `None`: the base tracks none.
    pub util: Option<u32>,
    /// Distance from the CPU that the task ran on last.
    pub from_prev: Distance,
    /// Distance from the waking CPU.
    pub from_waker: Distance,
}

impl CpuState {
    /// No task runs there or is about to (`available_idle_cpu`).
    pub fn idle(&self) -> bool {
        self.running.is_none() && self.nr_running == 0
    }
}

/// The distance between two CPUs: what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// They are the same CPU.
    Same,
    /// They are threads of one core.
    Core,
    /// They share the last-level cache.
    Cache,
    /// They share the node.
    Node,
    /// They share only the machine.
    Machine,
}

/// Decisions of a run by the step that answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// One row for each step that answered, in the order of [`STEPS`].
    pub rows: Vec<Row>,
    /// Sums over all steps; its `step` has no meaning.
    pub total: Row,
    /// Wakeups of tasks that were still in their queue: no CPU was chosen (delayed dequeue, 6.12).
    pub still_queued: u64,
    /// Wakeups and new tasks of other classes, which have their own placement rules.
    pub other_class: u64,
}

/// The decisions that one step answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Index into [`STEPS`].
    pub step: u32,
    /// Sums over all of them.
    pub all: Sums,
    /// Sums over those for which the base would have chosen another CPU.
    pub other: Sums,
    /// The steps by which the base would have chosen another CPU, with the number of decisions.
    pub instead_of: Vec<(u32, u64)>,
    /// The features without each of which another CPU would have been chosen, with the number of
    /// decisions.
    pub because: Vec<(&'static str, u64)>,
}

/// Sums over decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Number of decisions.
    pub count: u64,
    /// Number of decisions that placed a new task.
    pub new_tasks: u64,
    /// Sums over the choices that were made.
    pub chosen: SideSums,
    /// Sums over the choices that the base would have made.
    pub base: SideSums,
    /// Time from the wakeup until the task ran.
    pub latency: Latency,
}

/// Sums over the choices of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SideSums {
    /// CPUs that were tested, or whose figures were summed up in groups.
    pub looked_at: u64,
    /// Time that the searches take on the waking CPUs, ns.
    pub cost_ns: u64,
    /// Chosen CPUs that were idle.
    pub idle: u64,
    /// Chosen CPUs that ran SCHED_IDLE tasks only.
    pub sched_idle: u64,
    /// Sum of the exit latencies of the idle states of those CPUs that were idle, ns.
    pub exit_latency_ns: u64,
    /// Sum of the capacities left for the fair class, each of 1024.
    pub capacity: u64,
    /// Chosen CPUs other than the previous CPU.
    pub moved: u64,
}

/// Wakeup latencies, us. Quantiles are exact to 1/128. All are 0 without samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Latency {
    /// Tasks that ran by the end of the run.
    pub samples: u64,
    /// Mean, us.
    pub mean_us: f64,
    /// Median, us.
    pub p50_us: f64,
    /// 99th percentile, us.
    pub p99_us: f64,
}

impl Latency {
    /// The latencies of a histogram.
    pub(crate) fn of(waits: &Histogram) -> Self {
        Latency {
            samples: waits.samples(),
            mean_us: waits.mean_us().unwrap_or_default(),
            p50_us: waits.quantile_us(500).unwrap_or_default(),
            p99_us: waits.quantile_us(990).unwrap_or_default(),
        }
    }
}

impl SideSums {
    fn add(&mut self, choice: &Choice, prev_cpu: u32) {
        let (answer, cpu) = (&choice.answer, &choice.cpu);
        self.looked_at += u64::from(answer.looked_near + answer.looked_far + answer.summed);
        self.cost_ns += choice.cost_ns;
        if cpu.idle() {
            self.idle += 1;
            self.exit_latency_ns += (cpu.idle_state.as_ref()).map_or(0, |(_, ns)| u64::from(*ns));
        }
        self.sched_idle += u64::from(cpu.sched_idle);
        self.capacity += u64::from(cpu.capacity);
        self.moved += u64::from(answer.cpu != prev_cpu);
    }
}

/// The counts while a run lasts: one entry per step, and a last one for all steps.
#[derive(Debug)]
pub(crate) struct Tally {
    steps: Vec<Gathered>,
    pub still_queued: u64,
    pub other_class: u64,
}

/// The decisions of a step so far. Each array has all decisions, then those in which the base
/// differs.
#[derive(Debug, Clone, Default)]
struct Gathered {
    sums: [Sums; 2],
    latency: [Histogram; 2],
    instead_of: Vec<(u32, u64)>,
    because: Vec<(&'static str, u64)>,
}

/// Adds 1 to the count of `what`; the counts are sorted by it.
fn count<T: Ord + Copy>(counts: &mut Vec<(T, u64)>, what: T) {
    match counts.binary_search_by_key(&what, |(known, _)| *known) {
        Ok(at) => counts[at].1 += 1,
        Err(at) => counts.insert(at, (what, 1)),
    }
}

/// Where a decision was counted: needed to add its wakeup latency later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    step: u32,
    differs: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            steps: vec![Gathered::default(); STEPS.len() + 1],
            still_queued: 0,
            other_class: 0,
        }
    }
}

impl Tally {
    /// Counts a decision, of a new task or a wakeup.
    pub fn count(
        &mut self,
        chosen: &Choice,
        base: &Choice,
        because: &[&'static str],
        prev_cpu: u32,
        new: bool,
    ) -> Counted {
        let (step, instead) = (chosen.answer.step, base.answer.step);
        let differs = chosen.answer.cpu != base.answer.cpu;
        for at in [step as usize, STEPS.len()] {
            let gathered = &mut self.steps[at];
            for sums in &mut gathered.sums[..=usize::from(differs)] {
                sums.count += 1;
                sums.new_tasks += u64::from(new);
                sums.chosen.add(chosen, prev_cpu);
                sums.base.add(base, prev_cpu);
            }
            if differs {
                count(&mut gathered.instead_of, instead);
                for feature in because {
                    count(&mut gathered.because, *feature);
                }
            }
        }
        Counted { step, differs }
    }

    /// A task that was placed has run.
    pub fn ran(&mut self, counted: Counted, latency_ns: u64) {
        for at in [counted.step as usize, STEPS.len()] {
            for latency in &mut self.steps[at].latency[..=usize::from(counted.differs)] {
                latency.record(latency_ns);
            }
        }
    }

    /// The result of the run.
    pub fn answers(self) -> Answers {
        let mut rows: Vec<Row> = (0..).zip(self.steps).map(row).collect();
        let total = rows.pop().expect("the last is of all");
        rows.retain(|row| row.all.count != 0);
        Answers {
            rows,
            total,
            still_queued: self.still_queued,
            other_class: self.other_class,
        }
    }
}

fn row((step, gathered): (u32, Gathered)) -> Row {
    let [mut all, mut other] = gathered.sums;
    for (sums, latency) in [&mut all, &mut other].into_iter().zip(&gathered.latency) {
        sums.latency = Latency::of(latency);
    }
    Row {
        step,
        all,
        other,
        instead_of: gathered.instead_of,
        because: gathered.because,
    }
}
