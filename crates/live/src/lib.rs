// SPDX-License-Identifier: GPL-2.0-only
//! Alight in a running kernel: the policy core as a sched_ext scheduler.
//!
//! `src/bpf/` is the kernel side: it keeps the views of CPUs and tasks, asks
//! `policy/select.h` at every wakeup, and writes each decision down when asked
//! to. Here is the loader: what the kernel must offer ([`kernel`]), what the
//! machine looks like ([`machine`]), how the scheduler is loaded and run
//! ([`live`]). Written decisions are read, logged and made again by
//! [`alight_verify::live`].
//!
//! The other half writes down what the kernel's own scheduler does
//! ([`record_session`], [`record_pelt`], [`record_decisions`], [`record_behaviour`] with
//! [`costs`]), for `alight verify`.

pub mod costs;
pub mod exit;
pub mod kernel;
pub mod live;
pub mod machine;
pub mod record_behaviour;
pub mod record_decisions;
pub mod record_pelt;
pub mod record_session;
pub mod rules;
pub mod say;

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/alight.skel.rs"));
}

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod pelt_skeleton {
    include!(concat!(env!("OUT_DIR"), "/record_pelt.skel.rs"));
}

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod decisions_skeleton {
    include!(concat!(env!("OUT_DIR"), "/record_decisions.skel.rs"));
}

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod behaviour_skeleton {
    include!(concat!(env!("OUT_DIR"), "/record_behaviour.skel.rs"));
}
