//! What runs on a machine: workloads, compiled to the small programs of [`program`].
// SPDX-License-Identifier: GPL-2.0-only
pub mod program;
