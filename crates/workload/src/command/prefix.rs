// SPDX-License-Identifier: GPL-2.0-only
//! Commands that stand before a tool and start it with other scheduling attributes: `cgexec`, `chrt`,
//! `nice`, `numactl`, `taskset`, `uclampset`. They nest in any order; each changes what the one behind
//! it begins with.

mod begin;
mod cgexec;
mod chrt;
mod nice;
mod numactl;
mod taskset;
mod uclampset;

pub(super) use begin::Begin;

use super::getopt::{Found, Word};
use super::surroundings::Surroundings;
use crate::diagnostic::{Place, Refusal, Remarks};

/// Reads the words from the prefix's name on, notes what it changes, and answers how many words stand
/// before the command.
type Read = fn(&[Word], &mut Surroundings<'_>, &mut Remarks) -> Result<usize, Refusal>;

const PREFIXES: &[(&str, Read)] = &[
    ("cgexec", cgexec::read),
    ("chrt", chrt::read),
    ("nice", nice::read),
    ("numactl", numactl::read),
    ("taskset", taskset::read),
    ("uclampset", uclampset::read),
];

/// Names of the prefixes.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PREFIXES.iter().map(|(name, _)| *name)
}

/// Reads all prefixes; answers the words behind them, which begin with the tool's name.
pub(super) fn read_all<'w>(
    words: &'w [Word],
    around: &mut Surroundings<'_>,
    remarks: &mut Remarks,
) -> Result<&'w [Word], Refusal> {
    let mut rest = words;
    while let Some(prefix) = rest.first() {
        let name = prefix.text.rsplit('/').next().unwrap_or_default();
        let Some((name, read)) = PREFIXES.iter().find(|(known, _)| *known == name) else {
            break;
        };
        let taken = read(rest, around, remarks)?;
        let last = &rest[taken.clamp(1, rest.len()) - 1];
        rest = rest.get(taken..).unwrap_or_default();
        if rest.is_empty() {
            return Err(no_command(last.place, name));
        }
    }
    Ok(rest)
}

fn no_command(place: Place, name: &str) -> Refusal {
    Refusal::new(
        place,
        format!("{name} has no command to start: the line ends here; add a tool and its options"),
    )
}

/// Refuses an option that prints or changes something else and starts no command.
fn starts_nothing(place: Place, spelling: &str, does: &str) -> Refusal {
    Refusal::new(
        place,
        format!("{spelling} {does} and starts no command; remove it"),
    )
}

/// Refuses an option such as `--help`.
fn prints_a_text<T>(found: &Found<T>) -> Refusal {
    starts_nothing(found.place, &found.spelling, "prints a text")
}

/// Refuses an option such as `-p PID`.
fn changes_a_running_task<T>(found: &Found<T>) -> Refusal {
    let does = "changes a task that already runs";
    starts_nothing(found.place, &found.spelling, does)
}

#[cfg(test)]
mod tests;
