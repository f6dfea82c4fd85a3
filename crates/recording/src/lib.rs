// SPDX-License-Identifier: GPL-2.0-only
//! The container of recordings. A recording holds what a kernel did, so that other programs can
//! compare it with the policy core.
//!
//! The container knows the origin of a recording ([`Header`]), a sequence of records of a few kinds,
//! and its end ([`End`]). The writers and readers of a kind know the content of its records.
//!
//! # What it owns
//!
//! - [`Writer`] appends records. The file gets its name when it is complete.
//! - [`Reader`] reads records one by one. Its [`Error`] tells files that are cut short, damaged, of
//!   another architecture, or no recording.
//! - [`annotate`] adds facts to the end of a finished recording.
//! - [`delta`] packs records that resemble the record before.
//! - [`workload`] is the content of one kind: what a replay is made of.
//!
//! # Who may use it
//!
//! The recorder and the live scheduler write recordings; `alight-verify` and `alight-behaviour` read
//! them. It uses `alight-text`.
//!
//! # Example
//!
//! ```
//! use alight_recording::{End, Header, Reader, Writer};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.alight");
//! let header = Header {
//!     kinds: vec!["example.number/1".into()],
//!     kernel: "6.18.15".into(),
//!     build: String::new(),
//!     arch: "x86_64".into(),
//!     hz: Some(250),
//!     clock: "monotonic, ns".into(),
//!     command: "true".into(),
//!     cpus: vec![],
//!     facts: Default::default(),
//! };
//! let mut writer = Writer::create(&path, &header, 1)?;
//! writer.write(0, &42u32.to_le_bytes())?;
//! writer.finish(End::default())?;
//!
//! let mut reader = Reader::open(&path)?;
//! let record = reader.next_record()?.expect("one was written");
//! assert_eq!((record.kind, record.bytes), (0, &42u32.to_le_bytes()[..]));
//! assert!(reader.next_record()?.is_none());
//! assert_eq!(reader.end().expect("the file is whole").records["example.number/1"], 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # On disk
//!
//! Line 1 is `alight.recording/1`. Line 2 is the header as JSON. Blocks follow. A block is a tag byte,
//! the length of its content in bytes as a little-endian u32, and the content.
//!
//! | tag | content |
//! |---|---|
//! | `R` | records: a zstd frame with a checksum. A record is the index of its kind (u32), its length in bytes (u32), and its bytes. Numbers are little-endian |
//! | `E` | the end, as JSON. There is one, and it is the last block |

mod annotate;
pub mod delta;
mod header;
mod reader;
pub mod workload;
mod writer;

pub use annotate::annotate;
pub use header::{Arch, CpuFact, End, Header, KernelVersion};
pub use reader::{Error, Place, Reader, Record};
pub use writer::{Writer, try_place};

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
