// SPDX-License-Identifier: GPL-2.0-only
//! Where the decisions go that the kernel side writes down: they are made again
//! at once, go into a log, or both.

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

/// What became of them.
pub(super) struct Outcome {
    /// Decisions that came from the kernel side.
    pub taken: u64,
    /// Of them, made again and equal.
    pub equal: u64,
    /// These by step.
    pub steps: [u64; STEPS.len()],
    /// The first that came out differently; none was looked at after it.
    pub difference: Option<Difference>,
}

impl<'a> Decisions<'a> {
    /// `core`: the views that the kernel side was given. `verify`: make them again.
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

    /// One decision, the bytes of the kernel side.
    pub fn take(&mut self, bytes: &[u8]) {
        self.taken += 1;
        if let Some(log) = &mut self.log {
            tell(log.decision(bytes));
        }
        if let (Some(replay), None) = (&mut self.replay, &self.difference) {
            self.difference = replay.check(bytes).err();
        }
    }

    /// Did one come out differently?
    pub fn differ(&self) -> bool {
        self.difference.is_some()
    }

    /// After the last.
    pub fn outcome(self) -> Outcome {
        Outcome {
            taken: self.taken,
            equal: self.replay.as_ref().map_or(0, |replay| replay.equal),
            steps: self.replay.map_or([0; STEPS.len()], |replay| replay.steps),
            difference: self.difference,
        }
    }
}

/// A log that cannot go on is no reason for the scheduler to end: whoever runs it needs their
/// machine more than the log. It is said now, and by the exit code at the end.
fn tell(stopped: Option<String>) {
    if let Some(why) = stopped {
        say(&format!(
            "the log of decisions ends here: {why}; the scheduler goes on"
        ));
    }
}
