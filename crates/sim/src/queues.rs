// SPDX-License-Identifier: GPL-2.0-only
//! Which task runs next on each CPU: the fair class, its groups, and the classes before it.

pub(crate) mod attributes;
pub(crate) mod classes;
pub(crate) mod fair;
