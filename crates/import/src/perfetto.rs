// SPDX-License-Identifier: GPL-2.0-only
//! Perfetto traces with ftrace events, plain and compact (protos/perfetto/trace of Perfetto). Each
//! constant is a field number of a message there.

mod compact;
mod event;
mod wire;

use std::collections::BTreeSet;

use alight_recording::CpuFact;
use alight_recording::workload::{Capability, What};

use crate::Error;
use crate::bytes::text;
use crate::input::{Input, Stream};
use crate::item::{Body, Item};
use crate::origin::{Origin, yield_call};
use crate::pids::checked;
use crate::pipeline::Pipeline;
use crate::states::States;
use compact::Cpus;
use event::Reading;
use wire::{Fields, Malformed, Value, head};

/// `Trace`
const PACKET: u32 = 1;

/// `TracePacket`
mod packet {
    pub const FTRACE_EVENTS: u32 = 1;
    pub const PROCESS_TREE: u32 = 2;
    pub const TRACE_CONFIG: u32 = 33;
    pub const FTRACE_STATS: u32 = 34;
    pub const SYSTEM_INFO: u32 = 45;
    pub const COMPRESSED: u32 = 50;
    pub const CPU_INFO: u32 = 67;
}

/// No packet is larger, and no group of compressed ones.
const MOST_PACKET: u64 = 1 << 28;

/// What a process tree says of a task.
#[derive(Debug, Clone)]
struct Task {
    pid: u32,
    tgid: u32,
    parent: u32,
    name: Vec<u8>,
}

/// A Perfetto trace whose packets, but those of events, were read.
#[derive(Debug)]
pub(crate) struct Perfetto {
    pub origin: Origin,
    tasks: Vec<Task>,
    /// Events that were overwritten at the start and at the end, of all CPUs.
    overrun: [u64; 2],
    asked: BTreeSet<String>,
    /// Events were also asked for by patterns or categories.
    asked_more: bool,
}

impl Perfetto {
    /// Whether a file begins with a packet, which is a message.
    pub fn is(input: &Input) -> Result<bool, Error> {
        let mut stream = input.stream(0, input.size());
        let Ok(Some((PACKET, true, length))) = head(&mut stream) else {
            return Ok(false);
        };
        let length = length.min(MOST_PACKET) as usize;
        let Some(content) = stream.peek(length)?.get(..length) else {
            return Ok(false);
        };
        Ok(length > 0 && Fields::of(content).all(|field| field.is_ok()))
    }

    /// Reads all packets but those of events: some of them may stand at the end.
    pub fn open(input: &Input) -> Result<Self, Error> {
        let mut trace = Perfetto {
            origin: Origin {
                format: "Perfetto",
                recorders: &["traced_probes", "traced", "perfetto", "tracebox"],
                clock: "boottime".into(),
                ..Origin::default()
            },
            tasks: Vec::new(),
            overrun: [0; 2],
            asked: BTreeSet::new(),
            asked_more: false,
        };
        each_packet(input, &mut |number, content| {
            if number != packet::FTRACE_EVENTS {
                return trace.aside(number, content);
            }
            Ok(())
        })?;
        if !trace.asked.is_empty() && !trace.asked_more {
            trace.origin.asked = Some(std::mem::take(&mut trace.asked));
        }
        Ok(trace)
    }

    /// A packet without events.
    fn aside(&mut self, number: u32, content: &[u8]) -> Result<(), Malformed> {
        match number {
            packet::PROCESS_TREE => self.process_tree(content),
            packet::TRACE_CONFIG => self.config(content),
            packet::FTRACE_STATS => self.stats(content),
            packet::SYSTEM_INFO => self.system_info(content),
            packet::CPU_INFO => self.cpu_info(content),
            _ => Ok(()),
        }
    }

