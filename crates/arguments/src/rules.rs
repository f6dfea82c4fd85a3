// SPDX-License-Identifier: GPL-2.0-only
//! Rules as they are given: one by one, and in files.

use alight_rules::{MOST, Rule, parse_file};
use std::fs;

/// The rules of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile(Vec<Rule>);

/// More rules than the kernel side has room for.
#[derive(Debug, thiserror::Error)]
#[error("found {0} rules, expected at most {MOST}")]
pub struct TooMany(usize);

/// Reads a file of rules.
///
/// # Errors
/// It cannot be read, or where and why one is none.
pub fn file(path: &str) -> Result<RuleFile, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    parse_file(path, &text)
        .map(RuleFile)
        .map_err(|error| error.to_string())
}

/// All rules in the order in which they count.
pub fn all(rules: &[Rule], files: &[RuleFile]) -> Vec<Rule> {
    let of_files = files.iter().flat_map(|file| &file.0);
    rules.iter().chain(of_files).cloned().collect()
}

/// Are there no more rules than the kernel side has room for?
///
/// # Errors
/// There are.
pub fn check(rules: &[Rule]) -> Result<(), TooMany> {
    match rules.len() {
        0..=MOST => Ok(()),
        found => Err(TooMany(found)),
    }
}

#[cfg(test)]
mod tests;
