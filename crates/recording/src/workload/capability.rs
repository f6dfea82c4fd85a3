// SPDX-License-Identifier: GPL-2.0-only
//! What the source of a recording could tell.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::End;

/// Something that a source tells, or does not tell, of all that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Who was woken, when, and who ran on the CPU that woke it (`sched_waking`).
    Wakings,
    /// Whether a waking came from a task or from an interrupt.
    Context,
    /// Which interrupt it was: a timer or a device.
    Interrupts,
    /// Whether a wakeup was synchronous (`WF_SYNC`).
    Sync,
    /// The CPU that a woken task was put on (`sched_wakeup`).
    Wakeups,
    /// Moves between CPUs (`sched_migrate_task`).
    Migrations,
    /// Births of tasks (`sched_process_fork`).
    Forks,
    /// Ends of tasks (`sched_process_exit`).
    Exits,
    /// `sched_yield()`.
    Yields,
    /// Changes of the clock (`cpu_frequency`).
    Frequency,
    /// Entries to idle states and exits from them (`cpu_idle`).
    Idle,
    /// What tasks waited for: system calls with the object's identity.
    Calls,
    /// Policy, nice value, affinity and clamps of each task.
    Attributes,
    /// Task groups of the cpu controller.
    Cgroups,
    /// `util_avg`, virtual time and CPU of each task at the start.
    Start,
    /// Lost events are counted, and where they were lost is known.
    Losses,
}

impl Capability {
    /// All, in the order of their importance to a replay.
    pub const ALL: [Capability; 16] = [
        Capability::Wakings,
        Capability::Context,
        Capability::Interrupts,
        Capability::Yields,
        Capability::Losses,
        Capability::Forks,
        Capability::Exits,
        Capability::Frequency,
        Capability::Attributes,
        Capability::Start,
        Capability::Sync,
        Capability::Calls,
        Capability::Cgroups,
        Capability::Wakeups,
        Capability::Migrations,
        Capability::Idle,
    ];

    /// Its name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Wakings => "wakings",
            Capability::Context => "context",
            Capability::Interrupts => "interrupts",
            Capability::Sync => "sync",
            Capability::Wakeups => "wakeups",
            Capability::Migrations => "migrations",
            Capability::Forks => "forks",
            Capability::Exits => "exits",
            Capability::Yields => "yields",
            Capability::Frequency => "frequency",
            Capability::Idle => "idle",
            Capability::Calls => "calls",
            Capability::Attributes => "attributes",
            Capability::Cgroups => "cgroups",
            Capability::Start => "start",
            Capability::Losses => "losses",
        }
    }

    /// What a replay lacks without it; a sentence without its full stop.
    pub fn lacking(self) -> &'static str {
        match self {
            Capability::Wakings => "who woke whom is unknown: a replay cannot keep the order",
            Capability::Context => {
                "wakings by interrupts cannot be told from wakings by the task that ran: a replay \
                 may have false causes"
            }
            Capability::Interrupts => {
                "timers cannot be told from devices: what wakes periodically is taken for a timer"
            }
            Capability::Sync => "whether a waker said that it would sleep soon is unknown",
            Capability::Wakeups => "the CPU that was chosen is known only once the task runs",
            Capability::Migrations => "moves between CPUs are known only once the task runs",
            Capability::Forks => "births are unknown: each task is there from its first event on",
            Capability::Exits => "ends are unknown: each task is there until the end",
            Capability::Yields => {
                "sched_yield() cannot be told from the end of a slice: a replay does not yield"
            }
            Capability::Frequency => "clocks are unknown: work is counted at the top frequency",
            Capability::Idle => "idle states are unknown",
            Capability::Calls => {
                "what tasks waited for is unknown: messages that woke nobody are not replayed"
            }
            Capability::Attributes => {
                "affinity, clamps and policies are unknown: only priorities are replayed"
            }
            Capability::Cgroups => "task groups are unknown: all tasks share the root group",
            Capability::Start => "load and virtual time at the start are unknown: they start at 0",
            Capability::Losses => "whether events were lost is unknown",
        }
    }

    /// Those that the end of a recording lists.
    ///
    /// # Errors
    /// It lists a name that this program does not know.
    pub fn listed(end: &End) -> Result<BTreeSet<Self>, UnknownCapability> {
        let names = end
            .facts
            .get(super::CAPABILITIES)
            .map_or("", String::as_str);
        names.split_whitespace().map(str::parse).collect()
    }

    /// The value of the fact [`super::CAPABILITIES`].
    pub fn list<'a>(capabilities: impl IntoIterator<Item = &'a Self>) -> String {
        let names: Vec<&str> = capabilities.into_iter().map(|one| one.name()).collect();
        names.join(" ")
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no capability has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the recording tells '{0}', which this version of alight does not know: use a newer one")]
pub struct UnknownCapability(pub String);

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(name: &str) -> Result<Self, UnknownCapability> {
        (Capability::ALL.into_iter())
            .find(|one| one.name() == name)
            .ok_or_else(|| UnknownCapability(name.to_owned()))
    }
}
