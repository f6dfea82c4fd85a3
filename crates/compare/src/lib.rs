// SPDX-License-Identifier: GPL-2.0-only
//! The question: schedulers compared on a machine under a load. Runs spread
//! over the cores ([`mod@spread`]), statistics ([`stats`]), and the reports that
//! people and scripts read ([`report`]); a feature's whole report card ([`mod@card`]); and of single runs ([`single`]), of
//! decisions ([`decisions`], [`answers`]) and of the policies there are ([`policies`]).

pub mod answers;
pub mod card;
pub mod compare;
pub mod decisions;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod floors;
pub mod header;
pub mod inert;
pub mod late;
pub mod metrics;
pub mod picture;
pub mod policies;
pub mod progress;
pub mod reasons;
pub mod report;
pub mod rests;
pub mod selection;
pub mod single;
pub mod spread;
pub mod stats;
pub mod tool;
pub mod trace;
pub mod verdict;

pub use compare::{Comparison, Question, Runner, compare, simulate};
pub use progress::Progress;
pub use report::{Extent, Form, Style};
pub use selection::Selection;
pub use spread::Spread;
