// SPDX-License-Identifier: GPL-2.0-only
//! Calls. Of a sleep it says which call it is. A call on a pipe or a socket that is replayed as
//! such is one operation from its begin to its end: what happens in it (work of the kernel, sleeps,
//! wakings) follows from that.
//!
//! A write stands in the program before what happens in its call, a read behind it. In the order of
//! the begins of writes and the ends of reads, each read finds its bytes. A write may find no room,
//! where other writers were faster than they were when recorded: it sleeps, as it would. If then
//! nobody can go on, the simulator makes room (`crates/sim/src/dispatch/replay/room.rs`).

use alight_recording::workload::Call;
use alight_workload::program::{ChannelId, Op};

/// Whether what the call does is work of the kernel in the replay, too: a call on a futex or an
/// eventfd, or one that waits for one of several.
fn enters(call: Call) -> bool {
    waits(call) || matches!(call, Call::FutexWake | Call::EventfdWrite)
}

/// Whether the call waits for others.
fn waits(call: Call) -> bool {
    matches!(call, Call::FutexWait | Call::EventfdRead | Call::Poll)
}

use super::Window;
use crate::channels::does;

/// A call that a task is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    channel: ChannelId,
    /// The operation of a write.
    write: Option<usize>,
}

impl Window<'_> {
    pub(super) fn call_begins(&mut self, now: u64, pid: u32, call: Call, object: u64, count: u32) {
        self.sleeps_by(pid, call, Some(call));
        if enters(call) {
            return self.enters_kernel(now, pid, (call, object, count));
        }
        let (Some((_, writes)), Some(channel)) = (does(call), self.channels.of(object)) else {
            return;
        };
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        self.book(now, task);
        self.tasks[task].flush();
        let write = writes.then(|| {
            let bytes = count;
            self.tasks[task].push(Op::Write { channel, bytes })
        });
        self.tasks[task].call = Some(Open { channel, write });
    }

    pub(super) fn call_ends(&mut self, now: u64, pid: u32, call: Call, result: i32) {
        self.sleeps_by(pid, call, None);
        if enters(call) {
            return self.leaves_kernel(now, pid, call);
        }
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        if self.tasks[task].call.is_none() {
            return;
        }
        self.book(now, task);
        let Some(Open { channel, write }) = self.tasks[task].call.take() else {
            return;
        };
        let bytes = u32::try_from(result).unwrap_or(0);
        let ended = &mut self.tasks[task];
        match write {
            Some(at) if bytes == 0 => ended.set(at, Op::Run { ns: 0 }),
            Some(at) => ended.set(at, Op::Write { channel, bytes }),
            None if bytes == 0 => {}
            None => _ = ended.push(Op::Read { channel, bytes }),
        }
        self.health.calls += u64::from(bytes != 0);
    }

    /// A task is in the kernel from now on.
    fn enters_kernel(&mut self, now: u64, pid: u32, (call, object, count): (Call, u64, u32)) {
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        self.book(now, task);
        self.tasks[task].flush();
        self.tasks[task].enters = true;
        match call {
            Call::FutexWait => _ = self.waited_on.insert((object, task)),
            // Who wakes one of those among whom it waits itself at other times releases a lock.
            Call::FutexWake => {
                self.tasks[task].unlocks = count == 1 && self.waited_on.contains(&(object, task));
            }
            _ => {}
        }
    }

    /// A task leaves the kernel. If it has waited there, it looks whether to give way.
    fn leaves_kernel(&mut self, now: u64, pid: u32, call: Call) {
        let Some(&task) = self.by_pid.get(&pid) else {
            return;
        };
        self.book(now, task);
        self.tasks[task].flush();
        self.tasks[task].unlocks = false;
        if std::mem::take(&mut self.tasks[task].enters) && waits(call) {
            self.tasks[task].push(Op::Enter { ns: 0 });
        }
    }

    /// A task begins or ends a call that sleeps for a time; `now`: the one that it is in.
    fn sleeps_by(&mut self, pid: u32, call: Call, now: Option<Call>) {
        if matches!(call, Call::Sleep | Call::SleepUntil)
            && let Some(&task) = self.by_pid.get(&pid)
        {
            self.tasks[task].sleep_call = now;
        }
    }
}
