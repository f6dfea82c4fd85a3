// SPDX-License-Identifier: GPL-2.0-only
//! What a trace says before its first event: the machine, the tasks and where the run came from.

use std::collections::BTreeMap;

/// Largest number of pids of a 64-bit kernel (`PID_MAX_LIMIT`, include/linux/threads.h); pids are below it.
pub const PID_MAX_LIMIT: u32 = 4 * 1024 * 1024;

/// Longest comm in bytes: `TASK_COMM_LEN` without its terminator.
pub(crate) const COMM_MAX: usize = 15;

/// A CPU, its number being its place in [`TraceHeader::cpus`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuInfo {
    /// Core model as the device tree names it, e.g. `arm,cortex-a53`; empty if unknown.
    pub model: String,
    /// `capacity_orig`: 1 to 1024, 1024 being the machine's largest.
    pub capacity: u32,
    /// Operating frequencies in kHz, rising; the last one is the maximum. Empty if unknown.
    pub frequencies_khz: Vec<u32>,
}

/// A task that lives at any time of the run. Idle tasks (pid 0) are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskInfo {
    /// Thread id: 1 to [`PID_MAX_LIMIT`] - 1, each once.
    pub pid: u32,
    /// Thread group (process) id; the leader's pid. The leader itself need not be among the tasks.
    pub tgid: u32,
    /// Thread name; cut to the kernel's 15 bytes in the trace.
    pub comm: String,
    /// Name of the process; that of the group's first task in the list counts.
    pub process: String,
}

/// What a trace says before its first event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceHeader {
    /// Name of the machine, e.g. `juno-r0`.
    pub machine: String,
    /// The scheduler as the user typed it, e.g. `linux-5.5+asym-capacity`.
    pub scheduler: String,
    /// Seed of the run.
    pub seed: u64,
    /// The command line that makes this run again.
    pub command: String,
    /// Time of the start in ns; no event is earlier.
    pub start_ns: u64,
    /// The CPUs in the order of their numbers.
    pub cpus: Vec<CpuInfo>,
    /// Every task of the run, forked ones included.
    pub tasks: Vec<TaskInfo>,
}

/// What makes a header impossible.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeaderError {
    /// No CPU is listed.
    #[error("the machine has no CPU, expected at least one")]
    NoCpu,
    /// A pid or tgid no kernel would give.
    #[error("task '{comm}': {what} is {id}, expected 1 to {}", PID_MAX_LIMIT - 1)]
    IdOutOfRange {
        /// The task's name.
        comm: String,
        /// `pid` or `tgid`.
        what: &'static str,
        /// The number found.
        id: u32,
    },
    /// Two tasks with one pid.
    #[error("tasks '{first}' and '{second}' both have pid {pid}, expected unique pids")]
    PidTwice {
        /// The pid.
        pid: u32,
        /// The task that had it first.
        first: String,
        /// The task that has it again.
        second: String,
    },
}

impl TraceHeader {
    /// Refuses what no trace can hold.
    ///
    /// # Errors
    /// No CPU, a pid or tgid out of range, a pid given twice.
    pub fn check(&self) -> Result<(), HeaderError> {
        if self.cpus.is_empty() {
            return Err(HeaderError::NoCpu);
        }
        let mut comm_of = BTreeMap::new();
        for task in &self.tasks {
            for (what, id) in [("pid", task.pid), ("tgid", task.tgid)] {
                if !(1..PID_MAX_LIMIT).contains(&id) {
                    return Err(HeaderError::IdOutOfRange {
                        comm: task.comm.clone(),
                        what,
                        id,
                    });
                }
            }
            if let Some(first) = comm_of.insert(task.pid, &task.comm) {
                let (first, second) = (first.clone(), task.comm.clone());
                return Err(HeaderError::PidTwice {
                    pid: task.pid,
                    first,
                    second,
                });
            }
        }
        Ok(())
    }
}

/// The name as the kernel keeps it: at most 15 bytes, cut between characters.
pub(crate) fn kernel_comm(name: &str) -> &str {
    let mut end = name.len().min(COMM_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests;
