// SPDX-License-Identifier: GPL-2.0-only
//! Which rules a kernel follows.

use super::PeltNotVerified;
use alight_policy::scheduler::{Base, Release};
use alight_policy::{Params, Scheduler};
use alight_recording::{Header, KernelVersion};

/// The first kernels of which load tracking has been held against the core: one, and all from another on.
const OLDEST: KernelVersion = KernelVersion {
    major: 5,
    minor: 10,
};
const FIRST: KernelVersion = KernelVersion { major: 6, minor: 1 };
const KNOWN: &str = "5.10, 6.1 and later";

/// What a replay must know of the kernel.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The base of the core that is held against the kernel: the last that is not newer.
    pub scheduler: String,
    /// Its parameters.
    pub params: Params,
    /// `util_est` is a pair (up to 6.7).
    pub est_pair: bool,
    /// The tracepoints of load tracking could be hooked (5.10 has none in its type information). Without them nothing tells of
    /// changes to queues where a function was inlined.
    pub traced: bool,
}

/// [`Params::est_early`] of a kernel: 7.0.14 and 7.1.5 took over from 7.2 that an estimate is made
/// when the averages are up to date (`UPDATE_UTIL_EST`). 7.0.13 was recorded.
fn est_early(header: &Header, version: KernelVersion, base: &Params) -> u32 {
    let before = |point| header.point_release().is_some_and(|of| of < point);
    match (version.major, version.minor) {
        (7, 0) => before(14).into(),
        (7, 1) => before(5).into(),
        _ => base.est_early,
    }
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
    if version < FIRST && version != OLDEST {
        return Err(unknown());
    }
    let at_most = |major, minor| version <= KernelVersion { major, minor };
    let release = Release::new(version.major, version.minor);
    let base = Base::nearest(release).ok_or_else(unknown)?;
    let scheduler = Scheduler::parse(base.name).map_err(|_| unknown())?;
    Ok(Rules {
        params: Params {
            // 6.10 and 6.11 are held against 6.8.
            fork_util_inflated: at_most(6, 9).into(),
            est_lsb: 0,
            est_early: est_early(header, version, &scheduler.params),
            // 6.17 is held against 6.12.
            est_held: (scheduler.params.est_held != 0 && at_most(6, 16)).into(),
            ..scheduler.params
        },
        scheduler: scheduler.name,
        est_pair: at_most(6, 7),
        traced: !(header.facts.get("not_in_btf"))
            .is_some_and(|names| names.split(' ').any(|name| name == "pelt_cfs_tp")),
    })
}
