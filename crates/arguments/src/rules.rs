// SPDX-License-Identifier: GPL-2.0-only
//! Rules as they are given: one by one, and in files.

use alight_rules::{MOST, Rule, parse_file};
use std::fs;

/// The rules of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile(Vec<Rule>);

/// More rules than the kernel side has room for.
#[derive(Debug, thiserror::Error)]
#[error("{0} rules; {MOST} are possible")]
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
mod tests {
    use super::*;

    fn rules(texts: &[&str]) -> Vec<Rule> {
        let parsed = texts.iter().map(|text| Rule::parse(text));
        parsed.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn the_command_line_comes_before_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules");
        fs::write(&path, "comm=b uclamp_min=2\n").unwrap();
        let file = file(path.to_str().unwrap()).unwrap();
        let all = all(&rules(&["comm=a uclamp_min=1"]), &[file]);
        assert_eq!(all, rules(&["comm=a uclamp_min=1", "comm=b uclamp_min=2"]));
        fs::write(&path, "comm=b\n").unwrap();
        let error = super::file(path.to_str().unwrap()).unwrap_err();
        assert!(
            error.ends_with(
                "rules:1, column 7: found the end, expected a setting: uclamp_min= or uclamp_max="
            ),
            "{error}"
        );
    }
}
