// SPDX-License-Identifier: GPL-2.0-only
//! The part of a file that describes a kernel's tracing: the layouts of tracepoints, addresses of
//! functions, names of tasks. trace.dat and perf.data have it in the same form
//! (trace-cmd.dat.v6(5)).

use std::collections::BTreeMap;

use crate::Error;
use crate::bytes::{Bytes, text};
use crate::decode::{Circumstances, Decoder};
use crate::format::Format;
use crate::tally::Tally;
use crate::tracepoints::by_name;

/// The beginning of such a part, and of a trace.dat.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Functions whose timer is the tick (kernel/time/tick-sched.c; the second since 6.9).
const TICKS: [&str; 2] = ["tick_sched_timer", "tick_nohz_handler"];

/// Whether a timer's function is the tick's.
pub(crate) fn is_tick(function: &str) -> bool {
    TICKS.contains(&function)
}

/// Descriptions, as they are read.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    /// Descriptions of tracepoints.
    pub formats: Vec<Format>,
    /// The page's header, where trace.dat has one.
    pub page: String,
    /// Addresses of the functions of the tick.
    pub ticks: Vec<u64>,
    /// Names of tasks at the end.
    pub names: BTreeMap<u32, String>,
}

/// The beginning: what it says of the machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Initial<'a> {
    pub version: &'a [u8],
    /// Bytes of a page.
    pub page: u32,
}

/// Reads the beginning, up to the page size.
pub(crate) fn initial<'a>(bytes: &mut Bytes<'a>) -> Result<Initial<'a>, Error> {
    let offset = bytes.offset();
    if bytes.take(MAGIC.len(), "the magic number")? != MAGIC {
        return Err(Error::at(
            offset,
            "expected the magic number of a trace.dat",
        ));
    }
    let version = bytes.string("the version")?;
    let offset = bytes.offset();
    match bytes.u8("the byte order")? {
        0 => {}
        1 => {
            return Err(Error::Foreign(
                "comes from a big-endian machine; only little-endian ones are read".into(),
            ));
        }
        other => {
            return Err(Error::at(
                offset,
                format!("the byte order is {other}, expected 0 or 1"),
            ));
        }
    }
    let offset = bytes.offset();
    let long = bytes.u8("the size of a long")?;
    if long != 4 && long != 8 {
        return Err(Error::at(
            offset,
            format!("a long has {long} bytes, expected 4 or 8"),
        ));
    }
    let offset = bytes.offset();
    let page = bytes.u32("the page size")?;
    if !page.is_power_of_two() || !(1024..=1 << 24).contains(&page) {
        return Err(Error::at(
            offset,
            format!("a page has {page} bytes, expected a power of two, 1024 to 16777216"),
        ));
    }
    Ok(Initial { version, page })
}

impl Tracing {
    /// `header_page` and `header_event`.
    pub fn read_headers(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        for name in ["header_page", "header_event"] {
            let offset = bytes.offset();
            if bytes.string(name)? != name.as_bytes() {
                return Err(Error::at(offset, format!("expected '{name}'")));
            }
            let length = bytes.length(name)?;
            let content = text(bytes.take(length, name)?);
            if name == "header_page" {
                self.page = content;
            }
        }
        Ok(())
    }

    /// Layouts of ftrace's own events.
    pub fn read_ftrace(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        let count = bytes.u32("the number of ftrace's own events")?;
        self.read_formats(bytes, count)
    }

    /// Layouts of tracepoints, by system.
    pub fn read_events(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        for _ in 0..bytes.u32("the number of systems")? {
            bytes.string("the name of a system")?;
            let count = bytes.u32("the number of events")?;
            self.read_formats(bytes, count)?;
        }
        Ok(())
    }

    fn read_formats(&mut self, bytes: &mut Bytes, count: u32) -> Result<(), Error> {
        for _ in 0..count {
            let length = bytes.length("the description of an event")?;
            let offset = bytes.offset();
            let content = text(bytes.take(length, "the description of an event")?);
            let format = Format::parse(&content).map_err(|what| Error::at(offset, what))?;
            self.formats.push(format);
        }
        Ok(())
    }

    /// Addresses of functions, as in /proc/kallsyms.
    pub fn read_symbols(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        let length = bytes.u32("the addresses of functions")? as usize;
        let content = bytes.take(length, "the addresses of functions")?;
        for line in content.split(|byte| *byte == b'\n') {
            let Some(tick) = TICKS.iter().find(|tick| line.ends_with(tick.as_bytes())) else {
                continue;
            };
            let line = String::from_utf8_lossy(line);
            let mut words = line.split_whitespace();
            if let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
                && name == *tick
            {
                self.ticks.extend(u64::from_str_radix(address, 16).ok());
            }
        }
        // Where addresses are hidden from the user they are all 0.
        self.ticks.retain(|address| *address != 0);
        Ok(())
    }

    /// Formats of trace_printk(), which are not used.
    pub fn skip_printk(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        let length = bytes.u32("the formats of trace_printk")? as usize;
        bytes.take(length, "the formats of trace_printk").map(drop)
    }

    /// Names of tasks, as in `saved_cmdlines`.
    pub fn read_names(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        let length = bytes.length("the names of tasks")?;
        let content = text(bytes.take(length, "the names of tasks")?);
        for line in content.lines() {
            if let Some((pid, name)) = line.split_once(' ')
                && let Ok(pid) = pid.parse()
                && name != "<...>"
            {
                self.names.insert(pid, name.to_owned());
            }
        }
        Ok(())
    }

    /// All parts of version 6, in their order.
    pub fn read_all(&mut self, bytes: &mut Bytes) -> Result<(), Error> {
        self.read_headers(bytes)?;
        self.read_ftrace(bytes)?;
        self.read_events(bytes)?;
        self.read_symbols(bytes)?;
        self.skip_printk(bytes)?;
        self.read_names(bytes)
    }

    /// What the decoders need beside the layouts.
    pub fn circumstances(&self, arch: &str) -> Circumstances {
        Circumstances {
            ticks: self.ticks.clone(),
            yield_call: crate::origin::yield_call(arch),
        }
    }
}

/// Decoders by the number that events carry.
#[derive(Debug)]
pub(crate) struct Decoders(Vec<Option<Box<Decoder>>>);

impl Decoders {
    /// Of all tracepoints that are described.
    pub fn new(tracing: &Tracing, tally: &mut Tally) -> Result<Self, Error> {
        let mut by_id: Vec<Option<Box<Decoder>>> = Vec::new();
        for format in &tracing.formats {
            let index = tally.tracepoint(&format.name, by_name(&format.name).is_some());
            let decoder = Decoder::new(format, index).map_err(Error::Foreign)?;
            let id = usize::from(format.id);
            if by_id.len() <= id {
                by_id.resize_with(id + 1, || None);
            }
            by_id[id] = Some(Box::new(decoder));
        }
        Ok(Decoders(by_id))
    }

    /// That of the tracepoint with this number.
    pub fn of(&self, id: u16) -> Result<&Decoder, String> {
        (self.0.get(usize::from(id)).and_then(Option::as_deref)).ok_or_else(|| {
            format!("an event has the number {id}, which the file does not describe")
        })
    }
}
