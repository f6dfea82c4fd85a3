// SPDX-License-Identifier: GPL-2.0-only
//! The placement core: the C headers of `policy/`, compiled for the host, and their Rust interface.
//!
//! The core answers one question: on which CPU does a waking task run? A [`Core`] holds the views of
//! one machine (its CPUs, caches and domains); [`Core::select`] takes a [`Wakeup`] and returns an
//! [`Answer`], which holds the CPU and the step that chose it.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Core`], [`Wakeup`], [`Answer`] | one machine, one decision, its result |
//! | [`abi`] | the structures of `policy/abi.h` and `policy/params.h` in Rust |
//! | [`scheduler`] | base kernels, features, and the grammar of their names |
//! | [`topology`] | builds a [`Core`] from a description of a machine |
//! | [`pelt`], [`rq`] | load tracking: `policy/pelt.h`, `policy/runqueue.h` |
//! | [`energy`] | the energy model of a machine, computed as a kernel does it |
//!
//! # Who may use it
//!
//! Every crate may. It uses no other crate of the project. It holds no global state: a process may have
//! any number of cores.
//!
//! # Example
//!
//! CPU 0 wakes a task that last ran on CPU 2, which is idle.
//!
//! ```
//! use alight_policy::topology::{self, CpuDescription, Description, Level, LevelKind};
//! use alight_policy::{Kind, Mask, STEPS, Scheduler, Task, Waker, Wakeup};
//!
//! let scheduler = Scheduler::parse("linux-7.2")?;
//! // Four equal CPUs behind one cache.
//! let machine = Description {
//!     cpus: vec![CpuDescription { capacity: 1024, node: 0 }; 4],
//!     levels: vec![Level::by_key(LevelKind::Cache, &[0; 4])],
//! };
//! let mut core = topology::build(&machine, &scheduler.params)?;
//! core.cpus[0].curr_is_idle = 0;
//! core.cpus[0].nr_running = 1;
//!
//! let answer = core.select(Wakeup {
//!     task: &mut Task { id: 1, prev_cpu: 2, ..Task::default() },
//!     allowed: &(0..4).collect::<Mask>(),
//!     waker: Waker { cpu: 0, task: &mut Task::default(), sync: false },
//!     kind: Kind::Wake,
//!     flags: 0,
//!     now: 0,
//! });
//! assert_eq!(answer.cpu, 2);
//! assert_eq!(STEPS[answer.step as usize].0, "target_idle");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abi;
mod bases;
mod choose;
mod core;
pub mod energy;
mod features;
#[cfg(test)]
mod headers;
mod layout;
mod mask;
pub mod mirror;
pub mod pack;
pub mod pelt;
pub mod rq;
#[cfg(any(test, feature = "against-c"))]
pub mod samples;
pub mod scheduler;
mod shape;
pub mod sound;
mod store;
pub mod topology;

pub use abi::{
    Answer, Cpu, Domain, Group, Llc, MAX_CPUS, MAX_LEVELS, Mask, NONE, Note, Params, Pelt, Pelt13,
    PerfDomain, PerfState, Place, Root, Share, Task, Topology,
};
pub use core::{Core, Kind, Waker, Wakeup, nr_idle_scan};
pub use scheduler::Scheduler;
pub use shape::Shape;
pub use store::{Checked, Store};

