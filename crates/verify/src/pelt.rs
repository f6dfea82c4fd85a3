// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking: every change of a signal that a kernel made, made again by
//! `policy/pelt.h`.
//!
//! A recording holds one event a call of the kernel functions that change
//! signals. Two things are demanded of each: that the state it found is the one
//! that the events before it left (nothing happened in between that the core
//! does not know of), and that the core, from that state and what the function
//! was given, comes to the very integers that the kernel left.

mod event;
mod model;
mod replay;
mod report;
mod rules;

pub use report::{Count, Difference, Gaps, PeltReport};
pub use rules::{Rules, rules_of};

use alight_recording::Reader;
use std::io::BufRead;

/// The kind of records that is replayed; others are passed over.
pub const KIND: &str = "pelt.event/1";

/// Why a recording could not be replayed, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum PeltNotVerified {
    /// The container is not whole.
    #[error(transparent)]
    Recording(#[from] alight_recording::Error),
    /// A recording of something else.
    #[error("holds no load tracking: its records are {found}, expected {KIND}")]
    Kind {
        /// Kinds of records there.
        found: String,
    },
    /// A kernel of which the rules are not known.
    #[error("was recorded on the kernel '{found}'; load tracking of {known} can be verified")]
    Kernel {
        /// Its release.
        found: String,
        /// What is known.
        known: &'static str,
    },
    /// A record is not an event.
    #[error("record {record}: {what}")]
    Event {
        /// Its number, from 1.
        record: u64,
        /// What is wrong.
        what: String,
    },
}

/// Replays a recording. What was found up to an error is returned with it.
pub fn verify<R: BufRead>(reader: &mut Reader<R>) -> (PeltReport, Result<(), PeltNotVerified>) {
    let mut report = PeltReport::new(reader.header());
    let result = replay_all(reader, &mut report);
    report.whole = result.is_ok();
    if let Some(end) = reader.end() {
        report.lost = end.lost_events();
    }
    (report, result)
}

fn replay_all<R: BufRead>(
    reader: &mut Reader<R>,
    report: &mut PeltReport,
) -> Result<(), PeltNotVerified> {
    let header = reader.header();
    let kind = header.kind(KIND).ok_or_else(|| PeltNotVerified::Kind {
        found: header.kinds.join(", "),
    })?;
    let rules = rules_of(header)?;
    report.base = rules.scheduler.clone();
    let mut replay = replay::Replay::new(rules);
    while let Some(record) = reader.next_record()? {
        if record.kind == kind {
            let event =
                event::PeltEvent::parse(record.bytes).map_err(|what| PeltNotVerified::Event {
                    record: report.records + 1,
                    what,
                })?;
            report.records += 1;
            replay.step(&event, report);
        }
    }
    report.gaps.unpaid = replay.unpaid();
    Ok(())
}
