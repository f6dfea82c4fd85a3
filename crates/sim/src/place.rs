// SPDX-License-Identifier: GPL-2.0-only
//! Which CPU a waking task goes to, and why.

pub(crate) mod explain;
pub(crate) mod wakeup;
