// SPDX-License-Identifier: GPL-2.0-only
//! An rt-app file as read: defaults filled in, values in range, names not yet resolved.

use crate::diagnostic::Place;
use crate::program::{Calibration, Policy, TimerMode};

/// A whole file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub global: Global,
    pub tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Global {
    /// ns; `None`: until all tasks have ended.
    pub duration_ns: Option<u64>,
    pub default_policy: Policy,
    pub calibration: Calibration,
    /// Buffer of `mem` and `iorun` events, bytes.
    pub mem_buffer_size: u64,
    /// The slacks of a phase's timers add up.
    pub cumulative_slack: bool,
}

/// A definition; `instances` threads of it start by themselves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    pub name: String,
    pub place: Place,
    pub instances: u32,
    pub delay_ns: u64,
    /// `u64::MAX`: for ever.
    pub loops: u64,
    pub cpus: Option<Vec<u32>>,
    /// Path of its task group; `None`: the root, or whoever forks it is in.
    pub taskgroup: Option<String>,
    pub sched: Sched,
    pub phases: Vec<Phase>,
}

impl Task {
    /// Some phase says of other CPUs than the one before that it may use them.
    pub fn changes_cpus(&self) -> bool {
        let mut said = self.phases.iter().filter_map(|phase| phase.cpus.as_ref());
        let first = said.next();
        said.any(|cpus| Some(cpus) != first)
    }

    /// It asks for utilization clamps, sooner or later.
    pub fn has_clamps(&self) -> bool {
        let later = self.phases.iter().filter_map(|phase| phase.sched.as_ref());
        (later.chain([&self.sched])).any(|s| s.util_min.is_some() || s.util_max.is_some())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phase {
    pub place: Place,
    /// `u64::MAX`: for ever.
    pub loops: u64,
    pub cpus: Option<Vec<u32>>,
    /// `None`: as before.
    pub taskgroup: Option<String>,
    /// `None`: nothing changes.
    pub sched: Option<Sched>,
    pub events: Vec<Event>,
}

/// Scheduling parameters of a task or a phase.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sched {
    pub place: Place,
    /// `None`: as before.
    pub policy: Option<Policy>,
    /// Nice value or real-time priority; `None`: neither it nor the policy changes.
    pub priority: Option<i32>,
    /// Custom slice or deadline runtime; 0: none.
    pub runtime_ns: u64,
    pub period_ns: u64,
    pub deadline_ns: u64,
    pub util_min: Option<u32>,
    pub util_max: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    pub place: Place,
    pub action: Action,
}

/// An amount or a time that never comes to its end.
pub(super) const FOR_EVER: u64 = u64::MAX;

/// Amounts and times may be [`FOR_EVER`], except that of [`Action::RunWall`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Run {
        ns: u64,
    },
    RunWall {
        ns: u64,
    },
    Sleep {
        ns: u64,
    },
    /// `period_ns` 0: never waits.
    Timer {
        name: String,
        period_ns: u64,
        mode: TimerMode,
    },
    Lock {
        mutex: String,
    },
    Unlock {
        mutex: String,
    },
    Wait {
        condition: String,
        mutex: String,
    },
    Sync {
        condition: String,
        mutex: String,
    },
    Signal {
        condition: String,
    },
    Broadcast {
        condition: String,
    },
    SemPost {
        semaphore: String,
    },
    SemWait {
        semaphore: String,
    },
    Suspend {
        name: String,
    },
    Resume {
        name: String,
    },
    Barrier {
        name: String,
    },
    /// Streams over `buffer` bytes until `bytes` are touched.
    Memory {
        bytes: u64,
        buffer: u64,
    },
    /// Follows `loads` dependent loads in a buffer.
    Chase {
        loads: u64,
        buffer: u64,
    },
    Io {
        bytes: u64,
    },
    Yield,
    Fork {
        task: String,
    },
}

impl Action {
    /// What follows is never reached.
    pub fn never_ends(&self) -> bool {
        let amount = match self {
            Action::Run { ns } | Action::Sleep { ns } => *ns,
            Action::Timer { period_ns, .. } => *period_ns,
            Action::Memory { bytes, .. } | Action::Io { bytes } => *bytes,
            Action::Chase { loads, .. } => *loads,
            _ => 0,
        };
        amount == FOR_EVER
    }
}
