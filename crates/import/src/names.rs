// SPDX-License-Identifier: GPL-2.0-only
//! Names of tasks, each stored once.

use std::collections::HashMap;

use crate::item::NameId;
use crate::pids::Pids;

/// Bytes of a name (`TASK_COMM_LEN` of include/linux/sched.h), the zero at the end included.
const COMM: usize = 16;

/// All names of a file.
#[derive(Debug)]
pub(crate) struct Names {
    list: Vec<String>,
    by_text: HashMap<[u8; COMM], NameId>,
    /// The name that a task had last: it seldom changes.
    latest: Pids<([u8; COMM], NameId)>,
}

impl Names {
    /// None.
    pub fn new() -> Self {
        Names {
            list: vec![String::new()],
            by_text: HashMap::new(),
            latest: Pids::new(),
        }
    }

    /// The name of a task, up to its first zero byte or 15 bytes.
    pub fn of(&mut self, pid: u32, comm: &[u8]) -> NameId {
        let mut key = [0; COMM];
        let length = comm.len().min(COMM - 1);
        key[..length].copy_from_slice(&comm[..length]);
        let latest = self.latest.entry(pid);
        if latest.0 == key {
            return latest.1;
        }
        // What stands behind the end is old.
        let end = key.iter().position(|byte| *byte == 0).unwrap_or(COMM - 1);
        key[end..].fill(0);
        let id = match self.by_text.get(&key) {
            Some(id) => *id,
            None if end == 0 => 0,
            None => {
                let id = self.list.len() as NameId;
                (self.list).push(String::from_utf8_lossy(&key[..end]).into_owned());
                self.by_text.insert(key, id);
                id
            }
        };
        *latest = (key, id);
        id
    }

    /// The text of a name; empty if it was not told.
    pub fn text(&self, id: NameId) -> &str {
        self.list.get(id as usize).map_or("", String::as_str)
    }
}
