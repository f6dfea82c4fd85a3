// SPDX-License-Identifier: GPL-2.0-only
//! What the replay of a log found.

use super::log::{RING_FULL, SCHEDULER, STOPPED};
use alight_policy::STEPS;
use alight_recording::{End, Header};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveReport {
    scheduler: String,
    kernel: String,
    arch: String,
    /// Times that the scheduler was loaded.
    pub machines: u64,
    /// Decisions that were equal.
    pub equal: u64,
    /// Decisions by the step that answered, in the order of [`STEPS`].
    pub steps: [u64; STEPS.len()],
    /// Decisions that were made and are not in the log; `None` if it does not say.
    pub lost: Option<u64>,
    /// Why the log ends before its scheduler did.
    pub stopped: Option<String>,
    /// The first difference.
    pub found: Option<Found>,
}

/// A decision that came out differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its index among the decisions of the log.
    pub number: u64,
    /// Lines in which kernel and host differ.
    pub sides: String,
    /// What both were given.
    pub input: String,
}

impl LiveReport {
    /// `header`: of the log.
    pub(super) fn new(header: &Header) -> Self {
        let printable = |text: &str| text.escape_debug().to_string();
        let scheduler = header.facts.get(SCHEDULER).map(String::as_str);
        LiveReport {
            scheduler: printable(scheduler.unwrap_or("an unknown scheduler")),
            kernel: printable(&header.kernel),
            arch: printable(&header.arch),
            machines: 0,
            equal: 0,
            steps: [0; STEPS.len()],
            lost: None,
            stopped: None,
            found: None,
        }
    }

    pub(super) fn end(&mut self, end: Option<&End>) {
        let Some(end) = end else { return };
        self.lost = end.lost.get(RING_FULL).copied();
        let stopped = end.facts.get(STOPPED);
        self.stopped = stopped.map(|why| why.escape_debug().to_string());
    }

    /// Are all decisions equal?
    pub fn is_equal(&self) -> bool {
        self.found.is_none()
    }

    fn steps(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let steps = STEPS.iter().zip(self.steps);
        steps
            .filter(|(_, count)| *count > 0)
            .map(|((name, _), count)| (*name, count))
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = format!("{}, kernel {} {}\n", self.scheduler, self.kernel, self.arch);
        if self.machines > 1 {
            let _ = writeln!(text, "loaded {} times", self.machines);
        }
        for (name, count) in self.steps() {
            let _ = writeln!(text, "{count:>10} {name}");
        }
        if let Some(found) = &self.found {
            let Found {
                number,
                sides,
                input,
            } = found;
            let _ = write!(
                text,
                "{} decisions replayed, equal\n\
                 decision {number}: kernel and host differ\n{sides}\n{input}",
                self.equal
            );
            return text;
        }
        let lost = match self.lost {
            Some(lost) => format!(" ({lost} lost)"),
            None => String::new(),
        };
        let _ = writeln!(text, "{} decisions replayed, all equal{lost}", self.equal);
        if let Some(why) = &self.stopped {
            let _ = writeln!(text, "the log ends before the scheduler's run ended: {why}");
        }
        text
    }

    /// For programs: `alight.verify-live/1`.
    pub fn json(&self) -> String {
        let found = self.found.as_ref().map(
            |found| json!({ "decision": found.number, "sides": found.sides, "input": found.input }),
        );
        let steps: BTreeMap<_, _> = self.steps().collect();
        let document = json!({
            "schema": "alight.verify-live/1",
            "version": env!("CARGO_PKG_VERSION"),
            "scheduler": self.scheduler,
            "kernel": self.kernel,
            "arch": self.arch,
            "loads": self.machines,
            "equal": self.equal,
            "lost": self.lost,
            "stopped": self.stopped,
            "difference": found,
            "steps": steps,
        });
        format!("{document:#}")
    }
}
