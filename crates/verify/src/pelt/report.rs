// SPDX-License-Identifier: GPL-2.0-only
//! What a replay found, as text and as JSON.

use alight_recording::Header;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

/// Schema of the JSON form.
const SCHEMA: &str = "alight.verify-pelt/1";

/// One event that the recorder missed, or saw by half, is allowed, and one more in so many updates.
/// It takes an interrupt, or another task, in one of a few instructions: up to two in a million
/// updates were lost, and one in six million was seen by half.
const UPDATES_A_MISS: u64 = 10_000;

/// Differences that are kept in full; all are counted.
const KEPT: usize = 8;

/// How often the core came to the kernel's integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// As often as this.
    pub equal: u64,
    /// And not.
    pub different: u64,
}

/// Whether each event found the state that the events before had left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Gaps {
    /// It did.
    pub followed: u64,
    /// The first event of its entity, queue or clock.
    pub first_seen: u64,
    /// Subtractions that were written down before the removal that they follow:
    /// the two CPUs did both at the same time.
    pub early: u64,
    /// Queues from which more was subtracted than anybody removed.
    pub unpaid: u64,
    /// The event before had been seen by half, so that there was nothing to hold it against.
    pub taken_anew: u64,
    /// It did not: another function changed the state, by cause.
    pub unseen: BTreeMap<String, u64>,
}

/// One event whose result the core did not come to, or whose beginning it cannot explain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Number of the record, from 1.
    pub record: u64,
    /// The kernel function.
    pub function: String,
    /// CPU.
    pub cpu: u32,
    /// Task, 0 for groups and queues.
    pub pid: u32,
    /// Fields that differ: name, the kernel's, the core's.
    pub fields: Vec<(String, u64, u64)>,
    /// What the function was given.
    pub given: String,
    /// The last events of this entity or queue, oldest first.
    pub history: Vec<String>,
}

/// Result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PeltReport {
    schema: &'static str,
    /// `uname -r` of the kernel.
    pub kernel: String,
    /// It is newer than every base: what that means.
    #[serde(skip)]
    pub beyond_bases: Option<String>,
    /// Its architecture.
    pub arch: String,
    /// The base of the core that was held against it.
    pub base: String,
    /// What was run.
    pub command: String,
    /// Functions that could not be hooked because they are not in the kernel's type information.
    pub not_in_btf: String,
    /// Events.
    pub records: u64,
    /// The recording was read to its end.
    pub whole: bool,
    /// Events that the recorder lost.
    pub lost: u64,
    /// Calls of which the recorder saw one end only, by function. Their results are not compared.
    pub seen_by_half: BTreeMap<&'static str, u64>,
    /// How many of `lost`, and how many of `seen_by_half`, a recording of this length may have.
    pub allowed: u64,
    /// Updates of a signal set.
    pub updates: u64,
    /// Of them, those that made new averages, which the tracepoints tell.
    pub averages: u64,
    /// Averages without their tracepoint, or the reverse.
    pub tracepoint_disagrees: u64,
    /// Results by kernel function.
    pub checks: BTreeMap<&'static str, Count>,
    /// Continuity of states.
    pub gaps: Gaps,
    /// Events that only a tracepoint told, because the function was inlined or belongs to groups.
    pub told_by_tracepoint: BTreeMap<&'static str, u64>,
    /// Things that are not compared, by reason.
    pub not_compared: BTreeMap<&'static str, u64>,
    /// The first differences of each function in full.
    pub differences: Vec<Difference>,
}

impl PeltReport {
    /// An empty report on a recording.
    pub fn new(header: &Header) -> Self {
        PeltReport {
            schema: SCHEMA,
            kernel: header.kernel.clone(),
            beyond_bases: crate::beyond_bases(header),
            arch: header.arch.clone(),
            base: String::new(),
            command: header.command.clone(),
            not_in_btf: header.facts.get("not_in_btf").cloned().unwrap_or_default(),
            records: 0,
            whole: false,
            lost: 0,
            seen_by_half: BTreeMap::new(),
            allowed: 1,
            updates: 0,
            averages: 0,
            tracepoint_disagrees: 0,
            checks: BTreeMap::new(),
            gaps: Gaps::default(),
            told_by_tracepoint: BTreeMap::new(),
            not_compared: BTreeMap::new(),
            differences: Vec::new(),
        }
    }

    /// All results together.
    pub fn total(&self) -> Count {
        let mut total = Count::default();
        for count in self.checks.values() {
            total.equal += count.equal;
            total.different += count.different;
        }
        total
    }

