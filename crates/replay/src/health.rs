// SPDX-License-Identifier: GPL-2.0-only
//! How much of a recording a replay explains.

use std::collections::BTreeSet;

use alight_recording::workload::Capability;
use serde::Serialize;

/// Counts of what was made of a recording's events. All are of the window that is replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Tasks of the workload.
    pub members: u64,
    /// Other tasks that are replayed.
    pub background: u64,
    /// Tasks that are left out: the recorder's, stoppers, and others if they were to be.
    pub left_out: u64,
    /// Length of the window, ns.
    pub window_ns: u64,
    /// Windows that the recording has, cut where events were lost.
    pub windows: u64,
    /// Events that were lost; `None`: the recording does not say how many.
    pub lost: Option<u64>,

    /// Sleeps that ended.
    pub sleeps: u64,
    /// Those that a replayed task ended.
    pub by_tasks: u64,
    /// Of these, where the recording does not say whether the task or an interrupt did it.
    pub by_tasks_assumed: u64,
    /// Of these, where the waking came before the sleep: a replay does not wait for it.
    pub raced: u64,
    /// Of these, at regular times by tasks that did not sleep in between: an interrupt was taken for
    /// the task that it interrupted.
    pub suspect: u64,
    /// Those that a timer ended.
    pub by_timers: u64,
    /// Of these, where the recording does not say which interrupt it was.
    pub by_timers_assumed: u64,
    /// Those that a device ended.
    pub by_devices: u64,
    /// Those that a task which is left out ended.
    pub by_left_out: u64,
    /// Those of whose waking nothing is known.
    pub unexplained: u64,

    /// Calls on pipes and sockets that are replayed as such.
    pub calls: u64,

    /// CPU time of the replayed tasks, ns.
    pub cpu_ns: u64,
    /// The part of it for which the model charges more than was recorded, ns.
    pub clipped_ns: u64,
    /// CPU time at a clock that is not known, of CPUs that have several, ns.
    pub unknown_clock_ns: u64,
    /// Times that a task left its CPU though it would have gone on.
    pub still_runnable: u64,
    /// Yields that are replayed.
    pub yields: u64,
    /// CPUs that went off or on.
    pub hotplugs: u64,
    /// Numbers of tasks that were used again.
    pub reused_pids: u64,
    /// What the source of the recording did not tell, by name.
    #[serde(serialize_with = "names")]
    pub lacks: BTreeSet<Capability>,
}

impl Health {
    /// Sleeps whose end is known, in percent of all; 100 of none.
    pub fn explained_percent(&self) -> u64 {
        percent(
            self.sleeps - self.unexplained.min(self.sleeps),
            self.sleeps,
            100,
        )
    }

    /// Wakings by tasks that a replay does not wait for, in percent.
    pub fn raced_percent(&self) -> u64 {
        percent(self.raced, self.by_tasks, 0)
    }

    /// Wakings by tasks that cannot be theirs, in percent of all sleeps.
    pub fn suspect_percent(&self) -> u64 {
        percent(self.suspect, self.sleeps, 0)
    }

    /// CPU time at a clock that is not known, in percent.
    pub fn unknown_clock_percent(&self) -> u64 {
        percent(self.unknown_clock_ns, self.cpu_ns, 0)
    }

    /// Causes that were assumed, in percent of all sleeps.
    pub fn assumed_percent(&self) -> u64 {
        percent(
            self.by_tasks_assumed + self.by_timers_assumed,
            self.sleeps,
            0,
        )
    }

    /// CPU time for which the model charges more than was recorded, in percent.
    pub fn clipped_percent(&self) -> u64 {
        percent(self.clipped_ns, self.cpu_ns, 0)
    }
}

/// Rounded up; `none` if there is nothing.
fn percent(part: u64, whole: u64, none: u64) -> u64 {
    if whole == 0 {
        return none;
    }
    (u128::from(part) * 100).div_ceil(u128::from(whole)) as u64
}

fn names<S: serde::Serializer>(all: &BTreeSet<Capability>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|one| one.name()))
}
