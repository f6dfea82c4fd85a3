// SPDX-License-Identifier: GPL-2.0-only
//! Perfetto protobuf: ftrace events in bundles per CPU, and tracks for what ftrace has no event for.
//!
//! The messages are those of perfetto_trace.proto; each constant below is a field number of it. Perfetto sorts what it
//! reads by time and, at equal times, by CPU. When a bundle is full, those of all CPUs are written, so that a reader
//! with little memory sees no event of a quiet CPU late.

mod prologue;
mod tracks;
mod wire;

use std::io;

use crate::event::{Event, TaskRef};
use crate::header::TraceHeader;
use crate::inline_bytes::InlineBytes;
use crate::tasks::{TaskName, TaskTable};
use tracks::Tracks;
use wire::{bytes_field, short_message, signed_field, uint_field, varint_len};

/// Bytes of a bundle that is due: some hundred events, so that the packet around them costs nothing.
const BUNDLE_BYTES: usize = 8 * 1024;

/// More than any event but a long `print` takes.
const EVENT_BYTES: usize = 256;

/// `cpu_idle`'s state at the exit: `PWR_EVENT_EXIT`.
const PWR_EVENT_EXIT: u64 = u32::MAX as u64;

mod field {
    pub(super) const TRACE_PACKET: u32 = 1;
    pub(super) const PACKET_FTRACE_EVENTS: u32 = 1;
    pub(super) const BUNDLE_CPU: u32 = 1;
    pub(super) const BUNDLE_EVENT: u32 = 2;
    pub(super) const EVENT_TIMESTAMP: u32 = 1;
    pub(super) const EVENT_PID: u32 = 2;
    pub(super) const PRINT: u32 = 3;
    pub(super) const SCHED_SWITCH: u32 = 4;
    pub(super) const CPU_FREQUENCY: u32 = 11;
    pub(super) const CPU_IDLE: u32 = 13;
    pub(super) const SCHED_WAKEUP: u32 = 17;
    pub(super) const SCHED_WAKING: u32 = 20;
    pub(super) const SCHED_WAKEUP_NEW: u32 = 114;
    pub(super) const SCHED_PROCESS_EXIT: u32 = 238;
    pub(super) const SCHED_PROCESS_FORK: u32 = 239;
    pub(super) const SCHED_MIGRATE_TASK: u32 = 491;
    pub(super) const PRINT_BUF: u32 = 2;
}

/// A task as its messages begin: comm and pid under the field numbers of three places.
struct Labels {
    /// comm = 1, pid = 2: most events, and `prev` of a switch.
    first: InlineBytes<32>,
    /// comm = 5, pid = 6: `next` of a switch.
    next: InlineBytes<32>,
    /// comm = 3, pid = 4: the child of a fork.
    child: InlineBytes<32>,
    /// `comm` alone, for annotations.
    comm: InlineBytes<16>,
    tgid: u32,
}

/// Turns events into packets.
pub(crate) struct PerfettoEncoder {
    tasks: TaskTable<Labels>,
    /// The bundle of each CPU, without the packet around it; its cpu field is there from the start.
    bundles: Vec<Vec<u8>>,
    clock: Clock,
    tracks: Tracks,
}

/// Times under which Perfetto's sorting by (time, CPU) gives back the order of the events.
struct Clock {
    last_ns: u64,
    last_cpu: u32,
}

impl Clock {
    /// `time_ns`, or the next nanosecond where a lower CPU follows a higher one within an instant.
    fn stamp(&mut self, time_ns: u64, cpu: u32) -> u64 {
        if time_ns > self.last_ns {
            self.last_ns = time_ns;
        } else if cpu < self.last_cpu {
            self.last_ns += 1;
        }
        self.last_cpu = cpu;
        self.last_ns
    }

    /// The time for a packet outside the bundles, which Perfetto sorts before events of the same time.
    fn now(&self, time_ns: u64) -> u64 {
        time_ns.max(self.last_ns)
    }
}

