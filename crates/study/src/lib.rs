// SPDX-License-Identifier: GPL-2.0-only
//! The question: schedulers compared on a machine under a load. Runs spread
//! over the cores ([`mod@spread`]), statistics ([`stats`]), and the reports that
//! people and scripts read ([`report`]).

pub mod compare;
pub mod header;
pub mod metrics;
pub mod report;
pub mod spread;
pub mod stats;

#[cfg(test)]
mod fake;

pub use compare::{Comparison, Question, Runner, compare};
pub use report::Style;
pub use spread::Spread;
