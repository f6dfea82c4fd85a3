// SPDX-License-Identifier: GPL-2.0-only
//! The interface of the simulator: the input and output of a run as plain data, and checks of the
//! input.

pub(crate) mod answers;
pub(crate) mod api;
pub(crate) mod changes;
pub(crate) mod distance;
pub(crate) mod fault;
pub(crate) mod feasible;
pub(crate) mod site;
pub(crate) mod sysctl;
pub(crate) mod tally;
