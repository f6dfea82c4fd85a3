// SPDX-License-Identifier: GPL-2.0-only
//! Memory of the messages on sockets. A CPU keeps the memory of some messages that were read, for
//! the next ones that it sends. Further messages take new memory, which costs more
//! (`sock_alloc_send_pskb` over the slab caches). Memory returns to the CPU that sent the message,
//! whichever CPU reads it, as to a slab of that CPU. Later kernels have sheaves, which pass memory
//! on by way of the node instead; these are not modelled.

use crate::base::timeline::NONE;
use crate::program::Programs;

/// The memory that each CPU keeps.
#[derive(Debug)]
pub(crate) struct MessageMemory {
    /// Messages that each CPU can send without new memory.
    kept: Vec<u32>,
    /// The most messages that a CPU keeps.
    limit: u32,
}

impl MessageMemory {
    pub fn new(nr_cpus: usize, limit: u32) -> Self {
        MessageMemory {
            kept: vec![0; nr_cpus],
            limit,
        }
    }

    /// Takes the memory of a freed message of `cpu`; false if there is none.
    fn take(&mut self, cpu: usize) -> bool {
        let left = self.kept[cpu].checked_sub(1);
        self.kept[cpu] = left.unwrap_or(0);
        left.is_some()
    }

    fn free(&mut self, cpu: usize, messages: u64) {
        let kept = u64::from(self.kept[cpu]) + messages;
        self.kept[cpu] = kept.min(u64::from(self.limit)) as u32;
    }
}

impl Programs<'_> {
    /// `cpu` sends a message, if the channel is a socket: takes memory for it.
    pub(super) fn take_message(&mut self, cpu: usize, id: u32) {
        let new = self.costs(cpu).socket_new;
        if new == 0 || self.channels[id as usize].is_pipe() {
            return;
        }
        self.channels[id as usize].writer = cpu as u32;
        if !self.message_memory.take(cpu) {
            self.charge(cpu, new);
        }
    }

    /// Messages of a channel were read to their end: their memory returns. All of it is assumed to
    /// be of the CPU that wrote last.
    pub(super) fn free_messages(&mut self, id: u32, messages: u64) {
        let writer = self.channels[id as usize].writer;
        if messages > 0 && writer != NONE {
            self.message_memory.free(writer as usize, messages);
        }
    }
}
