// SPDX-License-Identifier: GPL-2.0-only
//! `struct perf_event_attr`: what was recorded, and what stands in a sample
//! (include/uapi/linux/perf_event.h).

use crate::Error;
use crate::bytes::{Bytes, le32, le64};

/// `PERF_TYPE_TRACEPOINT`
const TRACEPOINT: u32 = 2;
/// The oldest layout (`PERF_ATTR_SIZE_VER0`).
const LEAST: usize = 64;

/// `PERF_SAMPLE_*`
mod sample {
    pub const IP: u64 = 1 << 0;
    pub const TID: u64 = 1 << 1;
    pub const TIME: u64 = 1 << 2;
    pub const ADDR: u64 = 1 << 3;
    pub const READ: u64 = 1 << 4;
    pub const CALLCHAIN: u64 = 1 << 5;
    pub const ID: u64 = 1 << 6;
    pub const CPU: u64 = 1 << 7;
    pub const PERIOD: u64 = 1 << 8;
    pub const STREAM_ID: u64 = 1 << 9;
    pub const RAW: u64 = 1 << 10;
    pub const CGROUP: u64 = 1 << 21;
    pub const IDENTIFIER: u64 = 1 << 16;
    /// What may stand between RAW and CGROUP.
    pub const BETWEEN: u64 = 0x1f_f800 & !IDENTIFIER;
}

/// What one event was recorded with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attr {
    kind: u32,
    /// Of a tracepoint its number.
    pub config: u64,
    sample: u64,
    read: u64,
    flags: u64,
    clock: u32,
}

/// What is needed of a sample.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sample<'a> {
    pub time: u64,
    pub cpu: u32,
    pub raw: &'a [u8],
    pub tid: u32,
    /// The group's number, where it was asked for.
    pub group: Option<u64>,
}

/// What stands at the end of the other records.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Trailer {
    pub time: u64,
    pub cpu: u32,
}

impl Attr {
    /// Reads one of that many bytes.
    pub fn read(bytes: &mut Bytes, size: usize) -> Result<Self, Error> {
        let offset = bytes.offset();
        let content = bytes.take(size, "the description of an event")?;
        if size < LEAST {
            return Err(Error::at(
                offset,
                format!("the description of an event has {size} bytes, expected at least {LEAST}"),
            ));
        }
        Ok(Attr {
            kind: le32(content, 0),
            config: le64(content, 8),
            sample: le64(content, 24),
            read: le64(content, 32),
            flags: le64(content, 40),
            clock: le32(content, 92),
        })
    }

