// SPDX-License-Identifier: GPL-2.0-only
//! The simulator: the event loop, and the model of Linux around the placement core.
//!
//! A run ([`run()`]) takes a [`Scenario`] (machine, workloads, scheduler, seed) and returns an
//! [`Outcome`] (hash, metrics, decisions by step). Time is counted in whole nanoseconds. The same
//! scenario gives the same outcome, bit for bit.
//!
//! # What it owns
//!
//! A wakeup passes through these files:
//!
//! 1. `exec`, `sync`, `channel`: the program of a task wakes another task.
//! 2. `wakeup` asks [`alight_policy::Core`] for a CPU and charges the cost of the search (`cost`).
//! 3. `fair` queues the task on its CPU.
//! 4. `cpuidle` brings the CPU out of its idle state, and `dispatch` switches to the task.
//!
//! In addition, `balance` moves tasks at ticks, `cpufreq` sets frequencies by utilization, `energy`
//! integrates power, `stats` counts, and `emit` feeds the hash of the run and the trace. `kernel`
//! has one row for each base kernel. `fault` tells for each error whether the user or the host is
//! at fault.
//!
//! # Rooms and layers
//!
//! A room is a folder. It uses only the rooms before it in this list (`tests/arrows.rs` checks the
//! source): `base`, `face`, `kernel`, `world`, `power`, `queues`, `place`, `balance`, `program`,
//! `dispatch`, `observe`, `setup`, `run`. Seven of them own state. Each of these has one type, its
//! layer, that owns the layer before it and dereferences to it. A mechanism's methods belong to the
//! layer whose state the mechanism may change.
//!
//! | layer | owns |
//! |---|---|
//! | `World` | time, CPUs, tasks, their programs, the placement core, the trace |
//! | `Power` | clocks, idle states, energy, pressure, SMT, clamps |
//! | `Queues` | the fair class, task groups, real-time and deadline classes |
//! | `Place` | wakeups: the choice of a CPU, and the explanation of choices |
//! | `Balancer` | load balancing, packing, priorities of CPUs |
//! | `Programs` | channels, locks, desks, measurements |
//! | `Sim` | handling of CPU events, changes of the machine, replay |
//!
//! In a method of `Balancer`, `self.now` is the world's time, and `self.clock(cpu)` updates the
//! clock of a runqueue. Such an access borrows all layers below. To change two parts at once, a
//! method names the layer of one (`self.world.cpus` beside `self.freq`), or borrows the `world()`
//! and splits the borrow by field.
//!
//! # Who may use it
//!
//! `alight-compare` and the crates above it. The live scheduler must not. It uses `alight-machine`,
//! `alight-policy`, `alight-trace` and `alight-workload`.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use alight_policy::Scheduler;
//! use alight_sim::{Scenario, run};
//! use alight_workload::Workload;
//!
//! let sheet = alight_machine::load("juno-r0")?;
//! let workloads = [Workload::from_command_line("hackbench -g 1 -f 2 -l 5")?.workload];
//! let scheduler = Scheduler::parse("linux-7.2")?;
//! let scenario = Scenario { seed: 7, ..Scenario::new(&sheet.machine, &workloads, &scheduler) };
//!
//! let never = AtomicBool::new(false);
//! let outcome = run(&scenario, None, &never)?;
//! assert!(outcome.end_ns > 0);
//! assert!(outcome.steps.iter().sum::<u64>() > 0);
//! // The same scenario again is the same run.
//! assert_eq!(run(&scenario, None, &never)?, outcome);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Inlining
//!
//! Functions on the path of every wakeup, switch and sleep are `#[inline(always)]`. Without the
//! attribute the compiler emits calls, which cost a fourteenth of the instructions.

mod balance;
mod base;
mod dispatch;
mod face;
mod kernel;
mod observe;
mod place;
mod power;
mod program;
mod queues;
mod run;
mod setup;
#[cfg(test)]
mod testbed;
mod world;

pub use base::queue;
pub use face::answers::{
    Answers, Choice, CpuState, Decision, Distance, Latency, Row, SideSums, Sums, Watch,
};
pub use face::api::*;
pub use face::changes::Limit;
pub use face::changes::{Action, Change, hotplug_torture};
pub use face::distance::Distances;
pub use face::fault::{AtFault, Fault};
pub use face::feasible::{about, check_changes, check_governor, clamped_by_range, time};
pub use face::site::site;
pub use face::sysctl::{Sysctl, SysctlName};
pub use face::tally::Tally;
pub use observe::progress::{WHOLE, messages};
pub use run::{answers, explain, run, run_telling, task_table};
pub use setup::caveats::caveats;
pub use setup::no_effect::without_effect;
