// SPDX-License-Identifier: GPL-2.0-only
//! A page of the kernel's ring buffer, as tracefs gives it (kernel/trace/ring_buffer.c).

use crate::Error;
use crate::bytes::{le32, le64};

/// `RINGBUF_TYPE_*` of include/linux/ring_buffer.h; smaller numbers are lengths in words.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// Flags of `commit`: events before this page were lost; their count stands behind its data.
const MISSED: u64 = 1 << 31;
const MISSED_COUNTED: u64 = 1 << 30;
const COMMIT: u64 = (1 << 27) - 1;

/// Where things lie in a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout {
    /// Bytes of a page.
    pub size: u32,
    /// Bytes of `commit`, and where the data begin.
    commit: usize,
    data: usize,
}

impl Layout {
    /// Reads the kernel's description of the page, `header_page`.
    pub fn read(&mut self, description: &str) -> Result<(), Error> {
        let found = crate::format::Format::parse(&format!("name: page\nID: 0\n{description}"));
        let found = found.map_err(Error::Foreign)?;
        let commit = found.field("commit");
        let data = found.field("data");
        match (commit, data) {
            (Some(commit), Some(data))
                if [4, 8].contains(&commit.size) && u32::from(data.offset) < self.size =>
            {
                self.commit = commit.size.into();
                self.data = data.offset.into();
                Ok(())
            }
            _ => Err(Error::Foreign(
                "the description of the pages has no fields 'commit' and 'data' as the kernel has \
                 them"
                    .into(),
            )),
        }
    }
}

/// A walk through a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Walk {
    /// The place of the next event, and the end of the data, in the page.
    at: usize,
    end: usize,
    pub time: u64,
}

/// What stands before the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Events that were lost before the page; 0: not counted.
    pub count: u64,
}

impl Walk {
    /// Begins a page, which begins there in the file.
    pub fn begin(page: &[u8], layout: Layout, offset: u64) -> Result<(Self, Option<Lost>), Error> {
        let commit = match layout.commit {
            4 => u64::from(le32(page, 8)),
            _ => le64(page, 8),
        };
        let end = layout.data + (commit & COMMIT) as usize;
        if end > page.len() {
            return Err(Error::at(
                offset + 8,
                format!(
                    "a page has {} bytes of events, expected at most {}",
                    commit & COMMIT,
                    page.len() - layout.data
                ),
            ));
        }
        let lost = match commit & (MISSED | MISSED_COUNTED) {
            0 => None,
            flags if flags & MISSED_COUNTED != 0 && end + layout.commit <= page.len() => {
                Some(Lost {
                    count: match layout.commit {
                        4 => u64::from(le32(page, end)),
                        _ => le64(page, end),
                    },
                })
            }
            _ => Some(Lost { count: 0 }),
        };
        let walk = Walk {
            at: layout.data,
            end,
            time: le64(page, 0),
        };
        Ok((walk, lost))
    }

    /// The next event's place in the page; `None` at its end. Its time is [`Walk::time`].
    pub fn next(&mut self, page: &[u8], offset: u64) -> Result<Option<(usize, usize)>, Error> {
        while self.at < self.end {
            let start = self.at;
            let head = le32(page, start);
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            let long = u64::from(le32(page, start + 4));
            let (first, length) = match kind {
                PADDING if delta == 0 => {
                    self.at = self.end;
                    return Ok(None);
                }
                PADDING => {
                    self.at = start + 4 + long as usize;
                    self.time = self.time.wrapping_add(delta);
                    continue;
                }
                TIME_EXTEND => {
                    self.at = start + 8;
                    self.time = self.time.wrapping_add((long << 27) + delta);
                    continue;
                }
                TIME_STAMP => {
                    self.at = start + 8;
                    // It has 59 bits; those above are as they were.
                    self.time = (self.time & !((1 << 59) - 1)) | (long << 27) | delta;
                    continue;
                }
                0 => (start + 8, (long as usize).wrapping_sub(4)),
                words => (start + 4, words as usize * 4),
            };
            self.time = self.time.wrapping_add(delta);
            self.at = match first.checked_add(length) {
                Some(end) if end <= self.end => end.next_multiple_of(4),
                _ => {
                    return Err(Error::at(
                        offset + start as u64,
                        format!(
                            "an event has {length} bytes, and {} are left of its page",
                            self.end.saturating_sub(first)
                        ),
                    ));
                }
            };
            return Ok(Some((first, length)));
        }
        Ok(None)
    }
}
