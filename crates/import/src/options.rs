// SPDX-License-Identifier: GPL-2.0-only
//! What is wanted of a file.

/// What is wanted of a file. All of it, by default.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Events before this moment are left out.
    pub from: Option<Moment>,
    /// Events behind this moment are left out.
    pub to: Option<Moment>,
    /// These tasks, all tasks of these processes, and their descendants are the workload.
    pub pids: Vec<u32>,
    /// Tasks of these groups and of those below them are the workload; paths that begin with `/`.
    pub cgroups: Vec<String>,
}

/// A moment of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// So many ns behind the first event.
    AfterFirst(u64),
    /// At this time of the file's clock, ns.
    At(u64),
}

impl Moment {
    /// On the file's clock, ns.
    pub(crate) fn on_clock(self, first: u64) -> u64 {
        match self {
            Moment::AfterFirst(ns) => first.saturating_add(ns),
            Moment::At(ns) => ns,
        }
    }
}

/// Seconds with at most nine decimals, such as 24.215206, in ns.
pub fn seconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 9 {
        return None;
    }
    let fraction = part.parse::<u64>().ok()? * 10u64.pow(9 - part.len() as u32);
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction)
}

#[cfg(test)]
mod tests;
