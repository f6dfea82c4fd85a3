// SPDX-License-Identifier: GPL-2.0-only
//! Sweeps: many cells of machines, workloads and schedulers with ranges, a store of their runs, and
//! what they say together.
//!
//! A [`Sweep`](sweep::Sweep) is read from a file (`alight.sweep/1`, docs/reference/sweep.md). Its
//! cells run in [batches](sweep::Batch), anywhere and in any order. [`Work`](work::Work) says which
//! batches are missing, and writes what they give to a [`Store`](store::Store). An
//! [`Answer`](answer::Answer) is computed from the store alone.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`spec`] | the file: schedulers with ranges, figures of machines, objectives, constraints |
//! | [`design`] | which points run: all, Saltelli's sample, Morris' trajectories |
//! | [`sweep`] | cells by number, and running them |
//! | [`store`] | one SQLite file, written as the runs come |
//! | [`work`] | what is missing, when a cell is known well enough, spreading over cores |
//! | [`answer`] | best settings, the front, effects of factors |
//! | [`effects`] | analysis of variance, Sobol' indices, elementary effects |
//! | [`report`], [`page`], [`picture`] | the answer as text and JSON, as a page, and its front |
//!
//! # Who may use it
//!
//! `alight` and the Python package. It uses `alight-ask`, `alight-compare`, and what these use.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use alight_compare::{Spread, simulate};
//! use alight_sweep::answer::Answer;
//! use alight_sweep::store::Store;
//! use alight_sweep::sweep::Sweep;
//! use alight_sweep::work::Work;
//!
//! let file = r#"
//!     schema = "alight.sweep/1"
//!     machines = ["juno-r0"]
//!     workloads = ["hackbench -g 1 -f 2 -l 5"]
//!     base = "linux-6.5"
//!     schedulers = ["bias-prev:spare=0..512 step 256"]
//!     runs = 2
//!     objectives = { elapsed_s = "minimise" }
//! "#;
//! let sweep = Sweep::parse("spare.toml", file, &|remark| eprintln!("{remark}"))?;
//! assert_eq!((sweep.cells(), sweep.most_runs()), (1, 8));
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(&folder.path().join("spare.sqlite"), &sweep, "alight sweep ...")?;
//! let work = Work::new(&sweep, store)?;
//! let go_on = AtomicBool::new(false);
//! let store = work.run(&simulate, Spread::QUIET, &go_on, &|_| ())?;
//!
//! let answer = Answer::of(&store)?;
//! assert_eq!(answer.places[0].candidates.len(), 4);
//! println!("{}", alight_sweep::report::text(&answer));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod design;
pub mod document;
pub mod effects;
pub mod levels;
pub mod page;
pub mod picture;
pub mod report;
pub mod samples;
pub mod spec;
pub mod store;
pub mod sweep;
pub mod template;
pub mod work;

#[cfg(test)]
mod synthetic;
