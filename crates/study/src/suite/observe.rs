// SPDX-License-Identifier: GPL-2.0-only
//! What a run of the suite is judged by, taken from its events.

use std::collections::BTreeMap;
use std::io;

use alight_trace::{Event, PrevState, Sink};
use serde::{Deserialize, Serialize};

/// What one task did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// When it came to another CPU: ns, CPU.
    pub cpus: Vec<(u64, u32)>,
    /// Its activations: woken, asleep again, ns.
    pub activations: Vec<(u64, u64)>,
}

/// Notes where tasks run and how long their activations take.
#[derive(Debug, Default)]
pub struct Observer {
    /// By thread id.
    pub tasks: BTreeMap<u32, Seen>,
    woken: BTreeMap<u32, u64>,
}

impl Sink for Observer {
    fn event(&mut self, time_ns: u64, cpu: u32, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Waking { task, .. } => {
                self.woken.insert(task.pid, time_ns);
            }
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                if matches!(prev_state, PrevState::Sleeping | PrevState::Dead)
                    && let Some(woken) = self.woken.remove(&prev.pid)
                {
                    let seen = self.tasks.entry(prev.pid).or_default();
                    seen.activations.push((woken, time_ns));
                }
                if next.pid != 0 {
                    let seen = self.tasks.entry(next.pid).or_default();
                    if seen.cpus.last().is_none_or(|last| last.1 != cpu) {
                        seen.cpus.push((time_ns, cpu));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