    /// Whether it is a tracepoint.
    pub fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT
    }

    /// Whether samples and records are laid out as those of `other`.
    pub fn is_laid_out_as(&self, other: &Self) -> bool {
        (self.sample, self.read) == (other.sample, other.read)
            && self.trails() == other.trails()
            && self.is_tracepoint() == other.is_tracepoint()
    }

    /// Whether births and ends of tasks are recorded (`task`).
    pub fn tells_tasks(&self) -> bool {
        self.flags & 1 << 13 != 0
    }

    /// Whether groups are recorded (`cgroup`).
    pub fn tells_groups(&self) -> bool {
        self.sample & sample::CGROUP != 0 && self.sample & sample::BETWEEN == 0
    }

    /// The clock that was asked for (`use_clockid`), as `clock_gettime()` numbers it.
    pub fn clock(&self) -> Option<u32> {
        (self.flags & 1 << 25 != 0).then_some(self.clock)
    }

    /// Whether other records end as [`Attr::trailer`] reads (`sample_id_all`).
    fn trails(&self) -> bool {
        self.flags & 1 << 18 != 0
    }

    /// What a replay needs that samples do not have.
    pub fn missing(&self) -> Option<&'static str> {
        let missing = |bit| self.sample & bit == 0;
        match () {
            () if missing(sample::TIME) => Some("times (perf record -T)"),
            () if missing(sample::CPU) => Some("CPUs (perf record -a)"),
            () if missing(sample::RAW) => Some("the tracepoints' fields (perf record -R)"),
            () => None,
        }
    }

    /// Where in a sample its identifier is, and where from the end of another record.
    pub fn identifier(&self) -> (Option<usize>, Option<usize>) {
        if self.sample & sample::IDENTIFIER != 0 {
            return (Some(0), Some(8));
        }
        if self.sample & sample::ID == 0 {
            return (None, None);
        }
        let before = [sample::IP, sample::TID, sample::TIME, sample::ADDR];
        let behind = [sample::ID, sample::STREAM_ID, sample::CPU];
        let words = |bits: &[u64]| 8 * bits.iter().filter(|bit| self.sample & **bit != 0).count();
        (Some(words(&before)), Some(words(&behind)))
    }

    /// Reads a sample's content.
    pub fn sample<'a>(&self, mut bytes: Bytes<'a>) -> Result<Sample<'a>, Error> {
        let has = |bit| self.sample & bit != 0;
        let mut read = Sample::default();
        for bit in [sample::IDENTIFIER, sample::IP] {
            if has(bit) {
                bytes.u64("a sample")?;
            }
        }
        if has(sample::TID) {
            read.tid = (bytes.u64("a sample's task")? >> 32) as u32;
        }
        if has(sample::TIME) {
            read.time = bytes.u64("a sample's time")?;
        }
        for bit in [sample::ADDR, sample::ID, sample::STREAM_ID] {
            if has(bit) {
                bytes.u64("a sample")?;
            }
        }
        if has(sample::CPU) {
            read.cpu = bytes.u64("a sample's CPU")? as u32;
        }
        if has(sample::PERIOD) {
            bytes.u64("a sample's period")?;
        }
        if has(sample::READ) {
            self.skip_read(&mut bytes)?;
        }
        if has(sample::CALLCHAIN) {
            let count = bytes.u64("a sample's call chain")?;
            bytes.take(words(count, &bytes)?, "a sample's call chain")?;
        }
        if has(sample::RAW) {
            let length = bytes.u32("a sample's fields")? as usize;
            read.raw = bytes.take(length, "a sample's fields")?;
        }
        if self.tells_groups() {
            // Raw data and their length fill whole words.
            read.group = Some(bytes.u64("a sample's group")?);
        }
        Ok(read)
    }

    /// `PERF_SAMPLE_READ`, by `PERF_FORMAT_*`.
    fn skip_read(&self, bytes: &mut Bytes) -> Result<(), Error> {
        const GROUP: u64 = 1 << 3;
        let times = (self.read & 3).count_ones() as u64;
        let each = 1 + (self.read & (1 << 2 | 1 << 4)).count_ones() as u64;
        let count = match self.read & GROUP {
            0 => times + each,
            _ => {
                let members = bytes.u64("a sample's counts")?;
                members.saturating_mul(each).saturating_add(times)
            }
        };
        bytes
            .take(words(count, bytes)?, "a sample's counts")
            .map(drop)
    }

    /// What stands at the end of a record that is no sample.
    pub fn trailer(&self, content: &[u8]) -> Option<Trailer> {
        if !self.trails() {
            return None;
        }
        let bits = [
            sample::TID,
            sample::TIME,
            sample::ID,
            sample::STREAM_ID,
            sample::CPU,
            sample::IDENTIFIER,
        ];
        let present = || bits.into_iter().filter(|bit| self.sample & bit != 0);
        let mut at = content.len().checked_sub(8 * present().count())?;
        let mut read = Trailer::default();
        for bit in present() {
            match bit {
                sample::TIME => read.time = le64(content, at),
                sample::CPU => read.cpu = le32(content, at),
                _ => {}
            }
            at += 8;
        }
        Some(read)
    }
}

/// Bytes of so many words, if so many are left.
fn words(count: u64, bytes: &Bytes) -> Result<usize, Error> {
    let left = bytes.rest().len() as u64;
    match count.checked_mul(8).filter(|length| *length <= left) {
        Some(length) => Ok(length as usize),
        None => Err(Error::at(
            bytes.offset(),
            format!("a sample should have {count} more words here, and {left} bytes are left"),
        )),
    }
}
