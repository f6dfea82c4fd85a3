// SPDX-License-Identifier: GPL-2.0-only
//! What a running scheduler says of itself: what it counts ([`Counters`]), the document of it
//! ([`Statistics`], described by [`describe`]), and the ways in which it is asked: the socket that
//! tools for sched_ext schedulers read ([`server`], [`client`]), and OpenMetrics over HTTP
//! ([`metrics`], [`http`]). [`text`] is what a terminal or a log gets.
//!
//! The socket speaks the protocol of the crate scx_stats 1.1: a request is a line
//! `{"req": "stats"}` or `{"req": "stats_meta"}`, the answer a line `{"errno": 0, "args": {"resp": …}}`.
//! That crate's own server is not used: it reads lines of any length into memory, starts threads
//! without limit, waits for clients without end (at its own end too), panics when no thread can be
//! started, and takes over a socket that another process serves. Tests hold this server against that
//! crate's client.

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
