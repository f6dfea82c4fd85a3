// SPDX-License-Identifier: GPL-2.0-only
//! The base kernels: what a base is, and which one a release or a misspelled name means.

use crate::abi::Params;
use crate::scheduler::hint;
use std::fmt;

mod table;

pub use table::BASES;

/// A release of Linux: the first two numbers of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl Release {
    /// `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Release { major, minor }
    }

    /// What a report says of a kernel that is newer than every base; `None`: it is not.
    pub fn beyond_bases(self) -> Option<String> {
        let newest = Base::newest().release;
        (self > newest)
            .then(|| format!("newer than every base: what changed after {newest} is not modelled"))
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a base's rules rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// They are held against a kernel of Debian that ran: load tracking, decisions, behaviour.
    Kernel,
    /// They were read; no kernel of that release was at hand to be held against.
    Source,
}

/// What names the newest base, whichever that is.
pub const LATEST: &str = "linux-latest";

/// A base kernel.
#[derive(Debug)]
pub struct Base {
    /// The name that users type, such as `linux-6.5`.
    pub name: &'static str,
    /// The release that it stands for.
    pub release: Release,
    /// The point release that was read. A stable series gets fixes of later releases: its last
    /// one has rules that its first has not.
    pub read: &'static str,
    /// What its rules rest on.
    pub proof: Proof,
    /// The kernel that it stands for, one line.
    pub summary: &'static str,
    pub(crate) rules: Params,
}

impl Base {
    /// Which kernel was read, and whether one was held against it: `6.12.118, from source alone`.
    pub fn standing(&self) -> String {
        match self.proof {
            Proof::Kernel => format!("{}, held against Debian's kernel", self.read),
            Proof::Source => format!("{}, from source alone", self.read),
        }
    }

    /// The base whose rules are the nearest to a kernel's: the last that is not newer.
    /// `None`: the kernel is older than all.
    pub fn nearest(kernel: Release) -> Option<&'static Base> {
        BASES.iter().rev().find(|base| base.release <= kernel)
    }

    /// The newest.
    pub fn newest() -> &'static Base {
        BASES.last().expect("there are bases")
    }

    /// The base of this name; [`LATEST`] names the newest.
    pub fn named(name: &str) -> Option<&'static Base> {
        match name {
            LATEST => Some(Base::newest()),
            _ => BASES.iter().find(|base| base.name == name),
        }
    }
}

/// What a name says of a release: its first two numbers, the second if there is one.
type Named = (u32, Option<u32>);

/// The release in a name such as `linux-6.12`, `v6.5`, `6.5.13` or `linux-6.1-rc3`.
fn release(name: &str) -> Option<Named> {
    let word = |c: char| c.is_ascii_alphabetic() || c == '-';
    let mut numbers = name.trim_start_matches(word).split('.');
    // A number that is too large is a release all the same, one that is to come.
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let digits = &text[..end.unwrap_or(text.len())];
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let first = numbers.next().and_then(number)?;
    Some((first, numbers.next().and_then(number)))
}

/// Whether a part of a scheduler's name is meant as a base: all of theirs begin with `linux`, and
/// a feature's name begins with no digit.
pub(crate) fn is_release(part: &str) -> bool {
    let bare = part.strip_prefix('v').unwrap_or(part);
    part.starts_with("linux") || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// What to name instead of a base that there is not. What is no release may be misspelled.
pub(crate) fn instead_of(name: &str) -> String {
    let names = || BASES.iter().map(|base| base.name);
    let Some((major, minor)) = release(name) else {
        return hint(name, names().chain([LATEST]));
    };
    // Who names no second number means the last release of the first.
    let meant = Release::new(major, minor.unwrap_or(u32::MAX));
    let nearest = match Base::nearest(meant) {
        Some(base) if base.release == meant => format!("did you mean '{}'?", base.name),
        Some(base) => format!("the nearest below it is '{}'", base.name),
        None => format!("the oldest is '{}'", BASES[0].name),
    };
    format!(
        "{nearest}; bases: {}",
        names().chain([LATEST]).collect::<Vec<_>>().join(", ")
    )
}
