// SPDX-License-Identifier: GPL-2.0-only
//! What the readers of all formats make of a file: happenings with their times.

use alight_recording::workload::What;

/// A name of a task by its index in [`Names`]; 0: not told.
pub(crate) type NameId = u32;

/// Something that a file tells, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    /// When, ns on the file's clock.
    pub time: u64,
    /// On which CPU.
    pub cpu: u16,
    pub body: Body,
    /// The names of the two tasks that `body` is about.
    pub names: [NameId; 2],
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// An event of a recording.
    What(What),
    /// A task has the first of the names.
    Named { pid: u32 },
    /// A task belongs to a process, and has a parent (0: not told).
    Process { pid: u32, tgid: u32, parent: u32 },
    /// A task is in the group with this index.
    Group { pid: u32, group: u32 },
}

impl Item {
    /// The two tasks that it is about; `None` where there is none.
    pub fn tasks(&self) -> [Option<u32>; 2] {
        match self.body {
            Body::What(what) => match what {
                What::Switch { prev, next, .. } => [Some(prev), Some(next)],
                What::Waking { pid, current, .. } => [Some(pid), Some(current)],
                What::Fork { parent, child } => [Some(parent), Some(child)],
                What::Wakeup { pid, .. }
                | What::WakeupNew { pid, .. }
                | What::Migrate { pid, .. }
                | What::Exit { pid }
                | What::Yield { pid }
                | What::WakingEnd { pid }
                | What::Schedule { pid }
                | What::CallBegin { pid, .. }
                | What::CallEnd { pid, .. } => [Some(pid), None],
                What::InterruptBegin { .. }
                | What::InterruptEnd { .. }
                | What::Frequency { .. }
                | What::Idle { .. }
                | What::Lost { .. }
                | What::Hotplug { .. } => [None, None],
            },
            Body::Named { pid } | Body::Process { pid, .. } | Body::Group { pid, .. } => {
                [Some(pid), None]
            }
        }
    }
}
