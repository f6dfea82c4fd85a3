// SPDX-License-Identifier: GPL-2.0-only
//! What trace files hold, where they go, and that writing them allocates nothing.

mod allocation;
mod destinations;
mod golden;
mod pftrace;
mod run;
