// SPDX-License-Identifier: GPL-2.0-only
//! From a pid to what an encoder has rendered for that task, and the task that each CPU runs.

use std::io;

use crate::header::{TaskInfo, TraceHeader, kernel_comm};

/// A task's names as an encoder is given them to render.
pub(crate) struct TaskName<'a> {
    /// Thread id; 0 for an idle task.
    pub(crate) pid: u32,
    /// Thread group id; 0 for an idle task.
    pub(crate) tgid: u32,
    /// Name of at most 15 bytes; `swapper/N` for the idle task of CPU N.
    pub(crate) comm: &'a str,
}

/// Rendered labels `L` of every task, by pid.
pub(crate) struct TaskTable<L> {
    /// Labels of the idle tasks, by CPU, then of the header's tasks.
    labels: Vec<L>,
    /// Index into `labels` by pid, or `NO_TASK`.
    by_pid: Vec<u32>,
    /// Pid of the task that runs on each CPU, as the switches told.
    current: Vec<u32>,
}

const NO_TASK: u32 = u32::MAX;

impl<L> TaskTable<L> {
    /// Renders every task of the header with `render`. All CPUs start idle.
    pub(crate) fn new(header: &TraceHeader, render: impl Fn(&TaskName<'_>) -> L) -> Self {
        let cpus = header.cpus.len();
        let mut labels = Vec::with_capacity(cpus + header.tasks.len());
        for cpu in 0..cpus {
            let comm = format!("swapper/{cpu}");
            labels.push(render(&TaskName {
                pid: 0,
                tgid: 0,
                comm: kernel_comm(&comm),
            }));
        }
        let pids = header
            .tasks
            .iter()
            .map(|task| task.pid as usize + 1)
            .max()
            .unwrap_or(0);
        let mut by_pid = vec![NO_TASK; pids];
        for TaskInfo {
            pid, tgid, comm, ..
        } in &header.tasks
        {
            by_pid[*pid as usize] = u32::try_from(labels.len()).expect("pids are below 2^22");
            labels.push(render(&TaskName {
                pid: *pid,
                tgid: *tgid,
                comm: kernel_comm(comm),
            }));
        }
        Self {
            labels,
            by_pid,
            current: vec![0; cpus],
        }
    }

    /// The label of `pid` as seen on `cpu`, which decides whose idle task pid 0 is.
    ///
    /// # Errors
    /// `InvalidInput` for a pid that the header does not list.
    #[inline]
    pub(crate) fn label(&self, pid: u32, cpu: u32) -> io::Result<&L> {
        if pid == 0 {
            return Ok(&self.labels[cpu as usize]);
        }
        match self.by_pid.get(pid as usize) {
            Some(&slot) if slot != NO_TASK => Ok(&self.labels[slot as usize]),
            _ => Err(unknown_pid(pid)),
        }
    }

    /// Pid of the task that runs on `cpu`.
    #[inline]
    pub(crate) fn current(&self, cpu: u32) -> u32 {
        self.current[cpu as usize]
    }

    /// Notes that `cpu` runs `pid` from now on.
    #[inline]
    pub(crate) fn set_current(&mut self, cpu: u32, pid: u32) {
        self.current[cpu as usize] = pid;
    }
}

#[cold]
fn unknown_pid(pid: u32) -> io::Error {
    let message = format!("an event names pid {pid}, which is not among the header's tasks");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