    /// `processes` 1 {pid 1, ppid 2, cmdline 3}, `threads` 2 {tid 1, name 2, tgid 3}
    fn process_tree(&mut self, content: &[u8]) -> Result<(), Malformed> {
        for field in Fields::of(content) {
            let (kind, value) = field?;
            if kind != 1 && kind != 2 {
                continue;
            }
            let (mut first, mut second, mut third, mut name) = (0, 0, 0, &[][..]);
            for field in Fields::of(value.bytes()) {
                match field? {
                    (1, value) => first = value.number(),
                    (2, Value::Number(number)) => second = number,
                    (3, Value::Number(number)) => third = number,
                    (2, Value::Bytes(bytes)) => name = bytes,
                    _ => {}
                }
            }
            let (pid, parent, tgid) = match kind {
                1 => (first, second, first),
                _ => (first, 0, third),
            };
            let known = |number| checked(number, "").ok();
            if let (Some(pid @ 1..), Some(parent), Some(tgid)) =
                (known(pid), known(parent), known(tgid))
            {
                let name = name.to_vec();
                self.tasks.push(Task {
                    pid,
                    tgid,
                    parent,
                    name,
                });
            }
        }
        Ok(())
    }

    /// `data_sources` 2 { `config` 1 { `ftrace_config` 100 { `ftrace_events` 1,
    /// `atrace_categories` 2 }}}
    fn config(&mut self, content: &[u8]) -> Result<(), Malformed> {
        for source in inside(content, 2)? {
            for config in inside(source, 1)? {
                for ftrace in inside(config, 100)? {
                    self.asked_more |= !inside(ftrace, 2)?.is_empty();
                    for event in inside(ftrace, 1)? {
                        let event = text(event);
                        self.asked_more |= event.contains('*');
                        let name = event.rsplit('/').next().unwrap_or("").to_owned();
                        self.asked.insert(name);
                    }
                }
            }
        }
        Ok(())
    }

    /// `phase` 1 (2: at the end), `cpu_stats` 2 { `overrun` 3, `dropped_events` 8 }
    fn stats(&mut self, content: &[u8]) -> Result<(), Malformed> {
        self.origin.told.insert(Capability::Losses);
        let (mut phase, mut lost) = (0, 0u64);
        for field in Fields::of(content) {
            match field? {
                (1, value) => phase = value.number(),
                (2, value) => {
                    for field in Fields::of(value.bytes()) {
                        if let (3 | 8, value) = field? {
                            lost = lost.saturating_add(value.number());
                        }
                    }
                }
                _ => {}
            }
        }
        match phase {
            1 => self.overrun[0] = lost,
            2 => self.overrun[1] = lost,
            _ => {}
        }
        Ok(())
    }

    /// `utsname` 1 { version 2, release 3, machine 4 }, and facts of Android
    fn system_info(&mut self, content: &[u8]) -> Result<(), Malformed> {
        for field in Fields::of(content) {
            let (number, value) = field?;
            let name = match number {
                1 => {
                    for field in Fields::of(value.bytes()) {
                        match field? {
                            (2, value) => self.origin.build = text(value.bytes()),
                            (3, value) => self.origin.kernel = text(value.bytes()),
                            (4, value) => self.origin.arch = text(value.bytes()),
                            _ => {}
                        }
                    }
                    continue;
                }
                8 => {
                    self.origin.cpu_count = u32::try_from(value.number()).ok();
                    continue;
                }
                2 => "android_build",
                4 => "perfetto",
                9 => "soc",
                _ => continue,
            };
            let value = text(value.bytes());
            self.origin.facts.insert(name.into(), value);
        }
        Ok(())
    }

    /// `cpus` 1 { `capacity` 3 }, in the order of their numbers
    fn cpu_info(&mut self, content: &[u8]) -> Result<(), Malformed> {
        self.origin.cpus.clear();
        for (cpu, content) in (0..8192).zip(inside(content, 1)?) {
            let mut capacity = 1024;
            for field in Fields::of(content) {
                if let (3, value) = field? {
                    capacity = u32::try_from(value.number()).unwrap_or(1024);
                }
            }
            self.origin.cpus.push(CpuFact {
                cpu,
                capacity,
                core: String::new(),
                cluster: String::new(),
                package: String::new(),
                llc: None,
            });
        }
        let count = self.origin.cpus.len() as u32;
        self.origin.cpu_count.get_or_insert(count);
        Ok(())
    }

