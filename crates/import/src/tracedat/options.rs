// SPDX-License-Identifier: GPL-2.0-only
//! The options of a trace.dat: what it says of kernel, clock and losses.

use crate::Error;
use crate::bytes::{Bytes, le32, le64, text};

/// `TRACECMD_OPTION_*` (trace-cmd.dat.v7(5)).
pub(super) mod option {
    pub const DONE: u16 = 0;
    pub const CPUSTAT: u16 = 2;
    pub const BUFFER: u16 = 3;
    pub const TRACECLOCK: u16 = 4;
    pub const UNAME: u16 = 5;
    pub const OFFSET: u16 = 7;
    pub const CPUCOUNT: u16 = 8;
    pub const VERSION: u16 = 9;
    pub const TSC2NSEC: u16 = 14;
    pub const HEADER_INFO: u16 = 16;
    pub const FTRACE_EVENTS: u16 = 17;
    pub const EVENT_FORMATS: u16 = 18;
    pub const KALLSYMS: u16 = 19;
    pub const CMDLINES: u16 = 21;
}

/// What the options say.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub clock: String,
    pub uname: String,
    pub version: String,
    pub cpus: Option<u32>,
    /// Events that were overwritten before they were read.
    pub overrun: u64,
    /// Names of buffers beside the main one.
    pub instances: Vec<String>,
    /// Added to all times, ns.
    offset: i64,
    /// Multiplier, shift and offset that make ns of a counter.
    pub multiplier: Option<(u32, u32, u64)>,
}

impl Options {
    /// Reads an option that both versions have in the same form.
    pub fn read(&mut self, number: u16, content: &[u8], offset: u64) -> Result<(), Error> {
        match number {
            option::TRACECLOCK => self.clock = chosen(&text(content)),
            option::UNAME => self.uname = text(content),
            option::VERSION => self.version = text(content),
            option::CPUCOUNT => self.cpus = Some(le32(content, 0)),
            option::CPUSTAT => self.overrun += overrun(&text(content)),
            option::OFFSET => {
                let text = text(content);
                self.offset = text.trim().parse().map_err(|_| {
                    Error::at(
                        offset,
                        format!("the offset of times is '{text}', expected ns"),
                    )
                })?;
            }
            option::TSC2NSEC => {
                Bytes::new(content, offset).take(16, "the conversion of times")?;
                let (multiplier, shift) = (le32(content, 0), le32(content, 4));
                if shift > 64 {
                    return Err(Error::at(
                        offset,
                        format!("times are shifted by {shift} bits, expected at most 64"),
                    ));
                }
                self.multiplier = Some((multiplier, shift, le64(content, 8)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A time of the file, in ns.
    pub fn time(&self, time: u64) -> u64 {
        let ns = match self.multiplier {
            Some((multiplier, shift, offset)) if self.clock == "x86-tsc" => {
                let product = u128::from(time) * u128::from(multiplier);
                ((product >> shift) as u64).saturating_sub(offset)
            }
            _ => time,
        };
        ns.saturating_add_signed(self.offset)
    }
}

/// The clock in brackets, of all that the kernel has; or a single one.
pub(super) fn chosen(clocks: &str) -> String {
    let inside = clocks
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(clocks, |(clock, _)| clock).trim().to_owned()
}

/// `overrun` of per_cpu/cpu*/stats.
fn overrun(stats: &str) -> u64 {
    let value = |line: &str| line.strip_prefix("overrun:")?.trim().parse::<u64>().ok();
    stats.lines().filter_map(value).sum()
}
