// SPDX-License-Identifier: GPL-2.0-only
//! The events of one CPU, read a few pages at a time.

use super::page::{Layout, Walk};
use super::{Packing, Part};
use crate::Error;
use crate::bytes::{Bytes, le32};
use crate::input::Input;

/// Bytes that are read at a time where nothing is compressed, at least.
const READ: u64 = 1 << 16;

/// A part that is unpacked at a time is at most so large; trace-cmd packs ten pages.
const MOST_CHUNK: u32 = 1 << 26;

/// The events of a CPU.
pub(super) struct Buffer<'a> {
    input: &'a Input,
    part: Part,
    layout: Layout,
    /// Place in the file of what was not read yet, and its end.
    next: u64,
    end: u64,
    /// Compressed chunks that are left.
    chunks: u32,
    /// Pages, and where the first of them, and the file's bytes of them, begin.
    pages: Vec<u8>,
    page: usize,
    pages_offset: u64,
    walk: Walk,
    found: Place,
    lost: u64,
}

/// What was found last.
#[derive(Debug, Clone, Copy)]
enum Place {
    Nothing,
    Lost(u64),
    Event(usize, usize),
}

/// What comes next of a CPU.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'a> {
    /// So many events were lost here; 0: not counted.
    Lost(u64),
    /// An event's bytes.
    Event(&'a [u8]),
}

impl<'a> Buffer<'a> {
    /// Begins at the first page.
    pub fn new(input: &'a Input, part: Part, layout: Layout) -> Result<Self, Error> {
        let end = part
            .offset
            .checked_add(part.size)
            .filter(|end| *end <= input.size());
        let Some(end) = end else {
            return Err(Error::at(
                part.offset,
                format!(
                    "the events of CPU {} should have {} bytes here, and the file ends at byte {}: \
                     it is cut short or damaged",
                    part.cpu,
                    part.size,
                    input.size()
                ),
            ));
        };
        let mut buffer = Buffer {
            input,
            part,
            layout,
            next: part.offset,
            end,
            chunks: 0,
            pages: Vec::new(),
            page: 0,
            pages_offset: part.offset,
            walk: Walk::default(),
            found: Place::Nothing,
            lost: 0,
        };
        if part.packing != Packing::None && part.size > 0 {
            // The size leaves out the number of parts; each has its own size.
            buffer.end = input.size();
            let count = input.section(part.offset, 4, 4, "the number of packed parts")?;
            buffer.chunks = le32(&count, 0);
            buffer.next += 4;
        }
        Ok(buffer)
    }

    /// The CPU.
    pub fn cpu(&self) -> u16 {
        self.part.cpu
    }

    /// Goes to the next event and returns its time, in the file's units.
    pub fn next(&mut self) -> Result<Option<u64>, Error> {
        loop {
            let size = self.layout.size as usize;
            let offset = self.offset();
            if let Some(page) = self.pages.get(self.page..self.page + size)
                && let Some((start, length)) = self.walk.next(page, offset)?
            {
                self.found = Place::Event(self.page + start, length);
                return Ok(Some(self.walk.time));
            }
            if !self.next_page()? {
                self.found = Place::Nothing;
                return Ok(None);
            }
            if let Place::Lost(count) = self.found {
                self.lost += count;
                return Ok(Some(self.walk.time));
            }
        }
    }

    /// Whether something was found.
    pub fn is_left(&self) -> bool {
        !matches!(self.found, Place::Nothing)
    }

    /// What was found.
    pub fn found(&self) -> Found<'_> {
        match self.found {
            Place::Nothing => Found::Event(&[]),
            Place::Lost(count) => Found::Lost(count),
            Place::Event(start, length) => Found::Event(&self.pages[start..start + length]),
        }
    }

    /// Place in the file of the page; of a compressed one, of its chunk.
    pub fn offset(&self) -> u64 {
        match self.part.packing {
            Packing::None => self.pages_offset + self.page as u64,
            _ => self.pages_offset,
        }
    }

    /// Events that were lost, as far as they were counted.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Begins the next page; false if there is none.
    fn next_page(&mut self) -> Result<bool, Error> {
        let size = self.layout.size as usize;
        self.page += if self.pages.is_empty() { 0 } else { size };
        if self.page >= self.pages.len() && !self.read_pages()? {
            return Ok(false);
        }
        let Some(page) = self.pages.get(self.page..self.page + size) else {
            return Err(Error::at(
                self.offset(),
                format!("a page should have {size} bytes: the file is cut short or damaged"),
            ));
        };
        let (walk, lost) = Walk::begin(page, self.layout, self.offset())?;
        self.walk = walk;
        self.found = lost.map_or(Place::Nothing, |lost| Place::Lost(lost.count));
        Ok(true)
    }

    fn read_pages(&mut self) -> Result<bool, Error> {
        self.page = 0;
        self.pages_offset = self.next;
        if self.part.packing == Packing::None {
            let page = u64::from(self.layout.size);
            let length = (self.end - self.next).min(READ.next_multiple_of(page));
            self.pages = self.input.section(self.next, length, length, "pages")?;
            self.next += length;
            return Ok(length > 0);
        }
        if self.chunks == 0 {
            self.pages.clear();
            return Ok(false);
        }
        self.chunks -= 1;
        let left = self.end.saturating_sub(self.next);
        if left < 8 {
            return Err(Error::at(
                self.next,
                format!(
                    "{} more packed parts should be here: the file is cut short or damaged",
                    self.chunks + 1
                ),
            ));
        }
        let head = self
            .input
            .section(self.next, 8, 8, "the head of a packed part")?;
        let mut head = Bytes::new(&head, self.next);
        let packed = head.u32("a packed part")?;
        let size = head.u32("a packed part")?;
        if packed > MOST_CHUNK || size > MOST_CHUNK || u64::from(packed) > left - 8 {
            return Err(Error::at(
                self.next,
                format!(
                    "a packed part should have {packed} bytes and unpacked {size}, and {} are left",
                    left - 8
                ),
            ));
        }
        let most = MOST_CHUNK.into();
        let packed = self
            .input
            .section(self.next + 8, packed.into(), most, "a packed part")?;
        self.pages = self
            .part
            .packing
            .unpack(&packed, size as usize, self.next)?;
        self.next += 8 + packed.len() as u64;
        Ok(!self.pages.is_empty())
    }
}
