// SPDX-License-Identifier: GPL-2.0-only
//! Alight in a running kernel: the policy core as a sched_ext scheduler, and the recorder.
//!
//! `scx_alight` is the scheduler. Its kernel side is `src/bpf/`: it keeps the views of CPUs and tasks,
//! calls `policy/select.h` at every wakeup, and records each decision if the user asks for it.
//!
//! # What it owns
//!
//! | part | holds |
//! |---|---|
//! | [`kernel`] | checks that the running kernel can load the scheduler |
//! | [`machine`] | the machine as the kernel or a machine file describes it |
//! | [`live`] | loads the scheduler and runs it |
//! | [`rules`] | hands rules to the kernel side |
//! | [`record_session`], [`record_pelt`], [`record_decisions`], [`record_behaviour`] | `alight-record`: records the kernel's own scheduler, for `alight verify` |
//! | [`record_workload`] | `alight-record workload`: records a workload, to be replayed |
//!
//! [`alight_verify::live`] reads logs of decisions and makes each decision again.
//!
//! # Who may use it
//!
//! Its programs. `alight run` and `alight record` start these programs and do not link this crate,
//! because it needs clang and libelf. It must not use `alight-sim`.

pub mod exit;
pub mod kernel;
mod kernel_names;
pub mod live;
pub mod machine;
pub mod record_behaviour;
pub mod record_decisions;
pub mod record_pelt;
pub mod record_session;
pub mod record_workload;
mod refusal;
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

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unused,
    non_camel_case_types
)]
mod workload_skeleton {
    include!(concat!(env!("OUT_DIR"), "/record_workload.skel.rs"));
}
