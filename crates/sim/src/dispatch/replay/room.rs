// SPDX-License-Identifier: GPL-2.0-only
//! Adds room or bytes to the pipes and sockets of a recording, when no task can go on.
//!
//! Of several writers, one may fill a pipe that had room for another one in the recording, while
//! the reader waits elsewhere for the message of that one: the pipe gets room for all. Of several
//! readers, one may take the bytes that another one got in the recording, and the other would have
//! caused the next bytes: the pipe gets the missing bytes.

use crate::dispatch::Sim;
use crate::world::state::Life;
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
    /// No task can go on: gives the first task that waits for a channel of a recording the room or
    /// the bytes that it waits for, and wakes it. False if there is none.
    pub fn make_room(&mut self) -> bool {
        if self.replay.channels.is_empty() {
            return false;
        }
        for task in 0..self.tasks.len() {
            let t = &self.tasks[task];
            if t.life != Life::Asleep || t.fresh {
                continue;
            }
            let (channel, lacks) = match self.ops[t.pc as usize] {
                Op::Write { channel, .. } => (channel, None),
                Op::Read { channel, bytes } => (channel, Some(bytes - t.moved)),
                _ => continue,
            };
            let repeated = |range: &Range<u32>| range.contains(&channel);
            if self.replay.channels.iter().any(repeated) && self.channel_gives(channel, task, lacks)
            {
                let cpu = self.tasks[task].cpu as usize;
                self.tasks[task].timer_point = self.now;
                let world = self.world();
                (world.cpus[cpu].timers).insert(&mut world.nodes, task as u32, world.now);
                self.arm(cpu);
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
