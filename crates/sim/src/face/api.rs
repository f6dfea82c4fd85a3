// SPDX-License-Identifier: GPL-2.0-only
//! What goes into a simulation and what comes out of it.

use crate::face::changes::Change;
use crate::face::sysctl::Sysctl;
use crate::face::tally::Tally;
use alight_machine::{Governor, IdleGovernor, Machine};
use alight_policy::Scheduler;
use alight_workload::program::{Better, Workload};

/// One run to simulate, with everything that decides its result. All questions (`compare`, studies,
/// the suite) use this type: a new setting of a run is added here, and where its option is parsed.
#[derive(Debug, Clone, Copy)]
pub struct Scenario<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The workloads. They run at the same time.
    pub workloads: &'a [Workload],
    /// The scheduler that places the tasks.
    pub scheduler: &'a Scheduler,
    /// The cpufreq governor; `None`: the machine's ([`Machine::governor`]).
    pub governor: Option<Governor>,
    /// The cpuidle governor; `None`: the machine's, else the one that the kernel rates highest.
    pub idle_governor: Option<IdleGovernor>,
    /// Names the random streams, any 64-bit number: phases of ticks, CPUs of the first tasks.
    /// Schedulers that are compared at one seed share the streams.
    pub seed: u64,
    /// Longest length of the run, ns of simulated time, above 0; `None`: it ends with the workloads.
    pub duration_ns: Option<u64>,
    /// Task groups beside the root.
    pub groups: &'a [Cgroup],
    /// Sysctls that are written before the run, in this order.
    pub sysctls: &'a [Sysctl],
    /// Changes of the machine during the run, in any order.
    pub changes: &'a [Change],
    /// `wakee_flips` of the shell that starts the workloads: how often it woke another task than the
    /// time before. The first tasks inherit it, as every task does from its parent. `None`: a value
    /// that was measured of shells, chosen by the seed.
    pub wakee_flips: Option<u32>,
    /// Checks the invariants after every event. Slow; a broken one is [`Error::Invariant`].
    pub check: bool,
}

impl<'a> Scenario<'a> {
    /// A run of `workloads` to their end at seed 1, without groups, sysctls or changes.
    pub fn new(
        machine: &'a Machine,
        workloads: &'a [Workload],
        scheduler: &'a Scheduler,
    ) -> Scenario<'a> {
        Scenario {
            machine,
            workloads,
            scheduler,
            governor: None,
            idle_governor: None,
            seed: 1,
            duration_ns: None,
            groups: &[],
            sysctls: &[],
            changes: &[],
            wakee_flips: None,
            check: false,
        }
    }

    /// The cpufreq governor of the run.
    pub fn governor_in_force(&self) -> Governor {
        self.governor.unwrap_or(self.machine.governor)
    }

    /// The cpuidle governor, if the run or the machine names one; else the kernel takes its own.
    pub fn idle_governor_chosen(&self) -> Option<IdleGovernor> {
        self.idle_governor.or(self.machine.idle_governor)
    }
}

/// A task group: a cgroup of the cpu controller below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    /// As its tasks call it: a path, `/background`.
    pub name: String,
    /// `cpu.weight`, 1 to 10000; does not count if it is idle.
    pub weight: u32,
    /// `cpu.idle`: it is what SCHED_IDLE is among tasks (from 5.15 on).
    pub idle: bool,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`, 0 to 1024.
    pub uclamp_min: u32,
    /// See `uclamp_min`.
    pub uclamp_max: u32,
}

/// Weight of a new cgroup (`CGROUP_WEIGHT_DFL`).
pub(crate) const DEFAULT_WEIGHT: u32 = 100;
impl Cgroup {
    /// A group as `mkdir` makes it.
    pub fn new(name: &str) -> Self {
        Cgroup {
            name: name.to_owned(),
            weight: DEFAULT_WEIGHT,
            idle: false,
            uclamp_min: 0,
            uclamp_max: 1024,
        }
    }

    /// Has it a clamp of its own?
    pub fn clamps(&self) -> bool {
        (self.uclamp_min, self.uclamp_max) != (0, 1024)
    }
}

/// Limits of utilization clamps in the whole system, 0 to 1024 (`sysctl kernel.sched_util_clamp_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemClamps {
    /// `sched_util_clamp_min`: no lower clamp is above it.
    pub min: u32,
    /// `sched_util_clamp_max`: no upper clamp is above it.
    pub max: u32,
    /// `sched_util_clamp_min_rt_default`: lower clamp of real-time tasks that ask for none.
    pub min_rt_default: u32,
}

impl Default for SystemClamps {
    fn default() -> Self {
        SystemClamps {
            min: 1024,
            max: 1024,
            min_rt_default: 1024,
        }
    }
}

/// A reported number. The list of a run is in a fixed order, and as long in every run.
#[derive(Debug, Clone)]
pub struct Metric {
    /// lower_snake, unit last.
    pub name: String,
    /// `s`, `us`, `j`, `w`, `percent`, or empty for counts.
    pub unit: &'static str,
    /// Direction of improvement; `None` for what only explains.
    pub better: Option<Better>,
    /// The value; no number where it does not exist in this run (the mean of no sample).
    pub value: f64,
}

/// Runs are the same to the bit, or they are not the same.
impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        let of = |metric: &Metric| (metric.unit, metric.better, metric.value.to_bits());
        self.name == other.name && of(self) == of(other)
    }
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

/// A name as part of a metric's: `cluster-sleep` is `cluster_sleep`.
pub(crate) fn snake(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect()
}
