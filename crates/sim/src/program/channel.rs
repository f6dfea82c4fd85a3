// SPDX-License-Identifier: GPL-2.0-only
//! Pipes and sockets: the bytes in them, the tasks that wait, and wakeups at reads and writes.
//!
//! All tasks that wait at an end of a socket are woken together, the last one first
//! (`prepare_to_wait`, `__add_wait_queue`). For pipes the kernel's row says how many are woken.

mod memory;
mod mutex;

use crate::base::timeline::NONE;
use crate::kernel::{PipeReader, PipeWaiters, PipeWriter};
use crate::program::Programs;
use crate::program::effect::Effect;
use crate::program::sync::Waiting;
use crate::world::state::Interval;
use crate::world::waits::WaitQueue;
use alight_trace::Called;
use alight_workload::program::{ChannelKind, Op};
pub(crate) use memory::MessageMemory;
use mutex::PipeMutex;

/// Pages of a pipe (`PIPE_DEF_BUFFERS`).
const PIPE_SLOTS: usize = 16;
/// Bytes of a page.
const PAGE: u32 = 4096;
/// Send buffer of a socket (`net.core.wmem_default`), bytes of kernel memory.
const SEND_BUFFER: u32 = 212_992;

/// A pipe, or one direction of a socket pair. It is aligned to a cache line.
#[repr(align(64))]
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    kind: ChannelKind,
    /// Bytes that can be read.
    bytes: u64,
    /// Pipe: bytes left in each page, a ring.
    pages: [u16; PIPE_SLOTS],
    first_page: u8,
    nr_pages: u8,
    /// Socket: kernel memory charged to the sender.
    charged: u64,
    /// Size of the messages in the socket; all messages of a socket have one size.
    message: u32,
    pub readers: WaitQueue,
    pub writers: WaitQueue,
    /// The pipe's mutex while its holder does not run.
    pub mutex: PipeMutex,
    /// The pipe's mutex while its holder runs, or the receive queue's lock.
    lock: Interval,
    /// The CPU that last touched the cache lines.
    last_cpu: u32,
    /// It has room for any number of bytes.
    roomy: bool,
    /// Socket: the CPU that wrote last, if new memory for messages has a cost.
    writer: u32,
}

/// Kernel memory of one message on a stream socket (`SKB_TRUESIZE`): data with
/// its shared info in a power-of-two allocation, plus the `sk_buff`.
fn truesize(bytes: u32) -> u32 {
    const SHARED_INFO: u32 = 320;
    const SK_BUFF: u32 = 256;
    (bytes.next_multiple_of(64) + SHARED_INFO).next_power_of_two() + SK_BUFF
}

impl Channel {
    pub fn new(kind: ChannelKind) -> Self {
        Channel {
            kind,
            bytes: 0,
            pages: [0; PIPE_SLOTS],
            first_page: 0,
            nr_pages: 0,
            charged: 0,
            message: 0,
            readers: WaitQueue::default(),
            writers: WaitQueue::default(),
            mutex: PipeMutex::default(),
            lock: Interval::default(),
            last_cpu: NONE,
            roomy: false,
            writer: NONE,
        }
    }

    /// Puts up to `bytes` in; returns how many fitted. `begins`: the write begins here and has
    /// not waited yet.
    fn put(&mut self, bytes: u32, begins: bool) -> u32 {
        let taken = match self.kind {
            _ if self.roomy => bytes,
            ChannelKind::Pipe => self.put_pages(bytes, begins),
            ChannelKind::Socket if self.charged >= u64::from(SEND_BUFFER) => 0,
            ChannelKind::Socket => {
                self.message = bytes;
                self.charged += u64::from(truesize(bytes));
                bytes
            }
        };
        self.bytes += u64::from(taken);
        taken
    }

    /// When a write begins, its part beyond whole pages is appended to the last page, if all of
    /// that part fits there. The rest goes to pages of its own (`pipe_write`).
    fn put_pages(&mut self, bytes: u32, begins: bool) -> u32 {
        let (mut left, odd) = (bytes, bytes % PAGE);
        if begins && odd != 0 && self.nr_pages > 0 {
            let last = &mut self.pages
                [(self.first_page as usize + self.nr_pages as usize - 1) % PIPE_SLOTS];
            if u32::from(*last) + odd <= PAGE {
                *last += odd as u16;
                left -= odd;
            }
        }
        while left > 0 && (self.nr_pages as usize) < PIPE_SLOTS {
            let chunk = left.min(PAGE);
            let next = (self.first_page as usize + self.nr_pages as usize) % PIPE_SLOTS;
            self.pages[next] = chunk as u16;
            self.nr_pages += 1;
            left -= chunk;
        }
        bytes - left
    }

