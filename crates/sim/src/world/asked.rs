// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling attributes that a task requests, with all names resolved to indices (`struct
//! sched_attr`, the affinity, the group).

/// Scheduling attributes with all names resolved; `None`: unchanged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    pub class: Option<u32>,
    pub nice: Option<i8>,
    /// Index into `World::masks`.
    pub affinity: Option<u32>,
    pub uclamp_min: Option<u32>,
    pub uclamp_max: Option<u32>,
    /// Custom slice of a fair task, ns.
    pub slice_ns: Option<u64>,
    /// SCHED_FIFO or SCHED_RR; `class` is `None` then.
    pub realtime: Option<Realtime>,
    /// SCHED_DEADLINE; `class` and `realtime` are `None` then.
    pub deadline: Option<DlParams>,
    /// Index of a task group, `NONE` for the root.
    pub group: Option<u32>,
}

/// Parameters of SCHED_DEADLINE, ns: `runtime` in each `period`, within `deadline` of its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DlParams {
    pub runtime: u64,
    pub deadline: u64,
    pub period: u64,
}

/// Parameters of SCHED_FIFO and SCHED_RR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Realtime {
    /// The kernel's `p->prio`: 99 minus the requested priority.
    pub prio: u8,
    pub round_robin: bool,
}
