// SPDX-License-Identifier: GPL-2.0-only
//! Given a machine, a state and a wakeup: this CPU, because of this step.

#[path = "../common/mod.rs"]
mod common;

mod affine;
mod asym_capacity;
mod fast_path;
mod properties;
mod slow_path;
