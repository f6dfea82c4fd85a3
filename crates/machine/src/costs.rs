// SPDX-License-Identifier: GPL-2.0-only
//! What kernel paths cost. Cost classes are written once for a class of cores
//! at a reference clock and hold for every machine with such cores: work that
//! the core does takes the same cycles at any clock, fetching a cache line
//! takes the same time.

use crate::figure::Provenance;
use crate::model::Costs;
use crate::reader::At;

/// How a cost follows the clock of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The same cycles at any clock.
    Cycles,
    /// The same time at any clock: it waits for memory or another core.
    Time,
}

/// What a cost is that a class does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// Its class is refused.
    Missing,
    /// So many percent of the cost with this key, which stands before it.
    Part(u64, &'static str),
    /// Part of other costs, which were stated or fitted without telling the two apart: nothing by itself.
    Within,
}

/// One member of [`Costs`].
pub(crate) struct CostField {
    /// Its key in files.
    pub key: &'static str,
    /// What it is, for people.
    pub meaning: &'static str,
    pub clock: Clock,
    /// What it is where a class does not say it.
    pub otherwise: Otherwise,
    pub of: fn(&mut Costs) -> &mut u32,
}

macro_rules! field {
    ($name:ident, $clock:ident, $meaning:literal) => {
        field!($name, $clock, $meaning, Otherwise::Missing)
    };
    ($name:ident, $clock:ident, $meaning:literal, else $other:ident) => {
        field!(
            $name,
            $clock,
            $meaning,
            Otherwise::Part(100, stringify!($other))
        )
    };
    ($name:ident, $clock:ident, $meaning:literal, $otherwise:expr) => {
        CostField {
            key: stringify!($name),
            meaning: $meaning,
            clock: Clock::$clock,
            otherwise: $otherwise,
            of: |costs| &mut costs.$name,
        }
    };
}

/// All costs, in the order of [`Costs`].
pub(crate) const COST_FIELDS: [CostField; 30] = [
    field!(switch_ns, Cycles, "context switch with pick"),
    field!(yield_ns, Cycles, "sched_yield back to the same task"),
    field!(futex_ns, Cycles, "futex call that does not block"),
    field!(mutex_ns, Cycles, "uncontended mutex, lock or unlock"),
    field!(pipe_ns, Cycles, "pipe write"),
    field!(pipe_read_ns, Cycles, "pipe read", else pipe_ns),
    field!(
        pipe_held_ns,
        Cycles,
        "pipe write, in the pipe's mutex and to be preempted",
        // Of 6005 and 5412 interruptions on Linux 7.2 (amd64, in a guest) 26 and 22 %.
        Otherwise::Part(26, "pipe_ns")
    ),
    field!(
        pipe_read_held_ns,
        Cycles,
        "pipe read, likewise",
        Otherwise::Part(22, "pipe_read_ns")
    ),
    field!(socket_ns, Cycles, "socket send"),
    field!(socket_read_ns, Cycles, "socket receive", else socket_ns),
    field!(wakeup_ns, Cycles, "wakeup, fixed part"),
    field!(
        wakeup_clock_ns,
        Cycles,
        "of a wakeup, up to where the queue's clock is read",
        // 768 of 2112 ns on Linux 6.1 (amd64, in a guest).
        Otherwise::Part(36, "wakeup_ns")
    ),
    field!(select_ns, Cycles, "CPU selection without a scan"),
    field!(scan_local_ns, Time, "scan, each CPU of the same LLC"),
    field!(scan_remote_ns, Time, "scan, each CPU of another LLC"),
    field!(slow_scan_ns, Time, "slow path, each CPU"),
    field!(ipi_send_ns, Cycles, "sending an IPI"),
    field!(ipi_receive_ns, Cycles, "IPI sent to handler running"),
    field!(wakelist_ns, Cycles, "appending to a wake list"),
    field!(lock_ns, Cycles, "taking a free runqueue lock"),
    field!(lock_hold_ns, Cycles, "holding it for one enqueue"),
    field!(newidle_ns, Cycles, "newidle balance, fixed part"),
    field!(newidle_cpu_ns, Time, "newidle balance, each CPU"),
    field!(tick_ns, Cycles, "timer tick"),
    field!(timer_ns, Cycles, "hrtimer interrupt"),
    field!(idle_exit_ns, Cycles, "leaving the idle loop"),
    field!(fork_ns, Cycles, "fork or clone, in the parent"),
    field!(
        fork_mm_ns,
        Cycles,
        "fork of a process, beyond a thread's, in the parent",
        Otherwise::Within
    ),
    field!(
        block_ns,
        Cycles,
        "blocking, in the sleeper: on its way into sleep and out of it",
        Otherwise::Within
    ),
    field!(
        socket_new_ns,
        Cycles,
        "memory of a message on a socket beyond memory.messages_kept",
        Otherwise::Within
    ),
];

/// Key of a class: the times to enter and leave idle states, in thousandths of those that the machine
/// states. A device tree and firmware state the longest that they may take.
pub(crate) const IDLE_TIMES: &str = "idle_times_permille";

/// Costs of a class as a file states them.
#[derive(Debug, Clone)]
pub(crate) struct CostClass {
    pub name: String,
    /// The class at the end of the chain of classes that are `like` another: `x86` of `x86-efficient`.
    pub family: String,
    /// Clock at which the costs hold.
    pub reference_khz: At<u64>,
    /// In the order of [`COST_FIELDS`]; `None`: within other costs.
    pub values: Vec<Option<(At<u64>, Provenance)>>,
    /// [`IDLE_TIMES`].
    pub idle_times: u64,
}

impl CostClass {
    /// Value of the field number `index` at the clock `top_khz`, rounded to the
    /// nearest ns and not below 1 unless it is stated as 0; 0 where it is not stated.
    pub fn at(&self, index: usize, top_khz: u64) -> u32 {
        let Some((stated, _)) = &self.values[index] else {
            return 0;
        };
        let stated = stated.value;
        let scaled = match COST_FIELDS[index].clock {
            Clock::Time => stated,
            Clock::Cycles => {
                let top = top_khz.max(1);
                let scaled = (stated * self.reference_khz.value + top / 2) / top;
                scaled.max(stated.min(1))
            }
        };
        u32::try_from(scaled).unwrap_or(u32::MAX)
    }

    /// All costs at the clock `top_khz`.
    pub fn costs(&self, top_khz: u64) -> Costs {
        let mut costs = Costs::default();
        for (index, field) in COST_FIELDS.iter().enumerate() {
            *(field.of)(&mut costs) = self.at(index, top_khz);
        }
        costs
    }
}
