// SPDX-License-Identifier: GPL-2.0-only
//! Recordings: what a kernel did, written down inside it so that the policy
//! core can do it again elsewhere and be held against it.
//!
//! This crate is the container alone. It knows where a recording comes from
//! ([`Header`]), that it consists of records of a few kinds, in order, and how
//! it ended ([`End`]); what is in a record is the business of who writes it and
//! who verifies it. [`Writer`] streams to a file that bears its name only when
//! it is complete; [`Reader`] streams back and tells apart what is cut short,
//! damaged, from another architecture, or not a recording.
//!
//! # On disk
//!
//! Line 1 is `alight.recording/1`, line 2 the header as JSON. Then blocks: a
//! tag byte, the length of what follows as a little-endian u32, and that many
//! bytes. Tag `R`: records, a zstd frame with a checksum; within, each record is
//! a u32 with the index of its kind, a u32 length and the bytes, all
//! little-endian. Tag `E`, once and last: the end, as JSON.

pub mod delta;
mod header;
mod reader;
mod writer;

pub use header::{Arch, CpuFact, End, Header, KernelVersion};
pub use reader::{Error, Place, Reader, Record};
pub use writer::Writer;

/// First line of a recording: schema and version.
pub const SCHEMA: &str = "alight.recording/1";

/// The longest record, in bytes.
pub const MAX_RECORD: usize = 1 << 20;

/// A block is compressed once it holds this much, in bytes; it is larger by a record at most.
const BLOCK: usize = 1 << 20;

/// No block is larger before compression, in bytes.
const MAX_BLOCK: usize = BLOCK + MAX_RECORD + RECORD_HEAD;

/// Bytes before each record: its kind and its length.
const RECORD_HEAD: usize = 8;

const TAG_RECORDS: u8 = b'R';
const TAG_END: u8 = b'E';
