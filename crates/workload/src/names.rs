// SPDX-License-Identifier: GPL-2.0-only
//! What the author of a workload calls what its tasks wait for, for messages. Nothing else reads it.

/// Names by id. A list may be shorter than the table of the workload: the rest has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Of mutexes.
    pub mutexes: Vec<String>,
    /// Of condition variables.
    pub conditions: Vec<String>,
    /// Of semaphores.
    pub semaphores: Vec<String>,
    /// Of barriers; an empty one has none.
    pub barriers: Vec<String>,
}
