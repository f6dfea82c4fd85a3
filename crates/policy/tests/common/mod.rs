// SPDX-License-Identifier: GPL-2.0-only
//! What several test files share; none of them uses all of it.
#![allow(dead_code)]

pub mod duo;
pub mod machines;
pub mod states;
pub mod world;