/// Names of [`Answer::step`], in the order of `enum policy_step`, with what each means.
pub const STEPS: [(&str, &str); 36] = [
    ("none", "no decision"),
    ("pinned", "the affinity allows one CPU"),
    ("target_idle", "the target is idle"),
    ("prev_idle", "the previous CPU is idle and shares the cache"),
    (
        "recent_idle",
        "the recently used CPU is idle and shares the cache",
    ),
    ("idle_core", "all threads of a core in the cache are idle"),
    ("llc_scan", "the scan of the cache found an idle CPU"),
    ("smt_scan", "a thread of the target's core is idle"),
    ("target_busy", "no idle CPU was found: the target"),
    ("asym_fits", "an idle CPU that is big enough"),
    (
        "asym_biggest",
        "the task fits no idle CPU: the one of the largest capacity",
    ),
    ("asym_target", "no CPU of the machine is idle: the target"),
    (
        "slow_idle",
        "slow path: the idle CPU that wakes soonest in the idlest group",
    ),
    (
        "slow_sched_idle",
        "slow path: a CPU that runs only SCHED_IDLE tasks",
    ),
    (
        "slow_least_loaded",
        "slow path: the least loaded CPU of the idlest group",
    ),
    ("slow_local", "slow path: no better group, the waking CPU"),
    (
        "slow_prev",
        "slow path: no allowed CPU in the domain, the previous CPU",
    ),
    (
        "no_search",
        "no domain balances at fork, or (3.x) none spans both CPUs: the previous CPU",
    ),
    (
        "fallback",
        "the search ended outside the affinity: an allowed CPU instead",
    ),
    ("current_cpu", "the waker asked for its own CPU"),
    (
        "kthread_prev",
        "a kernel thread bound to the previous CPU, alone there, woke the task: the previous CPU",
    ),
    ("prev_smt", "a thread of the previous CPU's core is idle"),
    (
        "cluster_scan",
        "the scan of the target's cluster found an idle CPU",
    ),
    (
        "prev_far",
        "nothing nearer is idle: the previous CPU, idle in another cluster",
    ),
    (
        "recent_far",
        "nothing nearer is idle: the recently used CPU, idle in another cluster",
    ),
    (
        "idle_group",
        "all CPUs of a group below the cache are idle: the first of them",
    ),
    (
        "asym_min_clamp",
        "an idle CPU that is big enough except for the task's lower clamp",
    ),
    (
        "eas_prev",
        "EAS: no CPU needs less energy than the previous one",
    ),
    ("eas_saves", "EAS: the CPU that needs the least energy"),
    (
        "eas_fits",
        "EAS: a CPU that meets the task's demand better than the previous one",
    ),
    (
        "bias_prev",
        "bias-prev: the previous CPU, idle or with capacity to spare",
    ),
    (
        "bias_room",
        "bias-prev: a busy CPU that is nearly idle or has room for the task",
    ),
    (
        "bias_last",
        "bias-prev: no CPU is idle: the previous CPU instead of the target",
    ),
    (
        "pack_buddy",
        "pack: the task is light: the buddy of its CPU, which is not busy",
    ),
    ("pack_full", "pack: the buddy of its CPU, which is not full"),
    (
        "pack_near",
        "pack: the task is new: an idle CPU near the buddy of the forking CPU",
    ),
];

/// Names of [`Answer::affine`], in the order of `enum policy_affine`.
pub const AFFINE: [(&str, &str); 11] = [
    ("none", "not asked"),
    ("wide", "not pulled: the waker wakes too many tasks"),
    ("wake_cap", "not pulled: a CPU is too small for the task"),
    ("not_allowed", "not pulled: the waking CPU is not allowed"),
    ("same", "waking CPU and previous CPU are the same"),
    ("this_idle", "the waking CPU is idle and shares the cache"),
    (
        "prev_idle",
        "both CPUs are idle and share the cache: the previous one",
    ),
    (
        "sync",
        "the waker is alone and about to sleep: the waking CPU",
    ),
    ("weight_this", "the waking CPU would be less loaded"),
    ("weight_prev", "the previous CPU is less loaded"),
    (
        "prev_alone",
        "the previous CPU is idle, and the waking one is not, or shares no cache with it",
    ),
];

/// Names of the counts in [`Answer::verdicts`], in the order of `enum policy_verdict`.
pub const VERDICTS: [&str; 10] = [
    "taken",
    "not allowed",
    "busy",
    "other cache",
    "too small",
    "core busy",
    "kept in reserve",
    "less room than another",
    "more energy",
    "not for packing",
];
