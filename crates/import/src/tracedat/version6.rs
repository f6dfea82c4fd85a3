// SPDX-License-Identifier: GPL-2.0-only
//! The head of a trace.dat of version 6: all parts follow each other.

use super::options::{chosen, option};
use super::{Packing, Part, TraceDat};
use crate::Error;
use crate::bytes::{Bytes, text};

/// Bytes of the words that name what comes next.
const WORD: usize = 10;

impl TraceDat {
    /// Reads what stands behind the page size.
    pub(super) fn open_version_6(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        let bytes = &mut bytes;
        self.origin.variant = "version 6".into();
        self.tracing.read_all(bytes)?;
        let offset = bytes.offset();
        let cpus = bytes.u32("the number of CPUs")?;
        if cpus > 8192 {
            return Err(Error::at(
                offset,
                format!("it has {cpus} CPUs, expected at most 8192"),
            ));
        }
        let mut word = bytes.take(WORD, "the kind of data")?;
        let mut has_clock = false;
        if word == b"options  \0" {
            has_clock = self.read_options_6(bytes)?;
            word = bytes.take(WORD, "the kind of data")?;
        }
        match word {
            b"flyrecord\0" => {}
            b"latency  \0" => {
                return Err(Error::Asked(
                    "holds the output of a latency tracer, not events: record with `trace-cmd \
                     record -e sched`"
                        .into(),
                ));
            }
            _ => {
                return Err(Error::at(
                    bytes.offset() - WORD as u64,
                    format!("expected 'flyrecord', found '{}'", text(word)),
                ));
            }
        }
        for cpu in 0..cpus {
            self.parts.push(Part {
                cpu: cpu as u16,
                offset: bytes.u64("the place of a CPU's events")?,
                size: bytes.u64("the size of a CPU's events")?,
                packing: Packing::None,
            });
        }
        if has_clock && self.options.clock.is_empty() {
            let length = bytes.length("the clock")?;
            self.options.clock = chosen(&text(bytes.take(length, "the clock")?));
        }
        Ok(())
    }

    /// Whether the clock is told behind the places of the CPUs.
    fn read_options_6(&mut self, bytes: &mut Bytes) -> Result<bool, Error> {
        let mut has_clock = false;
        loop {
            let number = bytes.u16("an option")?;
            if number == option::DONE {
                return Ok(has_clock);
            }
            let length = bytes.u32("the length of an option")? as usize;
            let offset = bytes.offset();
            let content = bytes.take(length, "an option")?;
            match number {
                option::TRACECLOCK => has_clock = true,
                option::BUFFER => {
                    self.options
                        .instances
                        .push(text(content.get(8..).unwrap_or_default()));
                }
                _ => {}
            }
            self.options.read(number, content, offset)?;
        }
    }
}
