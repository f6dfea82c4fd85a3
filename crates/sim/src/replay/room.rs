// SPDX-License-Identifier: GPL-2.0-only
//! Room in the pipes and sockets of a recording. Of several writers one may fill a pipe that had room
//! for another when it was recorded, whose message the reader waits for elsewhere. When nobody can
//! go on any more, the pipe gets room for all.

use crate::state::{Life, Sim};
use alight_workload::program::{Op, Workload};
use std::ops::Range;

/// The channels of workloads that repeat a recording.
pub(super) fn repeated(workloads: &[Workload]) -> Box<[Range<u32>]> {
    let mut first = 0;
    let mut ranges = vec![];
    for workload in workloads {
        let end = first + workload.channels.len() as u32;
        if workload.repeats.is_some() && end != first {
            ranges.push(first..end);
        }
        first = end;
    }
    ranges.into()
}

impl Sim<'_> {
    /// Nobody can go on: makes room for the first task that waits for some in a channel of a
    /// recording, and wakes it. False if there is none.
    pub fn make_room(&mut self) -> bool {
        if self.replay.channels.is_empty() {
            return false;
        }
        for task in 0..self.tasks.len() {
            let t = &self.tasks[task];
            if t.life != Life::Asleep || t.fresh {
                continue;
            }
            let Op::Write { channel, .. } = self.ops[t.pc as usize] else {
                continue;
            };
            let repeated = |range: &Range<u32>| range.contains(&channel);
            if self.replay.channels.iter().any(repeated) && self.waits_for_room(channel, task) {
                self.channels[channel as usize].gets_room();
                let cpu = self.tasks[task].cpu as usize;
                self.tasks[task].timer_point = self.now;
                (self.cpus[cpu].timers).insert(&mut self.nodes, task as u32, self.now);
                self.arm(cpu);
                return true;
            }
        }
        false
    }

    /// Takes the task out of the queue of those that wait for the channel.
    fn waits_for_room(&mut self, channel: u32, task: usize) -> bool {
        let channel = &mut self.channels[channel as usize];
        [&mut channel.writers, &mut channel.readers]
            .into_iter()
            .any(|queue| queue.remove(&mut self.tasks, task as u32))
    }
}

#[cfg(test)]
mod tests;
