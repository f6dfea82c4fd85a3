// SPDX-License-Identifier: GPL-2.0-only
//! trace.dat, as `trace-cmd record` writes it: version 6, and version 7 with or without compression
//! (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)).

mod buffer;
mod options;
mod page;
mod version6;
mod version7;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use alight_recording::workload::{Capability, What};

use crate::Error;
use crate::decode::Circumstances;
use crate::input::Input;
use crate::item::{Body, Item};
use crate::origin::Origin;
use crate::pipeline::Pipeline;
use crate::tracing::{Decoders, MAGIC, Tracing, initial};
use buffer::{Buffer, Found};
use options::Options;
use page::Layout;

/// So much of the file is read first, and at most, to find the head: addresses of functions are most
/// of it.
const FIRST_HEAD: u64 = 1 << 22;
const MOST_HEAD: u64 = 1 << 28;

/// trace-cmd describes what was asked for by `-e`, or all that the kernel has: more than a thousand.
const MOST_ASKED: usize = 256;

/// A trace.dat whose head was read.
#[derive(Debug)]
pub(crate) struct TraceDat {
    pub origin: Origin,
    tracing: Tracing,
    layout: Layout,
    /// The pages of each CPU.
    parts: Vec<Part>,
    /// What is added to times, and how a counter's times become ns.
    options: Options,
}

/// The pages of a CPU.
#[derive(Debug, Clone, Copy)]
struct Part {
    cpu: u16,
    offset: u64,
    size: u64,
    packing: Packing,
}

/// How trace.dat's parts are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Zstd,
    Zlib,
}

impl TraceDat {
    /// Whether a file begins like this format.
    pub fn is(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Reads the head: as much of the file as that takes, which nothing says before.
    pub fn open(input: &Input) -> Result<Self, Error> {
        let most = input.size().min(MOST_HEAD);
        let mut length = most.min(FIRST_HEAD);
        loop {
            let head = input.section(0, length, MOST_HEAD, "the head")?;
            match Self::open_head(input, &head) {
                Err(Error::Malformed { .. }) if length < most => length = most.min(length * 8),
                opened => return opened,
            }
        }
    }

    fn open_head(input: &Input, head: &[u8]) -> Result<Self, Error> {
        let mut bytes = crate::bytes::Bytes::new(head, 0);
        let initial = initial(&mut bytes)?;
        let mut trace = TraceDat {
            origin: Origin {
                format: "trace.dat",
                recorders: &["trace-cmd"],
                ..Origin::default()
            },
            tracing: Tracing::default(),
            layout: Layout::default(),
            parts: Vec::new(),
            options: Options::default(),
        };
        trace.layout.size = initial.page;
        match initial.version {
            b"6" => trace.open_version_6(bytes)?,
            b"7" => trace.open_version_7(input, bytes)?,
            other => {
                return Err(Error::Foreign(format!(
                    "is a trace.dat of version '{}'; versions 6 and 7 are read: convert it by \
                     `trace-cmd convert`",
                    alight_text::line(&String::from_utf8_lossy(other))
                )));
            }
        }
        trace.settle()?;
        Ok(trace)
    }

    fn settle(&mut self) -> Result<(), Error> {
        self.layout.read(&self.tracing.page)?;
        let clock = self.options.clock.as_str();
        let counts = matches!(clock, "counter" | "uptime" | "x86-tsc");
        if counts && self.options.multiplier.is_none() {
            return Err(Error::Asked(format!(
                "the times are of the clock '{clock}', which does not count ns: record again with \
                 `trace-cmd record -C mono`"
            )));
        }
        let options = &self.options;
        self.origin.clock = match clock {
            "mono" => "monotonic".to_owned(),
            "boot" => "boottime".to_owned(),
            clock => clock.to_owned(),
        };
        // uname: name, node, release, version, machine.
        let words: Vec<&str> = options.uname.split_whitespace().collect();
        if let [name, node, release, version @ .., machine] = &words[..] {
            self.origin.kernel = (*release).to_owned();
            self.origin.build = format!("{name} version {release} {}", version.join(" "));
            self.origin.arch = (*machine).to_owned();
            self.origin
                .facts
                .insert("hostname".into(), (*node).to_owned());
        }
        if !options.version.is_empty() {
            let version = options.version.trim().to_owned();
            self.origin.facts.insert("trace-cmd".into(), version);
        }
        self.origin.cpu_count = options.cpus.or(Some(self.parts.len() as u32));
        self.origin
            .told
            .extend([Capability::Losses, Capability::Context]);
        if self.tracing.formats.len() < MOST_ASKED {
            let names = self
                .tracing
                .formats
                .iter()
                .map(|format| format.name.clone());
            self.origin.asked = Some(names.collect());
        }
        self.origin.last_names.clone_from(&self.tracing.names);
        if !options.instances.is_empty() {
            self.origin.remarks.push(format!(
                "the buffers of the instances {} are left out",
                options.instances.join(", ")
            ));
        }
        Ok(())
    }

    /// Reads all events, in the order of their times; ties in the order of CPUs.
    pub fn read(&self, input: &Input, pipeline: &mut Pipeline) -> Result<(), Error> {
        let decoders = Decoders::new(&self.tracing, &mut pipeline.tally)?;
        let circumstances = self.tracing.circumstances(&self.origin.arch);
        let mut buffers = Vec::new();
        let mut order = BinaryHeap::new();
        for part in &self.parts {
            let mut buffer = Buffer::new(input, *part, self.layout)?;
            if let Some(time) = buffer.next()? {
                order.push(Reverse((time, buffers.len())));
            }
            buffers.push(buffer);
        }
        // A CPU goes on as long as it has the oldest event.
        while let Some(Reverse((mut time, at))) = order.pop() {
            let until = order.peek().map_or((u64::MAX, usize::MAX), |next| next.0);
            let buffer = &mut buffers[at];
            while (time, at) <= until {
                self.event(buffer, time, &decoders, &circumstances, pipeline)?;
                match buffer.next()? {
                    Some(next) => time = next,
                    None => break,
                }
            }
            if buffer.is_left() {
                order.push(Reverse((time, at)));
            }
            if pipeline.is_done() {
                break;
            }
        }
        let overrun = self.options.overrun;
        let counted: u64 = buffers.iter().map(Buffer::lost).sum();
        if overrun.max(counted) > 0 {
            pipeline
                .tally
                .lost
                .insert("ring_full".into(), overrun.max(counted));
        }
        Ok(())
    }

    fn event(
        &self,
        buffer: &Buffer,
        time: u64,
        decoders: &Decoders,
        circumstances: &Circumstances,
        pipeline: &mut Pipeline,
    ) -> Result<(), Error> {
        let (cpu, time) = (buffer.cpu(), self.options.time(time));
        let at = |what| Error::at(buffer.offset(), what);
        match buffer.found() {
            Found::Lost(count) => pipeline.pass(Item {
                time,
                cpu,
                body: Body::What(What::Lost {
                    count,
                    of_cpu_only: true,
                }),
                names: [0; 2],
            }),
            Found::Event(event) => {
                if event.len() < 8 {
                    return Err(at(format!(
                        "an event has {} bytes, expected at least 8",
                        event.len()
                    )));
                }
                let decoder = decoders.of(crate::bytes::le16(event, 0)).map_err(at)?;
                pipeline.tally.tracepoints[decoder.tally].2 += 1;
                let names = &mut pipeline.names;
                let item = decoder.decode(event, time, cpu, names, circumstances);
                match item.map_err(at)? {
                    Some(item) => pipeline.pass(item),
                    None => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
