// SPDX-License-Identifier: GPL-2.0-only
//! Statistics of a running scheduler: counters, the socket that serves them, and OpenMetrics.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`Counters`] | counts of one CPU |
//! | [`Statistics`] | counts of all CPUs, and their JSON document. [`describe`] explains each member |
//! | [`server`], [`client`] | the socket for tools that read sched_ext statistics |
//! | [`metrics`], [`http`] | OpenMetrics text, served over HTTP |
//! | [`text`], [`monitor`] | lines for a terminal or a log |
//!
//! # Who may use it
//!
//! The live scheduler, its command line, `alight top` and `alight`. It uses `alight-policy`.
//!
//! # Example
//!
//! ```
//! use alight_policy::Scheduler;
//! use alight_stats::{Counters, Statistics, metrics};
//!
//! let scheduler = Scheduler::parse("linux-6.5").expect("a base");
//! // Two CPUs, 3 s after the start of the scheduler.
//! let cpu = Counters { decisions: 100, found_idle: 80, ..Counters::ZERO };
//! let statistics = Statistics::new(&scheduler, 3_000_000_000, 1, vec![cpu.clone(), cpu]);
//! assert_eq!(statistics.totals.decisions, 200);
//! assert!(metrics::render(&statistics).contains("\nalight_decisions_total 200\n"));
//!
//! let read_back = Statistics::from_json(&statistics.to_json())?;
//! assert_eq!(read_back.totals, statistics.totals);
//! # Ok::<(), alight_stats::Malformed>(())
//! ```
//!
//! # The protocol of the socket
//!
//! The socket speaks the protocol of the crate scx_stats 1.1. A request is the line
//! `{"req": "stats"}` or `{"req": "stats_meta"}`. The answer is the line
//! `{"errno": 0, "args": {"resp": …}}`.
//!
//! The server of scx_stats itself is not used. It reads lines of any length into memory, starts threads
//! without limit, waits for clients without end (also when it ends), panics if a thread cannot be
//! started, and takes over a socket that another process serves. Tests run this server against the
//! client of that crate.

mod acceptor;
pub mod client;
mod counters;
pub mod describe;
pub mod histogram;
pub mod http;
pub mod metrics;
pub mod monitor;
pub mod server;
mod statistics;
pub mod text;

pub use counters::{Counters, DELAY_BUCKETS, DISTANCES, PLAIN, SCAN_BUCKETS, STEP_SLOTS};
pub use statistics::{Malformed, Statistics};

use std::sync::Arc;

/// Where the servers get statistics from; `None` if there are none at the moment. Called from
/// many threads; must come back soon.
pub type Source = Arc<dyn Fn() -> Option<Arc<Statistics>> + Send + Sync>;
