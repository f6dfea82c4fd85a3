// SPDX-License-Identifier: GPL-2.0-only
//! What tasks do to each other: channels, locks, what is measured of them.

pub(crate) mod activations;
pub(crate) mod calls;
pub(crate) mod channel;
pub(crate) mod effect;
pub(crate) mod instruments;
pub(crate) mod sync;
