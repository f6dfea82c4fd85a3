// SPDX-License-Identifier: GPL-2.0-only
//! The summary of a run.

use super::decisions::Outcome;
use super::error::RunFailed;
use alight_policy::STEPS;
use alight_verify::live::Written;

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Decisions made.
    pub decisions: u64,
    /// Of them, decisions that the kernel side recorded.
    pub written: u64,
    /// Of them, decisions made again and found equal.
    pub equal: u64,
    /// Of them, decisions that were not recorded because the buffer was full.
    pub lost: u64,
    /// The result of the log, if there is one.
    pub log: Option<Written>,
    /// Equal decisions by the step that answered, in the order of [`alight_policy::STEPS`].
    pub steps: [u64; STEPS.len()],
}

impl Summary {
    /// Adds the decisions of one load.
    ///
    /// # Errors
    /// One was different on the host.
    pub(super) fn add(&mut self, outcome: Outcome) -> Result<(), RunFailed> {
        self.written += outcome.taken;
        self.equal += outcome.equal;
        for (sum, steps) in self.steps.iter_mut().zip(outcome.steps) {
            *sum += steps;
        }
        outcome
            .difference
            .map_or(Ok(()), |difference| Err(difference.into()))
    }
}
