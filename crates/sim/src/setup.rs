// SPDX-License-Identifier: GPL-2.0-only
//! Builds a run from a scenario, and checks what it asks for.

pub(crate) mod build;
pub(crate) mod caveats;
pub(crate) mod drawn;
pub(crate) mod link;
pub(crate) mod no_effect;
pub(crate) mod shell;
