// SPDX-License-Identifier: GPL-2.0-only
//! What goes into a run and comes out of it, as plain data, and what is refused.

pub(crate) mod answers;
pub(crate) mod api;
pub(crate) mod changes;
pub(crate) mod distance;
pub(crate) mod fault;
pub(crate) mod feasible;
pub(crate) mod site;
pub(crate) mod sysctl;
pub(crate) mod tally;
