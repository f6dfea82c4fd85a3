// SPDX-License-Identifier: GPL-2.0-only
//! Counters of a run, and what is reported of them.

use crate::base::count::Count;
use crate::base::histogram::Histogram;

use crate::face::distance::Migrations;
use crate::world::World;
use alight_policy::STEPS;

/// What one CPU counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CpuStats {
    /// Time that tasks ran, ns.
    pub busy_ns: u64,
    /// What `busy_ns` was when counts started anew.
    pub busy_from: u64,
    /// Sum of the times that its tasks were runnable, ns, up to `runnable_since`.
    pub runnable_ns: u64,
    /// Their number has not changed since.
    pub runnable_since: u64,
    /// How long it was offline, ns, up to when it last came back.
    pub offline_ns: u64,
    /// When it went off, or counts started anew while it was; stale while it is online.
    pub offline_since: u64,
}

/// What the whole run counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stats {
    pub wakeups: Count,
    /// Of these, from the hard interrupt of a timer or a device, while a task was current or the idle task.
    pub wakeups_hardirq_task: Count,
    pub wakeups_hardirq_idle: Count,
    pub forks: Count,
    pub yields: Count,
    pub switches: Count,
    /// By how far they went.
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
    /// Woken where they were, for they had not left their queue; no CPU was asked for.
    pub still_queued: Count,
    /// CPUs that ran nothing, `SCHED_IDLE` tasks only, others.
    pub to_idle: Count,
    pub to_sched_idle: Count,
    pub to_busy: Count,
    pub looked_at: Count,
    pub lock_wait_ns: Count,
    pub lock_contended: Count,
    pub refill_ns: Count,
    /// Time that threads of cores executed, and of that beside another thread; both 0 where none slow each other.
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
    /// Counters start anew. What is left of before is what the progress of a run asks for.
    pub fn forget_counts(&mut self) {
        self.counting.messages_before += self.stats.messages;
        self.counting.preempted_before = self.preempted;
        self.stats = Stats::default();
    }
}
