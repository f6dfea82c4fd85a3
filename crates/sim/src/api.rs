// SPDX-License-Identifier: GPL-2.0-only
//! What goes into a simulation and what comes out of it.

use crate::changes::Change;
use crate::tally::Tally;
use alight_machine::{Governor, IdleGovernor, Machine};
use alight_policy::{Answer, Note, Scheduler};
use alight_workload::program::{Better, Workload};

/// One run to simulate.
#[derive(Debug, Clone)]
pub struct Scenario<'a> {
    /// Where.
    pub machine: &'a Machine,
    /// What runs, all at once.
    pub workloads: &'a [Workload],
    /// Who decides.
    pub scheduler: &'a Scheduler,
    /// cpufreq governor; `None`: the machine's.
    pub governor: Option<Governor>,
    /// cpuidle governor; `None`: the machine's, else the kernel's.
    pub idle_governor: Option<IdleGovernor>,
    /// Names the random streams: initial phases of ticks, where the first tasks start.
    /// Two schedulers compared at one seed share them.
    pub seed: u64,
    /// End of the run, ns; `None`: when the workloads end.
    pub duration_ns: Option<u64>,
    /// What is done to the machine meanwhile, in any order.
    pub changes: &'a [Change],
    /// Prove the invariants after every event (slow).
    pub check: bool,
}

/// A reported number. The list of a run is in a fixed order.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// lower_snake, unit last.
    pub name: String,
    /// `s`, `us`, `j`, `w`, `percent`, or empty for counts.
    pub unit: &'static str,
    /// Direction of improvement; `None` for what only explains.
    pub better: Option<Better>,
    /// The value.
    pub value: f64,
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Identity: running hash over the event stream.
    pub hash: u64,
    /// Simulated time, ns.
    pub end_ns: u64,
    /// What the workloads report, in their order.
    pub results: Vec<Metric>,
    /// Energy: in all, per cluster.
    pub energy: Vec<Metric>,
    /// Why: migrations, switches, selections, idle found, time per capacity class …
    pub mechanism: Vec<Metric>,
    /// Decisions by step, in the order of [`alight_policy::STEPS`].
    pub steps: [u64; alight_policy::STEPS.len()],
    /// Events processed by the loop.
    pub events: u64,
    /// The run was stopped before its end (ctrl-C).
    pub interrupted: bool,
    /// What each workload noted, in their order.
    pub figures: Vec<Figures>,
}

/// What a workload noted by itself; indices are those of the workload's own tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// The workload came to its end.
    pub over: bool,
    /// Thread id of its first task, as traces have it.
    pub first_pid: u32,
    /// Time marks: first and last passage, ns.
    pub marks: Vec<Option<(u64, u64)>>,
    /// Counters.
    pub counters: Vec<u64>,
    /// Tallies.
    pub tallies: Vec<Tally>,
}

/// Which decisions to write down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// `comm` of the wakee.
    pub comm: String,
    /// First decision at or after this time, ns; `None`: all.
    pub at_ns: Option<u64>,
    /// At most this many.
    pub limit: usize,
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
    /// Answer and counts.
    pub answer: Answer,
    /// Each candidate in the order looked at.
    pub notes: Vec<Note>,
}

/// Why a run cannot start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workload asks for what the machine or the model lacks.
    #[error("{0}")]
    Refused(String),
    /// The trace could not be written.
    #[error("writing the trace: {0}")]
    Trace(#[from] std::io::Error),
    /// `check` found a broken invariant.
    #[error("invariant broken at {time_ns} ns, event {event}: {what}")]
    Invariant {
        /// When.
        time_ns: u64,
        /// Which event of the run.
        event: u64,
        /// What does not hold.
        what: String,
    },
}