impl PerfettoEncoder {
    /// Renders every name of the header and writes the packets that come before the events.
    pub(crate) fn new(header: &TraceHeader, out: &mut Vec<u8>) -> Self {
        prologue::write(header, out);
        let bundle = |cpu: usize| {
            let mut bundle = Vec::with_capacity(BUNDLE_BYTES + EVENT_BYTES);
            uint_field(&mut bundle, field::BUNDLE_CPU, cpu as u64);
            bundle
        };
        Self {
            tasks: TaskTable::new(header, Labels::new),
            bundles: (0..header.cpus.len()).map(bundle).collect(),
            clock: Clock {
                last_ns: header.start_ns,
                last_cpu: 0,
            },
            tracks: Tracks::new(header.cpus.len()),
        }
    }

    /// Takes one event; packets that are complete go to `out`.
    ///
    /// # Errors
    /// `InvalidInput` for a pid that the header does not list.
    pub(crate) fn event(
        &mut self,
        time_ns: u64,
        cpu: u32,
        event: Event<'_>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        match event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                let stamp = self.clock.stamp(time_ns, cpu);
                let prev_label = self.tasks.label(prev.pid, cpu)?.first;
                let next_label = self.tasks.label(next.pid, cpu)?.next;
                self.ftrace(stamp, cpu, prev.pid, field::SCHED_SWITCH, |out| {
                    out.extend_from_slice(prev_label.as_slice());
                    signed_field(out, 3, i64::from(prev.prio));
                    uint_field(out, 4, u64::from(prev_state.raw()));
                    out.extend_from_slice(next_label.as_slice());
                    signed_field(out, 7, i64::from(next.prio));
                });
                self.tasks.set_current(cpu, next.pid);
            }
            Event::Waking { task, target_cpu } => {
                self.wakeup(time_ns, cpu, field::SCHED_WAKING, task, target_cpu)?
            }
            Event::Wakeup { task, target_cpu } => {
                self.wakeup(time_ns, cpu, field::SCHED_WAKEUP, task, target_cpu)?
            }
            Event::WakeupNew { task, target_cpu } => {
                self.wakeup(time_ns, cpu, field::SCHED_WAKEUP_NEW, task, target_cpu)?;
            }
            Event::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } => {
                let label = self.tasks.label(task.pid, cpu)?.first;
                self.in_current(time_ns, cpu, field::SCHED_MIGRATE_TASK, |out| {
                    out.extend_from_slice(label.as_slice());
                    signed_field(out, 3, i64::from(task.prio));
                    uint_field(out, 4, u64::from(orig_cpu));
                    uint_field(out, 5, u64::from(dest_cpu));
                });
            }
            Event::IdleEnter { state } => {
                self.of_cpu(time_ns, cpu, field::CPU_IDLE, u64::from(state))
            }
            Event::IdleExit => self.of_cpu(time_ns, cpu, field::CPU_IDLE, PWR_EVENT_EXIT),
            Event::Frequency { khz } => {
                self.of_cpu(time_ns, cpu, field::CPU_FREQUENCY, u64::from(khz))
            }
            Event::Fork { parent, child } => {
                let parent = self.tasks.label(parent.pid, cpu)?.first;
                let child = self.tasks.label(child.pid, cpu)?.child;
                self.in_current(time_ns, cpu, field::SCHED_PROCESS_FORK, |out| {
                    out.extend_from_slice(parent.as_slice());
                    out.extend_from_slice(child.as_slice());
                });
            }
            Event::Exit { task } => {
                let Labels { first, tgid, .. } = *self.tasks.label(task.pid, cpu)?;
                self.in_current(time_ns, cpu, field::SCHED_PROCESS_EXIT, |out| {
                    out.extend_from_slice(first.as_slice());
                    uint_field(out, 3, u64::from(tgid));
                    signed_field(out, 4, i64::from(task.prio));
                });
            }
            Event::Print { task, text } => {
                self.tasks.label(task.pid, cpu)?;
                self.print(time_ns, cpu, task.pid, text);
            }
            Event::Decision { task, .. } => {
                let now = self.clock.now(time_ns);
                let comm = self.tasks.label(task.pid, cpu)?.comm;
                self.tracks.decision(now, cpu, comm.as_slice(), &event, out);
            }
            Event::CpuCounter { counter, value } => {
                let now = self.clock.now(time_ns);
                self.tracks.counter(now, cpu, counter, value, out);
            }
        }
        if self.bundles[cpu as usize].len() >= BUNDLE_BYTES {
            self.write_bundles(out);
        }
        Ok(())
    }

    /// Writes the bundles begun.
    pub(crate) fn write_bundles(&mut self, out: &mut Vec<u8>) {
        for cpu in 0..self.bundles.len() {
            self.close_bundle(u32::try_from(cpu).expect("CPUs are numbered by u32"), out);
        }
    }

    /// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`.
    fn wakeup(
        &mut self,
        time_ns: u64,
        cpu: u32,
        kind: u32,
        task: TaskRef,
        target_cpu: u32,
    ) -> io::Result<()> {
        let label = self.tasks.label(task.pid, cpu)?.first;
        self.in_current(time_ns, cpu, kind, |out| {
            out.extend_from_slice(label.as_slice());
            signed_field(out, 3, i64::from(task.prio));
            uint_field(out, 4, 1); // success, true ever since the field is kept for compatibility
            uint_field(out, 5, u64::from(target_cpu));
        });
        Ok(())
    }

    /// `cpu_idle`, `cpu_frequency`.
    fn of_cpu(&mut self, time_ns: u64, cpu: u32, kind: u32, state: u64) {
        self.in_current(time_ns, cpu, kind, |out| {
            uint_field(out, 1, state);
            uint_field(out, 2, u64::from(cpu));
        });
    }

    /// An event in the context of the task that the CPU runs.
    #[inline]
    fn in_current(&mut self, time_ns: u64, cpu: u32, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
        let stamp = self.clock.stamp(time_ns, cpu);
        self.ftrace(stamp, cpu, self.tasks.current(cpu), kind, body);
    }

    /// Appends an `FtraceEvent` of less than 128 bytes to the CPU's bundle.
    #[inline]
    fn ftrace(
        &mut self,
        stamp: u64,
        cpu: u32,
        pid: u32,
        kind: u32,
        body: impl FnOnce(&mut Vec<u8>),
    ) {
        short_message(
            &mut self.bundles[cpu as usize],
            field::BUNDLE_EVENT,
            |out| {
                uint_field(out, field::EVENT_TIMESTAMP, stamp);
                uint_field(out, field::EVENT_PID, u64::from(pid));
                short_message(out, kind, body);
            },
        );
    }

    /// `print`, the one event without a bound to its length.
    fn print(&mut self, time_ns: u64, cpu: u32, pid: u32, text: &str) {
        let stamp = self.clock.stamp(time_ns, cpu);
        let print_len = 1 + varint_len(text.len() as u64) + text.len();
        let event_len = 1
            + varint_len(stamp)
            + 1
            + varint_len(u64::from(pid))
            + 1
            + varint_len(print_len as u64)
            + print_len;
        let out = &mut self.bundles[cpu as usize];
        wire::length_delimited(out, field::BUNDLE_EVENT, event_len);
        uint_field(out, field::EVENT_TIMESTAMP, stamp);
        uint_field(out, field::EVENT_PID, u64::from(pid));
        wire::length_delimited(out, field::PRINT, print_len);
        bytes_field(out, field::PRINT_BUF, text.as_bytes());
    }

    /// Writes a CPU's bundle, if it has events, as a packet and begins the next.
    fn close_bundle(&mut self, cpu: u32, out: &mut Vec<u8>) {
        let bundle = &mut self.bundles[cpu as usize];
        let cpu_field_len = 1 + varint_len(u64::from(cpu));
        if bundle.len() == cpu_field_len {
            return;
        }
        let packet_len = 1 + varint_len(bundle.len() as u64) + bundle.len();
        wire::length_delimited(out, field::TRACE_PACKET, packet_len);
        bytes_field(out, field::PACKET_FTRACE_EVENTS, bundle);
        bundle.truncate(cpu_field_len);
    }
}

impl Labels {
    fn new(name: &TaskName<'_>) -> Self {
        let pair = |comm_field, pid_field| {
            let mut bytes = Vec::new();
            bytes_field(&mut bytes, comm_field, name.comm.as_bytes());
            uint_field(&mut bytes, pid_field, u64::from(name.pid));
            InlineBytes::new(&bytes)
        };
        Self {
            first: pair(1, 2),
            next: pair(5, 6),
            child: pair(3, 4),
            comm: InlineBytes::new(name.comm.as_bytes()),
            tgid: name.tgid,
        }
    }
}

#[cfg(test)]
mod tests;
