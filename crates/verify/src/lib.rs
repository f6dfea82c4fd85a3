// SPDX-License-Identifier: GPL-2.0-only
//! Compares the policy core with recordings of kernels, and with logs of the live scheduler.
//!
//! A recording (`alight-recording`) holds the input and the result of kernel functions. This crate
//! gives the same input to the core of `policy/`, compares the results, and reports every difference.
//!
//! # What it owns
//!
//! | module | compares |
//! |---|---|
//! | [`pelt`] | every update of a load-tracking signal, as integers |
//! | [`decisions`] | every choice of a CPU by the kernel's fair class |
//! | [`live`] | every decision of the live scheduler, made again by the host's build |
//! | [`fidelity`] | writes the results of all verifications as one page |
//!
//! # Who may use it
//!
//! `alight verify` and the live scheduler. It uses `alight-policy`, `alight-recording` and
//! `alight-text`.
//!
//! # Example
//!
//! The recording is of a stock kernel 6.1. The core comes to the same integers.
//!
//! ```
//! use alight_recording::Reader;
//! use alight_verify::pelt;
//!
//! let mut reader = Reader::open("tests/data/pelt-amd64-6.1.alight".as_ref())?;
//! let (report, whole) = pelt::verify(&mut reader);
//! whole?;
//! assert!(report.records > 0);
//! assert!(report.is_equal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod decisions;
pub mod fidelity;
pub mod live;
pub mod pelt;

use alight_policy::scheduler::Release;
use alight_recording::Header;

/// What a report says of a recorded kernel that is newer than every base; `None`: it is not.
fn beyond_bases(header: &Header) -> Option<String> {
    let kernel = header.kernel_version()?;
    Release::new(kernel.major, kernel.minor).beyond_bases()
}
