// SPDX-License-Identifier: GPL-2.0-only
//! What CPUs do at their events, and what is done to them from outside.

pub(crate) mod attributes;
pub(crate) mod changes;
pub(crate) mod count_anew;
pub(crate) mod cpu;
pub(crate) mod exec;
pub(crate) mod frequency;
pub(crate) mod hotplug;
pub(crate) mod idle_loop;
pub(crate) mod invariants;
pub(crate) mod lifetime;
pub(crate) mod replay;
