// SPDX-License-Identifier: GPL-2.0-only
//! Which rules a kernel follows.

use super::PeltNotVerified;
use alight_policy::abi::rule;
use alight_policy::{Params, Scheduler};
use alight_recording::{Header, KernelVersion};

/// The first and the last kernel of which load tracking has been read.
const FIRST: KernelVersion = KernelVersion { major: 6, minor: 1 };
const LAST: KernelVersion = KernelVersion { major: 7, minor: 2 };
const KNOWN: &str = "6.1 to 7.2";

/// A base of the core by the kernels that follow it: up to and including the version.
const BASES: [(KernelVersion, &str); 3] = [
    (KernelVersion { major: 6, minor: 4 }, "linux-6.1"),
    (KernelVersion { major: 6, minor: 7 }, "linux-6.5"),
    (LAST, "linux-7.2"),
];

/// What a replay must know of the kernel.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The base of the core that is held against the kernel.
    pub scheduler: String,
    /// Its parameters.
    pub params: Params,
    /// `util_est` is a pair (up to 6.7).
    pub est_pair: bool,
    /// `util_est_update` reads the averages as they are when `dequeue_task_fair`
    /// begins (6.12 up to 6.18); else as they are after the dequeue.
    pub est_early: bool,
}

/// The rules of the kernel that `header` names.
///
/// # Errors
/// The kernel is not known.
pub fn rules_of(header: &Header) -> Result<Rules, PeltNotVerified> {
    let unknown = || PeltNotVerified::Kernel {
        found: header.kernel.clone(),
        known: KNOWN,
    };
    let version = header.kernel_version().ok_or_else(unknown)?;
    if version < FIRST || version > LAST {
        return Err(unknown());
    }
    let at_most = |major, minor| version <= KernelVersion { major, minor };
    let (_, base) = (BASES.iter().find(|(last, _)| version <= *last)).ok_or_else(unknown)?;
    let scheduler = Scheduler::parse(base).map_err(|_| unknown())?;
    Ok(Rules {
        params: Params {
            fork_util_inflated: at_most(6, 9).into(),
            est_lsb: 0,
            // Of the kernels after 6.18 only 7.2 was looked at.
            sums: if at_most(6, 18) {
                rule::SUMS_CUT
            } else {
                scheduler.params.sums
            },
            ..scheduler.params
        },
        scheduler: scheduler.name,
        est_pair: at_most(6, 7),
        est_early: !at_most(6, 11) && at_most(6, 18),
    })
}
