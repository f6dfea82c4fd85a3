// SPDX-License-Identifier: GPL-2.0-only
//! Decisions: every choice of a CPU that a kernel's fair class made, made again
//! by `policy/select.h` from what the kernel could see.
//!
//! A recording holds one record a call of `select_task_rq_fair()`: the wakee,
//! the waker and every CPU at its entry, its answer, and the CPUs that changed
//! up to its exit as they were then. The core is given the same and must give the
//! same CPU. Where it does not and something changed under the kernel's function,
//! it is asked again with what was found at the exit (`moments`). What differs is counted
//! by cause ([`Cause`]), and can be shown from both sides ([`explain`]).

mod judge;
mod layout;
mod machine;
mod moments;
mod report;
mod view;

pub use judge::{Cause, Judgement};
pub use report::{DecisionsReport, Explanation, Steps, WANTED_PER_MILLE};

use alight_policy::Scheduler;
use alight_policy::scheduler::{Base, Release};
use alight_recording::delta::Unpacker;
use alight_recording::{Header, KernelVersion, Reader};
use judge::Judge;
use layout::{Layout, Wakeup};

use std::io::BufRead;

/// The kind of records that is made again; others are passed over.
pub const KIND: &str = "decision.wakeup/3";

/// What such records hold, by their kind: the newest first, and those of older recorders.
const LAYOUTS: [(&str, Layout); 3] = [
    (KIND, Layout::Budget),
    ("decision.wakeup/2", Layout::Exit),
    ("decision.wakeup/1", Layout::Entry),
];

/// Kernels whose rules are known.
const KNOWN: &str = "5.10, 6.1 and later";

/// Why a recording could not be verified, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum DecisionsNotVerified {
    /// The container is not whole.
    #[error(transparent)]
    Recording(#[from] alight_recording::Error),
    /// A recording of something else.
    #[error("holds no decisions: its records are {found}, expected {KIND}")]
    Kind {
        /// Kinds of records there.
        found: String,
    },
    /// A kernel of which the rules are not known.
    #[error("was recorded on the kernel '{found}'; decisions of {KNOWN} can be verified")]
    Kernel {
        /// Its release.
        found: String,
    },
    /// The length of a tick is not known.
    #[error("has no length of the tick: the kernel's config was not readable (CONFIG_HZ)")]
    Tick,
    /// A record is not a wakeup.
    #[error("record {record}: {what}")]
    Record {
        /// Its number, from 1.
        record: u64,
        /// What is wrong.
        what: String,
    },
    /// The first wakeups come without the scheduling domains.
    #[error("record {record}: no scheduling domains were recorded before it")]
    NoDomains {
        /// Its number, from 1.
        record: u64,
    },
    /// There are not so many differences.
    #[error("has {found} differences; there is no difference {wanted}")]
    NoDifference {
        /// Differences there.
        found: u64,
        /// The one that was asked for, from 1.
        wanted: u64,
    },
}

/// The base whose rules a kernel follows, but for what [`judge::between_bases`] says.
fn base_of(kernel: KernelVersion) -> Option<&'static Base> {
    match (kernel.major, kernel.minor) {
        (5, 10) | (6, 1..) | (7.., _) => Base::nearest(Release::new(kernel.major, kernel.minor)),
        _ => None,
    }
}

/// The scheduler that a recording is held against.
///
/// # Errors
/// If the kernel's rules are not known.
pub fn scheduler_of(header: &Header) -> Result<Scheduler, DecisionsNotVerified> {
    let unknown = || DecisionsNotVerified::Kernel {
        found: header.kernel.clone(),
    };
    let kernel = header.kernel_version().ok_or_else(unknown)?;
    let base = base_of(kernel).ok_or_else(unknown)?;
    let mut scheduler = Scheduler::parse(base.name).map_err(|_| unknown())?;
    judge::between_bases(kernel, &mut scheduler.params);
    Ok(scheduler)
}

/// Makes all decisions again, under `scheduler` or that of the recorded kernel.
/// What was found up to an error is returned with it.
pub fn verify<R: BufRead>(
    reader: &mut Reader<R>,
    scheduler: Option<&Scheduler>,
) -> (DecisionsReport, Result<(), DecisionsNotVerified>) {
    let mut report = DecisionsReport::new(reader.header());
    let result = each(reader, scheduler, |judge, record, wakeup| {
        report.add(record, wakeup, &judge.judge(wakeup));
        true
    });
    if let Some(end) = reader.end() {
        report.lost = end.lost_events();
    }
    report.whole = result.is_ok();
    match result {
        Ok(name) => {
            report.scheduler = name;
            (report, Ok(()))
        }
        Err(error) => (report, Err(error)),
    }
}

/// Both sides of the `wanted`-th difference, from 1.
///
/// # Errors
/// If the recording cannot be read up to there, or has not so many differences.
pub fn explain<R: BufRead>(
    reader: &mut Reader<R>,
    scheduler: Option<&Scheduler>,
    wanted: u64,
) -> Result<Explanation, DecisionsNotVerified> {
    let (mut found, mut explanation) = (0, None);
    each(reader, scheduler, |judge, record, wakeup| {
        if judge.judge(wakeup).cause.is_some() {
            found += 1;
            if found == wanted {
                explanation = Some(judge.explain(record, wakeup));
                return false;
            }
        }
        true
    })?;
    explanation.ok_or(DecisionsNotVerified::NoDifference { found, wanted })
}

/// Calls `visit` with each wakeup until it returns false; returns the scheduler's name.
fn each<R: BufRead>(
    reader: &mut Reader<R>,
    scheduler: Option<&Scheduler>,
    mut visit: impl FnMut(&mut Judge, u64, &Wakeup) -> bool,
) -> Result<String, DecisionsNotVerified> {
    let header = reader.header();
    let (kind, layout) = (LAYOUTS.into_iter())
        .find_map(|(kind, layout)| Some((header.kind(kind)?, layout)))
        .ok_or_else(|| DecisionsNotVerified::Kind {
            found: header.kinds.join(", "),
        })?;
    let own = scheduler_of(header);
    let scheduler = match scheduler {
        Some(scheduler) => scheduler.clone(),
        None => own?,
    };
    let mut judge = Judge::new(header, &scheduler)?;
    let (mut unpacker, mut number) = (Unpacker::default(), 0);
    while let Some(record) = reader.next_record()? {
        if record.kind != kind {
            continue;
        }
        number += 1;
        let wrong = |what: String| DecisionsNotVerified::Record {
            record: number,
            what,
        };
        let words = (unpacker.unpack(record.bytes)).map_err(|error| wrong(error.to_string()))?;
        let wakeup = Wakeup::read(words, layout).map_err(|error| wrong(error.to_string()))?;
        (judge.prepare(&wakeup)).map_err(|error| wrong(error.to_string()))?;
        if !judge.ready() {
            return Err(DecisionsNotVerified::NoDomains { record: number });
        }
        if !visit(&mut judge, number, &wakeup) {
            break;
        }
    }
    Ok(scheduler.name)
}
