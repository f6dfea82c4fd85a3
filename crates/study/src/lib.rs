// SPDX-License-Identifier: GPL-2.0-only
//! The question: schedulers compared on a machine under a load. Runs spread
//! over the cores ([`mod@spread`]), statistics ([`stats`]), and the reports that
//! people and scripts read ([`report`]); a feature's whole report card ([`mod@card`]); what kernels did held against the model
//! ([`behaviour`]); and of single runs ([`single`]), of
//! decisions ([`decisions`], [`answers`]) and of the policies there are ([`policies`]).

pub mod answers;
pub mod behaviour;
pub mod calibrate;
pub mod card;
pub mod compare;
pub mod decisions;
pub mod floors;
pub mod header;
pub mod inert;
pub mod metrics;
pub mod policies;
pub mod published;
pub mod reasons;
pub mod report;
pub mod rests;
pub mod selection;
pub mod single;
pub mod spread;
pub mod stats;
pub mod suite;
pub mod tool;
pub mod trace;
pub mod verdict;

#[cfg(test)]
mod fake;

pub use compare::{Comparison, Question, Runner, compare};
pub use report::{Extent, Form, Style};
pub use selection::Selection;
pub use spread::Spread;
