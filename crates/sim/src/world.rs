// SPDX-License-Identifier: GPL-2.0-only
//! What all mechanisms share: time, CPUs, tasks, what they execute, and the placement core's view of them.

pub(crate) mod asked;
pub(crate) mod cost;
pub(crate) mod counting;
pub(crate) mod emit;
pub(crate) mod jiffies;
pub(crate) mod lifetime;
pub(crate) mod occupancy;
pub(crate) mod online;
pub(crate) mod rounds;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod timers;
pub(crate) mod util;
pub(crate) mod waits;
