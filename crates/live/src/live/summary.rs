// SPDX-License-Identifier: GPL-2.0-only
//! What a run did, in the end.

use super::error::{During, Error};
use crate::skeleton::{AlightSkel, types};
use alight_policy::STEPS;
use libbpf_rs::{MapCore, MapFlags};
use std::mem::offset_of;

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
pub(super) fn count(skel: &AlightSkel<'_>, summary: &mut Summary) -> Result<(), Error> {
    let values = (skel.maps.works)
        .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        .during("reading the counts")?
        .unwrap_or_default();
    let number = |value: &[u8], at: usize| {
        value
            .get(at..at + 8)
            .map_or(0, |b| u64::from_ne_bytes(b.try_into().unwrap_or_default()))
    };
    for value in &values {
        summary.decisions += number(value, offset_of!(types::work, decisions));
        summary.lost += number(value, offset_of!(types::work, lost));
    }
    Ok(())
}
