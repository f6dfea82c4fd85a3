// SPDX-License-Identifier: GPL-2.0-only
//! The head of a trace.dat of version 7: options point to sections, which may be compressed.

use super::options::{chosen, option};
use super::{MOST_HEAD, Packing, Part, TraceDat};
use crate::Error;
use crate::bytes::{Bytes, le16, le64, text};
use crate::input::Input;

/// Bytes of a section's head.
const SECTION: u64 = 16;
/// The flag of a compressed section.
const COMPRESSED: u16 = 1;
/// The section of options.
const OPTIONS: u16 = 0;
/// Sections of options that follow each other: a file has one or two.
const MOST_SECTIONS: usize = 64;

/// A section of the file, unpacked.
struct Section {
    offset: u64,
    content: Vec<u8>,
}

impl TraceDat {
    /// Reads what stands behind the page size.
    pub(super) fn open_version_7(&mut self, input: &Input, mut bytes: Bytes) -> Result<(), Error> {
        let name = text(bytes.string("the compression")?);
        bytes.string("the compression's version")?;
        let packing = match name.as_str() {
            "none" => Packing::None,
            "zstd" => Packing::Zstd,
            "zlib" => Packing::Zlib,
            other => {
                return Err(Error::Foreign(format!(
                    "is a trace.dat that is compressed by '{}'; zstd and zlib are read: convert it \
                     by `trace-cmd convert --compression none`",
                    alight_text::line(other)
                )));
            }
        };
        self.origin.variant = match packing {
            Packing::None => "version 7".into(),
            _ => format!("version 7, {name}"),
        };
        let mut place = bytes.u64("the place of the options")?;
        let mut sections = Vec::new();
        for _ in 0..MOST_SECTIONS {
            if place == 0 {
                break;
            }
            let section = read_section(input, place, OPTIONS, packing)?;
            place = self.read_options(input, &section, packing, &mut sections)?;
        }
        for (number, place) in sections {
            let section = read_section(input, place, number, packing)?;
            let bytes = &mut Bytes::new(&section.content, section.offset);
            match number {
                option::HEADER_INFO => self.tracing.read_headers(bytes)?,
                option::FTRACE_EVENTS => self.tracing.read_ftrace(bytes)?,
                option::EVENT_FORMATS => self.tracing.read_events(bytes)?,
                option::KALLSYMS => self.tracing.read_symbols(bytes)?,
                _ => self.tracing.read_names(bytes)?,
            }
        }
        Ok(())
    }

    /// Reads a section of options. Returns the place of the next one, and adds the places of others.
    fn read_options(
        &mut self,
        input: &Input,
        section: &Section,
        packing: Packing,
        sections: &mut Vec<(u16, u64)>,
    ) -> Result<u64, Error> {
        let mut bytes = Bytes::new(&section.content, section.offset);
        while !bytes.rest().is_empty() {
            let number = bytes.u16("an option")?;
            let length = bytes.u32("the length of an option")? as usize;
            let offset = bytes.offset();
            let content = bytes.take(length, "an option")?;
            match number {
                option::DONE => return Ok(le64(content, 0)),
                option::BUFFER => self.read_buffer(input, Bytes::new(content, offset), packing)?,
                option::HEADER_INFO
                | option::FTRACE_EVENTS
                | option::EVENT_FORMATS
                | option::KALLSYMS
                | option::CMDLINES => sections.push((number, le64(content, 0))),
                _ => self.options.read(number, content, offset)?,
            }
        }
        Ok(0)
    }

    /// Where the events of each CPU are. Instances beside the main buffer are left out.
    fn read_buffer(
        &mut self,
        input: &Input,
        mut bytes: Bytes,
        packing: Packing,
    ) -> Result<(), Error> {
        let section = bytes.u64("the place of a buffer")?;
        let name = text(bytes.string("the name of a buffer")?);
        let clock = text(bytes.string("the clock of a buffer")?);
        if !name.is_empty() {
            self.options.instances.push(name);
            return Ok(());
        }
        let head = input.section(section, SECTION, SECTION, "the head of a buffer")?;
        let packing = match le16(&head, 2) & COMPRESSED {
            0 => Packing::None,
            _ => packing,
        };
        if !clock.is_empty() {
            self.options.clock = chosen(&clock);
        }
        let offset = bytes.offset();
        self.layout.size = bytes.u32("the size of a buffer's page")?;
        if !(1024..=1 << 24).contains(&self.layout.size) {
            return Err(Error::at(
                offset,
                format!(
                    "a page of a buffer has {} bytes, expected 1024 to 16777216",
                    self.layout.size
                ),
            ));
        }
        for _ in 0..bytes.u32("the number of CPUs")? {
            let at = bytes.offset();
            let cpu = bytes.u32("a CPU")?;
            let cpu = crate::decode::cpu(cpu.into(), "a buffer").map_err(|e| Error::at(at, e))?;
            self.parts.push(Part {
                cpu,
                offset: bytes.u64("the place of a CPU's events")?,
                size: bytes.u64("the size of a CPU's events")?,
                packing,
            });
        }
        Ok(())
    }
}

/// Reads a section that has to be of this kind.
fn read_section(
    input: &Input,
    place: u64,
    number: u16,
    packing: Packing,
) -> Result<Section, Error> {
    let head = input.section(place, SECTION, SECTION, "the head of a section")?;
    if le16(&head, 0) != number {
        return Err(Error::at(
            place,
            format!(
                "a section has the number {}, expected {number}",
                le16(&head, 0)
            ),
        ));
    }
    let offset = place + SECTION;
    let content = input.section(offset, le64(&head, 8), MOST_HEAD, "a section")?;
    if le16(&head, 2) & COMPRESSED == 0 {
        return Ok(Section { offset, content });
    }
    let mut bytes = Bytes::new(&content, offset);
    let packed = bytes.u32("the size of a compressed section")? as usize;
    let size = bytes.u32("the size of a section")? as usize;
    let packed = bytes.take(packed, "a compressed section")?;
    let content = packing.unpack(packed, size, offset)?;
    Ok(Section { offset, content })
}

impl Packing {
    /// Unpacks bytes that are there in the file, and were `size` bytes before.
    pub(super) fn unpack(self, packed: &[u8], size: usize, offset: u64) -> Result<Vec<u8>, Error> {
        let broken = |why: String| Error::at(offset, format!("cannot be unpacked: {why}"));
        if size as u64 > MOST_HEAD {
            return Err(broken(format!(
                "it should have {size} bytes, expected at most {MOST_HEAD}"
            )));
        }
        let unpacked = match self {
            Packing::None => packed.to_vec(),
            Packing::Zstd => {
                zstd::bulk::decompress(packed, size).map_err(|error| broken(error.to_string()))?
            }
            Packing::Zlib => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size)
                .map_err(|error| broken(error.to_string()))?,
        };
        match unpacked.len() == size {
            true => Ok(unpacked),
            false => Err(broken(format!(
                "it has {} bytes, expected {size}",
                unpacked.len()
            ))),
        }
    }
}
