// SPDX-License-Identifier: GPL-2.0-only
//! Takes the decisions that the kernel side records: makes them again at once, writes them into a
//! log, or both.

use crate::say::say;
use alight_policy::{Core, STEPS};
use alight_verify::live::{Difference, Log, Replay};

/// Decisions of one load of the scheduler.
pub(super) struct Decisions<'a> {
    replay: Option<Replay>,
    log: Option<&'a mut Log>,
    taken: u64,
    difference: Option<Difference>,
}

/// What was done with them.
pub(super) struct Outcome {
    /// Decisions that came from the kernel side.
    pub taken: u64,
    /// Of them, decisions that were made again and were equal.
    pub equal: u64,
    /// The equal ones by step.
    pub steps: [u64; STEPS.len()],
    /// The first that was different; later ones were not compared.
    pub difference: Option<Difference>,
}

impl<'a> Decisions<'a> {
    /// `core`: the views that the kernel side was given. `verify`: make decisions again.
    pub fn new(core: Core, verify: bool, mut log: Option<&'a mut Log>) -> Self {
        if let Some(log) = &mut log {
            tell(log.machine(&core));
        }
        Decisions {
            replay: verify.then(|| Replay::new(core)),
            log,
            taken: 0,
            difference: None,
        }
    }

    /// Takes one decision, in the bytes of the kernel side.
    pub fn take(&mut self, bytes: &[u8]) {
        self.taken += 1;
        if let Some(log) = &mut self.log {
            tell(log.decision(bytes));
        }
        if let (Some(replay), None) = (&mut self.replay, &self.difference) {
            self.difference = replay.check(bytes).err();
        }
    }

    /// Was one different?
    pub fn differ(&self) -> bool {
        self.difference.is_some()
    }

    /// What was done with all decisions; called after the last.
    pub fn outcome(self) -> Outcome {
        Outcome {
            taken: self.taken,
            equal: self.replay.as_ref().map_or(0, |replay| replay.equal),
            steps: self.replay.map_or([0; STEPS.len()], |replay| replay.steps),
            difference: self.difference,
        }
    }
}

/// Reports that the log has stopped. The scheduler goes on, because the machine needs it more than
/// the log. The exit code tells of it at the end, too.
fn tell(stopped: Option<String>) {
    if let Some(why) = stopped {
        say(&format!(
            "the log of decisions ends here: {why}; the scheduler goes on"
        ));
    }
}
