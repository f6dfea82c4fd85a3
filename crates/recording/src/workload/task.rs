// SPDX-License-Identifier: GPL-2.0-only
//! What is known of a task.

use serde::{Deserialize, Serialize};

/// What is known of a task from a moment on: at first sight, and again when something changes. A
/// field that is `None` is not known; in a later fact it is as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskFact {
    /// From when on, ns on the clock of the events.
    pub time: u64,
    /// Its number.
    pub pid: u32,
    /// Its name, at most 15 bytes; what is not UTF-8 is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// The number of its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tgid: Option<u32>,
    /// Whether it is a kernel thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_thread: Option<bool>,
    /// Whether it belongs to the workload that was to be recorded. Children of a chosen task are
    /// chosen. If no task of a recording is, the workload is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<bool>,
    /// Whether it belongs to the program that recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorder: Option<bool>,
    /// Its group of the cpu controller, a path that begins with `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// CPUs that it may use, as a list like `0-3,6`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<String>,
    /// Scheduling policy. A call of `sched_setattr()` that sets the policy or the nice value is told
    /// even if it changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Nice value, -20 to 19.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// Priority of the policies fifo and rr, 1 to 99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rt_priority: Option<u32>,
    /// `uclamp_min` that was asked for, 0 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_min: Option<u32>,
    /// `uclamp_max` that was asked for, 0 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uclamp_max: Option<u32>,
    /// Slice that was asked for, ns; of a deadline task its runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice_ns: Option<u64>,
    /// Period of a deadline task, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dl_period_ns: Option<u64>,
    /// Deadline of a deadline task, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dl_deadline_ns: Option<u64>,
    /// CPU that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Whether it runs, waits or sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// `util_avg`, 0 to 1024 and somewhat above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub util_avg: Option<u32>,
    /// `vruntime`, ns at nice 0, less `min_vruntime` of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vruntime: Option<i64>,
    /// `vlag`, of EEVDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlag: Option<i64>,
    /// `wakee_flips`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakee_flips: Option<u32>,
}

/// A scheduling policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// `SCHED_NORMAL`
    Normal,
    /// `SCHED_FIFO`
    Fifo,
    /// `SCHED_RR`
    Rr,
    /// `SCHED_BATCH`
    Batch,
    /// `SCHED_IDLE`
    Idle,
    /// `SCHED_DEADLINE`
    Deadline,
    /// `SCHED_EXT`
    Ext,
}

/// What a task does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It is on a CPU.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It sleeps.
    Asleep,
    /// It sleeps and signals do not end that.
    Blocked,
}
