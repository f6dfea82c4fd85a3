// SPDX-License-Identifier: GPL-2.0-only
//! Counters of CPUs and of the run. All mechanisms add to them; the room `observe` reports them.

use crate::base::count::Count;
use crate::base::histogram::Histogram;

use crate::face::distance::Migrations;
use crate::world::World;
use alight_policy::STEPS;

/// Counters of a CPU.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CpuStats {
    /// Time that tasks ran, ns.
    pub busy_ns: u64,
    /// Value of `busy_ns` when the counters were restarted.
    pub busy_from: u64,
    /// Sum over its tasks of the time that each was runnable, ns, up to `runnable_since`.
    pub runnable_ns: u64,
    /// Time since which the number of runnable tasks is unchanged.
    pub runnable_since: u64,
    /// Time offline, ns, up to the last time that it came back.
    pub offline_ns: u64,
    /// Time at which it went offline, or at which counters were restarted while it was; stale while
    /// online.
    pub offline_since: u64,
}

/// Counters of the whole run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stats {
    pub wakeups: Count,
    /// Wakeups from the hard interrupt of a timer or a device, while a task, or the idle task, was
    /// current.
    pub wakeups_hardirq_task: Count,
    pub wakeups_hardirq_idle: Count,
    pub forks: Count,
    pub yields: Count,
    pub switches: Count,
    /// Migrations by distance.
    pub migrations: Migrations,
    pub migrations_wake: Count,
    pub ticks: Count,
    pub ipis: Count,
    pub messages: Count,
    pub mutex_waits: Count,
    pub fast_path: Count,
    pub slow_path: Count,
    pub found_idle: Count,
    pub to_prev: Count,
    pub to_this: Count,
    pub to_other: Count,
    /// Wakeups of tasks that had not left their queue (delayed dequeue); no CPU was chosen.
    pub still_queued: Count,
    /// Wakeups to CPUs that ran nothing, only `SCHED_IDLE` tasks, or other tasks.
    pub to_idle: Count,
    pub to_sched_idle: Count,
    pub to_busy: Count,
    pub looked_at: Count,
    pub lock_wait_ns: Count,
    pub lock_contended: Count,
    pub refill_ns: Count,
    /// Time that hardware threads executed, and the part of it beside another thread of the core;
    /// both 0 where threads do not slow each other.
    pub executed_ns: Count,
    pub beside_ns: Count,
    pub freq_changes: Count,
    pub selections: Selections,
    pub wake_latency: Histogram,
}

/// Decisions by the step that answered.
#[derive(Debug, Clone)]
pub(crate) struct Selections(pub [Count; STEPS.len()]);

impl Default for Selections {
    fn default() -> Self {
        Selections([Count::default(); STEPS.len()])
    }
}

impl World<'_> {
    /// Restarts the counters. The progress of a run still needs those of before, which are kept in
    /// `counting`.
    pub fn forget_counts(&mut self) {
        self.counting.messages_before += self.stats.messages;
        self.counting.preempted_before = self.preempted;
        self.stats = Stats::default();
    }
}
