// SPDX-License-Identifier: GPL-2.0-only
//! The base kernels, and the base that a release or a misspelled name means.

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

    /// The note of a report about a kernel that is newer than every base; `None`: it is not newer.
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

/// How a base's rules were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// They were compared with a running kernel of Debian: load tracking, decisions, behaviour.
    Kernel,
    /// They were read from the source; no kernel of that release was available to compare with.
    Source,
}

/// The name that always means the newest base.
pub const LATEST: &str = "linux-latest";

/// A base kernel.
#[derive(Debug)]
pub struct Base {
    /// The name that users type, such as `linux-6.5`.
    pub name: &'static str,
    /// The release that it stands for.
    pub release: Release,
    /// The point release that was read. A stable series gets fixes of later releases, so that its
    /// last point release has rules that its first lacks.
    pub read: &'static str,
    /// How its rules were checked.
    pub proof: Proof,
    /// The kernel that it stands for, one line.
    pub summary: &'static str,
    pub(crate) rules: Params,
}

impl Base {
    /// The kernel that was read, and how the rules were checked: `6.12.118, from source alone`.
    pub fn standing(&self) -> String {
        match self.proof {
            Proof::Kernel => format!("{}, held against Debian's kernel", self.read),
            Proof::Source => format!("{}, from source alone", self.read),
        }
    }

    /// The base whose rules are nearest to a kernel's: the newest base that is not newer than the
    /// kernel. `None`: the kernel is older than all bases.
    pub fn nearest(kernel: Release) -> Option<&'static Base> {
        BASES.iter().rev().find(|base| base.release <= kernel)
    }

    /// The newest base.
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

/// The release in a name: its first number, and its second if there is one.
type Named = (u32, Option<u32>);

/// The release in a name such as `linux-6.12`, `v6.5`, `6.5.13` or `linux-6.1-rc3`.
fn release(name: &str) -> Option<Named> {
    let word = |c: char| c.is_ascii_alphabetic() || c == '-';
    let mut numbers = name.trim_start_matches(word).split('.');
    // A number that is too large still names a release, a future one.
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let digits = &text[..end.unwrap_or(text.len())];
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let first = numbers.next().and_then(number)?;
    Some((first, numbers.next().and_then(number)))
}

/// Whether a part of a scheduler's name is meant as a base. All names of bases begin with `linux`,
/// and no name of a feature begins with a digit.
pub(crate) fn is_release(part: &str) -> bool {
    let bare = part.strip_prefix('v').unwrap_or(part);
    part.starts_with("linux") || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// Suggests names instead of the unknown base `name`. A name without a release may be misspelled.
pub(crate) fn instead_of(name: &str) -> String {
    let names = || BASES.iter().map(|base| base.name);
    let Some((major, minor)) = release(name) else {
        return hint(name, names().chain([LATEST]));
    };
    // Without a second number, the last release with the first number is meant.
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
