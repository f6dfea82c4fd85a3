//! What happened: the event schema of a run and its writers.
// SPDX-License-Identifier: GPL-2.0-only
mod event;
pub use event::*;
