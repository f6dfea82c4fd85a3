// SPDX-License-Identifier: GPL-2.0-only
//! Given a machine, a state and a wakeup: this CPU, because of this step.

#[path = "../common/mod.rs"]
mod common;

mod affine;
mod asym_capacity;
mod bias_prev;
mod clusters;
mod energy;
mod fast_path;
mod fits;
mod groups_by_load;
mod groups_of_now;
mod long_series;
mod nonsense;
mod one_scan;
mod pack;
mod pack_full;
mod plain_search;
mod properties;
mod sched_idle;
mod slow_path;
mod uclamp_sum;
mod version_3_9;
