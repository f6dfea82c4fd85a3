// SPDX-License-Identifier: GPL-2.0-only
//! Decisions of the scheduler in a kernel (`scx_alight`), made again by the
//! host's build of the same code.
//!
//! The kernel side writes each decision down with its input ([`DecisionRecord`]). It is
//! made again at once ([`Replay`], `--verify`), or goes into a file ([`Log`],
//! `--log-decisions`) that [`verify`] replays anywhere, `alight verify live`.

mod describe;
mod log;
mod machine;
mod plain;
mod record;
mod replay;
mod report;

pub use log::{DECISION, Log, MACHINE, Written};
pub use machine::write as machine_record;
pub use record::{Decision, DecisionRecord};
pub use replay::{Difference, Replay, Sides};
pub use report::{Found, LiveReport};

use alight_policy::Params;
use alight_policy::abi;
use alight_recording::delta::{self, Unpacker};
use alight_recording::{Header, Place, Reader};
use std::io::BufRead;

/// Why a log cannot be verified, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum LiveNotVerified {
    /// The container is not whole.
    #[error(transparent)]
    Recording(#[from] alight_recording::Error),
    /// A recording of something else.
    #[error(
        "is not a log of decisions: its records are {found}, expected {MACHINE} and {DECISION}"
    )]
    Kind {
        /// Kinds of records there.
        found: String,
    },
    /// A fact that every log has is not there.
    #[error("its header has no '{0}'")]
    Fact(&'static str),
    /// The rules are none that this program knows.
    #[error(
        "was written by another version of the program ({program}): {what}; verify it with that \
         version"
    )]
    Version {
        /// The one that wrote it.
        program: String,
        /// What differs.
        what: String,
    },
    /// A record is none.
    #[error("{place}: record {record}: {what}")]
    Record {
        /// Where.
        place: Place,
        /// Its number, from 1.
        record: u64,
        /// What is wrong.
        what: String,
    },
}

/// Makes all decisions of a log again, up to the first difference. What was found up to an error
/// is returned with it.
pub fn verify<R: BufRead>(reader: &mut Reader<R>) -> (LiveReport, Result<(), LiveNotVerified>) {
    let mut report = LiveReport::new(reader.header());
    let result = rules(reader.header()).and_then(|params| replay(reader, params, &mut report));
    report.end(reader.end());
    (report, result)
}

/// The rules of the scheduler, if the log can be read at all.
fn rules(header: &Header) -> Result<Params, LiveNotVerified> {
    if header.kind(DECISION).is_none() || header.kind(MACHINE).is_none() {
        return Err(LiveNotVerified::Kind {
            found: header.kinds.join(", ").escape_debug().to_string(),
        });
    }
    let fact = |name| header.facts.get(name).ok_or(LiveNotVerified::Fact(name));
    let program = fact(log::PROGRAM)?.escape_debug().to_string();
    let (found, here) = (fact(log::LAYOUTS)?, abi::layouts());
    if *found != here {
        return Err(LiveNotVerified::Version {
            program,
            what: format!(
                "its structures are {}, here they are {here}",
                found.escape_debug()
            ),
        });
    }
    machine::read_params(fact(log::PARAMS)?).map_err(|what| LiveNotVerified::Version {
        program,
        what: what.to_string(),
    })
}

fn replay<R: BufRead>(
    reader: &mut Reader<R>,
    params: Params,
    report: &mut LiveReport,
) -> Result<(), LiveNotVerified> {
    let (machine_kind, decision_kind) = (
        reader.header().kind(MACHINE),
        reader.header().kind(DECISION),
    );
    let (mut replay, mut unpacker) = (None::<Replay>, Unpacker::default());
    let mut bytes = Vec::new();
    while let Some(record) = reader.next_record()? {
        let kind = Some(record.kind);
        let step = if kind == machine_kind {
            report.machines += 1;
            load(&mut replay, record.bytes, params)
        } else if kind == decision_kind {
            unpack(&mut unpacker, record.bytes, &mut bytes)
                .map_err(|malformed| malformed.to_string())
                .and_then(|()| check(replay.as_mut(), &bytes, report))
        } else {
            Ok(())
        };
        step.map_err(|what| LiveNotVerified::Record {
            place: reader.place(),
            record: reader.records(),
            what,
        })?;
        if report.found.is_some() {
            break;
        }
    }
    Ok(())
}

/// The scheduler was loaded, first or anew.
fn load(replay: &mut Option<Replay>, bytes: &[u8], params: Params) -> Result<(), String> {
    let core = machine::read_core(bytes, params).map_err(|malformed| malformed.to_string())?;
    match replay {
        Some(replay) => replay.goes_on_with(core),
        None => *replay = Some(Replay::new(core)),
    }
    Ok(())
}

fn unpack(
    unpacker: &mut Unpacker,
    packed: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<(), delta::Malformed> {
    let words = unpacker.unpack(packed)?;
    bytes.clear();
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    Ok(())
}

/// Makes one decision again. A difference goes into the report.
fn check(replay: Option<&mut Replay>, bytes: &[u8], report: &mut LiveReport) -> Result<(), String> {
    let replay = replay.ok_or("a decision before the scheduler was loaded")?;
    let outcome = replay.check(bytes);
    (report.equal, report.steps) = (replay.equal, replay.steps);
    match outcome {
        Ok(()) => Ok(()),
        Err(Difference::Malformed { malformed, .. }) => Err(malformed.to_string()),
        Err(Difference::Unequal {
            number,
            sides,
            input,
        }) => {
            report.found = Some(Found {
                number,
                sides: sides.to_string(),
                input: replay.describe(&input),
            });
            Ok(())
        }
    }
}

/// Makes one decision of one machine again, both as a log has them (the decision unpacked).
/// True: kernel and host are equal.
///
/// # Errors
/// What is wrong with the bytes.
pub fn replay_one(params: Params, machine: &[u8], decision: &[u8]) -> Result<bool, String> {
    let core = machine::read_core(machine, params).map_err(|malformed| malformed.to_string())?;
    match Replay::new(core).check(decision) {
        Ok(()) => Ok(true),
        Err(Difference::Unequal { .. }) => Ok(false),
        Err(Difference::Malformed { malformed, .. }) => Err(malformed.to_string()),
    }
}

#[cfg(test)]
mod tests;
