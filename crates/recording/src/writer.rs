// SPDX-License-Identifier: GPL-2.0-only
//! Writes a recording as it happens.

use crate::{BLOCK, End, Header, MAX_RECORD, SCHEMA, TAG_END, TAG_RECORDS};
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Whether a recording can be written there, for what takes long to make.
///
/// # Errors
/// As [`Writer::create`].
pub fn try_place(path: &Path) -> io::Result<()> {
    temporary(path, 0o600).map(drop)
}

/// A file beside the recording that it is to become, and the place of that: of a symbolic link, what
/// it points to.
pub(crate) fn temporary(path: &Path, mode: u32) -> io::Result<(NamedTempFile, PathBuf)> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        let what = "exists and is not a regular file; name another file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let place = alight_text::place(path)?;
    let directory = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Opened here, so that errors do not name it.
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(mode);
    let file = tempfile::Builder::new()
        .prefix(".alight-recording-")
        .make_in(directory, |path| options.open(path))
        .map_err(|error| {
            let what = format!("{error}, in the folder {}", directory.display());
            io::Error::new(error.kind(), what)
        })?;
    Ok((file, place))
}

/// Writes a recording. Nothing is under the file's name before [`Writer::finish`].
pub struct Writer {
    file: NamedTempFile,
    /// What the file will be; of a symbolic link, what it points to.
    place: PathBuf,
    compressor: zstd::bulk::Compressor<'static>,
    block: Vec<u8>,
    kinds: Vec<String>,
    counts: Vec<u64>,
    whole: Whole,
}

/// Up to where the file is as it is to stay: the end of the last block that was written.
#[derive(Clone, Default)]
struct Whole {
    bytes: u64,
    counts: Vec<u64>,
}

impl Writer {
    /// Begins a recording at `path`. `level` is the compression level of zstd, 1 (fast) to 19 (small).
    ///
    /// # Errors
    /// The directory cannot be written to; `path` is a pipe or a device, which the finished file
    /// would replace.
    pub fn create(path: &Path, header: &Header, level: i32) -> io::Result<Self> {
        // Whoever records is root; whoever verifies need not be.
        let (mut file, place) = temporary(path, 0o644)?;
        writeln!(file, "{SCHEMA}\n{}", serde_json::to_string(header)?)?;
        let mut compressor = zstd::bulk::Compressor::new(level)?;
        compressor.include_checksum(true)?;
        let whole = Whole {
            bytes: file.stream_position()?,
            counts: vec![0; header.kinds.len()],
        };
        Ok(Writer {
            file,
            place,
            compressor,
            block: Vec::with_capacity(BLOCK),
            kinds: header.kinds.clone(),
            counts: vec![0; header.kinds.len()],
            whole,
        })
    }

    /// Appends a record of the kind with this index in the header's list.
    ///
    /// # Errors
    /// The disk is full; the kind is not in the list; the record is longer than [`MAX_RECORD`].
    pub fn write(&mut self, kind: u32, record: &[u8]) -> io::Result<()> {
        let refuse = |text| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        let Some(count) = self.counts.get_mut(kind as usize) else {
            return refuse(format!("no kind of record has the index {kind}"));
        };
        if record.len() > MAX_RECORD {
            return refuse(format!(
                "a record has {} bytes, expected at most {MAX_RECORD}",
                record.len()
            ));
        }
        *count += 1;
        self.block.extend_from_slice(&kind.to_le_bytes());
        self.block
            .extend_from_slice(&(record.len() as u32).to_le_bytes());
        self.block.extend_from_slice(record);
        if self.block.len() >= BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    /// Records of this kind so far.
    pub fn count(&self, kind: u32) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// Ends the recording and gives the file its name. The counts of records in `end` are filled in.
    ///
    /// # Errors
    /// The disk is full; then nothing is left behind.
    pub fn finish(mut self, end: End) -> io::Result<()> {
        self.flush()?;
        self.close(end)
    }

    /// Ends the recording early, after [`Writer::write`] failed: with what was written of it as
    /// whole blocks, the last one being given up. `end` says why. Returns the records of each kind
    /// that it has.
    ///
    /// # Errors
    /// Not even that is possible; then nothing is left behind.
    pub fn finish_early(mut self, end: End) -> io::Result<Vec<u64>> {
        let Whole { bytes, counts } = std::mem::take(&mut self.whole);
        self.file.as_file().set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes))?;
        self.counts.clone_from(&counts);
        self.close(end)?;
        Ok(counts)
    }

    fn close(mut self, mut end: End) -> io::Result<()> {
        end.records = self.kinds.drain(..).zip(self.counts.drain(..)).collect();
        let end = serde_json::to_vec(&end)?;
        self.put(TAG_END, &end)?;
        // Some file systems only say now that there was no room.
        self.file.as_file().sync_all()?;
        self.file
            .persist(&self.place)
            .map_err(|error| error.error)?;
        Ok(())
    }

    /// Writes out what was appended up to now.
    ///
    /// # Errors
    /// The disk is full.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let packed = self.compressor.compress(&self.block)?;
        self.block.clear();
        self.put(TAG_RECORDS, &packed)?;
        self.whole.bytes = self.file.stream_position()?;
        self.whole.counts.clone_from(&self.counts);
        Ok(())
    }

    fn put(&mut self, tag: u8, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).expect("a block is a few MiB");
        self.file.write_all(&[tag])?;
        self.file.write_all(&length.to_le_bytes())?;
        self.file.write_all(bytes)
    }
}
