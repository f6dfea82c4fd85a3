// SPDX-License-Identifier: GPL-2.0-only
//! Reports of a run: counters, results, progress. Nothing that decides reads it.

pub(crate) mod clusters;
pub(crate) mod mechanism;
pub(crate) mod progress;
pub(crate) mod results;
pub(crate) mod stuck;
