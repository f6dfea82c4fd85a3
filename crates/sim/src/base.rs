// SPDX-License-Identifier: GPL-2.0-only
//! Containers and keyed random draws. They do not depend on the scheduler model.

pub(crate) mod count;
pub(crate) mod histogram;
pub(crate) mod layer;
pub mod queue;
pub(crate) mod rng;
pub(crate) mod table;
pub(crate) mod timeline;
pub(crate) mod treap;
