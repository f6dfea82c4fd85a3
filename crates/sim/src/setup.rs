// SPDX-License-Identifier: GPL-2.0-only
//! How a scenario becomes a run that is ready to start.

pub(crate) mod build;
pub(crate) mod caveats;
pub(crate) mod drawn;
pub(crate) mod link;
pub(crate) mod no_effect;
pub(crate) mod shell;