    /// Takes up to `bytes` out; returns how many there were.
    fn get(&mut self, bytes: u32) -> u32 {
        let given = u64::from(bytes).min(self.bytes) as u32;
        self.bytes -= u64::from(given);
        match self.kind {
            _ if self.roomy => {}
            ChannelKind::Pipe => {
                let mut left = given;
                while left > 0 {
                    let page = &mut self.pages[self.first_page as usize];
                    let part = left.min(u32::from(*page));
                    *page -= part as u16;
                    left -= part;
                    if *page == 0 {
                        self.first_page = (self.first_page + 1) % PIPE_SLOTS as u8;
                        self.nr_pages -= 1;
                    }
                }
            }
            // A message is freed when its last byte is read.
            ChannelKind::Socket => {
                self.charged = self.messages() * u64::from(truesize(self.message));
            }
        }
        given
    }

    /// Number of messages in a socket; 0 for a pipe.
    fn messages(&self) -> u64 {
        match self.kind {
            ChannelKind::Pipe => 0,
            ChannelKind::Socket => self.bytes.div_ceil(u64::from(self.message.max(1))),
        }
    }

    /// From now on there is always room: no task waits for it.
    pub fn gets_room(&mut self) {
        self.roomy = true;
        self.charged = 0;
        self.nr_pages = 0;
    }

    /// Adds bytes that no task wrote; from now on there is always room.
    pub fn gets_bytes(&mut self, bytes: u32) {
        self.gets_room();
        self.bytes += u64::from(bytes);
    }

    pub fn is_pipe(&self) -> bool {
        self.kind == ChannelKind::Pipe
    }

    fn is_full(&self) -> bool {
        match self.kind {
            _ if self.roomy => false,
            ChannelKind::Pipe => self.nr_pages as usize == PIPE_SLOTS,
            ChannelKind::Socket => self.charged >= u64::from(SEND_BUFFER),
        }
    }
}

