// SPDX-License-Identifier: GPL-2.0-only
//! Comparisons: schedulers on one machine under one load, with statistics and verdicts.
//!
//! [`compare()`] runs every scheduler at the same seeds. The two runs of a pair share their noise, so
//! their difference shows the scheduler. The result is a [`Comparison`], which [`report`] renders.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Question`], [`Comparison`] | what is asked, and the answer |
//! | [`mod@spread`] | runs jobs on all cores; the results come in the order of the jobs |
//! | [`stats`], [`verdict`], [`floors`] | paired intervals, `better` or `worse`, least differences that matter |
//! | [`until`], [`stopped`] | when there are runs enough; a comparison that ends then |
//! | [`report`], [`tool`], [`picture`] | reports for people and for programs, and pictures |
//! | [`single`], [`decisions`], [`answers`] | the report of one run, of single decisions, of steps |
//! | [`mod@card`] | report cards: a feature over many machines and workloads |
//! | [`policies`] | the list of schedulers, and the description of one |
//! | [`rests`], [`inert`] | what an answer rests on, and why a policy changed nothing |
//!
//! # Who may use it
//!
//! `alight-published`, `alight-suite`, `alight-behaviour` and `alight`. It uses `alight-sim`, the
//! crates below it, and `alight-text`.
//!
//! # Example
//!
//! ```
//! use std::num::NonZeroU32;
//! use std::sync::atomic::AtomicBool;
//!
//! use alight_compare::report::answer::answers;
//! use alight_compare::report::render;
//! use alight_compare::{Extent, Form, Question, Spread, Style, compare, simulate};
//! use alight_policy::Scheduler;
//! use alight_sim::Scenario;
//! use alight_workload::Workload;
//!
//! let sheet = alight_machine::load("juno-r0")?;
//! let workloads = [Workload::from_command_line("hackbench -g 1 -f 2 -l 5")?.workload];
//! // The second name adds a feature to the first scheduler.
//! let schedulers = Scheduler::choose_all(["linux-5.5", "asym-capacity"])?;
//! let question = Question {
//!     scenario: Scenario::new(&sheet.machine, &workloads, &schedulers[0]),
//!     trust: &sheet.trust(),
//!     schedulers: &schedulers,
//!     runs: NonZeroU32::new(2).expect("not zero"),
//!     command: String::new(),
//! };
//! let answer = compare(&question, &simulate, Spread::QUIET, &AtomicBool::new(false))?;
//! assert_eq!(answer.seeds, [1, 2]);
//! assert_eq!(answer.others()[0].scheduler, "linux-5.5+asym-capacity");
//! println!("{}", answers(&answer).join("\n"));
//!
//! let form = Form { style: Style::Table, extent: Extent::Short, samples: false };
//! assert!(render(&answer, form).contains("juno-r0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answers;
pub mod card;
pub mod compare;
mod course;
pub mod decisions;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
pub mod floors;
pub mod header;
pub mod inert;
pub mod late;
pub mod metrics;
pub mod observe;
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
pub mod stopped;
pub mod tool;
pub mod trace;
pub mod until;
pub mod verdict;

pub use compare::{Comparison, Question, Runner, compare, simulate};
pub use progress::Progress;
pub use report::{Extent, Form, Style};
pub use selection::Selection;
pub use spread::Spread;
pub use stopped::compare_until;
