// SPDX-License-Identifier: GPL-2.0-only
//! Holds the policy core against what kernels did.
//!
//! A recording (`alight-recording`) says what a kernel had and what it made of
//! it. Here the same is given to the core of `policy/`, and the results are
//! compared: load tracking ([`pelt`]), decisions ([`decisions`]). All that was
//! found goes into one page ([`fidelity`]). Decisions of the project's own
//! scheduler in a kernel are replayed by [`live`].

pub mod decisions;
pub mod fidelity;
pub mod live;
pub mod pelt;
