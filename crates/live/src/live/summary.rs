// SPDX-License-Identifier: GPL-2.0-only
//! What a run did, in the end.

use crate::skeleton::AlightSkel;
use alight_policy::STEPS;

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Decisions made.
    pub decisions: u64,
    /// Of them, decisions made again and found equal.
    pub equal: u64,
    /// Of them, decisions that were not written down because the buffer was full.
    pub lost: u64,
    /// Equal decisions by the step that answered, in the order of [`alight_policy::STEPS`].
    pub steps: [u64; STEPS.len()],
}

/// Sums the CPUs' counts.
pub(super) fn count(skel: &AlightSkel<'_>, summary: &mut Summary) {
    let bss = skel.maps.bss_data.as_deref();
    for cpu in bss.iter().flat_map(|bss| &bss.stats) {
        summary.decisions += cpu.decisions;
        summary.lost += cpu.lost;
    }
}
