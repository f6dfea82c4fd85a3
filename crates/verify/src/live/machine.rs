// SPDX-License-Identifier: GPL-2.0-only
//! What a scheduler knew when it was loaded, as it stands in a log: the views
//! that stay, and the rules.
//!
//! The record `live.machine/1` is five counts (caches, domains, groups, CPUs, performance domains),
//! a zero, the facts of the machine, and so many domains, groups, places and
//! performance domains, each as in `policy/abi.h`.

use super::plain::{Plain, bytes_of, read, read_many};
use alight_policy::abi::{Domain, Group, PerfDomain, Place, Topology};
use alight_policy::sound::{Unsound, Views};
use alight_policy::{Core, Params};

/// Why bytes are no machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Length.
    #[error("a machine has {found} bytes, expected {expected}")]
    Length {
        /// Bytes there.
        found: usize,
        /// Bytes that its counts ask for.
        expected: u64,
    },
    /// Rules that cannot be read.
    #[error("the scheduler's rules: {0}")]
    Params(String),
    /// A number that would lead the core astray.
    #[error("a machine is wrong: {0}")]
    Unsound(#[from] Unsound),
}

const COUNTS: usize = 6;
const HEAD: usize = COUNTS * size_of::<u32>() + size_of::<Topology>();

/// The record of this core.
pub fn write(core: &Core) -> Vec<u8> {
    let views = core.views();
    let counts: [u32; COUNTS] = [
        views.nr_llcs,
        views.domains.len() as u32,
        views.groups.len() as u32,
        views.places.len() as u32,
        views.perf.len() as u32,
        0,
    ];
    let mut bytes = [
        bytes_of(&counts),
        bytes_of(&[views.topology]),
        bytes_of(&views.domains),
        bytes_of(&views.groups),
        bytes_of(&views.places),
        bytes_of(&views.perf),
    ]
    .concat();
    // Records are of whole words.
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// The core of a record.
///
/// # Errors
/// If the length is not what the counts say, or the core must not be given these views.
pub fn read_core(bytes: &[u8], params: Params) -> Result<Core, Malformed> {
    let (head, rest) = (bytes.split_at_checked(HEAD)).ok_or(Malformed::Length {
        found: bytes.len(),
        expected: HEAD as u64,
    })?;
    let counts: [u32; COUNTS] = std::array::from_fn(|i| read(&head[4 * i..]));
    let [nr_llcs, nr_domains, nr_groups, nr_places, nr_perf, _] = counts;
    let length = HEAD as u64
        + bytes_for::<Domain>(nr_domains)
        + bytes_for::<Group>(nr_groups)
        + bytes_for::<Place>(nr_places)
        + bytes_for::<PerfDomain>(nr_perf);
    let expected = length.next_multiple_of(8);
    if bytes.len() as u64 != expected {
        let found = bytes.len();
        return Err(Malformed::Length { found, expected });
    }
    let (domains, rest) = read_many(rest, nr_domains as usize);
    let (groups, rest) = read_many(rest, nr_groups as usize);
    let (places, rest) = read_many(rest, nr_places as usize);
    let (perf, _) = read_many(rest, nr_perf as usize);
    let views = Views {
        topology: read(&head[4 * COUNTS..]),
        nr_llcs,
        domains,
        groups,
        places,
        perf,
    };
    Ok(Core::of_views(views, params)?)
}

fn bytes_for<T: Plain>(nr: u32) -> u64 {
    u64::from(nr) * size_of::<T>() as u64
}

/// The rules as text: `NAME=VALUE`, all of them.
pub fn write_params(params: &Params) -> String {
    let fields = params.fields().into_iter();
    let fields: Vec<String> = fields.map(|(name, v)| format!("{name}={v}")).collect();
    fields.join(" ")
}

/// The rules of a text.
///
/// # Errors
/// A rule is missing, named twice, unknown, or no number that it can have.
pub fn read_params(text: &str) -> Result<Params, Malformed> {
    let mut params = Params::NONE;
    let mut missing: Vec<&str> = params.fields().iter().map(|(name, _)| *name).collect();
    for word in text.split_ascii_whitespace() {
        let refused = || Malformed::Params(format!("'{}'", word.escape_default()));
        let (name, value) = word.split_once('=').ok_or_else(refused)?;
        let at = missing.iter().position(|known| *known == name);
        missing.remove(at.ok_or_else(refused)?);
        let value = value.parse().map_err(|_| refused())?;
        if !params.set(name, value) {
            return Err(refused());
        }
    }
    match missing.first() {
        Some(name) => Err(Malformed::Params(format!("'{name}' is missing"))),
        None => Ok(params),
    }
}

#[cfg(test)]
mod tests;