impl Programs<'_> {
    /// If `task` waits for the channel, gives it the bytes that it lacks, or room, and takes it
    /// out of the wait queue; false if it does not wait there.
    pub fn channel_gives(&mut self, channel: u32, task: usize, lacks: Option<u32>) -> bool {
        let channel = &mut self.channels[channel as usize];
        let waits = [&mut channel.writers, &mut channel.readers]
            .into_iter()
            .any(|queue| queue.remove(&mut self.balancer.tasks, task as u32));
        if waits {
            match lacks {
                None => channel.gets_room(),
                Some(bytes) => channel.gets_bytes(bytes),
            }
        }
        waits
    }

    /// Waits for the channel's lock, first come first served, and for its cache lines. These come
    /// while the lock is held. `pipe_held`: the work with the mutex of a pipe.
    fn enter_channel(&mut self, cpu: usize, id: u32, pipe_held: u64) {
        let at = self.reached(cpu);
        let channel = &self.channels[id as usize];
        let (last, is_pipe) = (channel.last_cpu, channel.is_pipe());
        let lines = self.channel_lines_ns(cpu, last);
        let held = match is_pipe {
            true => pipe_held,
            false => self.costs(cpu).lock_hold,
        };
        let hold = self.ns(cpu, held) + lines;
        let channel = &mut self.channels[id as usize];
        channel.last_cpu = cpu as u32;
        if last == cpu as u32 {
            // What this CPU did with the lock before is over.
            channel.lock.release(at);
        }
        let wait = channel.lock.take(at, hold);
        self.count_lock_wait(wait);
        self.cpus[cpu].steal += wait + lines;
    }

    pub fn write(&mut self, cpu: usize, id: u32, bytes: u32) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        let waited = self.tasks[task].waited;
        if waited && self.looks_first(cpu, id) && self.channels[id as usize].is_full() {
            return self.wait_for_room(cpu, id);
        }
        if !self.pipe_lock(cpu, id) {
            return Effect::RetryAfterSleep;
        }
        self.enter_channel(cpu, id, self.costs(cpu).pipe_held);
        let left = bytes - self.tasks[task].moved;
        let channel = &mut self.channels[id as usize];
        let was_empty = channel.bytes == 0;
        let taken = channel.put(left, !waited);
        self.pipe_unlock(cpu, id);
        if taken > 0 {
            self.take_message(cpu, id);
        }
        let channel = &self.channels[id as usize];
        let news = channel.kind == ChannelKind::Socket
            || was_empty
            || self.kernel.pipes.reader == PipeReader::AtWrites;
        if taken > 0 && news {
            self.wake_channel(cpu, Waiting::Readers(id));
        }
        if taken == left {
            self.tasks[task].moved = 0;
            self.stats.messages += 1;
            let room = !self.channels[id as usize].is_full();
            self.pass_on(cpu, task, Waiting::Writers(id), room);
            return Effect::Done;
        }
        self.tasks[task].moved += taken;
        self.wait_for_room(cpu, id)
    }

    fn wait_for_room(&mut self, cpu: usize, id: u32) -> Effect {
        self.wait_for_channel(cpu, Waiting::Writers(id))
    }

    /// The current task of `cpu` waits for the channel.
    fn wait_for_channel(&mut self, cpu: usize, on: Waiting) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        self.tasks[task].waited = true;
        match self.all_wait_together(on) {
            Some(all) => self.wait_on_first(cpu, all),
            None => self.wait_on(cpu, on),
        }
        Effect::RetryAfterSleep
    }

    /// Wakes one task that waits for an end of a channel, or all of them.
    fn wake_channel(&mut self, cpu: usize, on: Waiting) {
        match self.all_wait_together(on) {
            Some(all) => _ = self.wake_all(cpu, all, true),
            None => self.wake_next(cpu, on),
        }
    }

    /// Wakes all pollers, which wait ahead of the other tasks, and one other task
    /// (`__wake_up_common`: pollers are not exclusive waiters).
    fn wake_next(&mut self, cpu: usize, on: Waiting) {
        while let Some(task) = self.first_waiting(on) {
            let polls = matches!(
                self.ops[self.tasks[task as usize].pc as usize],
                Op::Poll { .. }
            );
            self.wake_one(cpu, on, true);
            if !polls {
                return;
            }
        }
    }

    /// The queue whose tasks are all woken together: that of one end of a socket
    /// (`sock_def_readable`, `unix_write_space`), or that of both ends of a pipe, if the kernel has
    /// one queue for both.
    fn all_wait_together(&self, on: Waiting) -> Option<Waiting> {
        let (Waiting::Readers(id) | Waiting::Writers(id)) = on else {
            return None;
        };
        if !self.channels[id as usize].is_pipe() {
            return Some(on);
        }
        let together = self.kernel.pipes.waiters == PipeWaiters::All;
        together.then_some(Waiting::Readers(id))
    }

    /// Does the current task of `cpu`, which was woken, test whether it can go on before it takes
    /// the pipe's mutex (`pipe_readable`, `pipe_writable`)? Kernels that wake readers at each write
    /// do not test. A task that was woken for the mutex has tested already.
    fn looks_first(&self, cpu: usize, id: u32) -> bool {
        let channel = &self.channels[id as usize];
        channel.is_pipe()
            && self.kernel.pipes.reader != PipeReader::AtWrites
            && !channel.mutex.is_for(self.cpus[cpu].curr)
    }

    /// If one waiter at a time is woken, it wakes the next one if something is left for that
    /// (`wake_next_writer`, `wake_next_reader` in fs/pipe.c).
    fn pass_on(&mut self, cpu: usize, task: usize, on: Waiting, left: bool) {
        let waited = std::mem::take(&mut self.tasks[task].waited);
        if waited && left && self.all_wait_together(on).is_none() {
            self.wake_next(cpu, on);
        }
    }

    pub fn read(&mut self, cpu: usize, id: u32, bytes: u32) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        let waited = self.tasks[task].waited;
        if waited && self.looks_first(cpu, id) && self.channels[id as usize].bytes == 0 {
            return self.wait_for_channel(cpu, Waiting::Readers(id));
        }
        if !self.pipe_lock(cpu, id) {
            return Effect::RetryAfterSleep;
        }
        self.enter_channel(cpu, id, self.costs(cpu).pipe_read_held);
        let left = bytes - self.tasks[task].moved;
        let channel = &mut self.channels[id as usize];
        let (was_full, pages) = (channel.is_full(), channel.nr_pages);
        let messages = channel.messages();
        let given = channel.get(left);
        let freed = messages - channel.messages();
        self.free_messages(id, freed);
        self.pipe_unlock(cpu, id);
        let channel = &self.channels[id as usize];
        match channel.kind {
            ChannelKind::Pipe => {
                let wakes = match self.kernel.pipes.writer {
                    PipeWriter::PageFreed => channel.nr_pages < pages,
                    PipeWriter::WasFull => was_full,
                    PipeWriter::PageOfFullFreed => was_full && channel.nr_pages < pages,
                };
                if wakes {
                    self.wake_channel(cpu, Waiting::Writers(id));
                }
            }
            // Wakes all writers once three quarters of the buffer are free (unix_writable).
            ChannelKind::Socket if given > 0 && channel.charged * 4 <= u64::from(SEND_BUFFER) => {
                self.wake_all(cpu, Waiting::Writers(id), true);
            }
            ChannelKind::Socket => {}
        }
        if given == left {
            self.tasks[task].moved = 0;
            let more = self.channels[id as usize].bytes > 0;
            self.pass_on(cpu, task, Waiting::Readers(id), more);
            return Effect::Done;
        }
        self.tasks[task].moved += given;
        self.wait_for_channel(cpu, Waiting::Readers(id))
    }

    /// Waits until the channel is readable.
    pub fn poll(&mut self, cpu: usize, id: u32) -> Effect {
        let task = self.cpus[cpu].curr as usize;
        if !std::mem::take(&mut self.tasks[task].waited) {
            self.trace_call_begin(cpu, Called::Poll(id));
        }
        if self.channels[id as usize].bytes > 0 {
            self.trace_call_return(cpu, 1);
            return Effect::Done;
        }
        self.tasks[task].waited = true;
        self.wait_on_first(cpu, Waiting::Readers(id));
        Effect::RetryAfterSleep
    }
}

#[cfg(test)]
mod tests;
