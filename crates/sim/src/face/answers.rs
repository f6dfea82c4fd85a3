// SPDX-License-Identifier: GPL-2.0-only
//! What an explanation says: single decisions, and which steps answered over a
//! run, each beside what the base without its features would have answered in the
//! same state.
//!
//! All figures of a choice are of the instant at which it was made. What the other
//! choice would have led to, no single run can know.

use crate::base::histogram::Histogram;
use alight_policy::{Answer, Note, STEPS};

/// Which decisions to explain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// `comm` of the wakee; `None`: everybody.
    pub comm: Option<String>,
    /// Decisions at or after this time, ns; `None`: all.
    pub at_ns: Option<u64>,
}

/// A decision written down.
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
    /// Utilization estimate of the task at that moment.
    pub task_util_est: u32,
    /// Clamps.
    pub uclamp: (u32, u32),
    /// What was answered.
    pub chosen: Choice,
    /// What the base alone would have answered.
    pub base: Choice,
    /// If that is another CPU: the features without each of which another CPU would have been
    /// chosen. None, if each could have been spared.
    pub because: Vec<&'static str>,
    /// From the wakeup until the task ran, ns; `None`: it had not by the end of the run.
    pub latency_ns: Option<u64>,
    /// Each candidate in the order looked at.
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

/// What a CPU was at an instant, as a policy sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuState {
    /// It is there.
    pub online: bool,
    /// `comm` of its current task; `None`: it is in the idle loop.
    pub running: Option<String>,
    /// Tasks that run or wait there, or are on their way by its wake list.
    pub nr_running: u32,
    /// All of them are SCHED_IDLE ones.
    pub sched_idle: bool,
    /// Name and exit latency, ns, of the idle state that it is in.
    pub idle_state: Option<(String, u32)>,
    /// Left for the fair class, and at its top frequency without anything else, of 1024.
    pub capacity: u32,
    /// See `capacity`.
    pub capacity_orig: u32,
    /// Utilization, that of tasks that wait included; `None`: the base tracks none.
    pub util: Option<u32>,
    /// How far from the CPU that the task ran on last.
    pub from_prev: Distance,
    /// How far from the waking CPU.
    pub from_waker: Distance,
}

impl CpuState {
    /// Nobody runs there, nor will at once (`available_idle_cpu`).
    pub fn idle(&self) -> bool {
        self.running.is_none() && self.nr_running == 0
    }
}

/// How far two CPUs are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// One CPU.
    Same,
    /// Threads of a core.
    Core,
    /// They share the last-level cache.
    Cache,
    /// They share the node.
    Node,
    /// Nothing but the machine.
    Machine,
}

/// Which steps answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// One row a step that answered, in the order of [`STEPS`].
    pub rows: Vec<Row>,
    /// All of them; its step is none.
    pub total: Row,
    /// Wakeups of tasks that had not left their queue: nobody chose (delayed dequeue, 6.12).
    pub still_queued: u64,
    /// Wakeups and new tasks of other classes, which have their own rules.
    pub other_class: u64,
}

/// The decisions that one step answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Index into [`STEPS`].
    pub step: u32,
    /// All of them.
    pub all: Sums,
    /// Those for which the base would have chosen another CPU.
    pub other: Sums,
    /// By which steps it would have, with how many of them.
    pub instead_of: Vec<(u32, u64)>,
    /// The features without each of which another CPU would have been chosen, with how often.
    pub because: Vec<(&'static str, u64)>,
}

/// Sums over decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Decisions.
    pub count: u64,
    /// Those of them that placed a new task.
    pub new_tasks: u64,
    /// What was chosen.
    pub chosen: SideSums,
    /// What the base would have chosen.
    pub base: SideSums,
    /// From the wakeup until the task ran.
    pub latency: Latency,
}

/// Sums over the choices of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SideSums {
    /// CPUs tested or summed up in groups.
    pub looked_at: u64,
    /// Time that the searches take, ns.
    pub cost_ns: u64,
    /// Choices that were idle.
    pub idle: u64,
    /// Choices that ran SCHED_IDLE tasks only.
    pub sched_idle: u64,
    /// Exit latencies of the idle states of those that were idle, ns.
    pub exit_latency_ns: u64,
    /// Capacity left for the fair class, of 1024.
    pub capacity: u64,
    /// Choices that were not the previous CPU.
    pub moved: u64,
}

/// Wakeup latencies; quantiles to 1/128. All 0 without samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Latency {
    /// Tasks that ran; others had not by the end of the run.
    pub samples: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
}

impl Latency {
    /// Of these durations.
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

/// Counts while a run lasts: of each step, then of all.
#[derive(Debug)]
pub(crate) struct Tally {
    steps: Vec<Gathered>,
    pub still_queued: u64,
    pub other_class: u64,
}

/// What is known of the decisions of a step so far: of all, of those that differ.
#[derive(Debug, Clone, Default)]
struct Gathered {
    sums: [Sums; 2],
    latency: [Histogram; 2],
    instead_of: Vec<(u32, u64)>,
    because: Vec<(&'static str, u64)>,
}

/// Counts one more of `what`; they are kept in order.
fn count<T: Ord + Copy>(counts: &mut Vec<(T, u64)>, what: T) {
    match counts.binary_search_by_key(&what, |(known, _)| *known) {
        Ok(at) => counts[at].1 += 1,
        Err(at) => counts.insert(at, (what, 1)),
    }
}

/// Where a decision was counted, to add how long its task waited.
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

    /// What was counted.
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
