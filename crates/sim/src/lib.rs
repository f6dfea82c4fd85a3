// SPDX-License-Identifier: GPL-2.0-only
//! Time: the event loop and the model of Linux around the placement core.
//!
//! A wakeup, as it passes through the files: a task's program says so
//! (`exec`, `sync`, `channel`), `wakeup` asks [`alight_policy::Core`] and
//! charges the answer's cost (`cost`), the target's queue takes the task
//! (`fair`), its CPU leaves idle (`cpuidle`) and switches to it (`dispatch`);
//! the tick balances (`balance`), utilization drives the clock (`cpufreq`), and
//! all of it is metered (`energy`), counted (`stats`) and written down (`emit`).
//!
//! What every wakeup, switch and sleep passes is `#[inline(always)]`: left to itself the
//! compiler makes calls of it that are a fourteenth of the instructions.

mod activations;
mod answers;
mod api;
mod attributes;
mod balance;
mod build;
mod caveats;
mod changes;
mod channel;
mod classes;
mod cost;
mod counting;
mod cpufreq;
mod cpuidle;
mod demand;
mod dispatch;
mod distance;
mod emit;
mod energy;
mod energy_model;
mod exec;
mod explain;
mod fair;
mod feasible;
mod hotplug;
mod instruments;
mod invariants;
mod irq_time;
mod kernel;
mod lifetime;
mod link;
mod no_effect;
mod overutilized;
mod pressure;
mod progress;
pub mod queue;
mod rng;
mod rounds;
mod run;
mod shell;
mod site;
mod smt;
mod state;
mod stats;
mod stuck;
mod sync;
mod sysctl;
mod table;
mod tally;
#[cfg(test)]
mod testbed;
mod timeline;
mod timers;
mod treap;
mod uclamp;
mod uclamp_sum;
mod wakeup;

pub use answers::{
    Answers, Choice, CpuState, Decision, Distance, Latency, Row, SideSums, Sums, Watch,
};
pub use api::*;
pub use caveats::caveats;
pub use changes::{Action, Change, hotplug_torture};
pub use feasible::{about, check_changes, check_governor, clamped_by_range, time};
pub use no_effect::without_effect;
pub use pressure::Limit;
pub use progress::{WHOLE, messages};
pub use run::{answers, explain, run, run_telling, task_table};
pub use site::site;
pub use sysctl::{Sysctl, SysctlName};
pub use tally::Tally;
