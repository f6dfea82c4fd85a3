// SPDX-License-Identifier: GPL-2.0-only
//! Rules: which tasks get which utilization clamps from the scheduler, for
//! kernels that have none (CONFIG_UCLAMP_TASK) and programs that ask for none.
//!
//! A rule is some matches and some settings, `comm=render* uclamp_min=60`
//! ([`Rule::parse`]); a file has one a line ([`parse_file`]). A task for which all matches of a
//! rule hold gets its settings. Of several such rules the first that has a setting
//! decides it. Names are matched by the code that the kernel side has ([`glob`]).

pub mod glob;
mod parse;

pub use parse::{Error, Found, parse_file};

/// Most rules of a scheduler: the kernel side has a bit for each.
pub const MOST: usize = 64;
/// Longest pattern of a name, bytes (`GLOB_PATTERN` of policy/glob.h).
pub const LONGEST_PATTERN: usize = 32;
/// Longest pattern of a cgroup's path, bytes.
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

/// Which tasks get what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// Pattern of the task's name.
    pub comm: Option<Vec<u8>>,
    /// Pattern of the path of its cgroup, in the v2 hierarchy.
    pub cgroup: Option<Vec<u8>>,
    /// Its thread or process.
    pub pid: Option<u32>,
    /// Its nice value, first and last.
    pub nice: Option<(i8, i8)>,
    /// Its policy.
    pub policy: Option<Policy>,
    /// Lower clamp, 0..=1024.
    pub uclamp_min: Option<u16>,
    /// Upper clamp, 0..=1024.
    pub uclamp_max: Option<u16>,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn parse(text: &str) -> Result<Rule, Error> {
        parse::rule(text, "--rule", None)
    }
}

/// The rules, as bits, that a cgroup with this path meets. A rule that asks for no cgroup is met by all.
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
