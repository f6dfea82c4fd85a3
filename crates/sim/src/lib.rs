// SPDX-License-Identifier: GPL-2.0-only
//! Time: the event loop and the model of Linux around the placement core.
mod api;
mod queue;
mod timeline;
pub use api::*;
