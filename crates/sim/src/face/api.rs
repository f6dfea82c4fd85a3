// SPDX-License-Identifier: GPL-2.0-only
//! The input of a run ([`Scenario`]), its output ([`Outcome`]) and its errors ([`Error`]).

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
    /// The cpuidle governor; `None`: the machine's, else the one with the kernel's highest rating.
    pub idle_governor: Option<IdleGovernor>,
    /// Selects the random streams, any 64-bit number: phases of ticks, CPUs of the first tasks.
    /// Schedulers that are compared at one seed share the streams.
    pub seed: u64,
    /// Longest duration of the run, ns of simulated time, above 0; `None`: it ends with the
    /// workloads.
    pub duration_ns: Option<u64>,
    /// Task groups beside the root.
    pub groups: &'a [Cgroup],
    /// Sysctls that are written before the run, in this order.
    pub sysctls: &'a [Sysctl],
    /// Changes of the machine during the run, in any order.
    pub changes: &'a [Change],
    /// `wakee_flips` of the shell that starts the workloads: how often it switched to another
    /// wakee. The first tasks inherit it, as every task does from its parent. `None`: a value from
    /// a set measured of shells, drawn by the seed.
    pub wakee_flips: Option<u32>,
    /// Checks the invariants after every event. This is slow. A broken one is [`Error::Invariant`].
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

    /// The cpuidle governor that the run or the machine names; `None`: the kernel takes its own.
    pub fn idle_governor_chosen(&self) -> Option<IdleGovernor> {
        self.idle_governor.or(self.machine.idle_governor)
    }
}

/// A task group: a cgroup of the cpu controller below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cgroup {
    /// Its path, such as `/background`, by which tasks name it.
    pub name: String,
    /// `cpu.weight`, 1 to 10000; without effect if `idle` is set.
    pub weight: u32,
    /// `cpu.idle`: the group competes like a SCHED_IDLE task (from 5.15 on).
    pub idle: bool,
    /// `cpu.uclamp.min`, 0 to 1024.
    pub uclamp_min: u32,
    /// `cpu.uclamp.max`, 0 to 1024.
    pub uclamp_max: u32,
}

/// Weight of a new cgroup (`CGROUP_WEIGHT_DFL`).
pub(crate) const DEFAULT_WEIGHT: u32 = 100;
impl Cgroup {
    /// A group with the defaults that `mkdir` gives.
    pub fn new(name: &str) -> Self {
        Cgroup {
            name: name.to_owned(),
            weight: DEFAULT_WEIGHT,
            idle: false,
            uclamp_min: 0,
            uclamp_max: 1024,
        }
    }

    /// Does the group set a clamp?
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

/// A reported number. A run's list has a fixed order and the same length in every run.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Name in lower_snake; the unit is its last part.
    pub name: String,
    /// `s`, `us`, `j`, `w`, `percent`, or empty for counts.
    pub unit: &'static str,
    /// Direction of improvement; `None`: the metric only explains.
    pub better: Option<Better>,
    /// The value; NaN where it does not exist in this run, such as the mean of no sample.
    pub value: f64,
}

/// Values are equal if their bits are, so NaN equals itself: runs are compared bit for bit.
impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        let of = |metric: &Metric| (metric.unit, metric.better, metric.value.to_bits());
        self.name == other.name && of(self) == of(other)
    }
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Hash over the event stream: equal runs have equal hashes.
    pub hash: u64,
    /// Simulated time, ns.
    pub end_ns: u64,
    /// Metrics that the workloads report, in their order.
    pub results: Vec<Metric>,
    /// Energy: total, then per cluster.
    pub energy: Vec<Metric>,
    /// Metrics that explain the results: migrations, switches, selections, idle found, time per
    /// capacity class …
    pub mechanism: Vec<Metric>,
    /// Number of decisions by step, in the order of [`alight_policy::STEPS`].
    pub steps: [u64; alight_policy::STEPS.len()],
    /// Number of events that the loop processed.
    pub events: u64,
    /// The run was stopped before its end (ctrl-C).
    pub interrupted: bool,
    /// What each workload recorded, in their order.
    pub figures: Vec<Figures>,
}

/// What a workload recorded; indices are those of the workload's own tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    /// The workload came to its end.
    pub over: bool,
    /// Thread id of its first task in traces.
    pub first_pid: u32,
    /// Time marks: first and last passage, ns; `None`: never passed.
    pub marks: Vec<Option<(u64, u64)>>,
    /// Counters.
    pub counters: Vec<u64>,
    /// Tallies.
    pub tallies: Vec<Tally>,
}

/// Why a run cannot start, or why it stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario asks for something that the machine or the model lacks.
    #[error("{0}")]
    Refused(String),
    /// The trace could not be written.
    #[error("writing the trace: {0}")]
    Trace(#[from] std::io::Error),
    /// `check` found a broken invariant.
    #[error("invariant broken at {time_ns} ns, event {event}: {what}")]
    Invariant {
        /// Simulated time, ns.
        time_ns: u64,
        /// Number of the event in the run.
        event: u64,
        /// The invariant that does not hold.
        what: String,
    },
}

/// A name as part of a metric's name: `cluster-sleep` becomes `cluster_sleep`.
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
