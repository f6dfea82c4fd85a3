// SPDX-License-Identifier: GPL-2.0-only
//! Which task runs next on each CPU: the fair class, its groups, and the classes before it.

pub(crate) mod attributes;
pub(crate) mod cache_aware;
pub(crate) mod clamps;
pub(crate) mod classes;
pub(crate) mod clock;
pub(crate) mod fair;
pub(crate) mod signals_2013;
