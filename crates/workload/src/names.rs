// SPDX-License-Identifier: GPL-2.0-only
//! What the author of a workload calls what its tasks wait for, for messages. Nothing else reads it.

/// Names by id. A list may be shorter than the table of the workload: the rest has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Names of mutexes.
    pub mutexes: Vec<String>,
    /// Names of condition variables.
    pub conditions: Vec<String>,
    /// Names of semaphores.
    pub semaphores: Vec<String>,
    /// Names of barriers; empty: the barrier has no name.
    pub barriers: Vec<String>,
}
