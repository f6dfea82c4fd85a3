// SPDX-License-Identifier: GPL-2.0-only
//! Rules that give utilization clamps to tasks of the live scheduler.
//!
//! A utilization clamp limits the utilization that the scheduler assumes of a task. Rules are for
//! kernels without clamps (`CONFIG_UCLAMP_TASK`) and for programs that ask for none.
//!
//! # What it owns
//!
//! - The grammar of rules: [`Rule::parse`] reads one, [`parse_file`] reads a file with one a line.
//! - The matching: a rule applies to a task if all its matches hold. If several rules apply, the first
//!   one that has a setting decides this setting.
//! - [`glob`], the patterns of names. It calls the same C code (`policy/glob.h`) as the kernel side.
//!
//! # Who may use it
//!
//! The live scheduler (`alight-live`) and its command line (`alight-arguments`). It uses no other crate
//! of the project.
//!
//! # Example
//!
//! ```
//! use alight_rules::{Rule, met_by_cgroup};
//!
//! let rule = Rule::parse("comm=render* cgroup=/user/* uclamp_min=50")?;
//! // Percents become capacity: 1024 is the biggest CPU.
//! assert_eq!(rule.uclamp_min, Some(512));
//! assert!(alight_rules::glob::matches(b"render-thread", b"render*"));
//! // Bit 0 is rule 0.
//! assert_eq!(met_by_cgroup(&[rule.clone()], b"/user/app"), 1);
//! assert_eq!(met_by_cgroup(&[rule], b"/system"), 0);
//! # Ok::<(), alight_rules::Error>(())
//! ```

pub mod glob;
mod parse;

pub use parse::{Error, Found, parse_file};

/// Largest number of rules of a scheduler: the kernel side has one bit for each.
pub const MOST: usize = 64;
/// Longest pattern of a name, in bytes (`GLOB_PATTERN` of policy/glob.h).
pub const LONGEST_PATTERN: usize = 32;
/// Longest pattern of a cgroup's path, in bytes.
pub const LONGEST_PATH: usize = 4096;

/// Scheduling policies that a rule may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`.
    Normal,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
}

/// One rule: matches, all of which must hold, and settings. `None`: not part of this rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// Pattern of the task's name.
    pub comm: Option<Vec<u8>>,
    /// Pattern of the path of its cgroup, in the v2 hierarchy.
    pub cgroup: Option<Vec<u8>>,
    /// Thread id or process id.
    pub pid: Option<u32>,
    /// Range of nice values, first and last, -20 to 19.
    pub nice: Option<(i8, i8)>,
    /// Scheduling policy.
    pub policy: Option<Policy>,
    /// Lower clamp, 0 to 1024; 1024 is the capacity of the biggest CPU.
    pub uclamp_min: Option<u16>,
    /// Upper clamp, 0 to 1024.
    pub uclamp_max: Option<u16>,
}

impl Rule {
    /// Reads a rule such as `comm=render* uclamp_min=60`. Clamps are in percent, 0 to 100.
    ///
    /// # Errors
    /// The text is no rule. The error has the column, what was found and what was expected.
    pub fn parse(text: &str) -> Result<Rule, Error> {
        parse::rule(text, "--rule", None)
    }
}

/// The rules whose cgroup pattern matches this path: bit `n` is rule `n`, for the first [`MOST`] rules.
/// A rule without a cgroup pattern matches every path.
pub fn met_by_cgroup(rules: &[Rule], path: &[u8]) -> u64 {
    let met = |rule: &Rule| {
        let pattern = rule.cgroup.as_deref();
        pattern.is_none_or(|pattern| glob::matches(path, pattern))
    };
    let bits = (0..).zip(rules.iter().take(MOST));
    bits.filter(|(_, rule)| met(rule))
        .map(|(n, _)| 1u64 << n)
        .sum()
}

#[cfg(test)]
mod tests;
