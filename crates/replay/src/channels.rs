// SPDX-License-Identifier: GPL-2.0-only
//! Pipes and sockets whose calls a recording tells all of: a replay reads and writes them, so that
//! it follows from the replay, and not from the recording, whether a reader sleeps.
//!
//! One direction of a socket counts as a pipe does. It is replayed as such if
//!
//! - one task reads it, or several as many bytes each, each once (a gate, at which tasks wait for a
//!   start);
//! - no more was read at any time than had been written: nobody else writes it;
//! - each sleep in a call on it was ended by a task in a call on it.
//!
//! Of others the wakings are replayed, one by one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

use alight_recording::workload::{
    Call, Context, Event, Item, Left, TaskFact, What, WorkloadReader,
};
use alight_workload::program::{ChannelId, ChannelKind};

use crate::error::NotReplayable;

/// The pipes and sockets of a recording that are replayed as such.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    of: BTreeMap<u64, (ChannelId, ChannelKind)>,
}

impl Channels {
    /// Reads a recording to its end to find them. One that tells of no calls has none.
    ///
    /// # Errors
    /// The file is not whole.
    pub fn find<R: BufRead>(reader: &mut WorkloadReader<R>) -> Result<Self, NotReplayable> {
        let mut books = Books::default();
        while let Some(item) = reader.next_item()? {
            match item {
                Item::Task(fact) => books.fact(&fact),
                Item::Event(event) => books.event(&event),
            }
        }
        Ok(books.close())
    }

    /// The channel that is this object.
    pub(crate) fn of(&self, object: u64) -> Option<ChannelId> {
        self.of.get(&object).map(|(channel, _)| *channel)
    }

    /// What each is.
    pub(crate) fn kinds(&self) -> Vec<ChannelKind> {
        self.of.values().map(|(_, kind)| *kind).collect()
    }
}

/// What a call does to a channel, if it does.
pub(crate) fn does(call: Call) -> Option<(ChannelKind, bool)> {
    match call {
        Call::PipeRead => Some((ChannelKind::Pipe, false)),
        Call::PipeWrite => Some((ChannelKind::Pipe, true)),
        Call::SocketReceive => Some((ChannelKind::Socket, false)),
        Call::SocketSend => Some((ChannelKind::Socket, true)),
        _ => None,
    }
}

/// What is known of an object.
#[derive(Debug, Default)]
struct Book {
    kind: Option<ChannelKind>,
    /// How often each task reads it.
    readers: BTreeMap<u32, u32>,
    /// Bytes of a read, if all are alike.
    read_bytes: Option<u64>,
    /// They are not.
    reads_differ: bool,
    users: BTreeSet<u32>,
    written: u64,
    read: u64,
    /// Bytes that are being written.
    writing: u64,
    /// It cannot be replayed as what it is.
    unlike: bool,
}

impl Book {
    /// Whoever reads it does so once, and takes as much as the others.
    fn is_gate(&self) -> bool {
        !self.readers.is_empty()
            && !self.reads_differ
            && self.readers.values().all(|&reads| reads == 1)
    }
}

/// A call that goes on.
#[derive(Debug, Clone, Copy)]
struct Within {
    object: u64,
    writes: bool,
    count: u64,
    /// The task sleeps in it.
    asleep: bool,
    /// It was woken on its way to sleep.
    early: bool,
}

#[derive(Debug, Default)]
struct Books {
    objects: BTreeMap<u64, Book>,
    calls: HashMap<u32, Within>,
    chosen: BTreeSet<u32>,
    left_out: BTreeSet<u32>,
    lost: bool,
}

impl Books {
    fn fact(&mut self, fact: &TaskFact) {
        if fact.chosen == Some(true) {
            self.chosen.insert(fact.pid);
        }
        if fact.recorder == Some(true) || fact.kernel_thread == Some(true) {
            self.left_out.insert(fact.pid);
        }
    }

    fn event(&mut self, event: &Event) {
        match event.what {
            What::Lost { .. } => self.lost = true,
            What::Fork { parent, child } if self.chosen.contains(&parent) => {
                self.chosen.insert(child);
            }
            What::CallBegin {
                pid,
                call,
                object,
                count,
            } => self.begins(pid, call, object, count.into()),
            What::CallEnd { pid, call, result } => self.ends(pid, call, result),
            What::Waking {
                pid,
                current,
                context,
                ..
            } => self.waking(pid, current, context == Some(Context::Task)),
            // It had not left its CPU, and did not sleep.
            What::Wakeup { pid, .. } => {
                if let Some(call) = self.calls.get_mut(&pid) {
                    call.early = false;
                }
            }
            What::Switch {
                prev, left, next, ..
            } => {
                if matches!(left, Left::Asleep | Left::Blocked)
                    && let Some(call) = self.calls.get_mut(&prev)
                {
                    call.asleep = !std::mem::take(&mut call.early);
                }
                // It runs though nobody woke it.
                if let Some(call) = self.calls.get(&next).filter(|call| call.asleep) {
                    let object = call.object;
                    self.is_unlike(object);
                }
            }
            _ => {}
        }
    }

    fn is_unlike(&mut self, object: u64) {
        self.objects.entry(object).or_default().unlike = true;
    }

    fn begins(&mut self, pid: u32, call: Call, object: u64, count: u64) {
        let Some((kind, writes)) = does(call) else {
            self.calls.remove(&pid);
            return;
        };
        let book = self.objects.entry(object).or_default();
        book.unlike |= *book.kind.get_or_insert(kind) != kind;
        book.users.insert(pid);
        match writes {
            true => book.writing += count,
            false => *book.readers.entry(pid).or_default() += 1,
        }
        let within = Within {
            object,
            writes,
            count,
            asleep: false,
            early: false,
        };
        if let Some(open) = self.calls.insert(pid, within) {
            // Its end was not told.
            self.is_unlike(open.object);
        }
    }

    fn ends(&mut self, pid: u32, call: Call, result: i32) {
        let bytes = u64::try_from(result).unwrap_or(0);
        let Some((_, writes)) = does(call) else {
            return;
        };
        let Some(within) = self.calls.remove(&pid).filter(|call| call.writes == writes) else {
            return;
        };
        let book = self.objects.entry(within.object).or_default();
        if writes {
            book.writing -= within.count;
            book.written += bytes;
        } else {
            book.read += bytes;
            book.reads_differ |= *book.read_bytes.get_or_insert(bytes) != bytes;
            book.unlike |= book.read > book.written + book.writing;
        }
    }

    fn waking(&mut self, pid: u32, current: u32, by_task: bool) {
        let by = self.calls.get(&current).map(|call| call.object);
        let Some(call) = self.calls.get_mut(&pid) else {
            return;
        };
        call.early = !std::mem::take(&mut call.asleep);
        let object = call.object;
        if !by_task || by != Some(object) {
            self.is_unlike(object);
        }
    }

    fn close(self) -> Channels {
        if self.lost {
            return Channels::default();
        }
        let replayed = |pid: &u32| {
            !self.left_out.contains(pid) && (self.chosen.is_empty() || self.chosen.contains(pid))
        };
        let alike = self.objects.iter().filter(|(_, book)| {
            !book.unlike
                && (book.readers.len() == 1 || book.is_gate())
                && book.read <= book.written + book.writing
                && book.users.iter().all(replayed)
        });
        let of = alike
            .zip(0..)
            .filter_map(|((&object, book), channel)| Some((object, (channel, book.kind?))))
            .collect();
        Channels { of }
    }
}
