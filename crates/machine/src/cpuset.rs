// SPDX-License-Identifier: GPL-2.0-only
//! A set of CPU numbers up to [`CpuSet::MAX`], with the kernel's list notation
//! (`0-3,8`). Small enough to copy, with no allocation: the simulator keeps
//! affinities and domain spans in it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const WORD_BITS: usize = u64::BITS as usize;

/// A set of CPU numbers, 0 to 1023.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    words: [u64; Self::MAX / 64],
}

/// Why a text is not a CPU list. The text of each error quotes the part of the
/// list that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// Two commas in a row, or one at an end.
    #[error("empty item in CPU list `{0}`, expected numbers and ranges such as `0-3,8`")]
    EmptyItem(String),
    /// Something that is neither a number nor a range of two numbers.
    #[error("`{0}` in a CPU list is no CPU, expected a number or a range such as `0-3`")]
    NotANumber(String),
    /// `5-2`.
    #[error("range `{first}-{last}` in a CPU list runs backwards, expected `{last}-{first}`")]
    Backwards {
        /// Number before the dash.
        first: usize,
        /// Number after the dash.
        last: usize,
    },
    /// A number that no machine can have.
    #[error("CPU {0} in a CPU list is out of range, expected 0 to {max}", max = CpuSet::MAX - 1)]
    OutOfRange(String),
}

impl CpuSet {
    /// Most CPUs a machine may have.
    pub const MAX: usize = 1024;

    /// The set without members.
    pub const fn new() -> Self {
        Self {
            words: [0; Self::MAX / 64],
        }
    }

    /// The set of the one CPU `cpu`.
    ///
    /// # Panics
    /// When `cpu` is not below [`CpuSet::MAX`].
    pub fn single(cpu: usize) -> Self {
        let mut set = Self::new();
        set.insert(cpu);
        set
    }

    /// The CPUs 0 to `count - 1`.
    ///
    /// # Panics
    /// When `count` is above [`CpuSet::MAX`].
    pub fn first_n(count: usize) -> Self {
        (0..count).collect()
    }

    /// The set as 64-bit words, CPU 0 in bit 0 of word 0.
    pub fn words(&self) -> &[u64; Self::MAX / 64] {
        &self.words
    }

    /// Adds `cpu`; true if it was not a member before.
    ///
    /// # Panics
    /// When `cpu` is not below [`CpuSet::MAX`]: numbers from outside are
    /// checked where they are read.
    pub fn insert(&mut self, cpu: usize) -> bool {
        assert!(cpu < Self::MAX, "CPU {cpu} is not below {}", Self::MAX);
        let (word, bit) = position(cpu);
        let added = self.words[word] & bit == 0;
        self.words[word] |= bit;
        added
    }

    /// Takes `cpu` out; true if it was a member. Numbers out of range never are.
    pub fn remove(&mut self, cpu: usize) -> bool {
        let present = self.contains(cpu);
        if present {
            let (word, bit) = position(cpu);
            self.words[word] &= !bit;
        }
        present
    }

    /// Whether `cpu` is a member. Numbers out of range never are.
    #[inline]
    pub fn contains(&self, cpu: usize) -> bool {
        let (word, bit) = position(cpu);
        self.words.get(word).is_some_and(|w| w & bit != 0)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Smallest member.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// Largest member.
    pub fn last(&self) -> Option<usize> {
        self.words
            .iter()
            .rposition(|&w| w != 0)
            .map(|i| i * WORD_BITS + self.words[i].ilog2() as usize)
    }

    /// Members in rising order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            words: &self.words,
            index: 0,
            rest: self.words[0],
        }
    }

    /// Members of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Members of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether every member is also in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// Whether some CPU is in both sets.
    pub fn intersects(&self, other: &Self) -> bool {
        !self.intersection(other).is_empty()
    }

    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            words: std::array::from_fn(|i| op(self.words[i], other.words[i])),
        }
    }
}

/// Word index and bit of a CPU number.
#[inline]
fn position(cpu: usize) -> (usize, u64) {
    (cpu / WORD_BITS, 1 << (cpu % WORD_BITS))
}

impl Default for CpuSet {
    fn default() -> Self {
        Self::new()
    }
}

/// Members of a [`CpuSet`] in rising order.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    words: &'a [u64; CpuSet::MAX / 64],
    index: usize,
    rest: u64,
}

impl Iterator for Iter<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            self.index += 1;
            self.rest = *self.words.get(self.index)?;
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(self.index * WORD_BITS + bit)
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = usize;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<usize> for CpuSet {
    /// # Panics
    /// When a number is not below [`CpuSet::MAX`].
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut set = Self::new();
        set.extend(cpus);
        set
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, cpus: I) {
        for cpu in cpus {
            self.insert(cpu);
        }
    }
}

impl fmt::Display for CpuSet {
    /// The kernel's list notation; nothing for the empty set, as in sysfs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

impl FromStr for CpuSet {
    type Err = CpuListError;

    /// Reads the kernel's list notation: numbers and ranges separated by
    /// commas, blanks around them allowed, the empty text is the empty set.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut set = Self::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for item in text.split(',').map(str::trim) {
            if item.is_empty() {
                return Err(CpuListError::EmptyItem(text.to_owned()));
            }
            let (first, last) = parse_item(item)?;
            if first > last {
                return Err(CpuListError::Backwards { first, last });
            }
            set.extend(first..=last);
        }
        Ok(set)
    }
}

/// First and last CPU of a number or range.
fn parse_item(item: &str) -> Result<(usize, usize), CpuListError> {
    let number = |text: &str| {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(CpuListError::NotANumber(item.to_owned()));
        }
        text.parse()
            .ok()
            .filter(|&cpu: &usize| cpu < CpuSet::MAX)
            .ok_or_else(|| CpuListError::OutOfRange(text.to_owned()))
    };
    match item.split_once('-') {
        Some((first, last)) => Ok((number(first)?, number(last)?)),
        None => number(item).map(|cpu| (cpu, cpu)),
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