    /// Every result is equal, and every state is explained.
    pub fn is_equal(&self) -> bool {
        self.total().different == 0
            && self.gaps.unseen.is_empty()
            && self.gaps.unpaid == 0
            && self.tracepoint_disagrees == 0
    }

    /// The recorder missed no more than now and then happens, so that what is equal says
    /// something of the whole.
    pub fn is_complete(&self) -> bool {
        self.lost <= self.allowed && self.halves() <= self.allowed
    }

    /// All calls that were seen by half.
    pub fn halves(&self) -> u64 {
        self.seen_by_half.values().sum()
    }

    /// Counts a call of which the recorder saw one end only.
    pub(super) fn seen_by_half(&mut self, function: &'static str) {
        *self.seen_by_half.entry(function).or_default() += 1;
    }

    /// Counts an update of a signal set.
    pub(super) fn updated(&mut self) {
        self.updates += 1;
        self.allowed = 1 + self.updates / UPDATES_A_MISS;
    }

    /// Counts a result.
    pub(super) fn count(&mut self, function: &'static str, equal: bool) {
        let count = self.checks.entry(function).or_default();
        if equal {
            count.equal += 1;
        } else {
            count.different += 1;
        }
    }

    /// Is there room for another difference of this function?
    pub(super) fn wants(&self, function: &str) -> bool {
        self.differences
            .iter()
            .filter(|d| d.function == function)
            .count()
            < KEPT
    }

    /// The report as JSON, schema `alight.verify-pelt/1`.
    ///
    /// # Panics
    /// Never: all keys are text.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("all keys are text")
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(
            out,
            "kernel {} ({}) against {}",
            self.kernel, self.arch, self.base
        )?;
        if let Some(beyond) = &self.beyond_bases {
            writeln!(out, "{beyond}")?;
        }
        writeln!(out, "recorded during: {}", self.command)?;
        if !self.not_in_btf.is_empty() {
            writeln!(
                out,
                "not hooked, because the kernel's type information lacks them: {}",
                self.not_in_btf
            )?;
        }
        writeln!(out)?;
        row(out, "function", "equal", "different")?;
        for (function, count) in &self.checks {
            row(out, function, count.equal, count.different)?;
        }
        let total = self.total();
        row(out, "all", total.equal, total.different)?;
        writeln!(out)?;
        line(out, "events", self.records)?;
        line(out, "events lost by the recorder", self.lost)?;
        for (function, count) in &self.seen_by_half {
            line(
                out,
                &format!("calls of which one end was seen, not compared: {function}"),
                *count,
            )?;
        }
        line(
            out,
            "lost events, or calls of which one end was seen, that this length allows",
            self.allowed,
        )?;
        line(out, "updates of a signal set", self.updates)?;
        line(out, "  with new averages", self.averages)?;
        line(
            out,
            "  where the tracepoint disagrees",
            self.tracepoint_disagrees,
        )?;
        line(
            out,
            "states equal to those that the last event left",
            self.gaps.followed,
        )?;
        line(out, "states seen for the first time", self.gaps.first_seen)?;
        line(
            out,
            "subtractions recorded before their removal",
            self.gaps.early,
        )?;
        line(
            out,
            "queues from which more was subtracted than removed",
            self.gaps.unpaid,
        )?;
        line(
            out,
            "states taken anew after an event of which one end was seen",
            self.gaps.taken_anew,
        )?;
        for (cause, count) in &self.gaps.unseen {
            line(
                out,
                &format!("states changed by an unseen function: {cause}"),
                *count,
            )?;
        }
        for (function, count) in &self.told_by_tracepoint {
            line(
                out,
                &format!("seen by a tracepoint only: {function}"),
                *count,
            )?;
        }
        for (reason, count) in &self.not_compared {
            line(out, &format!("not compared: {reason}"), *count)?;
        }
        for difference in &self.differences {
            write!(out, "\n{difference}")?;
        }
        Ok(())
    }
}

fn row(out: &mut String, name: &str, equal: impl Display, different: impl Display) -> fmt::Result {
    writeln!(out, "{name:<32} {equal:>12} {different:>12}")
}

fn line(out: &mut String, name: &str, count: u64) -> fmt::Result {
    writeln!(out, "{count:>12}  {name}")
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "record {}: {} on CPU {}, task {}",
            self.record, self.function, self.cpu, self.pid
        )?;
        writeln!(f, "  given: {}", self.given)?;
        for (field, kernel, core) in &self.fields {
            writeln!(f, "  {field}: the kernel has {kernel}, the core {core}")?;
        }
        for event in &self.history {
            writeln!(f, "  before: {event}")?;
        }
        Ok(())
    }
}
