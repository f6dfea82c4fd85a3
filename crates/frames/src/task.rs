// SPDX-License-Identifier: GPL-2.0-only
//! How users name a task: by its pid, by its name (comm), or by both as `pid:comm`.

use crate::{NoTable, Trace};

/// A task as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskId {
    /// Its thread id, where it was said.
    pub pid: Option<u32>,
    /// Its name, where it was said.
    pub comm: Option<String>,
}

impl TaskId {
    /// The task of this thread id.
    pub fn pid(pid: u32) -> Self {
        TaskId {
            pid: Some(pid),
            comm: None,
        }
    }

    /// Reads `PID`, `COMM`, `PID:COMM` or `[PID:COMM]`, as LISA does.
    pub fn parse(text: &str) -> Self {
        if let Ok(pid) = text.parse() {
            return TaskId::pid(pid);
        }
        let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
        match inner.unwrap_or(text).split_once(':') {
            Some((pid, comm)) if pid.parse::<u32>().is_ok() => TaskId {
                pid: pid.parse().ok(),
                comm: Some(comm.to_owned()),
            },
            _ => TaskId {
                pid: None,
                comm: Some(text.to_owned()),
            },
        }
    }

    /// The one task that is meant.
    ///
    /// # Errors
    /// None has this pid or name, with what there is; several have it, with their pids.
    pub fn find(&self, trace: &Trace) -> Result<u32, NoTable> {
        let found = self.all(trace);
        match found[..] {
            [one] => Ok(one),
            [] => Err(NoTable(format!(
                "no task is {}; the trace has: {}",
                self.words(),
                few(trace
                    .known
                    .comms
                    .iter()
                    .map(|(pid, comm)| format!("{pid}:{comm}")))
            ))),
            _ => Err(NoTable(format!(
                "{} tasks are {}; name one by its pid: {}",
                found.len(),
                self.words(),
                few(found.iter().map(u32::to_string))
            ))),
        }
    }

    /// All tasks that are meant, by rising pid.
    pub fn all(&self, trace: &Trace) -> Vec<u32> {
        let meant = |(pid, comm): &(&u32, &String)| {
            self.pid.is_none_or(|own| own == **pid)
                && self.comm.as_ref().is_none_or(|own| own == *comm)
        };
        let found = trace.known.comms.iter().filter(meant);
        found.map(|(pid, _)| *pid).collect()
    }

    fn words(&self) -> String {
        match (self.pid, &self.comm) {
            (Some(pid), Some(comm)) => format!("{pid}:{comm}"),
            (Some(pid), None) => format!("pid {pid}"),
            (None, comm) => format!("named '{}'", comm.as_deref().unwrap_or_default()),
        }
    }
}

/// The first few of a list, and how many are left out.
fn few(words: impl Iterator<Item = String>) -> String {
    const FEW: usize = 8;
    let all: Vec<String> = words.collect();
    let shown = all[..all.len().min(FEW)].join(", ");
    match all.len().checked_sub(FEW) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