    /// Reads all events.
    pub fn read(&self, input: &Input, pipeline: &mut Pipeline) -> Result<(), Error> {
        for task in &self.tasks {
            let name = pipeline.names.of(task.pid, &task.name);
            let &Task {
                pid, tgid, parent, ..
            } = task;
            for body in [Body::Process { pid, tgid, parent }, Body::Named { pid }] {
                pipeline.know(&Item {
                    time: 0,
                    cpu: 0,
                    body,
                    names: [name, 0],
                });
            }
        }
        // As trace_processor sorts, and as writers expect it.
        pipeline.order_by_cpu();
        let states = match is_before_4_14(&self.origin.kernel) {
            true => States::before_4_14(),
            false => States::new(),
        };
        let mut reading = Reading::new(pipeline, states, yield_call(&self.origin.arch));
        let mut cpus = Cpus::default();
        let mut failed = None;
        let walked = each_packet(input, &mut |number, content| {
            if number != packet::FTRACE_EVENTS || failed.is_some() {
                return Ok(());
            }
            let bundle = reading.bundle(content, &mut cpus);
            match bundle {
                Ok(()) => Ok(()),
                Err(event::Fault::Malformed) => Err(Malformed),
                Err(event::Fault::Other(what)) => {
                    failed = Some(what);
                    Err(Malformed)
                }
            }
        });
        match (walked, failed) {
            (Err(Error::Malformed { offset, .. }), Some(event::Other::Value(what))) => {
                Err(Error::at(offset, what))
            }
            (_, Some(event::Other::Error(error))) => Err(error),
            (walked, _) => walked,
        }?;
        let lost = self.overrun[1].saturating_sub(self.overrun[0]);
        if lost > 0 {
            pipeline.tally.lost.insert("ring_full".into(), lost);
        }
        Ok(())
    }
}

/// What is done with a field of a packet: its number and its content.
type Take<'a> = dyn FnMut(u32, &[u8]) -> Result<(), Malformed> + 'a;

/// The contents of all fields of this number.
fn inside(content: &[u8], number: u32) -> Result<Vec<&[u8]>, Malformed> {
    let mut all = Vec::new();
    for field in Fields::of(content) {
        match field? {
            (found, Value::Bytes(bytes)) if found == number => all.push(bytes),
            _ => {}
        }
    }
    Ok(all)
}

/// Hands over each field of each packet that is a message; those of compressed packets too.
fn each_packet(input: &Input, take: &mut Take) -> Result<(), Error> {
    let mut stream = input.stream(0, input.size());
    loop {
        let offset = stream.offset();
        let Some((number, is_bytes, length)) = head(&mut stream)? else {
            return Ok(());
        };
        if number != PACKET || !is_bytes {
            stream.skip(if is_bytes { length } else { 0 });
            continue;
        }
        let content = packet_bytes(&mut stream, length, offset)?;
        fields_of_packet(content, take, true).map_err(|Malformed| {
            Error::at(
                offset,
                "a packet is not a message as Perfetto writes it: the trace is damaged",
            )
        })?;
        stream.advance(length as usize);
    }
}

fn packet_bytes<'a>(stream: &'a mut Stream, length: u64, offset: u64) -> Result<&'a [u8], Error> {
    if length > MOST_PACKET {
        return Err(Error::at(
            offset,
            format!("a packet has {length} bytes, expected at most {MOST_PACKET}"),
        ));
    }
    let window = stream.peek(length as usize)?;
    (window.get(..length as usize)).ok_or_else(|| Error::at(offset, "the file became shorter"))
}

fn fields_of_packet(content: &[u8], take: &mut Take, outside: bool) -> Result<(), Malformed> {
    for field in Fields::of(content) {
        match field? {
            (packet::COMPRESSED, Value::Bytes(bytes)) if outside => {
                let most = MOST_PACKET as usize;
                let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, most);
                let unpacked = unpacked.map_err(|_| Malformed)?;
                for packet in inside(&unpacked, PACKET)? {
                    fields_of_packet(packet, take, false)?;
                }
            }
            (number, Value::Bytes(bytes)) => take(number, bytes)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether a release has the bits of `prev_state` of before 4.14.
fn is_before_4_14(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map(|part| part.parse::<u32>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < (4, 14),
        _ => false,
    }
}

/// A loss of events on a CPU.
fn lost(time: u64, cpu: u16) -> Item {
    Item {
        time,
        cpu,
        body: Body::What(What::Lost {
            count: 0,
            of_cpu_only: true,
        }),
        names: [0; 2],
    }
}

#[cfg(test)]
mod tests;
